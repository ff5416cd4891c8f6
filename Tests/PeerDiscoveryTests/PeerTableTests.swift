import PeerTestKit
import Testing

@testable import PeerDiscovery

struct PeerTableTests {
  private static func key(_ instance: String = "a", interface: UInt32 = 2, isIPv6: Bool = false)
    -> PeerTable.SightingKey
  { PeerTable.SightingKey(instance: instance, interface: interface, isIPv6: isIPv6) }

  private static func endpoint(_ last: UInt8, port: UInt16 = 1, interface: UInt32 = 2, isIPv6: Bool = false) -> Endpoint
  {
    let link: [UInt8] = [0xfe, 0x80] + [UInt8](repeating: 0, count: 13) + [last]
    let address = isIPv6 ? NetworkAddress(bytes: link) : nil
    return Endpoint(
      address: address ?? NetworkAddress(10, 0, 0, last),
      port: port,
      interface: NetworkInterface(index: interface, name: "eth\(interface)")
    )
  }

  @Test("[DSC-13] every interface and protocol adds a route to a peer; the best route comes first") func groups() {
    var table = PeerTable(excluding: nil)
    let announcement = DiscoverySamples.announcement(peer: 1)
    table.resolved(Self.key(isIPv6: true), announcement, at: Self.endpoint(1, isIPv6: true))
    table.resolved(Self.key(interface: 3), announcement, at: Self.endpoint(9, interface: 3))
    table.resolved(Self.key(), announcement, at: Self.endpoint(1))
    table.resolved(Self.key(), announcement, at: Self.endpoint(1))
    let events = table.takeEvents()
    #expect(events.count == 3)
    guard case .updated(let peer) = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(peer.endpoints.map(\.description) == ["10.0.0.1:1", "10.0.0.9:1", "[fe80::1%eth2]:1"])
    table.removed(Self.key(interface: 3))
    table.removed(Self.key())
    #expect(table.peers.first?.endpoints.count == 1)
    table.removed(Self.key(isIPv6: true))
    table.removed(Self.key(isIPv6: true))
    #expect(table.takeEvents().last.map { if case .lost = $0 { true } else { false } } == true)
    #expect(table.peers.isEmpty)
  }

  @Test("[DSC-13] endpoints of an earlier run are not used for the current run") func prefersNewIncarnation() {
    var table = PeerTable(excluding: nil)
    let old = DiscoverySamples.announcement(peer: 1, incarnation: 1)
    let new = DiscoverySamples.announcement(peer: 1, incarnation: 2)
    table.resolved(Self.key("a"), old, at: Self.endpoint(1, port: 1))
    table.resolved(Self.key("b"), new, at: Self.endpoint(1, port: 2))
    #expect(table.peers.first?.endpoints.map(\.port) == [2])
    #expect(table.peers.first?.announcement == new)
    table.removed(Self.key("b"))
    #expect(table.peers.first?.endpoints.map(\.port) == [1])
    #expect(table.takeEvents().count == 3)
  }

  @Test("[DSC-13] if an instance names another peer, the former peer is lost") func followsInstance() {
    var table = PeerTable(excluding: nil)
    table.resolved(Self.key(), DiscoverySamples.announcement(peer: 1), at: Self.endpoint(1))
    table.resolved(Self.key(), DiscoverySamples.announcement(peer: 2), at: Self.endpoint(1))
    #expect(table.peers.map(\.id.peer) == [DiscoverySamples.peer(2)])
    #expect(table.takeEvents().count == 3)
  }

  @Test("[DSC-14] instances of the local peer, and those without a usable endpoint, are ignored") func passesOver() {
    var table = PeerTable(excluding: DiscoverySamples.peer(1))
    table.resolved(Self.key("a"), DiscoverySamples.announcement(peer: 1), at: Self.endpoint(1))
    let other = DiscoverySamples.announcement(peer: 2)
    table.resolved(Self.key("b"), other, at: Self.endpoint(1, port: 0))
    let nowhere = Endpoint(
      address: NetworkAddress(224, 0, 0, 1),
      port: 1,
      interface: NetworkInterface(index: 2, name: "eth2")
    )
    table.resolved(Self.key("c"), other, at: nowhere)
    #expect(table.takeEvents().isEmpty && table.peers.isEmpty)
  }

  @Test("[DSC-18] with more than 256 peers, the one not heard for the longest time is dropped") func limitsPeers() {
    var table = PeerTable(excluding: nil)
    func announce(_ number: Int) {
      let announcement = DiscoverySamples.announcement(peer: UInt8(number / 256), session: UInt8(number % 256))
      table.resolved(Self.key("\(number)"), announcement, at: Self.endpoint(1))
    }
    for number in 0..<256 { announce(number) }
    announce(0)
    #expect(table.peers.count == 256)
    #expect(table.takeEvents().count == 256)
    announce(256)
    #expect(table.peers.count == 256)
    #expect(table.takeEvictions() == [Self.key("1")])
    let events = table.takeEvents()
    #expect(events.count == 2)
    guard case .lost(let peer) = events.first else {
      Issue.record("\(events)")
      return
    }
    #expect(peer.id.session == DiscoverySamples.session(1))
  }

  @Test("[DSC-18] an advertiser at one address displaces only its own instances") func limitsAddresses() {
    var table = PeerTable(excluding: nil)
    let honest = DiscoverySamples.announcement(peer: 200)
    table.resolved(Self.key("honest"), honest, at: Self.endpoint(1))
    for number in 0..<600 {
      let announcement = DiscoverySamples.announcement(peer: UInt8(number / 256), session: UInt8(number % 256))
      table.resolved(Self.key("\(number)"), announcement, at: Self.endpoint(9))
    }
    #expect(table.peers.count == 256)
    #expect(table.contains(Self.key("honest")) && table.contains(Self.key("599")))
    #expect(!table.contains(Self.key("0")))
  }

  @Test("[DSC-26] known peers are resolved first, then the newest, then those that were displaced")
  func ordersResolution() {
    let (peer, session) = (DiscoverySamples.peer(7), DiscoverySamples.session(8))
    let names = [
      InstanceName(peer: peer, session: DiscoverySamples.session(1)).text,
      InstanceName(peer: DiscoverySamples.peer(1), session: session).text, "p-a-b", "other",
    ]
    var waiting = WaitingInstances(BrowserPreference(peers: [peer], sessions: [session]))
    waiting.gaveWay(Self.key("gave way"), name: names[0], domain: "local")
    for name in names { waiting.appeared(Self.key(name), name: name, domain: "local") }
    var order: [String] = []
    while let next = waiting.next {
      order.append(next.key.instance)
      waiting.remove(next.key)
    }
    #expect(order == [names[0], names[1], "other", "p-a-b", "gave way"])
  }

  @Test("[DSC-18] with more than 16 routes to one peer, the oldest is dropped") func limitsSightings() {
    var table = PeerTable(excluding: nil)
    let announcement = DiscoverySamples.announcement(peer: 1)
    for number in 0..<40 {
      table.resolved(Self.key("\(number)"), announcement, at: Self.endpoint(1, port: UInt16(number + 1)))
    }
    #expect(table.peers.first?.endpoints.map(\.port) == Array(25...40))
    #expect(table.takeEvictions().count == 24)
  }

  @Test("[DSC-17] peers survive a short absence of the daemon, but not a long one") func outlivesAbsence() {
    var table = PeerTable(excluding: nil)
    let one = DiscoverySamples.announcement(peer: 1)
    let two = DiscoverySamples.announcement(peer: 2)
    table.resolved(Self.key("one"), one, at: Self.endpoint(1))
    table.resolved(Self.key("two"), two, at: Self.endpoint(2))
    _ = table.takeEvents()
    table.becameUnavailable(now: .seconds(100))
    table.becameUnavailable(now: .seconds(110))
    #expect(table.deadline == .seconds(130))
    table.becameAvailable(now: .seconds(120))
    table.resolved(Self.key("one"), one, at: Self.endpoint(1))
    table.expire(now: .seconds(129))
    #expect(table.takeEvents().isEmpty)
    #expect(table.deadline == .seconds(130))
    table.expire(now: .seconds(130))
    #expect(table.peers.map(\.announcement) == [one])
    #expect(table.deadline == nil)
    table.becameUnavailable(now: .seconds(200))
    table.expire(now: .seconds(229))
    #expect(table.peers.count == 1)
    table.expire(now: .seconds(230))
    #expect(table.peers.isEmpty)
    #expect(table.takeEvents().count == 2)
  }
}
