import NIOCore
import PeerDiscovery

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
}
