import PeerCore
import PeerDiscovery
import PeerSession

/// Joins the session of a board without opening the board, and receives its broadcast.
package struct Watching: Sendable {
  /// The time between two requests to members that do not broadcast (CST-11).
  private static let interval = Duration.seconds(1)

  package let request: BroadcastRequest
  package let coder: (any FrameCoder)?

  /// If `coder` is nil, the pictures are not decoded.
  package init(_ request: BroadcastRequest, decoding coder: (any FrameCoder)?) {
    self.request = request
    self.coder = coder
  }

  /// Returns the request to join the session of a board. A board that is open on this computer needs no code.
  package static func joinRequest(
    _ target: JoinTarget,
    code: JoinCode?,
    discovery: any Discovery,
    dataDirectory: String,
    within limit: Duration
  ) async throws(WhiteboardError) -> JoinRequest {
    switch target {
    case .link(let link): return try JoinRequest(link, code: code)
    case .address(let address):
      return JoinRequest(at: PeerAddress(host: address.host, port: address.port), code: code)
    case .nearby: return try await nearby(nil, code, discovery, dataDirectory, limit)
    case .name(let name): return try await nearby(name, code, discovery, dataDirectory, limit)
    }
  }

  private static func nearby(
    _ name: String?,
    _ code: JoinCode?,
    _ discovery: any Discovery,
    _ dataDirectory: String,
    _ limit: Duration
  ) async throws(WhiteboardError) -> JoinRequest {
    let open = OpenBoard.all(inDataDirectory: dataDirectory).filter {
      guard let name else { return true }
      return $0.boardName == name || (name.utf8.count >= 4 && $0.board.hasPrefix(name.lowercased()))
    }
    if open.count == 1, let request = open.first.flatMap({ Self.request(for: $0, code) }) { return request }
    guard open.count < 2 else {
      let labels = open.map { "\(UntrustedText($0.boardName).quoted()) (\($0.board.prefix(8)))" }
      throw WhiteboardError(choosing: labels, "open on this computer")
    }
    let found = await firstOf(within: limit) { () -> [Nearby.Board]? in
      await discovery.browse(BrowserQuery(excluding: nil)) { events in
        let matching = Locked<[Nearby.Board]>([])
        return await withTaskGroup(of: Void.self) { group in
          let (matches, match) = AsyncStream<Void>.makeStream()
          group.addTask {
            var nearby = Nearby()
            for await event in events {
              switch event {
              case .found(let peer), .updated(let peer): nearby.insert(peer)
              case .lost(let peer): nearby.remove(peer)
              case .unavailable, .available: continue
              }
              let boards = nearby.boards(meantBy: name).filter { $0.peers.contains { !$0.addresses.isEmpty } }
              matching.withLock { $0 = boards }
              if !boards.isEmpty { match.yield() }
            }
            match.finish()
          }
          for await _ in matches { break }
          // Other boards with the same name are often found at the same time.
          try? await Task.sleep(for: settlingTime)
          group.cancelAll()
          return matching.withLock { $0 }
        }
      }
    }
    guard let board = found?.first, let peer = board.peers.first(where: { !$0.addresses.isEmpty }) else {
      let board = name.map { "no board called \(UntrustedText($0).quoted()) was" } ?? "no board was"
      throw WhiteboardError(.timedOut, "\(board) found nearby; to find the cause, run: whiteboard-peer doctor")
    }
    guard found?.count == 1 else { throw WhiteboardError(choosing: (found ?? []).map(\.label), "nearby") }
    return JoinRequest(
      session: board.id,
      addresses: peer.addresses,
      peer: PeerID(claimed: peer.announcement.peer),
      trust: .discovered,
      code: code
    )
  }

  /// How long to search for other boards after one was found.
  private static let settlingTime = Duration.milliseconds(500)

  private static func request(for board: OpenBoard, _ code: JoinCode?) -> JoinRequest? {
    guard let session = SessionID(text: board.board), let peer = PeerID(text: board.peer) else { return nil }
    let host = board.listen.flatMap { ["0.0.0.0", "::"].contains($0) ? nil : $0 } ?? "127.0.0.1"
    var request = JoinRequest(
      session: session,
      addresses: [PeerAddress(host: host, port: board.port)],
      peer: peer,
      trust: .pinnedByLink,
      code: board.code.flatMap { try? JoinCode(words: $0) } ?? code
    )
    request.pass = board.pass.flatMap { InvitationPass(text: $0) }
    return request
  }

  /// Waits until a member broadcasts, and receives the broadcast.
  ///
  /// - Parameters:
  ///   - session: The session. The program must read its events.
  ///   - waiting: Called once before each wait for a member to broadcast.
  ///   - handle: Called with each event. The picture is confirmed to the broadcaster after the function returns.
  /// - Throws: The error of `handle`, and ``WhiteboardError`` if the session ended.
  package func run(
    in session: Session,
    waiting: @Sendable () async -> Void,
    _ handle: @Sendable (WatchedEvent) async throws -> Void
  ) async throws {
    var silent: Set<PeerID> = []
    var isWaiting = false
    while true {
      try Task.checkCancellation()
      let host = session.hostPeer
      let peers = session.peers().filter { $0.state == .connected && !silent.contains($0.peer.id) }.map(\.peer.id)
      for peer in peers.filter({ $0 == host }) + peers.filter({ $0 != host }) {
        guard let watcher = try? await BroadcastWatcher(request, of: peer, in: session, decoding: coder) else {
          continue
        }
        switch try await watch(watcher, handle) {
        case .over: return
        case .silent: silent.insert(peer)
        case .notNow: continue
        case .broken: isWaiting = false
        }
      }
      try Task.checkCancellation()
      if session.peers().isEmpty {
        // The reader of the events may know why, and then ends this task.
        try await Task.sleep(for: Self.interval)
        guard !session.peers().isEmpty else { throw WhiteboardError(.unreachable, "the board was closed") }
      }
      if !isWaiting { await waiting() }
      isWaiting = true
      try await Task.sleep(for: Self.interval)
    }
  }

  private enum Outcome {
    case over, silent, notNow, broken
  }

  private func watch(_ watcher: BroadcastWatcher, _ handle: @Sendable (WatchedEvent) async throws -> Void) async throws
    -> Outcome
  {
    var hasStarted = false
    while true {
      let next: WatchedEvent?
      do { next = try await watcher.next() } catch let error as BroadcastError {
        // Another member may send a valid broadcast.
        try await handle(.failed(BroadcastNotice(.malformed, "\(error)")))
        await watcher.stop()
        return .silent
      }
      guard let event = next else { break }
      switch event {
      case .finished(let notice) where !hasStarted:
        switch BroadcastNotice.Code(rawValue: notice.code) {
        case .notBroadcasting, .busy, .finished: return .notNow
        default:
          try await handle(event)
          return .over
        }
      case .finished:
        try await handle(event)
        return .over
      case .started: hasStarted = true
      default: break
      }
      do { try await handle(event) } catch {
        await watcher.stop()
        throw error
      }
    }
    return await watcher.hasAnswer ? .broken : .silent
  }
}
