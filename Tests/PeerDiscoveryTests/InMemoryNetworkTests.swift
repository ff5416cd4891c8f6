import PeerDiscovery
import PeerTestKit
import Testing

struct InMemoryNetworkTests {
  @Test(
    "the network in memory fulfills the contract of discovery, with and without delay",
    arguments: DiscoveryContract.all,
    [Duration.zero, .milliseconds(250)]
  ) func keepsContract(_ contract: DiscoveryContract, _ latency: Duration) async throws {
    try await contract.check(in: InMemoryDiscoveryWorld(seed: 1, latency: latency))
  }

  @Test("[DSC-17] an unplugged peer is lost after 130 seconds, and found when it is plugged in again")
  func losesSilentPeer() async throws {
    let world = InMemoryDiscoveryWorld(seed: 1, latency: .milliseconds(10))
    let network = world.network
    let host = await network.host(named: "host")
    let seeker = await network.host(named: "seeker")
    try await world.run {
      let announcement = DiscoverySamples.announcement(peer: 1)
      try await seeker.browse(BrowserQuery(excluding: nil)) { events in
        let probe = BrowserProbe(events)
        try await host.advertise(Advertisement(port: 1, announcement: announcement)) { _ in
          let found = try await probe.found()
          #expect(found.endpoints.map(\.description) == ["10.77.0.1:1", "[fe80::1%eth0]:1"])
          let pulled = await world.now()
          await network.setPlugged(false, on: "host")
          _ = try await probe.lost()
          let taken = await world.now() - pulled
          #expect(taken > .seconds(125) && taken < .seconds(135), "\(taken)")
          await network.setPlugged(true, on: "host")
          _ = try await probe.found()
        }
        _ = try await probe.lost()
      }
    }
  }

  @Test("[DSC-20] a host without a daemon reports that, and discovery works once it has one") func comesBack()
    async throws
  {
    let world = InMemoryDiscoveryWorld(seed: 1, latency: .zero)
    let network = world.network
    let host = await network.host(named: "host")
    let seeker = await network.host(named: "seeker")
    try await world.run {
      let announcement = DiscoverySamples.announcement(peer: 1)
      await network.setProblem(.notInstalled, on: "seeker")
      try await seeker.browse(BrowserQuery(excluding: nil)) { events in
        let browser = BrowserProbe(events)
        let first = try await browser.next("the problem")
        #expect(first == .unavailable(.notInstalled))
        try await host.advertise(Advertisement(port: 1, announcement: announcement)) { advertising in
          let advertiser = AdvertiserProbe(advertising.events)
          let name = try await advertiser.announced()
          await network.setProblem(nil, on: "seeker")
          _ = try await browser.found()
          await network.setProblem(.daemonNotRunning, on: "host")
          try await advertiser.unavailable(.daemonNotRunning)
          _ = try await browser.lost()
          await network.setProblem(nil, on: "host")
          let again = try await advertiser.announced()
          #expect(again == name)
          _ = try await browser.found()
          // The seeker's daemon restarts: no peer is lost, because all announcements arrive again in time.
          await network.setProblem(.daemonNotRunning, on: "seeker")
          try await browser.unavailable(.daemonNotRunning)
          await network.setProblem(nil, on: "seeker")
          try await browser.available()
          var changed = announcement
          changed.participants = 9
          await advertising.update(changed)
          let event = try await browser.nextAboutPeer("the update")
          guard case .updated(let peer) = event else {
            Issue.record("\(event)")
            return
          }
          #expect(peer.announcement == changed)
        }
      }
    }
  }

  @Test("[DSC-12] if two separated hosts that took the same name meet, one of them is renamed") func renamesWhenMerged()
    async throws
  {
    let world = InMemoryDiscoveryWorld(seed: 1, latency: .zero)
    let network = world.network
    let one = await network.host(named: "one")
    let two = await network.host(named: "two")
    try await world.run {
      let announcement = DiscoverySamples.announcement(peer: 1)
      await network.setPlugged(false, on: "two")
      try await one.advertise(Advertisement(port: 1, announcement: announcement)) { _ in
        try await two.advertise(Advertisement(port: 1, announcement: announcement)) { second in
          let probe = AdvertiserProbe(second.events)
          let first = try await probe.announced()
          #expect(first == announcement.instanceName)
          await network.setPlugged(true, on: "two")
          let (_, to) = try await probe.renamed()
          let name = try await probe.announced()
          #expect(name == to && to != first)
        }
      }
    }
  }

  @Test("the same seed gives the same names; another seed gives others") func isDeterministic() async throws {
    @Sendable func names(_ seed: UInt64) async throws -> [InstanceName] {
      let network = InMemoryNetwork(seed: seed)
      let host = await network.host(named: "host")
      let announcement = DiscoverySamples.announcement(peer: 1)
      return try await host.advertise(Advertisement(port: 1, announcement: announcement)) { first in
        _ = try await AdvertiserProbe(first.events).announced()
        return try await host.advertise(Advertisement(port: 2, announcement: announcement)) {
          let (from, to) = try await AdvertiserProbe($0.events).renamed()
          return [from, to]
        }
      }
    }
    let first = try await names(7)
    #expect(try await names(7) == first)
    #expect(try await names(8) != first)
  }
}
