import FoundationEssentials
import Logging
import PeerCore
import PeerSession
import RelayCluster
import WhiteboardKit

/// What a relay knows about its cluster.
struct RelayClusterState {
  struct Known {
    var announcement: ClusterAnnouncement
    var heard: ContinuousClock.Instant
    /// The number of announcements of this relay since then. Unlike the time, it does not grow while the cluster cannot
    /// be reached.
    var missed = 0
    /// The time of the last reply to an announcement with ``ClusterAnnouncement/isJoining``.
    var answered: ContinuousClock.Instant?

    var isOnline: Bool { isOnline(at: .now) }

    func isOnline(at now: ContinuousClock.Instant) -> Bool {
      !announcement.isLeaving && now - heard < ClusterAnnouncement.interval * 3
    }
  }

  /// The maximum number of other relays in a cluster. The host of a board asks no more relays either (RLY-22).
  static let maximumRelays = 16
  /// The maximum number of relays to which boards are moved at the same time.
  static let maximumTargets = 4

  /// The number of announcements of this relay, a day's worth, after which a relay that was not heard is forgotten.
  static let patience = Int(Duration.seconds(86_400) / ClusterAnnouncement.interval)

  /// The other relays that were heard, until they are forgotten.
  var relays: [PeerID: Known] = [:]
  var connection: (any ClusterConnection)?
  /// The reason why there is no connection, or the shared values cannot be read.
  var problem: String?
  /// The relays to which boards are being moved.
  var targets: Set<PeerID> = []
  /// How often to read the shared values again. A change is heard before the servers have stored it, and a read can fail
  /// while they elect a leader.
  var pendingReads = 0
  /// The relays to which boards are moved next.
  var waiting: [PeerID] = []
  /// Whether a relay was ignored, because the cluster has too many.
  var isFull = false
  var unpublished = UnpublishedRecords()

  /// Returns nil if the relay is ignored, because there are too many others that are online; otherwise whether the relay
  /// is new or has returned, and whether it must be answered. A relay that joins again within a second is not answered.
  mutating func note(_ announcement: ClusterAnnouncement, of peer: PeerID, now: ContinuousClock.Instant)
    -> (isNew: Bool, mustAnswer: Bool)?
  {
    if relays[peer] == nil, relays.count >= Self.maximumRelays {
      let offline = relays.filter { !$0.value.isOnline(at: now) }
      guard let oldest = offline.min(by: { $0.value.heard < $1.value.heard }) else { return nil }
      relays[oldest.key] = nil
    }
    let former = relays[peer]
    var known = Known(announcement: announcement, heard: now, answered: former?.answered)
    let mustAnswer = announcement.isJoining && known.answered.map { now - $0 >= .seconds(1) } ?? true
    if mustAnswer { known.answered = now }
    relays[peer] = known
    return (!(former?.isOnline(at: now) ?? false), mustAnswer)
  }

  /// Returns the next relay to which boards are moved; nil if there is none, or enough others are being served.
  mutating func nextTarget() -> PeerID? {
    guard targets.count < Self.maximumTargets, !waiting.isEmpty else { return nil }
    let peer = waiting.removeFirst()
    targets.insert(peer)
    return peer
  }

  /// Returns the relays that are now forgotten, because none of their announcements came after the last
  /// ``patience`` announcements of this relay.
  mutating func noteAnnouncement() -> [PeerID] {
    for peer in relays.keys { relays[peer]?.missed += 1 }
    let forgotten = relays.filter { $0.value.missed >= Self.patience }.keys
    for peer in forgotten { relays[peer] = nil }
    return Array(forgotten)
  }
}

/// What a relay announces to the others: every ``interval``, and when it joins or leaves the cluster.
struct ClusterAnnouncement: Codable, Equatable, Sendable {
  static let interval = Duration.seconds(5)
  static let subject = ClusterSubject("relays")
  static let maximumSize = 16_384
  private static let maximumAddresses = 16

  let peer: String
  let name: String
  let addresses: [String]
  let boards: Int
  let people: Int
  /// Whether the relay joins the cluster, so that the others announce themselves immediately.
  var isJoining = false
  /// Whether the relay is shutting down.
  var isLeaving = false

  var dialable: [PeerAddress] {
    addresses.prefix(Self.maximumAddresses).compactMap { HostPort($0) }.map {
      PeerAddress(host: $0.host, port: $0.port)
    }
  }
}

/// A shared value of the cluster: a board of another host that a relay accepted, or a board that a relay deleted.
struct SharedBoardRecord: Codable, Equatable {
  static let prefix = "boards."

  let host: String
  let isDeleted: Bool

  init(host: String, isDeleted: Bool) {
    self.host = host
    self.isDeleted = isDeleted
  }

  init?(_ value: ClusterValue?) {
    guard let value, let record = try? JSONDecoder().decode(Self.self, from: Data(value.bytes)) else { return nil }
    self = record
  }

  static func key(_ board: SessionID) -> ClusterSubject { ClusterSubject("boards", board.text) }
}

extension Relay {
  /// Stays in the cluster until the task is canceled. A relay without a connection continues to serve its boards.
  func stayInCluster() async {
    guard let connect = configuration.cluster else { return }
    showClusterMetrics()
    await finishDeletions()
    var pause = Duration.milliseconds(500)
    while !Task.isCancelled {
      do throws(ClusterError) {
        let connection = try await connect()
        cluster.connection = connection
        cluster.problem = nil
        do throws(ClusterError) { try await work(with: connection) } catch { report(error) }
        cluster.connection = nil
        await connection.close()
      } catch { report(error) }
      do { try await ContinuousClock().sleep(for: pause) } catch { return }
      pause = min(pause * 2, .seconds(15))
    }
  }

  private func showClusterMetrics() {
    metrics.set(.clusterConnected, cluster.connection?.isConnected == true ? 1 : 0)
    metrics.set(.clusterRelays, Double(cluster.relays.values.count(where: \.isOnline)))
  }

  private func report(_ error: ClusterError, _ problem: Logger.Message = "Cluster not joined.") {
    guard cluster.problem != error.description, !Task.isCancelled else { return }
    cluster.problem = error.description
    logger.error(problem, metadata: ["reason": "\(error)"])
    guard let details = error.details else { return }
    logger.debug("Details of the problem with the cluster.", metadata: ["details": "\(details)"])
  }

  private func work(with connection: any ClusterConnection) async throws(ClusterError) {
    let announcements = try await connection.feed(of: ClusterAnnouncement.subject)
    let changes = try await connection.valueChanges()
    logger.notice("Cluster joined.")
    for entry in register.entries {
      guard let id = entry.id, let host = entry.carriage.flatMap({ PeerID(text: $0.host) }) else { continue }
      acceptInCluster(id, hostedBy: host, isNew: false)
    }
    let listening = Task { for await event in announcements { await self.heard(event, connection) } }
    let deleting = Task {
      await self.deleteBoards(connection)
      for await _ in changes {
        self.cluster.pendingReads = 2
        await self.deleteBoards(connection)
      }
    }
    var isJoining = true
    while !Task.isCancelled {
      await announce(connection) { $0.isJoining = isJoining }
      isJoining = false
      forgetRelays(connection)
      await publishRecords(connection)
      if cluster.pendingReads > 0 {
        cluster.pendingReads -= 1
        // The read can take long, and the announcements must continue.
        spawn { relay in await relay.deleteBoards(connection) }
      }
      spreadBoards()
      showClusterMetrics()
      try? await ContinuousClock().sleep(for: ClusterAnnouncement.interval)
    }
    await announce(connection) { $0.isLeaving = true }
    listening.cancel()
    deleting.cancel()
    await listening.value
    await deleting.value
  }

  private func announce(_ connection: any ClusterConnection, _ change: (inout ClusterAnnouncement) -> Void) async {
    var announcement = ClusterAnnouncement(
      peer: configuration.identity.peerID.text,
      name: configuration.name,
      addresses: await addresses().map(\.description),
      boards: register.entries.count,
      people: peopleCount
    )
    change(&announcement)
    // If a message is lost, the next one follows soon.
    guard let bytes = try? JSONEncoder().encode(announcement) else { return }
    try? connection.publish(Array(bytes), to: ClusterAnnouncement.subject)
  }

  private func heard(_ event: ClusterEvent, _ connection: any ClusterConnection) async {
    guard case .message(let message) = event, message.payload.count <= ClusterAnnouncement.maximumSize,
      let announcement = try? JSONDecoder().decode(ClusterAnnouncement.self, from: Data(message.payload)),
      let peer = PeerID(text: announcement.peer), peer != configuration.identity.peerID
    else { return }
    guard let noted = cluster.note(announcement, of: peer, now: .now) else {
      if !cluster.isFull {
        logger.warning(
          "Relay ignored, because the cluster has too many relays.",
          metadata: ["peer": "\(peer.short)", "maximum": "\(RelayClusterState.maximumRelays)"]
        )
      }
      cluster.isFull = true
      return
    }
    if noted.mustAnswer { await announce(connection) { _ in } }
    guard noted.isNew else { return }
    logger.notice("Relay of the cluster found.", metadata: ["peer": "\(peer.short)"])
    spreadBoards()
  }

  private func forgetRelays(_ connection: any ClusterConnection) {
    guard connection.isConnected else { return }
    for peer in cluster.noteAnnouncement() {
      logger.notice("Relay of the cluster forgotten, because it was not heard.", metadata: ["peer": "\(peer.short)"])
    }
    for (id, board) in boards where !board.refusals.isEmpty {
      boards[id]?.refusals = board.refusals.filter { cluster.relays[$0.key] != nil }
    }
  }

  // MARK: - Boards

  /// Moves the boards that this relay hosts to the other relays too, so that each of them serves the boards.
  func spreadBoards() {
    guard !isEnding else { return }
    recommendRelays()
    for (peer, relay) in cluster.relays
    where relay.isOnline && !cluster.targets.contains(peer) && !cluster.waiting.contains(peer) {
      if boards.values.contains(where: { $0.needs(peer) }) { cluster.waiting.append(peer) }
    }
    spreadToNext()
  }

  private func spreadToNext() {
    while let peer = cluster.nextTarget() {
      spawn { relay in
        await relay.spreadBoards(to: peer)
        relay.cluster.targets.remove(peer)
        relay.spreadToNext()
      }
    }
  }

  /// Asks the other hosts of boards, while they are online, to move their boards to the other relays too (RLY-22).
  private func recommendRelays() {
    let online = cluster.relays.filter(\.value.isOnline)
    guard !online.isEmpty else { return }
    for (id, board) in boards {
      guard !board.isHosted, case .serving = board.state, let host = register[id]?.carriage?.host,
        board.people[host] != nil, cluster.relays.keys.allSatisfy({ $0.text != host })
      else { continue }
      let missing = online.filter { board.people[$0.key.text] == nil }.mapValues(\.announcement.dialable)
      guard !missing.isEmpty else { continue }
      spawn { _ in await board.sharedBoard.recommend(missing) }
    }
  }

  private func spreadBoards(to peer: PeerID) async {
    for (id, board) in boards where board.needs(peer) {
      guard !isEnding, let known = cluster.relays[peer], known.isOnline else { return }
      do throws(SessionError) {
        try await board.sharedBoard.keep(at: peer, known.announcement.dialable)
        boards[id]?.keepers.insert(peer)
        boards[id]?.refusals[peer] = nil
        logger.notice(
          "Board added to another relay of the cluster.",
          metadata: ["board": "\(id.short)", "peer": "\(peer.short)"]
        )
      } catch {
        // The next announcement of this relay causes another attempt.
        if cluster.relays[peer] != nil, boards[id]?.refusals[peer] != error.message {
          boards[id]?.refusals[peer] = error.message
          logger.warning(
            "Board not added to another relay of the cluster.",
            metadata: [
              "board": "\(id.short)", "peer": "\(peer.short)", "reason": "\(UntrustedText(error.message).escaped())",
            ]
          )
        }
        // A relay that cannot be reached must not delay the others by one attempt for each board.
        if [.unreachable, .timedOut, .wrongPeer].contains(error.code) { return }
      }
    }
  }

  /// Deletes the boards that another relay deleted.
  private func deleteBoards(_ connection: any ClusterConnection) async {
    // If the cluster does not answer, the next announcement, change or connection repeats this.
    let values: [String: ClusterValue]
    do throws(ClusterError) {
      values = try await connection.values()
      cluster.problem = nil
    } catch {
      cluster.pendingReads = 1
      return report(error, "Boards of the cluster cannot be compared.")
    }
    for (key, value) in values where key.hasPrefix(SharedBoardRecord.prefix) {
      guard let id = SessionID(text: String(key.dropFirst(SharedBoardRecord.prefix.count))), let entry = register[id],
        cluster.unpublished[id] == nil, let record = SharedBoardRecord(value), record.isDeleted,
        record.host == host(of: entry)
      else { continue }
      do throws(WhiteboardError) { try await delete(entry, inCluster: false) } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  /// Returns whether another relay of the cluster hosts a board. That relay decides how long the board is kept.
  func isHostedInCluster(_ entry: BoardRegister.Entry) -> Bool {
    entry.carriage.flatMap { PeerID(text: $0.host) }.map { cluster.relays[$0] != nil } ?? false
  }

  func host(of entry: BoardRegister.Entry) -> String { entry.carriage?.host ?? configuration.identity.peerID.text }

  /// Removes a board from the list of boards, and lets the other relays of the cluster delete it, now or as soon as the
  /// cluster can be reached, even if this relay is restarted before. Throws if this cannot be saved; the board is then
  /// not removed.
  func removeInCluster(_ board: SessionID, hostedBy host: String) throws(WhiteboardError) {
    let record = UnpublishedRecords.Entry(record: SharedBoardRecord(host: host, isDeleted: true))
    // If the relay is killed after the first of these steps, it deletes the board when it starts again.
    try share(board, record)
    do throws(WhiteboardError) { try register.remove(board) } catch {
      try? cluster.unpublished.remove(board, ifStill: record)
      throw error
    }
    publishSoon()
  }

  /// Deletes the boards whose deletion was interrupted by the end of this program.
  private func finishDeletions() async {
    for (id, unpublished) in cluster.unpublished.entries where unpublished.record.isDeleted {
      guard let entry = register[id], host(of: entry) == unpublished.record.host else { continue }
      do throws(WhiteboardError) { try await delete(entry, inCluster: false) } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  /// Lets the other relays of the cluster accept a board that this relay accepted.
  func acceptInCluster(_ board: SessionID, hostedBy host: PeerID, isNew: Bool = true) {
    // A newer record for the cluster decides.
    guard cluster.relays[host] == nil, isNew || cluster.unpublished[board] == nil else { return }
    let record = SharedBoardRecord(host: host.text, isDeleted: false)
    do throws(WhiteboardError) { try share(board, .init(record: record, isFirstOnly: !isNew)) } catch {
      logger.error("\(error.message)", metadata: ["board": "\(board.short)"])
    }
    if isNew { publishSoon() }
  }

  private func share(_ board: SessionID, _ entry: UnpublishedRecords.Entry) throws(WhiteboardError) {
    guard configuration.cluster != nil else { return }
    try cluster.unpublished.set(board, entry)
  }

  private func publishSoon() {
    guard let connection = cluster.connection else { return }
    spawn { relay in await relay.publishRecords(connection) }
  }

  private func publishRecords(_ connection: any ClusterConnection) async {
    // While this waits for the cluster, another task may publish a record.
    for (id, entry) in cluster.unpublished.entries where cluster.unpublished[id] == entry {
      guard let bytes = try? JSONEncoder().encode(entry.record) else { continue }
      let revision: UInt64? = entry.isFirstOnly ? 0 : nil
      do throws(ClusterError) {
        try await connection.set(Array(bytes), of: SharedBoardRecord.key(id), ifRevision: revision)
      } catch {
        // A conflict means that there is already a value.
        guard error.code == .conflict else { return }
      }
      // If this fails, the record is stored in the cluster once more later.
      do throws(WhiteboardError) { try cluster.unpublished.remove(id, ifStill: entry) } catch {
        return logger.error("\(error.message)")
      }
    }
  }

  // MARK: - Reports

  func clusterReports() async throws(WhiteboardError) -> [ClusterRelayReport] {
    try requireCluster()
    let isConnected = cluster.connection?.isConnected ?? false
    let own = ClusterRelayReport(
      peer: configuration.identity.peerID.text,
      name: UntrustedText(configuration.name),
      addresses: await addresses().map(\.description),
      boards: register.entries.count,
      people: peopleCount,
      state: isConnected ? .connected : .disconnected,
      problem: cluster.problem
    )
    let others = cluster.relays.sorted { $0.key.text < $1.key.text }.map { peer, known in
      ClusterRelayReport(
        peer: peer.text,
        name: UntrustedText(known.announcement.name),
        addresses: known.announcement.dialable.map(\.description),
        boards: known.announcement.boards,
        people: known.announcement.people,
        state: known.announcement.isLeaving ? .leaving : known.isOnline ? .online : .silent,
        problem: nil
      )
    }
    return [own] + others
  }

  func clusterBoards() async throws(WhiteboardError) -> [ClusterBoardReport] {
    try requireCluster()
    var reports: [ClusterBoardReport] = []
    for entry in register.entries {
      let served = entry.id.flatMap { boards[$0] }
      let reached = await served?.sharedBoard.reachedPeers ?? []
      let others = cluster.relays.keys.sorted()
      let host = entry.carriage?.host ?? configuration.identity.peerID.text
      reports.append(
        ClusterBoardReport(
          board: entry.board,
          name: UntrustedText(entry.name),
          host: entry.carriage == nil ? UntrustedText(configuration.name) : clusterName(of: host),
          relays: others.filter { reached.contains($0) && $0.text != host }.map { clusterName(of: $0.text) },
          missing: others.filter { !reached.contains($0) }.map { peer in
            let reason = served?.refusals[peer] ?? "it is not connected"
            return ClusterBoardReport.Missing(relay: clusterName(of: peer.text), reason: UntrustedText(reason))
          }
        )
      )
    }
    return reports
  }

  private func clusterName(of peer: String) -> UntrustedText {
    UntrustedText(PeerID(text: peer).flatMap { cluster.relays[$0]?.announcement.name } ?? peer)
  }

  private func requireCluster() throws(WhiteboardError) {
    guard configuration.cluster == nil else { return }
    throw WhiteboardError(.usage, "this relay belongs to no cluster; set `cluster` to the addresses of NATS servers")
  }
}

extension ServedBoard {
  fileprivate func needs(_ relay: PeerID) -> Bool {
    guard isHosted, case .serving = state else { return false }
    return !keepers.contains(relay)
  }
}
