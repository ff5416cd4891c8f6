import NIOCore
import NIOPosix
import PeerDiscovery
import Testing

@testable import PeerSession

@Suite("Star", .timeLimit(.minutes(5))) struct StarTests {
  // MARK: Decisions

  private let hub = PeerID.numbered(1)
  private let other = PeerID.numbered(2)
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  private func isLeft(_ star: Star, toHub hub: PeerID? = nil, after seconds: Int64 = 0) -> Bool {
    star.leaves(toHub: hub, apartSince: start, now: start + .seconds(seconds))
  }

  @Test("[RLY-20] a member that a hub reaches is dialed once the link with the hub has been broken for 3 s")
  func hubOutOfReach() {
    var star = Star()
    let open = Star.Hub(id: hub, isConnected: true)
    let broken = Star.Hub(id: hub, isConnected: false, brokenAt: start)
    #expect(star.update(isActive: true, isChosen: true, [open], now: start).isEmpty)
    #expect(isLeft(star, toHub: hub, after: 100))
    #expect(star.update(isActive: true, isChosen: true, [broken], now: start + .milliseconds(2_999)).isEmpty)
    #expect(isLeft(star, toHub: hub, after: 100))
    #expect(star.update(isActive: true, isChosen: true, [broken], now: start + .seconds(3)) == [hub])
    #expect(!isLeft(star, toHub: hub))
    // The members behind the hub are dialed only once, until the hub has returned.
    #expect(star.update(isActive: true, isChosen: true, [broken], now: start + .seconds(4)).isEmpty)
    _ = star.update(isActive: true, isChosen: true, [open], now: start + .seconds(5))
    #expect(isLeft(star, toHub: hub, after: 100))
    // A bridge is not a hub.
    #expect(!isLeft(star, toHub: other))
    _ = star.update(isActive: false, isChosen: false, [open], now: start)
    #expect(!isLeft(star, toHub: hub))
  }

  @Test("[RLY-20] in a star that the host chose, a member without a link or route is dialed after 3 s") func noRoute() {
    var star = Star()
    _ = star.update(isActive: true, isChosen: true, [], now: start)
    #expect(isLeft(star, after: 2))
    #expect(!isLeft(star, after: 3))
  }

  @Test("[RLY-20] if only the number of members makes a star, a member without a route is dialed without hubs")
  func manyMembers() {
    var star = Star()
    let hubs = [Star.Hub(id: hub, isConnected: false, brokenAt: start), Star.Hub(id: other, isConnected: true)]
    _ = star.update(isActive: true, isChosen: false, hubs, now: start + .seconds(10))
    #expect(star.lostHubs == [hub])
    #expect(isLeft(star, after: 100))
    _ = star.update(isActive: true, isChosen: false, [hubs[0]], now: start + .seconds(10))
    #expect(!isLeft(star, after: 100))
    #expect(!star.mayReplaceLinks(now: start + .seconds(100)))
  }

  @Test("[RLY-21] routes replace links once a hub has been connected for 5 s without interruption") func settled() {
    var star = Star()
    let open = Star.Hub(id: hub, isConnected: true)
    let broken = Star.Hub(id: hub, isConnected: false, brokenAt: start)
    _ = star.update(isActive: true, isChosen: true, [open], now: start)
    _ = star.update(isActive: true, isChosen: true, [broken], now: start + .seconds(1))
    _ = star.update(isActive: true, isChosen: true, [open], now: start + .seconds(2))
    #expect(!star.mayReplaceLinks(now: start + .milliseconds(6_999)))
    #expect(star.mayReplaceLinks(now: start + .seconds(7)))
  }

  // MARK: Sessions

  /// Runs `body` with a log of each session, and then leaves the sessions.
  private func following(_ sessions: [Session], _ body: ([EventLog]) async throws -> Void) async throws {
    let logs = sessions.map { _ in EventLog() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (session, log) in zip(sessions, logs) { group.addTask { await log.follow(session) } }
      try await body(logs)
      for session in sessions { await session.leave() }
      try await group.waitForAll()
    }
  }

  private static let chooseStar: @Sendable (inout TransportConfiguration) -> Void = {
    $0.topology = .star
    $0.maximumPeers = 2
    $0.maximumPeersInStar = 3
    $0.isHub = true
  }

  @Test("[RLY-19] without a relay, the host forwards all data, and the members have no links with each other")
  func hostIsHub() async throws {
    try await withPeer("host", configure: Self.chooseStar) { host in
      try await withPeer("alice") { alice in
        try await withPeer("bob") { bob in
          let hosted = try await host.host(.random(), admission: .anyone)
          let atAlice = try await alice.join(hosted.id, of: host)
          let atBob = try await bob.join(hosted.id, of: host)
          try await following([hosted, atAlice, atBob]) { logs in
            await logs[1].waitForJoining(of: bob.peerID, through: host.peerID)
            await logs[2].waitForJoining(of: alice.peerID, through: host.peerID)
            try await atAlice.sendConfirmed([1], to: [bob.peerID])
            try await atBob.sendConfirmed([2])
            await logs[2].waitForMessages(1, from: alice.peerID)
            await logs[1].waitForMessages(1, from: bob.peerID)
            await logs[0].waitForMessages(1, from: bob.peerID)
            #expect(try await atAlice.links() == [host.peerID])
            #expect(try await atBob.links() == [host.peerID])
            #expect(try await atAlice.membershipRecord().topology == .star)
          }
        }
      }
    }
  }

  @Test(
    "[RLY-18] a relay states the topology of the host, and its own if the host states none",
    arguments: [
      (SessionTopology?.some(.star), SessionTopology?.none, SessionTopology.star), (nil, .star, .star),
      (.mesh, .star, .mesh),
    ]
  ) func statements(host: SessionTopology?, relay: SessionTopology?, expected: SessionTopology) async throws {
    let configureRelay: @Sendable (inout TransportConfiguration) -> Void = {
      RelayWorld.makeRelay(&$0)
      $0.topology = relay
    }
    let configureHost: @Sendable (inout TransportConfiguration) -> Void = {
      $0.topology = host
      $0.isHub = false
    }
    try await withPeer("relay", configure: configureRelay) { relay in
      await relay.startAccepting()
      try await withPeer("alice", configure: configureHost) { alice in
        let hosted = try await alice.host(.random(), admission: .anyone)
        _ = try await hosted.carry(by: [relay.loopback], terms: RelayWorld.terms)
        let atRelay = try await relay.nextCarried()
        let stored = try await hosted.membershipRecord().topology
        #expect(stored == host)
        if host != nil {
          for await record in atRelay.membership where record.topology == host { break }
        }
        await hosted.leave()
        try await withPeer("bob") { bob in
          let atBob = try await bob.join(atRelay.id, of: relay)
          for await record in atBob.membership where record.topology != nil {
            #expect(record.topology == expected)
            break
          }
          #expect(try await atBob.onLoop { $0.relaying.topology } == expected)
          await atBob.leave()
        }
        await atRelay.leave()
      }
    }
  }

  @Test("[RLY-18] a newcomer that an ordinary member admits learns the topology in ACCEPT, and does not store it")
  func throughMember() async throws {
    try await withPeer("host", configure: Self.chooseStar) { host in
      let hosted = try await host.host(.random(), admission: .anyone)
      try await withPeer("alice") { alice in
        var request = JoinRequest(
          session: hosted.id,
          addresses: [host.loopback],
          peer: host.peerID,
          trust: .pinnedByLink
        )
        request.admission = .anyone
        let atAlice = try await alice.join(request) { _ in true }
        for await record in atAlice.membership where record.topology == .star { break }
        await hosted.leave()
        try await withPeer("bob") { bob in
          let atBob = try await bob.join(hosted.id, of: alice)
          let (topology, stored) = try await atBob.onLoop { ($0.relaying.topology, $0.membership.topology) }
          #expect(topology == .star && stored == nil)
          await atBob.leave()
        }
        await atAlice.leave()
      }
    }
  }

  @Test("[RLY-18] a topology survives a restart; only a host or a relay can change it") func stored() async throws {
    try await withPeer("alice") { alice in
      let hosted = try await alice.host(.random(), admission: .anyone)
      let record = try await hosted.onLoop { core in
        core.relaying.heard(.star, from: .numbered(9))
        #expect(core.relaying.topology == .star && core.membership.topology == nil)
        core.directory.update { $0.topology = .star }
        return core.membership.record
      }
      let read = try #require(MembershipRecord(json: record.json))
      #expect(read == record && read.topology == .star)
      let unknown = record.json.replacing("\"star\"", with: "\"ring\"")
      #expect(try #require(MembershipRecord(json: unknown)).topology == nil)
      await hosted.leave()
    }
  }

  @Test("[RLY-20] [RLY-21] if the hub fails, the members use links; when it returns, they return to the star")
  func hubFails() async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = {
      RelayWorld.makeRelay(&$0)
      $0.isDiallable = false
    }
    // Only one side can dial the other. Otherwise, the second of two links could replace the first one at any time.
    let configureHost: @Sendable (inout TransportConfiguration) -> Void = {
      $0.topology = .star
      $0.isHub = false
      $0.isDiallable = false
    }
    try await withPeer("relay", configure: hide) { relay in
      await relay.startAccepting()
      try await withPeer("alice", configure: configureHost) { alice in
        try await withPeer("bob") { bob in
          let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
          let proxy = CuttingProxy(to: relay.loopback, seed: 1, offsets: 1...1, group: loops)
          let address = try await proxy.start()
          let hosted = try await alice.host(.random(), admission: .anyone)
          _ = try await hosted.carry(by: [address], relay: relay.peerID, terms: RelayWorld.terms)
          let joined = try await bob.join(hosted.id, of: relay, at: address)
          try await following([hosted, joined]) { logs in
            let ends = [(hosted, logs[0], bob.peerID), (joined, logs[1], alice.peerID)]
            for (_, log, other) in ends { await log.waitForJoining(of: other, through: relay.peerID) }
            for (session, _, _) in ends { #expect(try await session.links() == [relay.peerID]) }

            proxy.stall()
            for (session, log, other) in ends {
              await log.waitForState(.reconnecting, of: relay.peerID)
              // This message waits for the hub, until the link opens and reports it as undelivered.
              try await session.send([0], to: [other])
            }
            for (session, _, _) in ends {
              try await session.onLoop { core in
                core.relaying.tick(.now() + .seconds(4))
                core.dialler.dialDue(.now() + .seconds(4), in: core)
              }
            }
            for (session, log, other) in ends {
              await log.waitForJoining(of: other, through: nil)
              let undelivered = await log.all.compactMap { event in
                if case .peerLeft(other, .rerouted, let undelivered) = event { undelivered } else { nil }
              }
              #expect(undelivered == [1])
              try await session.sendConfirmed([1], to: [other])
            }

            // As long as the stream is open, its link must stay.
            let stream = try await hosted.openStream(named: "log", to: bob.peerID)
            try await stream.write([7])
            let arrived = try await logs[1].first { if case .streamOpened(let stream) = $0 { stream } else { nil } }

            proxy.resume()
            for (_, log, _) in ends { await log.waitForState(.connected, of: relay.peerID, times: 2) }
            // After 5 s, both ask the hub for a route; a second after both have it, one of them closes the link.
            for (session, _, _) in ends { try await session.onLoop { $0.relaying.tick(.now() + .seconds(6)) } }
            for (session, _, other) in ends {
              while try await !session.onLoop({ $0.relaying.hasRoute(to: other) }) { await Task.yield() }
            }
            for (session, _, other) in ends {
              for seconds in [6, 8] as [Int64] {
                try await session.onLoop { $0.relaying.tick(.now() + .seconds(seconds)) }
              }
              #expect(try await session.links().contains(other))
            }
            try await stream.finish()
            try await arrived.finish()
            for try await piece in arrived.inbound { #expect(piece == [7]) }
            var seconds: Int64 = 10
            while try await hosted.links().count + joined.links().count > 2 {
              seconds += 2
              for (session, _, _) in ends {
                try await session.onLoop { [seconds] in $0.relaying.tick(.now() + .seconds(seconds)) }
              }
            }
            for (session, log, other) in ends {
              await log.waitForJoining(of: other, through: relay.peerID, times: 2)
              #expect(try await session.links() == [relay.peerID])
              try await session.sendConfirmed([2], to: [other])
            }
            for (_, log, other) in ends {
              await log.waitForMessages(2, from: other)
              #expect(await log.messages(from: other) == [[1], [2]])
            }
          }
          try await proxy.stop()
          try await loops.shutdownGracefully()
        }
      }
    }
  }

  @Test("[RLY-20] members that reach each other only through relays use another relay when theirs fails")
  func otherRelay() async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    let hideRelay: @Sendable (inout TransportConfiguration) -> Void = {
      RelayWorld.makeRelay(&$0)
      $0.isDiallable = false
    }
    try await withPeer("one", configure: hideRelay) { one in
      try await withPeer("two", configure: RelayWorld.makeRelay) { two in
        for relay in [one, two] { await relay.startAccepting() }
        try await withPeer("alice", configure: hide) { alice in
          try await withPeer("bob", configure: hide) { bob in
            let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let proxy = CuttingProxy(to: one.loopback, seed: 1, offsets: 1...1, group: loops)
            let address = try await proxy.start()
            let hosted = try await alice.host(.random(), admission: .anyone)
            _ = try await hosted.carry(by: [address], relay: one.peerID, terms: RelayWorld.terms)
            let joined = try await bob.join(hosted.id, of: one, at: address)
            try await following([hosted, joined]) { logs in
              let ends = [(hosted, logs[0], bob.peerID), (joined, logs[1], alice.peerID)]
              for (_, log, other) in ends { await log.waitForJoining(of: other, through: one.peerID) }
              _ = try await hosted.carry(by: [two.loopback], relay: two.peerID, terms: RelayWorld.terms)
              for (_, log, _) in ends { await log.waitForJoining(of: two.peerID, through: nil) }

              // The relays lose each other too, as if the first one had crashed.
              try await one.nextCarried().onLoop { core in
                guard let entry = core.entries[two.peerID] else { return }
                core.dialler.policy[two.peerID].bar(.untilRestart(of: entry.member.incarnation))
                entry.link?.abort()
              }
              proxy.stall()
              for (_, log, other) in ends { await log.waitForJoining(of: other, through: two.peerID) }
              for (session, _, other) in ends { try await session.sendConfirmed([1], to: [other]) }

              proxy.resume()
              for (_, log, _) in ends { await log.waitForState(.connected, of: one.peerID, times: 2) }
              for (session, log, other) in ends {
                try await session.sendConfirmed([2], to: [other])
                #expect(try await session.onLoop { $0.entries[other]?.relayed?.route.relay } == two.peerID)
                let departures = await log.departures(of: other)
                #expect(departures == [.rerouted])
              }
              for (_, log, other) in ends {
                await log.waitForMessages(2, from: other)
                #expect(await log.messages(from: other) == [[1], [2]])
              }
            }
            try await proxy.stop()
            try await loops.shutdownGracefully()
          }
        }
      }
    }
  }

  @Test("[RLY-18] the host of a large mesh is advised once to choose a star") func largeMesh() async throws {
    try await withPeer("alice") { alice in
      let hosted = try await alice.host(.random(), admission: .anyone)
      try await following([hosted]) { logs in
        for count in [30, 31, 32] {
          try await hosted.onLoop { core in
            for number in 2...count {
              let entry = core.directory.entry(for: .numbered(number), core.introduction(for: nil))
              entry.relayed = RelayedPresence(
                route: RelayRoute(relay: .numbered(1), number: 0),
                incarnation: .unknown,
                joinGeneration: 0
              )
            }
            #expect(core.directory.peerCount == count)
            core.relaying.tick(.now())
            #expect(core.relaying.hasReportedLargeMesh == (count > 30))
          }
        }
        await logs[0].wait { events in events.contains { if case .warning = $0 { true } else { false } } }
        let codes = await logs[0].all.compactMap { if case .warning(let warning) = $0 { warning.code } else { nil } }
        #expect(codes == [SessionWarning.largeMesh])
      }
    }
  }
}

extension Session {
  /// The peers with which this peer has a link.
  fileprivate func links() async throws -> [PeerID] {
    try await onLoop { core in core.entries.values.filter { $0.link != nil }.map(\.id).sorted() }
  }
}

extension EventLog {
  /// Waits until `other` has joined a number of times through `relay`; `nil` means a direct link.
  fileprivate func waitForJoining(of other: PeerID, through relay: PeerID?, times: Int = 1) async {
    await wait { events in
      events.count { event in
        if case .peerJoined(let peer) = event { peer.id == other && peer.relay == relay } else { false }
      } >= times
    }
  }

  fileprivate func waitForState(_ state: PeerState, of peer: PeerID, times: Int = 1) async {
    await wait { events in
      events.count { if case .peerStateChanged(peer, state) = $0 { true } else { false } } >= times
    }
  }
}
