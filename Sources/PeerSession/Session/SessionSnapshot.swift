import PeerCore
import PeerDiscovery

/// A snapshot of a session's state, which any thread may read.
///
/// The session's event loop updates it.
struct SessionSnapshot: Sendable {
  /// The route to each peer in the session.
  var routes: [PeerID: Route] = [:]
  /// The routes to all peers, in `order`.
  var everyone = Routes()
  /// The send rate limits for the relays.
  var paces: [PeerID: RelayPace] = [:]
  /// The peers in the session, in the order of their ids.
  var order: [PeerID] = []
  /// The peers of `order` with their state.
  var statuses: [PeerStatus] = []
  /// The reason why the session is over; `nil` while it is running.
  var end: SessionError?
  var id: SessionID
  var host: PeerID
  var name = UntrustedText("")
  /// The connected peers that may admit newcomers if the policy is `ask`: the host, and the members that it gave this
  /// right (TCK-6).
  var admitters: [PeerID] = []

  /// Replaces the peers in the session.
  ///
  /// - Parameter peers: The peers in the order of their ids, each with its route; the route is `nil` if messages cannot
  ///   currently reach the peer.
  mutating func replacePeers(with peers: [(status: PeerStatus, route: Route?)]) {
    order = peers.map(\.status.peer.id)
    statuses = peers.map(\.status)
    routes = [:]
    everyone = Routes()
    for (status, route) in peers {
      guard let route else { continue }
      routes[status.peer.id] = route
      everyone.add(status.peer.id, route)
    }
  }

  /// Records that the session is over.
  mutating func end(_ error: SessionError) {
    end = error
    admitters = []
    replacePeers(with: [])
  }
}
