import Crypto
import PeerCore
import Whiteboard
import WhiteboardSync

/// Peers that replay a part of a recording over a simulated network, in virtual time.
///
/// The replicas are real. The network, the clock and all random numbers are simulated from one seed, so the same seed
/// always produces the same session, byte for byte.
public final class SimulatedSession {
  private final class Peer {
    let name: String
    let member: MemberID
    var replica: Replica
    var document: [StoredChange] = []
    var chains: [Incarnation: BatchChain] = [:]
    var isUp = true
    var waiting: [RecordingReplay.Act] = []
    var nextTick: UInt64?

    init(name: String, replica: Replica) {
      self.name = name
      member = replica.board.member
      self.replica = replica
    }
  }

  private enum Event {
    case act(RecordingReplay.Act)
    case packet(SimulatedNetwork.Packet)
    case tick(Int)
    case rearrange
    case kill(Int)
    case revive(Int)
  }

  /// The time in milliseconds that the peers have to synchronize after the last change or fault.
  private static let timeout: UInt64 = 600_000
  /// The session starts at this time, so no event is at time zero.
  private static let origin: UInt64 = 1_000_000

  private let replay: RecordingReplay
  private let part: RecordingReplay.Part
  private let conditions: NetworkConditions
  private var network: SimulatedNetwork
  private var random: SplitMix64
  private let trace: ((String) -> Void)?
  private var hash = SHA256()
  private var peers: [Peer] = []
  private var events = ScheduledEvents<Event>()
  private var uptime = SimulatedSession.origin
  private var complaints: [String] = []
  /// The offset that is added to times of the recording, in milliseconds.
  private let shift: Int64

  /// Creates a session that replays a part of a recording.
  ///
  /// - Parameters:
  ///   - replay: The replay.
  ///   - index: The index of the part.
  ///   - count: The number of peers. Peers in addition to the authors of the recording only watch.
  ///   - conditions: The network faults.
  ///   - seed: The seed for all random numbers.
  ///   - trace: A closure that receives a line for each event; `nil` if no trace is needed.
  public init(
    _ replay: RecordingReplay,
    part index: Int = 0,
    peers count: Int = 0,
    conditions: NetworkConditions = NetworkConditions(),
    seed: UInt64,
    trace: ((String) -> Void)? = nil
  ) {
    self.replay = replay
    part = replay.parts[index]
    self.conditions = conditions
    network = SimulatedNetwork(conditions)
    // Change the seed, so that the random numbers differ from the random numbers of the recorded session, which may
    // itself be a simulation with this seed.
    random = SplitMix64(seed: seed ^ 0x7265_706C_6179)
    self.trace = trace
    shift = 1000 - (part.acts.first?.time ?? 0)
    for number in 0..<max(count, replay.people.count, 1) {
      peers.append(Peer(name: RecordingReplay.letter(number), replica: replica(of: number)))
    }
  }

  /// Returns the letters of the peers, in order.
  public static func names(_ replay: RecordingReplay, peers count: Int) -> [String] {
    (0..<max(count, replay.people.count, 1)).map(RecordingReplay.letter)
  }

  /// Replays the part to its end.
  public func run() -> ReplayOutcome {
    for number in peers.indices { begin(number) }
    for act in part.acts { events.push(.act(act), at: time(act.time)) }
    for partition in conditions.partitions {
      events.push(.rearrange, at: time(partition.time.lowerBound))
      events.push(.rearrange, at: time(partition.time.upperBound))
    }
    for kill in conditions.kills {
      guard let number = peers.firstIndex(where: { $0.name == kill.peer }) else { continue }
      events.push(.kill(number), at: time(kill.time.lowerBound))
      events.push(.revive(number), at: time(kill.time.upperBound))
    }
    rearrange()
    let faults = conditions.partitions.map(\.time.upperBound) + conditions.kills.map(\.time.upperBound)
    let lastFault = (faults + [part.acts.last?.time ?? 0]).max() ?? 0
    let settled = time(lastFault)
    var isSynced = false
    while let (event, at) = events.pop() {
      uptime = max(uptime, at)
      handle(event)
      guard uptime > settled else { continue }
      if isSettled {
        isSynced = true
        break
      }
      if uptime > settled + Self.timeout { break }
    }
    // If there is only one peer, no event follows the last change.
    if !isSynced, events.isEmpty { isSynced = isSettled }
    if !isSynced {
      for peer in peers {
        let synced = peer.replica.members.count { peer.replica.isSynced(with: $0, now: now) }
        complaints.append(
          "\(peer.name) is synced with \(synced) of \(peers.count - 1) peers, and has "
            + "\(peer.waiting.count) batches left to write"
        )
      }
    }
    let digests = peers.map { (peer: $0.name, digest: $0.replica.digest) }
    for (peer, digest) in digests { note("end \(peer) \(digest.hex)") }
    return ReplayOutcome(
      digests: digests,
      expected: part.digest,
      isSynced: isSynced,
      complaints: complaints,
      messages: network.messages,
      bytes: network.bytes,
      disturbed: network.disturbed,
      duration: Int64(uptime - Self.origin),
      trace: Array(hash.finalize())
    )
  }

  // MARK: - Time and progress

  private func time(_ elapsed: Int64) -> UInt64 { Self.origin + UInt64(max(0, elapsed + shift)) }

  private var now: Moment {
    let wall = replay.start - shift + Int64(uptime - Self.origin)
    return Moment(wall: UInt64(max(0, wall)), uptime: uptime)
  }

  private var isSettled: Bool {
    let up = peers.filter(\.isUp)
    return up.count == peers.count
      && up.allSatisfy { peer in
        peer.waiting.isEmpty && peer.replica.members.count == peers.count - 1
          && peer.replica.members.allSatisfy { member in
            peer.replica.role(of: member) != nil && peer.replica.isSynced(with: member, now: now)
          }
      } && Set(up.map { $0.replica.board.state.context }).count == 1
  }

  private func note(_ line: @autoclosure () -> String) {
    let line = "\(uptime - Self.origin) \(line())\n"
    hash.update(data: Array(line.utf8))
    trace?(line)
  }

  // MARK: - Handling events

  private func handle(_ event: Event) {
    switch event {
    case .act(let act): perform(act)
    case .packet(let packet): deliver(packet)
    case .tick(let number):
      let peer = peers[number]
      guard peer.isUp, peer.nextTick == uptime else { return }
      peer.nextTick = nil
      perform(peer.replica.tick(now: now), of: number)
    case .rearrange: rearrange()
    case .kill(let number): kill(number)
    case .revive(let number): revive(number)
    }
  }

  private func begin(_ number: Int) {
    let peer = peers[number]
    var actions: [ReplicaAction] = []
    do throws(RestoreError) {
      peer.document = part.beginning
      actions = try restore(peer)
    } catch { complaints.append("\(peer.name) cannot restore the initial board: \(error)") }
    perform(actions, of: number)
  }

  private func perform(_ act: RecordingReplay.Act) {
    let peer = peers[act.person]
    guard peer.isUp else {
      peer.waiting.append(act)
      return
    }
    let batch = act.batch.batch
    note("act \(peer.name) \(batch.author) \(batch.firstSequence)")
    var actions: [ReplicaAction] = []
    do throws(BoardError) { actions = try replay.perform(act, on: peer.replica, &peer.chains, now: now) } catch {
      complaints.append("\(peer.name) cannot make a change: \(error)")
    }
    perform(actions, of: act.person)
  }

  private func kill(_ number: Int) {
    let peer = peers[number]
    note("kill \(peer.name)")
    peer.isUp = false
    peer.nextTick = nil
    rearrange()
  }

  private func revive(_ number: Int) {
    let peer = peers[number]
    note("revive \(peer.name)")
    peer.isUp = true
    peer.replica = replica(of: number)
    var actions: [ReplicaAction] = []
    do throws(RestoreError) { actions = try restore(peer) } catch {
      complaints.append("\(peer.name) cannot restore its stored changes: \(error)")
    }
    perform(actions, of: number)
    rearrange()
    let waiting = peer.waiting
    peer.waiting = []
    for act in waiting { perform(act) }
  }

  private func restore(_ peer: Peer) throws(RestoreError) -> [ReplicaAction] {
    var actions = try peer.replica.restore(peer.document, now: now)
    for object in peer.replica.board.snapshots {
      if let asset = object.asset { actions += peer.replica.assetStored(asset.id, now: now) }
    }
    return actions
  }

  private func replica(of number: Int) -> Replica {
    replay.replica(of: number, random: SplitMix64(seed: random.next()), now: now)
  }

  // MARK: - The network

  private func rearrange() {
    for one in peers.indices {
      for other in peers.indices where one < other {
        let link = SimulatedNetwork.Link(from: one, to: other)
        let isConnected = network.isConnected(link)
        if isConnected == mayConnect(one, other) { continue }
        let (first, second) = (peers[one], peers[other])
        note("\(isConnected ? "cut" : "connect") \(first.name) \(second.name)")
        if isConnected { network.disconnect(link) } else { network.connect(link) }
        for (number, neighbour) in [(one, second), (other, first)] where peers[number].isUp {
          let replica = peers[number].replica
          let actions =
            isConnected ? replica.peerLeft(neighbour.member, now: now) : replica.peerJoined(neighbour.member, now: now)
          perform(actions, of: number)
        }
      }
    }
  }

  private func mayConnect(_ one: Int, _ other: Int) -> Bool {
    guard peers[one].isUp, peers[other].isUp else { return false }
    return conditions.partitions.allSatisfy { partition in
      guard (time(partition.time.lowerBound)..<time(partition.time.upperBound)).contains(uptime) else { return true }
      return !partition.separates(peers[one].name, peers[other].name)
    }
  }

  private func send(
    _ bytes: [UInt8],
    as kind: SimulatedNetwork.Packet.Kind,
    named name: ResourceDTO? = nil,
    from: Int,
    to member: MemberID
  ) {
    guard let to = peers.firstIndex(where: { $0.member == member }) else { return }
    let link = SimulatedNetwork.Link(from: from, to: to)
    guard let delivery = network.send(bytes, as: kind, named: name, on: link, at: uptime, using: &random) else {
      return
    }
    note("send \(peers[from].name) \(peers[to].name) \(kind.rawValue) \(Self.digest(bytes)) " + "\(delivery.copies)")
    for _ in 0..<delivery.copies { events.push(.packet(delivery.packet), at: delivery.arrival) }
  }

  private static func digest(_ bytes: [UInt8]) -> String {
    String(Hexadecimal.encode(Array(SHA256.hash(data: bytes).prefix(8))))
  }

  private func deliver(_ packet: SimulatedNetwork.Packet) {
    let (from, to) = (peers[packet.link.from], peers[packet.link.to])
    guard network.isOnItsConnection(packet) else { return }
    let actions: [ReplicaAction]
    switch packet.kind {
    case .message: actions = to.replica.received(packet.bytes, from: from.member, now: now)
    case .datagram: actions = to.replica.receivedDatagram(packet.bytes, from: from.member, now: now)
    case .answer:
      guard let name = packet.name, let request = name.request else { return }
      let sent = from.replica.answerSent(request: request, to: to.member, now: now)
      perform(sent, of: packet.link.from)
      guard to.replica.expectsAnswer(name, from: from.member) else { return }
      actions = to.replica.receivedAnswer(packet.bytes, request: request, from: from.member, now: now)
    }
    perform(actions, of: packet.link.to)
  }

  private func perform(_ actions: [ReplicaAction], of number: Int) {
    let peer = peers[number]
    var actions = actions
    while !actions.isEmpty { actions = actions.flatMap { perform($0, of: number) } }
    guard let next = peer.replica.nextDeadline, peer.isUp else { return }
    let at = max(next, uptime + 1)
    if let planned = peer.nextTick, planned <= at { return }
    peer.nextTick = at
    events.push(.tick(number), at: at)
  }

  private func perform(_ action: ReplicaAction, of number: Int) -> [ReplicaAction] {
    let peer = peers[number]
    switch action {
    case .send(let bytes, let members): for member in members { send(bytes, as: .message, from: number, to: member) }
    case .sendDatagram(let bytes, let members):
      for member in members { send(bytes, as: .datagram, from: number, to: member) }
    case .sendAnswer(let answer, let member):
      guard let (bytes, name) = answer.encoded() else {
        complaints.append("\(peer.name) made an answer that is too large to send")
        break
      }
      send(bytes, as: .answer, named: name, from: number, to: member)
    case .record(let change): peer.document.append(change)
    case .diverged(let member, _):
      let other = peers.first { $0.member == member }?.name ?? "?"
      complaints.append("\(peer.name) reports that its board differs from \(other)'s")
    case .protocolViolation(let member, let error):
      let other = peers.first { $0.member == member }?.name ?? "?"
      complaints.append("\(peer.name) reports a violation by \(other): \(error.code)")
    case .objectAdded(let object, _), .objectChanged(let object, _):
      // Photos are not replayed, so every peer is treated as having all photos.
      if let asset = object.asset, object.isAssetAvailable != true {
        return peer.replica.assetStored(asset.id, now: now)
      }
    default: break
    }
    return []
  }
}
