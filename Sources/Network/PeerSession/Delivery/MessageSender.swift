import PeerCore
import PeerDiscovery
import PeerWire

/// Puts the application's reliable messages into the outboxes of the recipients or their relays. Any task may use this
/// type. The session's event loop writes the outboxes to the links.
final class MessageSender: Sendable {
  private let published: Locked<SessionSnapshot>
  let confirmations: Confirmations

  init(published: Locked<SessionSnapshot>, confirmations: Confirmations) {
    self.published = published
    self.confirmations = confirmations
  }

  // MARK: Sending

  nonisolated(nonsending) func send(_ bytes: [UInt8], to peers: [PeerID]?) async throws(SessionError) -> SendReceipt {
    var receipt = SendReceipt(tracks: [])
    let routes = try routes(to: peers)
    for outbox in routes.direct {
      if let sequence = try outbox.appendNow(bytes, acknowledgeAtOnce: false) {
        receipt.tracks.append(outbox.track(sequence))
      } else {
        let sequence = try await outbox.append(bytes, acknowledgeAtOnce: false)
        receipt.tracks.append(outbox.track(sequence))
      }
    }
    for group in routes.relayed { receipt.tracks += try await sendRelayed(bytes, group, isNamed: peers != nil) }
    return receipt
  }

  nonisolated(nonsending) func send(_ bytes: [UInt8], toGenerations generations: [PeerID: UInt64])
    async throws(SessionError) -> SendReceipt
  {
    let (routes, absent) = try routes(toGenerations: generations)
    var failure = absent.map { SessionError.notInSession($0) }
    var receipt = SendReceipt(tracks: [])
    for outbox in routes.direct {
      do throws(SessionError) {
        let sequence = try await outbox.append(bytes, acknowledgeAtOnce: false)
        receipt.tracks.append(outbox.track(sequence))
      } catch {
        guard error.code != .cancelled else { throw error }
        failure = error
      }
    }
    for group in routes.relayed {
      do throws(SessionError) { receipt.tracks += try await sendRelayed(bytes, group, isNamed: false) } catch {
        guard error.code != .cancelled else { throw error }
        failure = error
      }
    }
    if let failure, receipt.tracks.isEmpty { throw failure }
    return receipt
  }

  /// Waits until the process of every recipient has received the message (MSG-4). Throws the errors of
  /// ``Session/send(_:to:mode:)``.
  nonisolated(nonsending) func sendConfirmed(_ bytes: [UInt8], to peers: [PeerID]?, sent: () -> Void)
    async throws(SessionError)
  {
    var waits: [(Outbox, UInt64)] = []
    let routes = try routes(to: peers)
    for outbox in routes.direct { waits.append((outbox, try await outbox.append(bytes, acknowledgeAtOnce: true))) }
    var tokens: [UInt64] = []
    for group in routes.relayed {
      try await sendRelayed(bytes, group, isNamed: true)
      tokens.append(try await confirm(group))
    }
    defer { for token in tokens { confirmations.abandon(token) } }
    sent()
    for (outbox, sequence) in waits { try await outbox.acknowledgement(of: sequence) }
    for token in tokens { try await confirmations.wait(for: token) }
  }

  /// Waits until the peer's process has received a message that was sent earlier (RLY-9). Throws the errors of
  /// ``Session/confirmation(of:by:)``.
  func confirmation(of receipt: SendReceipt, by peer: PeerID) async throws(SessionError) {
    guard let track = receipt.tracks.first(where: { $0.peer == peer }) else { throw .notInSession(peer) }
    switch track.means {
    case .link(let outbox, let sequence): try await outbox.acknowledgement(of: sequence)
    case .relay(let ledger, let number):
      if ledger.isConfirmed(number) { return }
      let route = published.withLock { $0.routes[peer] }
      guard let route, route.joinGeneration == track.joinGeneration, let relayed = route.relayed else {
        throw .notInSession(peer)
      }
      let token = try await confirm(
        Routes.Relayed(relay: relayed.relay, peers: [.init(peer: peer, joinGeneration: track.joinGeneration)])
      )
      defer { confirmations.abandon(token) }
      try await confirmations.wait(for: token)
    }
  }

  // MARK: Routes

  /// `nil` means all peers in the session.
  @discardableResult func routes(to peers: [PeerID]?) throws(SessionError) -> Routes {
    let result: Result<Routes, SessionError> = published.withLock { published in
      if let end = published.end { return .failure(end) }
      guard let peers, peers != published.order else { return .success(published.everyone) }
      var routes = Routes()
      for peer in peers {
        guard let route = published.routes[peer] else { return .failure(.notInSession(peer)) }
        routes.add(peer, route)
      }
      return .success(routes)
    }
    return try result.get()
  }

  /// Returns the routes to the peers whose join generation still matches, and one peer whose join generation does not.
  private func routes(toGenerations generations: [PeerID: UInt64]) throws(SessionError) -> (
    routes: Routes, absent: PeerID?
  ) {
    let (end, present) = published.withLock { ($0.end, $0.routes) }
    if let end { throw end }
    var routes = Routes()
    var absent: PeerID?
    for (peer, joinGeneration) in generations {
      if let route = present[peer], route.joinGeneration == joinGeneration {
        routes.add(peer, route)
      } else {
        absent = peer
      }
    }
    return (routes, absent)
  }

  // MARK: Relayed peers

  /// Asks the peers to confirm the messages that were sent to them before. Returns a token for
  /// ``Confirmations/wait(for:)``.
  private nonisolated(nonsending) func confirm(_ group: Routes.Relayed) async throws(SessionError) -> UInt64 {
    let token = confirmations.begin(group.peers.map(\.peer))
    do throws(SessionError) {
      try await sendRelayed([], group, isNamed: true, confirming: token)
      return token
    } catch {
      confirmations.abandon(token)
      throw error
    }
  }

  /// Sends one copy of a message to the relay that forwards it, or CONFIRM if `token` is not `nil`. Returns the
  /// delivery track for each recipient. Waits until the relay's rate limit allows further messages (RLY-14). A
  /// recipient that left or joined again is skipped. If `isNamed`, a skipped recipient is an error.
  @discardableResult private nonisolated(nonsending) func sendRelayed(
    _ bytes: [UInt8],
    _ group: Routes.Relayed,
    isNamed: Bool,
    confirming token: UInt64? = nil
  ) async throws(SessionError) -> [SendReceipt.Track] {
    var hasWaited = false
    while true {
      switch try appendRelayed(bytes, group, token, hasWaited: hasWaited) {
      case .accepted(let tracks, let skipped, let pause):
        // The message was accepted already, so the pause delays only the next message.
        if pause > .zero { try? await Task.sleep(for: pause) }
        if let peer = skipped, isNamed { throw .notInSession(peer) }
        return tracks
      case .full(let outbox):
        try await outbox.waitForRoom(bytes.count, first: hasWaited)
        hasWaited = true
      }
    }
  }

  private enum Attempt {
    /// The caller must pause before its next message (RLY-14). `skipped` is a recipient that left or joined again.
    case accepted([SendReceipt.Track], skipped: PeerID?, pause: Duration)
    case full(Outbox)
  }

  /// Looks up the routes and appends a message, while holding one lock for both. Therefore, if the event loop retires a
  /// route number, the relay is notified only after all messages that use the number (RLY-5).
  private func appendRelayed(_ bytes: [UInt8], _ group: Routes.Relayed, _ token: UInt64?, hasWaited: Bool)
    throws(SessionError) -> Attempt
  {
    let result: Result<Attempt, SessionError> = published.withLock { published in
      if let end = published.end { return .failure(end) }
      var numbers = RouteSet()
      var outbox: Outbox?
      var ledgers: [(recipient: Routes.Recipient, ledger: RouteLedger)] = []
      var skipped: PeerID?
      for recipient in group.peers {
        guard let route = published.routes[recipient.peer], route.joinGeneration == recipient.joinGeneration,
          let relayed = route.relayed, let ledger = route.ledger, relayed.relay == group.relay
        else {
          skipped = recipient.peer
          continue
        }
        numbers.insert(relayed.number)
        ledgers.append((recipient, ledger))
        outbox = route.outbox
      }
      guard let outbox else { return .success(.accepted([], skipped: skipped, pause: .zero)) }
      do throws(SessionError) {
        let head = token.map { RelayMessage.confirm(numbers, token: $0) } ?? .send(numbers)
        let message = head.encoded(bytes)
        let sequence = try outbox.appendNow(
          message,
          acknowledgeAtOnce: token != nil,
          isRelays: true,
          hasWaited: hasWaited
        )
        guard sequence != nil else { return .success(.full(outbox)) }
        var tracks: [SendReceipt.Track] = []
        for (recipient, ledger) in ledgers {
          if let token {
            ledger.asked(token)
          } else {
            tracks.append(.init(recipient, .relay(ledger, ledger.countMessage())))
          }
        }
        let pause = published.paces[group.relay]?.charge(
          bytes.count + RateLimiter.overhead,
          copies: numbers.routes.count,
          now: .uptime
        )
        return .success(.accepted(tracks, skipped: skipped, pause: pause ?? .zero))
      } catch { return .failure(error) }
    }
    return try result.get()
  }
}

struct Route: Sendable {
  var outbox: Outbox
  /// The route through a relay; `nil` if there is a link to the peer.
  var relayed: RelayRoute?
  /// The ledger that counts the messages to a relayed peer; `nil` if there is a link to the peer.
  var ledger: RouteLedger?
  var joinGeneration: UInt64
}

/// The routes of a message. Each linked peer has its own outbox. All peers behind one relay share an outbox, and
/// receive the same copy of the message.
struct Routes: Sendable {
  /// The peers behind one relay, in the order in which they joined.
  struct Relayed: Sendable {
    var relay: PeerID
    var peers: [Recipient]
  }

  struct Recipient: Sendable {
    var peer: PeerID
    var joinGeneration: UInt64
  }

  var direct: [Outbox] = []
  var relayed: [Relayed] = []

  mutating func add(_ peer: PeerID, _ route: Route) {
    guard let relay = route.relayed?.relay else { return direct.append(route.outbox) }
    let recipient = Recipient(peer: peer, joinGeneration: route.joinGeneration)
    if let index = relayed.firstIndex(where: { $0.relay == relay }) {
      relayed[index].peers.append(recipient)
    } else {
      relayed.append(Relayed(relay: relay, peers: [recipient]))
    }
  }
}

final class RouteLedger: Sendable {
  private struct State {
    var sent: UInt64 = 0
    var confirmed: UInt64 = 0
    /// The number of messages sent before each unanswered CONFIRM.
    var asked: [(token: UInt64, sent: UInt64)] = []
  }

  /// The maximum number of remembered CONFIRMs; an answer to an older CONFIRM is ignored.
  private static let maximumAsked = 1_024

  private let state = Locked(State())

  func countMessage() -> UInt64 {
    state.withLock { state in
      state.sent += 1
      return state.sent
    }
  }

  func asked(_ token: UInt64) {
    state.withLock { state in
      if state.asked.count >= Self.maximumAsked { state.asked.removeFirst() }
      state.asked.append((token, state.sent))
    }
  }

  func confirmed(_ token: UInt64) {
    state.withLock { state in
      guard let index = state.asked.firstIndex(where: { $0.token == token }) else { return }
      state.confirmed = max(state.confirmed, state.asked[index].sent)
      state.asked.removeSubrange(...index)
    }
  }

  func isConfirmed(_ number: UInt64) -> Bool { state.withLock { number <= $0.confirmed } }

  var unconfirmed: Int { state.withLock { Int($0.sent - $0.confirmed) } }
}
