import PeerTestKit
import Whiteboard
import WhiteboardSync

/// Whole worlds, their ends, and the final checks.
extension ReplicaWorld {
  /// Runs the world of a seed with its own network faults.
  ///
  /// On an owned board, members are also granted the right to edit or to view, and lose it again.
  ///
  /// - Parameters:
  ///   - seed: The seed.
  ///   - isOwned: Whether the board has an owner.
  ///   - hasSlowSignatures: Whether signing and verifying take time, up to milliseconds or up to seconds.
  /// - Returns: The numbers of events.
  /// - Throws: The invariant that did not hold.
  public static func run(seed: UInt64, isOwned: Bool = false, hasSlowSignatures: Bool = false) throws(BoardWorld
    .Failure) -> BoardWorld.Tally
  { try passed(seed: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures).tally }

  /// Runs the world of a seed to its end and returns it; throws the first invariant that did not hold.
  static func passed(seed: UInt64, isOwned: Bool, hasSlowSignatures: Bool, hasRealKeys: Bool = true) throws(BoardWorld
    .Failure) -> ReplicaWorld
  {
    let world = ended(seed: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures, hasRealKeys: hasRealKeys)
    if let complaint = world.complaints.first {
      let invariant = complaint.prefix { $0 != ":" }
      throw BoardWorld.Failure(seed: seed, invariant: String(invariant), what: complaint)
    }
    return world
  }

  /// Returns the stored changes of all members at the end of the world of a seed, even if the world failed.
  public static func documents(seed: UInt64, isOwned: Bool = false) -> [[StoredChange]] {
    ended(seed: seed, isOwned: isOwned).nodes.map { $0.document }
  }

  private static func ended(seed: UInt64, isOwned: Bool, hasSlowSignatures: Bool = false, hasRealKeys: Bool = true)
    -> ReplicaWorld
  {
    var weather = Weather()
    if hasSlowSignatures { weather.signingTime = [1, 40, 400, 4000][Int(seed / 5 % 4)] }
    weather.isOwned = isOwned
    weather.revocations = isOwned ? 25 : 0
    weather.lies = 8
    weather.partitions = 8
    weather.newcomers = 3
    // Sometimes the skew is years, otherwise up to an hour.
    if seed % 20 == 7 { weather.skew = 100_000_000_000 }
    let world = ReplicaWorld(
      seed: seed,
      nodes: 2 + Int(seed % 3),
      weather: weather,
      // A viewer forwards nothing, so it may only be at the end of a line.
      topology: Topology(rawValue: isOwned ? Int(seed / 3 % 2) * 2 : Int(seed / 3 % 3)) ?? .mesh,
      hasRealKeys: hasRealKeys
    )
    world.connectAll()
    for _ in 0..<(100 + world.random.below(150)) { world.happen() }
    world.partition = nil
    world.connectAll()
    if isOwned, seed % 2 == 1 { world.admitAll() }
    if !world.settle() { world.complaints.append("I1: it does not settle: \(world.unrest)") }
    if !world.settleAssets() { world.complaints.append("assets are lacking") }
    if hasSlowSignatures, !world.settleSignatures() {
      world.complaints.append("signatures do not settle: \(world.unrest)")
    }
    world.check()
    // If one of two members is a viewer, they exchange only a few messages.
    if world.delivered < (isOwned ? 4 : 10) { world.complaints.append("it does little") }
    return world
  }

  /// Describes why the world does not settle.
  private var unrest: String {
    let states = nodes.map { $0.replica.board.state }
    let parts = nodes.indices.map { number in
      let replica = nodes[number].replica
      let members = nodes.filter { replica.isSynced(with: $0.member, now: now(number)) }
      return """
        \(number): synced with \(members.count) of \(replica.members.count), \
        context \(states[number].context == states[0].context), \
        told \(nodes[number].divergences) divergences, \
        a \(replica.role), \
        \(Oracle.difference(states[0], states[number]))
        """
    }
    return parts.joined(separator: "; ") + (isBetrayed ? ", betrayed" : "")
  }

  /// Compares every node with the first node, with its own events, and with its stored changes.
  package func check() {
    if let error = violations.first { complaints.append("a rule was broken: \(error)") }
    let first = nodes[0].replica.board
    let dump = Oracle.dump(first.state, withSelections: !isBetrayed && !isRevoked)
    for number in agreeing {
      let node = nodes[number]
      let board = node.replica.board
      if Oracle.dump(board.state, withSelections: !isBetrayed && !isRevoked) != dump {
        complaints.append("I1: \(number): \(Oracle.difference(first.state, board.state))")
      }
      if node.replica.digest != nodes[0].replica.digest { complaints.append("I1: digests differ") }
      if board.chat != first.chat { complaints.append("I1: chats differ") }
      if board.objectIDs != first.objectIDs { complaints.append("I1: stacks differ") }
      // An operation that created an object may be lost with all members that had it, while one of its other operations
      // survives.
      if board.state.orphans != first.state.orphans { complaints.append("I1: orphans differ") }
      if !isRevoked, crashes + tally[.lies] + tally[.twoStories] + tally[.claims] == 0, !board.state.orphans.isEmpty {
        complaints.append("I1: orphans are left")
      }
      // Every node must know the authors of all living cells.
      for (id, record) in board.state.sortedRecords {
        for entry in record.entries where board.member(of: entry.cell.dot.incarnation) == nil {
          complaints.append("I1: \(number) does not know whose \(entry.property) of \(id) is")
        }
      }
      checkView(node)
      checkAssets(node)
      checkDocument(number)
      tally[.repairs] += node.divergences
    }
    checkRoles()
    guard !isBetrayed, !isRevoked else { return }
    if let what = oracle.lost(in: first.state) { complaints.append("I3: " + what) }
    if let what = oracle.risen(in: first.state) { complaints.append("I4: " + what) }
  }

  /// Checks that the actions alone give the same view as the board.
  private func checkView(_ node: Node) {
    let board = node.replica.board
    for snapshot in board.snapshots {
      guard let seen = node.view.objects[snapshot.id] else {
        complaints.append("I6: \(snapshot.id) was not reported")
        continue
      }
      let (told, here) = (Self.withoutSelection(seen), Self.withoutSelection(snapshot))
      if told != here { complaints.append("I6: reported \(told), is \(here)") }
      if node.view.holders[snapshot.id] != board.holder(of: snapshot.id) {
        complaints.append("I6: the holder of \(snapshot.id) was not reported")
      }
    }
    if node.view.objects.count != board.objectIDs.count { complaints.append("I6: too many objects were reported") }
    let unlike = Set(node.view.chat.values).symmetricDifference(board.chat)
    // A chat line that a repair completes is not reported again.
    if !unlike.isEmpty, !isBetrayed { complaints.append("I6: reported chat lines differ from the chat: \(unlike)") }
  }

  private static func withoutSelection(_ snapshot: ObjectSnapshot) -> String {
    let (json, key) = (Array(snapshot.json.utf8), Array("\"selectedBy\":".utf8))
    let starts = json.indices.dropLast(key.count)
    guard let start = starts.first(where: { json[$0...].starts(with: key) }),
      let end = json[(start + key.count)...].firstIndex(where: { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") })
    else { return snapshot.json }
    return String(decoding: json[..<start] + json[end...], as: UTF8.self)
  }

  /// Checks that each available asset was delivered once to every node that shows it.
  private func checkAssets(_ node: Node) {
    if node.deliveries.values.contains(where: { $0 != 1 }) { complaints.append("an asset was delivered twice") }
    for snapshot in node.replica.board.snapshots {
      guard let asset = snapshot.asset else { continue }
      let someoneHas = nodes.contains { $0.stored.contains(asset.id) }
      if node.stored.contains(asset.id) != someoneHas || snapshot.isAssetAvailable != someoneHas {
        complaints.append("an asset is not where it is shown")
      }
    }
  }

  /// Checks that the stored changes restore the same board (I11).
  private func checkDocument(_ number: Int) {
    guard !isBetrayed else { return }
    let node = nodes[number]
    let again = replica(node.key, now(number))
    do throws(RestoreError) { _ = try again.restore(node.document, now: now(number)) } catch {
      complaints.append("I11: the stored changes are not restored: \(error)")
    }
    if Oracle.dump(again.board.state) != Oracle.dump(node.replica.board.state) {
      let what = Oracle.difference(node.replica.board.state, again.board.state)
      complaints.append("I11: \(number): \(what)")
    }
  }
}
