/// The route of reliable messages to one peer of a session.
struct Route: Sendable {
  /// The outbox of the peer, or of the relay that forwards messages to it.
  var outbox: Outbox
  /// The route through a relay; `nil` if there is a link to the peer.
  var relayed: RelayRoute?
  /// The ledger that counts the messages to a relayed peer; `nil` if there is a link to the peer.
  var ledger: RouteLedger?
  /// The join generation of the peer.
  var joinGeneration: UInt64
}

/// The routes to several peers.
///
/// Each linked peer has its own outbox. All peers behind one relay share an outbox and receive the same copy of a
/// message.
struct Routes: Sendable {
  /// The peers behind one relay, in the order in which they joined.
  struct Relayed: Sendable {
    var relay: PeerID
    var peers: [Recipient]
  }

  /// A relayed peer and its join generation.
  struct Recipient: Sendable {
    var peer: PeerID
    var joinGeneration: UInt64
  }

  var direct: [Outbox] = []
  var relayed: [Relayed] = []

  /// Adds the route to one more peer.
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
