/// How reliable messages get to one peer of a session.
struct Way: Sendable {
  /// The peer's own, or that of the relay which passes messages on to it.
  var outbox: Outbox
  /// Present where a relay does.
  var route: RelayRoute?
  /// Counts what is sent to a peer behind a relay.
  var ledger: RouteLedger?
  /// Which of all the times it is that somebody came into the session.
  var joining: UInt64
}

/// The ways to several peers: an outbox for each that has a link, and one for all that a relay carries
/// us to, so that they cost one copy.
struct Ways: Sendable {
  /// Peers that one relay carries us to, as they came in.
  struct Relayed: Sendable {
    var relay: PeerID
    var peers: [Carried]
  }

  /// One of them.
  struct Carried: Sendable {
    var peer: PeerID
    var joining: UInt64
  }

  var direct: [Outbox] = []
  var relayed: [Relayed] = []

  /// Adds the way to one more peer.
  mutating func add(_ peer: PeerID, _ way: Way) {
    guard let relay = way.route?.relay else { return direct.append(way.outbox) }
    let carried = Carried(peer: peer, joining: way.joining)
    if let index = relayed.firstIndex(where: { $0.relay == relay }) {
      relayed[index].peers.append(carried)
    } else {
      relayed.append(Relayed(relay: relay, peers: [carried]))
    }
  }
}
