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

    var isOnline: Bool {
      !announcement.isLeaving && ContinuousClock.now - heard < ClusterAnnouncement.interval * 3
    }
  }

  /// The other relays that were heard since this relay started.
  var relays: [PeerID: Known] = [:]
  var connection: (any ClusterConnection)?
  /// The reason why there is no connection.
  var problem: String?
  /// The relays to which boards are being moved.
  var targets: Set<PeerID> = []
  /// The deleted boards of this relay that the other relays must delete too.
  var deleted: Set<SessionID> = []
}

/// What a relay announces to the others: every ``interval``, and when it joins or leaves the cluster.
struct ClusterAnnouncement: Codable, Equatable, Sendable {
  static let interval = Duration.seconds(5)
  static let subject = ClusterSubject("relays")
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

/// A shared value of the cluster: a board that its relay deleted.
private struct DeletedBoard: Codable {
  static let prefix = "deleted."

  let host: String

  static func key(_ board: SessionID) -> ClusterSubject { ClusterSubject("deleted", board.text) }
}

extension Relay {
  /// Stays in the cluster until the task is canceled. A relay without a connection continues to serve its boards.
  func stayInCluster() async {
    guard let connect = configuration.cluster else { return }
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

  private func report(_ error: ClusterError) {
    guard cluster.problem != error.description, !Task.isCancelled else { return }
    cluster.problem = error.description
    logger.error("Cluster not joined.", metadata: ["reason": "\(error)"])
  }

  private func work(with connection: any ClusterConnection) async throws(ClusterError) {
    let announcements = try await connection.feed(of: ClusterAnnouncement.subject)
    let changes = try await connection.valueChanges()
    logger.notice("Cluster joined.")
    let listening = Task { for await event in announcements { await self.heard(event, connection) } }
    let deleting = Task {
      await self.deleteBoards(connection)
      for await _ in changes { await self.deleteBoards(connection) }
    }
    var isJoining = true
    while !Task.isCancelled {
      await announce(connection) { $0.isJoining = isJoining }
      isJoining = false
      await publishDeletions(connection)
      spreadBoards()
      metrics.set(.clusterConnected, connection.isConnected ? 1 : 0)
      metrics.set(.clusterRelays, Double(cluster.relays.values.count(where: \.isOnline)))
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
    guard case .message(let message) = event,
      let announcement = try? JSONDecoder().decode(ClusterAnnouncement.self, from: Data(message.payload)),
      let peer = PeerID(text: announcement.peer), peer != configuration.identity.peerID
    else { return }
    let isNew = !(cluster.relays[peer]?.isOnline ?? false)
    cluster.relays[peer] = .init(announcement: announcement, heard: .now)
    if announcement.isJoining { await announce(connection) { _ in } }
    guard isNew else { return }
    logger.notice("Relay of the cluster found.", metadata: ["peer": "\(peer.short)"])
    spreadBoards()
  }

  // MARK: - Boards

  /// Moves the boards that this relay hosts to the other relays too, so that each of them serves the boards.
  func spreadBoards() {
    guard !isEnding else { return }
    for (peer, relay) in cluster.relays where relay.isOnline && !cluster.targets.contains(peer) {
      guard boards.values.contains(where: { $0.needs(peer) }) else { continue }
      cluster.targets.insert(peer)
      spawn { relay in
        await relay.spreadBoards(to: peer)
        relay.cluster.targets.remove(peer)
      }
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
          "Board moved to a relay of the cluster too.",
          metadata: ["board": "\(id.short)", "peer": "\(peer.short)"]
        )
      } catch {
        // The next announcement of the other relay causes another attempt.
        guard boards[id]?.refusals[peer] != error.message else { continue }
        boards[id]?.refusals[peer] = error.message
        logger.warning(
          "Board not moved to a relay of the cluster.",
          metadata: [
            "board": "\(id.short)", "peer": "\(peer.short)", "reason": "\(UntrustedText(error.message).escaped())",
          ]
        )
      }
    }
  }

  /// Deletes the boards that their relays deleted.
  private func deleteBoards(_ connection: any ClusterConnection) async {
    // If the cluster does not answer, the next change or connection repeats this.
    guard let values = try? await connection.values() else { return }
    for (key, value) in values where key.hasPrefix(DeletedBoard.prefix) {
      guard let id = SessionID(text: String(key.dropFirst(DeletedBoard.prefix.count))), let entry = register[id],
        let deleted = try? JSONDecoder().decode(DeletedBoard.self, from: Data(value.bytes)),
        entry.carriage?.host == deleted.host
      else { continue }
      do throws(WhiteboardError) { try await delete(entry) } catch {
        logger.error("\(error.message)", metadata: ["board": "\(id.short)"])
      }
    }
  }

  func deleteInCluster(_ board: SessionID) {
    guard configuration.cluster != nil else { return }
    cluster.deleted.insert(board)
    guard let connection = cluster.connection else { return }
    spawn { relay in await relay.publishDeletions(connection) }
  }

  private func publishDeletions(_ connection: any ClusterConnection) async {
    for id in cluster.deleted {
      let deleted = DeletedBoard(host: configuration.identity.peerID.text)
      guard let bytes = try? JSONEncoder().encode(deleted),
        (try? await connection.set(Array(bytes), of: DeletedBoard.key(id), ifRevision: nil)) != nil
      else { return }
      cluster.deleted.remove(id)
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
      problem: isConnected ? nil : cluster.problem
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

  func clusterBoards() throws(WhiteboardError) -> [ClusterBoardReport] {
    try requireCluster()
    return register.entries.map { entry in
      let keepers = entry.id.flatMap { boards[$0]?.keepers } ?? []
      let host = entry.carriage?.host ?? configuration.identity.peerID.text
      return ClusterBoardReport(
        board: entry.board,
        name: UntrustedText(entry.name),
        host: entry.carriage == nil ? UntrustedText(configuration.name) : clusterName(of: host),
        relays: keepers.map(\.text).sorted().map { clusterName(of: $0) }
      )
    }
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
