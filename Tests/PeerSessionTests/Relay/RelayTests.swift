import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

@Suite("Relay", .timeLimit(.minutes(5))) struct RelayTests {
  @Test("[RLY-22] the host moves its session to the relays that its relay recommends too") func recommended()
    async throws
  {
    try await withPeer("one", configure: RelayWorld.makeRelay) { one in
      try await withPeer("two", configure: RelayWorld.makeRelay) { two in
        try await withPeer("alice") { alice in
          for relay in [one, two] { await relay.startAccepting() }
          let hosted = try await alice.host(.random(), admission: .anyone)
          _ = try await hosted.carry(by: [one.loopback], terms: RelayWorld.terms)
          let atOne = try await one.nextCarried()
          #expect(await !hosted.isCarried(by: two.peerID))
          atOne.recommend([two.peerID: [two.loopback]])
          let atTwo = try await two.nextCarried()
          #expect(atTwo.id == hosted.id)
          #expect(await hosted.isCarried(by: two.peerID))
          for session in [hosted, atOne, atTwo] { await session.leave() }
        }
      }
    }
  }

  @Test("[RLY-4] two peers that cannot dial each other exchange messages through a relay, in order") func messages()
    async throws
  {
    try await RelayWorld.run { world in
      let (alice, bob, relay) = (world.alice.peerID, world.bob.peerID, world.relay.peerID)
      #expect(world.hosted.connectedPeers() == [bob, relay].sorted())
      let status = try #require(world.hosted.peers().first { $0.peer.id == bob })
      #expect(status.relay == relay)
      #expect(status.peer.name.raw == "bob")
      #expect(world.hosted.nextHop(to: bob) == relay)
      #expect(world.hosted.nextHop(to: relay) == relay)
      #expect(world.joined.hostPeer == alice && world.atRelay.hostPeer == alice)
      for number in 0..<1_000 {
        try await world.hosted.send(number.bytes, to: [bob])
        try await world.joined.send(number.bytes, to: [alice])
      }
      await world.logs.alice.waitForMessages(1_000, from: bob)
      await world.logs.bob.waitForMessages(1_000, from: alice)
      #expect(await world.logs.bob.messages == (0..<1_000).map(\.bytes))
      #expect(await world.logs.alice.messages == (0..<1_000).map(\.bytes))
      #expect(await world.logs.relay.messages.isEmpty)
    }
  }

  @Test("[RLY-4] a message of the maximum length passes a relay") func greatestMessage() async throws {
    try await RelayWorld.run { world in
      let message = (0..<16_777_216).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      try await world.hosted.send(message, to: [world.bob.peerID])
      try await world.hosted.send([1], to: [world.bob.peerID])
      await world.logs.bob.waitForMessages(2)
      #expect(await world.logs.bob.messages == [message, [1]])
    }
  }

  @Test("[RLY-4] a message for several recipients behind one relay is sent once to the relay") func oneCopy()
    async throws
  {
    try await RelayWorld.run { world in
      try await withPeer("carol", configure: { $0.isDiallable = false }) { carol in
        let session = try await carol.join(world.id, of: world.relay)
        let log = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(session) }
          await log.waitForPeers(3)
          await world.logs.alice.waitForPeers(3)
          let before = try await world.hosted.lastSequence(to: world.relay.peerID)
          try await world.hosted.send([7], to: [world.bob.peerID, carol.peerID])
          await log.waitForMessages(1)
          await world.logs.bob.waitForMessages(1)
          let after = try await world.hosted.lastSequence(to: world.relay.peerID)
          #expect(after == before + 1)
          // To all peers: one copy for the relay itself, and one for all peers behind it.
          try await world.hosted.send([8])
          await world.logs.relay.waitForMessages(1)
          #expect(try await world.hosted.lastSequence(to: world.relay.peerID) == after + 2)
          await session.leave()
        }
      }
    }
  }

  @Test("[RLY-8] after a direct link to a relayed peer opens, both report `rerouted` and join again") func reroute()
    async throws
  {
    try await RelayWorld.run { world in
      let (alice, bob) = (world.alice.peerID, world.bob.peerID)
      world.hosted.found(bob, at: [world.bob.loopback], as: world.joined.incarnation)
      await world.logs.alice.waitForJoining(of: bob, times: 2)
      await world.logs.bob.waitForJoining(of: alice, times: 2)
      #expect(await world.logs.alice.departures(of: bob) == [.rerouted])
      #expect(await world.logs.bob.departures(of: alice) == [.rerouted])
      let status = try #require(world.hosted.peers().first { $0.peer.id == bob })
      #expect(status.relay == nil)
      try await world.hosted.sendConfirmed([1], to: [bob])
      await world.logs.bob.waitForMessages(1)
      #expect(await world.logs.bob.messages(from: alice) == [[1]])
    }
  }

  @Test("[RLY-7] a relay that stays away is dialed rarely, and at once when it is seen") func away() async throws {
    try await withPeer("alice") { alice in
      let hosted = try await alice.host(.random(), admission: .anyone)
      try await hosted.onLoop { core in
        let relay = PeerIdentity.ephemeral().peerID
        var introduction = core.introduction(for: nil)
        introduction.role = .relay
        core.directory.learn([Control.Member(peer: relay, introduction)])
        let entry = try #require(core.entries[relay])
        for _ in 0..<Limits.dialsToOneStranger {
          core.dialler.dialFailed(entry, SessionError(.unreachable, ""), redial: .later, in: core)
        }
        let due = try #require(core.dialler.policy[relay].next)
        #expect((TimeAmount.seconds(14)...(.seconds(20))).contains(due - .now()))
        core.directory.found(relay, at: [alice.loopback], as: introduction.incarnation)
        #expect(try #require(core.dialler.policy[relay].next) <= .now())
      }
      await hosted.leave()
    }
  }

  @Test("[RLY-7] a restarted relay has lost its routes, and opens them again") func restart() async throws {
    let identity = PeerIdentity.ephemeral()
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await withPeer("alice", configure: hide) { alice in
      try await withPeer("bob", configure: hide) { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let (atAlice, atBob) = (EventLog(), EventLog())
        let (joined, port, request) = try await withPeer("relay", identity: identity, configure: RelayWorld.makeRelay) {
          relay in
          await relay.startAccepting()
          _ = try await hosted.carry(by: [relay.loopback], terms: RelayWorld.terms)
          var carried = relay.carriedSessions.makeAsyncIterator()
          let request = try #require(await carried.next()).request
          let joined = try await bob.join(id, of: relay)
          return (joined, relay.port, request)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await atAlice.follow(hosted) }
          group.addTask { await atBob.follow(joined) }
          try await withPeer(
            "relay",
            identity: identity,
            configure: {
              RelayWorld.makeRelay(&$0)
              $0.listen = PeerAddress(host: "127.0.0.1", port: port)
            }
          ) { relay in
            let again = try await relay.host(id, admission: .known, host: alice.peerID, grant: request.grant)
            await relay.startAccepting()
            // Alice and Bob may have had a route through the first relay, and lost the route with this relay.
            for (log, other) in [(atAlice, bob), (atBob, alice)] {
              await log.waitForJoining(of: relay.peerID, times: 2)
              await log.wait { isPresent(other.peerID, $0) }
            }
            try await hosted.send([1], to: [bob.peerID])
            await atBob.waitForMessages(1, from: alice.peerID)
            #expect(again.hostPeer == alice.peerID)
            #expect(joined.hostPeer == alice.peerID)
          }
          await joined.leave()
          await hosted.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("[RLY-7] a relay that ends before it answered a member is dialed again") func endsUnanswered() async throws {
    let identity = PeerIdentity.ephemeral()
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await withPeer("alice", configure: hide) { alice in
      let id = SessionID.random()
      let hosted = try await alice.host(id, admission: .anyone)
      let (port, request) = try await withPeer("relay", identity: identity, configure: RelayWorld.makeRelay) { relay in
        await relay.startAccepting()
        _ = try await hosted.carry(by: [relay.loopback], terms: RelayWorld.terms)
        var carried = relay.carriedSessions.makeAsyncIterator()
        return (relay.port, try #require(await carried.next()).request)
      }
      let again: @Sendable (inout TransportConfiguration) -> Void = {
        RelayWorld.makeRelay(&$0)
        $0.listen = PeerAddress(host: "127.0.0.1", port: port)
      }
      try await withPeer("relay", identity: identity, configure: again) { relay in
        await relay.willOpen([id])
        await relay.startAccepting()
        var needed = relay.neededSessions.makeAsyncIterator()
        #expect(await needed.next() == id)
      }
      // The handshake has ended with `shutting-down`.
      let isBarred = await hosted.settles { core -> Bool? in
        let plan = core.dialler.policy[identity.peerID]
        return plan.isDialling ? nil : plan.isBarred
      }
      try #require(isBarred == false)
      try await withThrowingTaskGroup(of: Void.self) { group in
        let log = EventLog()
        group.addTask { await log.follow(hosted) }
        try await withPeer("relay", identity: identity, configure: again) { relay in
          _ = try await relay.host(id, admission: .known, host: alice.peerID, grant: request.grant)
          await relay.startAccepting()
          await log.waitForJoining(of: relay.peerID, times: 2)
        }
        await hosted.leave()
        try await group.waitForAll()
      }
    }
  }

  /// Returns whether a peer is in the session after these events.
  private func isPresent(_ peer: PeerID, _ events: [SessionEvent]) -> Bool {
    events.reduce(false) { isPresent, event in
      switch event {
      case .peerJoined(let joined) where joined.id == peer: true
      case .peerLeft(peer, _, _): false
      default: isPresent
      }
    }
  }

  @Test("[RLY-3] a kick by the host passes a relay, and the relay refuses that peer too") func kick() async throws {
    try await RelayWorld.run { world in
      try await withPeer("carol", configure: { $0.isDiallable = false }) { carol in
        let session = try await carol.join(world.id, of: world.relay)
        await world.logs.alice.waitForJoining(of: carol.peerID, times: 1)
        await world.logs.bob.waitForJoining(of: carol.peerID, times: 1)
        try await world.hosted.kick(carol.peerID, reason: "enough")
        for await _ in session.events {}
        let reason = DepartureReason.kicked(reason: UntrustedText("enough"))
        await world.logs.bob.wait { events in
          events.contains { if case .peerLeft(carol.peerID, let left, _) = $0 { left == reason } else { false } }
        }
        await #expect(throws: SessionError(.kicked, "")) { _ = try await carol.join(world.id, of: world.relay) }
      }
    }
  }

  @Test("[RLY-2] a relayed session admits newcomers while its host is away, and then the host again") func hostAway()
    async throws
  {
    try await withPeer("relay", configure: RelayWorld.makeRelay) { relay in
      await relay.startAccepting()
      let identity = PeerIdentity.ephemeral()
      let id = SessionID.random()
      let code = JoinCode.random()
      let terms = CarryTerms(name: "board", admission: .code(code))
      try await withPeer("alice", identity: identity) { alice in
        let hosted = try await alice.host(id, admission: .code(code))
        _ = try await hosted.carry(by: [relay.loopback], relay: relay.peerID, terms: terms)
      }
      try await withPeer("bob") { bob in
        let joined = try await bob.join(id, of: relay, code: code)
        #expect(joined.hostPeer == identity.peerID)
        let log = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(joined) }
          try await withPeer("alice", identity: identity) { alice in
            let hosted = try await alice.host(id, admission: .code(code))
            let other = JoinCode.random()
            _ = try await hosted.carry(by: [relay.loopback], terms: CarryTerms(name: "board", admission: .code(other)))
            await log.waitForJoining(of: alice.peerID, times: 1)
            try await withPeer("carol") { carol in
              await #expect(throws: SessionError(.wrongCode, "")) {
                _ = try await carol.join(id, of: relay, code: code)
              }
              _ = try await carol.join(id, of: relay, code: other)
            }
          }
          await joined.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("[RLY-2] a peer that declines to relay, or is not a relay, refuses and gives the reason") func notCarried()
    async throws
  {
    try await withPeer("alice") { alice in
      let id = SessionID.random()
      let hosted = try await alice.host(id, admission: .anyone)
      try await withPeer("member") { member in
        _ = try await member.host(.random(), admission: .anyone)
        await #expect(throws: SessionError(.notCarried, "")) {
          _ = try await hosted.carry(by: [member.loopback], terms: RelayWorld.terms)
        }
      }
      try await withPeer(
        "relay",
        configure: {
          $0.isRelay = true
          $0.carries = { _ in .refuse(reason: "not on the list") }
        }
      ) { relay in
        await relay.startAccepting()
        do throws(SessionError) {
          _ = try await hosted.carry(by: [relay.loopback], terms: RelayWorld.terms)
          Issue.record("the board was carried")
        } catch {
          #expect(error.code == .notCarried)
          #expect(error.message.contains("not on the list"))
        }
      }
      try await withPeer("bob") { bob in
        let joined = try await bob.join(id, of: alice)
        await #expect(throws: SessionError(.notHost, "")) {
          _ = try await joined.carry(by: [alice.loopback], terms: RelayWorld.terms)
        }
      }
    }
  }
}

extension Int { fileprivate var bytes: [UInt8] { Array("\(self)".utf8) } }

extension Session {
  /// Returns the sequence of the last message part in a peer's outbox.
  fileprivate func lastSequence(to peer: PeerID) async throws -> Int {
    try await onLoop { core in
      let outbox = try #require(core.entries[peer]?.delivery?.outbox)
      var number: UInt64 = 0
      while outbox.hasSent(number + 1) { number += 1 }
      return Int(number)
    }
  }
}

extension Session {
  /// Waits until the core of the session gives an answer; nil if the task is canceled.
  fileprivate func settles<Answer: Sendable>(_ ask: @escaping @Sendable (SessionCore) -> Answer?) async -> Answer? {
    while !Task.isCancelled {
      if let answer = try? await onLoop({ ask($0) }) { return answer }
      await Task.yield()
    }
    return nil
  }
}
