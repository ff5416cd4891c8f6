import NIOConcurrencyHelpers
import PeerWire

extension Session {
  /// The peer whose link a message to `peer` takes: that peer, or the relay that carries us to it.
  ///
  /// For an application that queues what it sends: one copy in the queue of the relay serves all who
  /// are reached by it (``send(_:to:mode:)``).
  public func way(to peer: PeerID) -> PeerID {
    published.withLockedValue { $0.routes[peer]?.relayed?.relay } ?? peer
  }

  /// What we have passed on as a relay of this session so far; nothing once it is over.
  public func relayTally() async -> RelayTally {
    (try? await onLoop { $0.relaying.tally }) ?? RelayTally()
  }

  /// Asks a relay to carry this session, and stays connected with it.
  ///
  /// From then on the session lives on while this peer is away: the relay admits newcomers as `terms`
  /// say, and carries members to each other that have no link. Whenever this peer comes back to the
  /// relay it says the terms again, so that a relay which lost its memory carries the session anew;
  /// calling this again with other terms changes them.
  ///
  /// - Parameters:
  ///   - addresses: Where the relay may be, best first.
  ///   - relay: Its key, where it is known; another is refused.
  ///   - terms: What the relay is to know of the session, a code included.
  /// - Returns: The relay's key.
  /// - Throws: `notHost` when another peer is the host; `notCarried` with the relay's reason, or where
  ///   there is no relay; what ``PeerTransport/join(_:verify:)`` throws when it cannot be reached.
  public func carry(
    by addresses: [PeerAddress],
    relay: PeerID? = nil,
    terms: CarryTerms
  ) async throws(SessionError) -> PeerID {
    let core = core
    return try await withSessionErrors {
      try await self.eventLoop.flatSubmit {
        RelayMove(core.value, terms).start(addresses, relay: relay)
      }.get()
    }
  }

  /// Asks those of a group to say when they have what was sent to them before.
  ///
  /// - Returns: A token for ``Confirmations/wait(for:)``.
  /// - Throws: What ``send(_:to:mode:)`` throws.
  nonisolated(nonsending) func confirm(
    _ group: Routes.Relayed
  ) async throws(SessionError) -> UInt64 {
    let token = confirmations.begin(group.peers.map(\.peer))
    do throws(SessionError) {
      try await sendRelayed([], group, isNamed: true, confirming: token)
      return token
    } catch {
      confirmations.abandon(token)
      throw error
    }
  }

  /// Sends one copy of a message to a relay for all recipients behind it, and then waits for as
  /// long as the relay needs to forward that many copies (RLY-14).
  ///
  /// - Parameters:
  ///   - bytes: The message.
  ///   - group: The recipients; those that left or joined again in the meantime are skipped.
  ///   - isNamed: Whether it is an error if a recipient is skipped.
  ///   - token: If present, CONFIRM is sent instead of a message.
  /// - Returns: The track of the message to each recipient.
  /// - Throws: The errors of ``send(_:to:mode:)``.
  @discardableResult
  nonisolated(nonsending) func sendRelayed(
    _ bytes: [UInt8],
    _ group: Routes.Relayed,
    isNamed: Bool,
    confirming token: UInt64? = nil
  ) async throws(SessionError) -> [SendReceipt.Track] {
    var hasWaited = false
    while true {
      switch try appendRelayed(bytes, group, token, hasWaited: hasWaited) {
      case .taken(let tracks, let passedOver, let pause):
        // The message is sent; the pause delays only the next one.
        if pause > .zero { try? await Task.sleep(for: pause) }
        if let peer = passedOver, isNamed { throw .notInSession(peer) }
        return tracks
      case .full(let outbox):
        try await outbox.waitForRoom(bytes.count, first: hasWaited)
        hasWaited = true
      }
    }
  }

  private enum Attempt {
    /// The outbox accepted the message. A recipient may have been skipped, and the caller must
    /// pause (RLY-14).
    case taken([SendReceipt.Track], passedOver: PeerID?, pause: Duration)
    case full(Outbox)
  }

  /// Appends a message while holding the lock for both the look-up and the outbox.
  ///
  /// So if the event loop retires a number, the relay learns of it only after all messages that use
  /// the number (RLY-5).
  private func appendRelayed(
    _ bytes: [UInt8],
    _ group: Routes.Relayed,
    _ token: UInt64?,
    hasWaited: Bool
  ) throws(SessionError) -> Attempt {
    let result: Result<Attempt, SessionError> = published.withLockedValue { published in
      if let end = published.end { return .failure(end) }
      var numbers = RouteSet()
      var outbox: Outbox?
      var ledgers: [(carried: Routes.Carried, ledger: RouteLedger)] = []
      var passedOver: PeerID?
      for carried in group.peers {
        guard let route = published.routes[carried.peer], route.joining == carried.joining,
          let relayed = route.relayed, let ledger = route.ledger, relayed.relay == group.relay
        else {
          passedOver = carried.peer
          continue
        }
        numbers.insert(relayed.number)
        ledgers.append((carried, ledger))
        outbox = route.outbox
      }
      guard let outbox else { return .success(.taken([], passedOver: passedOver, pause: .zero)) }
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
        for (carried, ledger) in ledgers {
          if let token {
            ledger.asked(token)
          } else {
            tracks.append(.init(carried, .relay(ledger, ledger.countMessage())))
          }
        }
        let pause = published.paces[group.relay]?
          .take(bytes.count + RateLimiter.overhead, copies: numbers.routes.count, now: .uptime)
        return .success(.taken(tracks, passedOver: passedOver, pause: pause ?? .zero))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
