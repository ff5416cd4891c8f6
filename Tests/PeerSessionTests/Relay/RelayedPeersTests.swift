import PeerWire
import Testing

@testable import PeerSession

@Suite("RelayedPeers", .timeLimit(.minutes(5))) struct RelayedPeersTests {
  private let us = PeerID.numbered(1)
  private let far = PeerID.numbered(2)
  private let r = PeerID.numbered(10)
  private let s = PeerID.numbered(11)
  private let now = SessionIncarnation(5)

  private func reach(_ relay: PeerID) -> RelayedPeers.Action {
    .init(relay: relay, message: .reach(peer: far.bytes, incarnation: now.bytes))
  }

  private func asking() -> RelayedPeers {
    var peers = RelayedPeers()
    peers.gained(r)
    peers.gained(s)
    #expect(peers.want(far, now) == [reach(r), reach(s)])
    return peers
  }

  @Test("[RLY-6] each relay is asked once for a peer, and again for a new incarnation of it") func asks() {
    var peers = asking()
    #expect(peers.want(far, now).isEmpty)
    #expect(peers.want(far, SessionIncarnation(6)).count == 2)
    // No relay is asked for a route to itself.
    #expect(peers.want(r, now).map(\.relay) == [s])
  }

  @Test("[RLY-6] of several routes, the one through the smallest relay is used; the others stand by")
  func severalRelays() throws {
    var peers = asking()
    try peers.opened(4, of: s, to: far, now, local: us)
    #expect(peers.route(to: far) == RelayRoute(relay: s, number: 4))
    try peers.opened(7, of: r, to: far, now, local: us)
    #expect(peers.route(to: far) == RelayRoute(relay: r, number: 7))
    #expect(try peers.closed(7, of: r) == far)
    #expect(peers.route(to: far) == RelayRoute(relay: s, number: 4))
    // That relay has dropped the request together with the route.
    #expect(peers.want(far, now) == [reach(r)])
    #expect(peers.lost(s) == [far])
    #expect(peers.route(to: far) == nil)
  }

  @Test("[RLY-20] a route through a hub that is out of reach is used only if there is no other") func outOfReach()
    throws
  {
    var peers = asking()
    try peers.opened(7, of: r, to: far, now, local: us)
    #expect(peers.route(to: far, outOfReach: [r]) == RelayRoute(relay: r, number: 7))
    try peers.opened(4, of: s, to: far, now, local: us)
    #expect(peers.route(to: far, outOfReach: [r]) == RelayRoute(relay: s, number: 4))
    #expect(
      peers.unwant(far, .rerouted, through: r) == .init(relay: r, message: .unreach(peer: far.bytes, .rerouted))
    )
    #expect(peers.unwant(far, .rerouted, through: r) == nil)
    // When the hub returns, the other route stays, until the hub withdraws the number.
    #expect(peers.route(to: far) == RelayRoute(relay: s, number: 4))
    #expect(try peers.closed(7, of: r) == nil)
  }

  @Test("[RLY-8] after a peer is no longer requested, no route to it is used, not even a later one") func unwanted()
    throws
  {
    var peers = asking()
    try peers.opened(0, of: r, to: far, now, local: us)
    #expect(
      peers.unwant(far, .rerouted) == [r, s].map { .init(relay: $0, message: .unreach(peer: far.bytes, .rerouted)) }
    )
    #expect(peers.route(to: far) == nil && peers.peer(at: 0, of: r) == nil)
    try peers.opened(3, of: s, to: far, now, local: us)
    #expect(peers.route(to: far) == nil)
    #expect(try peers.closed(0, of: r) == nil)
    #expect(try peers.closed(3, of: s) == nil)
    #expect(peers.unwant(far, .rerouted).isEmpty)
  }

  @Test("[RLY-15] relays are asked first, then one bridge after the other, the host first") func bridges() throws {
    let host = PeerID.numbered(20)
    var peers = RelayedPeers()
    peers.gained(s, as: .bridge)
    peers.gained(r, as: .bridge)
    peers.gained(host, as: .host)
    #expect(peers.want(far, now).isEmpty && peers.isAsked(far, now) && !peers.hasRelays)
    #expect(peers.wantBridge(far, now) == [reach(host)])
    #expect(peers.wantBridge(far, now) == [reach(r)])
    #expect(peers.nextBridge(to: far, now) == s)
    // A bridge is not asked for a route to itself.
    #expect(peers.nextBridge(to: host, now) == r)
    try peers.opened(1, of: r, to: far, now, local: us)
    #expect(peers.route(to: far)?.relay == r)
    try peers.opened(1, of: host, to: far, now, local: us)
    #expect(peers.route(to: far)?.relay == host)
    // A bridge may become a relay of the session.
    peers.gained(s)
    #expect(peers.hasRelays && peers.want(far, now) == [reach(s)])
    try peers.opened(1, of: s, to: far, now, local: us)
    #expect(peers.route(to: far)?.relay == s)
  }

  @Test("[RLY-5] a relay that reuses a number or ends an unknown route breaks the rules") func hostile() throws {
    var peers = asking()
    try peers.opened(0, of: r, to: far, now, local: us)
    #expect(throws: RelayedPeers.Violation.number(0)) { try peers.opened(0, of: r, to: .numbered(3), now, local: us) }
    #expect(throws: RelayedPeers.Violation.peer) { try peers.opened(1, of: r, to: far, now, local: us) }
    #expect(throws: RelayedPeers.Violation.peer) { try peers.opened(1, of: r, to: us, now, local: us) }
    #expect(throws: RelayedPeers.Violation.number(9)) { _ = try peers.closed(9, of: r) }
    // The same number at another relay is another route.
    try peers.opened(0, of: s, to: .numbered(3), now, local: us)
  }
}
