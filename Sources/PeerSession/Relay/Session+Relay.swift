import NIOCore
import PeerDiscovery

extension Session {
  /// Returns the next hop for messages to `peer`: that peer itself, or a relay.
  ///
  /// An application that queues its own messages can use it to queue one copy for all peers behind a relay
  /// (``send(_:to:mode:)``).
  public func nextHop(to peer: PeerID) -> PeerID {
    published.withLockedValue { $0.routes[peer]?.relayed?.relay } ?? peer
  }

  /// Returns the amount of data that the local peer has forwarded as a relay of this session; zero once the session is
  /// over.
  public func relayTally() async -> RelayTally { (try? await onLoop { $0.relaying.tally }) ?? RelayTally() }

  /// Asks a relay to relay this session, and stays connected to it.
  ///
  /// From then on, the session continues while this peer is away: the relay admits newcomers according to `terms`, and
  /// forwards messages between members that have no direct link. On every new link to the relay, this peer sends the
  /// terms again. Therefore, a relay that lost its state resumes relaying the session. To change the terms, call this
  /// method again.
  ///
  /// - Parameters:
  ///   - addresses: The possible addresses of the relay, best first.
  ///   - relay: The relay's key, if it is known; another key is refused.
  ///   - terms: The properties of the session that the relay must know, including the code.
  /// - Returns: The relay's key.
  /// - Throws: `notHost` if another peer is the host; `notCarried` with the relay's reason, or if the peer is not a
  ///   relay; the errors of ``PeerTransport/join(_:progress:verify:)`` if it cannot be reached.
  public func carry(by addresses: [PeerAddress], relay: PeerID? = nil, terms: CarryTerms) async throws(SessionError)
    -> PeerID
  {
    let core = core
    return try await withSessionErrors {
      try await self.eventLoop.flatSubmit { RelayMove(core.value, terms).start(addresses, relay: relay) }.get()
    }
  }
}
