import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

@Suite("Dial budget", .timeLimit(.minutes(5))) struct DialBudgetTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  @Test("[MEM-18] an address is dialed 32 times at once, and then once per second") func budget() {
    var budget = DialBudget()
    func count(_ host: String, _ attempts: Int, at now: NIODeadline) -> Int {
      (0..<attempts).count { _ in budget.take(host, now: now) }
    }
    #expect(count("192.0.2.7", 1_000, at: Self.start) == 32)
    // The first address is the same in another spelling. The other address has a budget of its own.
    #expect(count("::ffff:192.0.2.7", 10, at: Self.start) == 0)
    #expect(count("192.0.2.8", 40, at: Self.start) == 32)
    #expect(count("2001:db8::1", 20, at: Self.start) == 20)
    #expect(count("2001:db8::2", 20, at: Self.start) == 12)
    #expect(count("192.0.2.7", 100, at: Self.start + .seconds(10)) == 10)
    #expect(count("192.0.2.7", 100, at: Self.start + .hours(1)) == 32)
    #expect(count("127.0.0.1", 100, at: Self.start) == 100)
  }

  @Test("[MEM-18] the memory for addresses is bounded, and addresses that were not dialed for long are forgotten")
  func memory() {
    var budget = DialBudget()
    let taken = (0..<5_000).count { number in budget.take("10.0.\(number / 256).\(number % 256)", now: Self.start) }
    #expect(taken == DialBudget.maximum)
    let isTaken = budget.take("192.0.2.1", now: Self.start + .seconds(2))
    #expect(isTaken)
  }

  @Test(
    "[MEM-18] addresses of no machine, of many or of this one are no addresses of a peer elsewhere",
    arguments: [
      ("192.168.1.9", AddressKind.host), ("2001:db8::1", .host), ("fe80::1%eth0", .host), ("example.org", .host),
      ("127.0.0.1", .loopback), ("127.9.9.9", .loopback), ("::1", .loopback), ("::ffff:127.0.0.1", .loopback),
      ("0.0.0.0", .unusable), ("::", .unusable), ("224.0.0.251", .unusable), ("239.1.2.3", .unusable),
      ("255.255.255.255", .unusable), ("ff02::fb", .unusable), ("::ffff:224.0.0.1", .unusable),
    ]
  ) func kinds(_ host: String, _ kind: AddressKind) {
    #expect(AddressKind(host) == kind)
    let (near, far) = (PeerAddress(host: "127.0.0.1", port: 1), PeerAddress(host: "10.0.0.2", port: 1))
    #expect(usableAddresses([host], from: far).isEmpty == (kind != .host))
    #expect(usableAddresses([host], from: near).isEmpty == (kind == .unusable))
  }

  @Test("[MEM-18] a member names at most 32 strangers at a time; the host may name more") func strangers() async throws
  {
    try await withPeer("host") { host in
      let id = SessionID.random()
      let hosted = try await host.host(id, admission: .anyone)
      try await withPeer("mal") { mal in
        let atMal = try await mal.join(id, of: host)
        try await withPeer("ben") { ben in
          let session = try await ben.join(id, of: host)
          let log = EventLog()
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(session) }
            await log.waitForPeers(2)
            let counts = try await session.onLoop { core in
              func named(_ numbers: Range<Int>, by source: PeerID) -> Int {
                let before = core.entries.count
                let members = numbers.map { number in
                  var member = Control.Member(peer: .numbered(number), core.introduction(for: nil))
                  member.addresses = (0..<16).map { "192.0.2.\($0)" } + ["224.0.0.1"]
                  return member
                }
                // Nothing is dialed here, because the dials would be due after the test.
                core.directory.learn(members, from: source, dialAfter: .hours(1))
                return core.entries.count - before
              }
              let byMember = named(0..<100, by: mal.peerID)
              #expect(core.entries[.numbered(0)]?.member.addresses.count == 16)
              return (byMember, named(100..<200, by: host.peerID))
            }
            #expect(counts.0 == Limits.strangersNamed)
            #expect(counts.1 == 100)
            await session.leave()
            try await group.waitForAll()
          }
        }
        await atMal.leave()
      }
      await hosted.leave()
    }
  }

  @Test("[MEM-18] a peer that only a member named is forgotten after 4 failed dials, even with a relay") func hearsay()
  {
    var policy = RedialPolicy(lostAfter: .seconds(60))
    let ghost = PeerID.numbered(9)
    policy[ghost].named(of: SessionIncarnation(1), dialAt: Self.start)
    let dial = RedialPolicy.FailedDial(
      incarnation: SessionIncarnation(1),
      redial: .later,
      code: .unreachable,
      isHearsay: true,
      hasRelays: true
    )
    let outcomes = (0..<4).map { _ in
      policy[ghost].began()
      return policy.dialFailed(ghost, dial, now: Self.start, jitter: 0)
    }
    #expect(outcomes == [.planned, .planned, .planned, .forgotten])
  }

  @Test("[HEL-1] the number of a link never exceeds the greatest integer of a control payload") func linkNumbers() {
    #expect(Control.linkNumber(after: 0, 0) == 1)
    #expect(Control.linkNumber(after: 7, 3) == 8)
    #expect(Control.linkNumber(after: 3, 7) == 8)
    #expect(Control.linkNumber(after: 1, maximumControlInteger - 1) == maximumControlInteger)
    #expect(Control.linkNumber(after: 1, maximumControlInteger) == maximumControlInteger)
  }
}
