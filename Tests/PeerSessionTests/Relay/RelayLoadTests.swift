import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

@Suite("Relay under load", .timeLimit(.minutes(5))) struct RelayLoadTests {
  @Test("[RLY-12] a member that does not read is disconnected with a reason; the others get everything") func overrun()
    async throws
  {
    let limits: @Sendable (inout TransportConfiguration) -> Void = {
      $0.relayLimits.queuedBytes = 4 << 20
      $0.relayLimits.rate = RelayRate(copies: 1_000_000, bytes: 1 << 30)
      $0.outboxCapacity = 1 << 20
      // Longer than the test runs, so that only the times given below count.
      $0.relayLimits.patience = .seconds(3_600)
    }
    try await RelayWorld.run(relay: limits) { world in
      try await withPeer("carol", configure: { $0.isDiallable = false }) { carol in
        // The test does not read this session's events, so after 1,000 events the session stops reading its link.
        let silent = try await carol.join(world.id, of: world.relay)
        await world.logs.alice.waitForJoining(of: carol.peerID, times: 1)
        await world.logs.bob.waitForJoining(of: carol.peerID, times: 1)
        let message = [UInt8](repeating: 7, count: 20_480)
        try await world.hosted.sendConfirmed(message, to: [carol.peerID, world.bob.peerID])
        let count = 1_999
        for number in 0..<count {
          try await world.hosted.send(message, to: [world.bob.peerID])
          _ = try? await world.hosted.send(message, to: [carol.peerID])
          // Bob's backlog must stay below its limit.
          if number % 50 == 0 { await world.logs.bob.waitForMessages(number, from: world.alice.peerID) }
        }
        await world.logs.bob.waitForMessages(count + 1, from: world.alice.peerID)
        await world.logs.alice.wait { events in
          events.contains { if case .peerLeft(carol.peerID, .overrun, _) = $0 { true } else { false } }
        }
        try await world.atRelay.onLoop { core in
          #expect(core.relaying.queues[carol.peerID]?.dataBytes ?? 0 <= 4 << 20)
          // Carol acknowledges nothing, so her link is closed after the timeout, and not earlier.
          let now = NIODeadline.now()
          core.relaying.closeStuck(now)
          core.relaying.closeStuck(now + .seconds(3_000))
          #expect(core.entries[carol.peerID]?.isJoined == true)
          core.relaying.closeStuck(now + .seconds(3_600))
          #expect(core.entries[carol.peerID]?.isJoined == false)
        }
        // When Carol reads again, she gets the reason, however many unread messages precede it.
        let heard = EventLog()
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await heard.follow(silent) }
          await heard.wait { events in
            events.contains {
              if case .peerLeft(world.relay.peerID, let reason, _) = $0 {
                reason == .refused(SessionError(closeCode: .tooSlow, message: ""))
              } else {
                false
              }
            }
          }
          await silent.leave()
        }
      }
    }
  }

  @Test(
    "[RLY-14] a member that sends faster than its rate is slowed down, and loses nothing",
    arguments: [true, false]
  ) func slowed(bySelf: Bool) async throws {
    let limits: @Sendable (inout TransportConfiguration) -> Void = { $0.relayLimits.rate.copies = 200 }
    try await RelayWorld.run(relay: limits, isPaced: bySelf) { world in
      for number in UInt8(0)...250 {
        try await world.hosted.send([number], to: [world.bob.peerID])
        try await world.hosted.send([number], to: [world.bob.peerID])
      }
      await world.logs.bob.waitForMessages(502, from: world.alice.peerID)
      let expected = (UInt8(0)...250).flatMap { [[$0], [$0]] }
      #expect(await world.logs.bob.messages(from: world.alice.peerID) == expected)
      let tally = await world.atRelay.relayTally()
      #expect(tally.copies >= 502 && tally.bytes >= 502 * 65 && tally.overruns == 0)
    }
  }

  @Test("[CLS-3] a peer that could not read the reason of a close gets it when it returns") func toldLater()
    async throws
  {
    try await RelayWorld.run { world in
      let bob = world.bob.peerID
      try await world.atRelay.sendConfirmed([1], to: [bob])
      try await world.atRelay.onLoop { core in
        let entry = core.entries[bob]
        entry?.link?.abort()
        entry?.link = nil
        let reason = SessionError(closeCode: .tooSlow, message: "", isOurs: true)
        core.disconnect(bob, .tooSlow, .refused(reason), message: "")
      }
      let relay = world.relay.peerID
      await world.logs.bob.wait { events in
        events.contains { if case .peerLeft(relay, _, _) = $0 { true } else { false } }
      }
      let reasons = await world.logs.bob.all.compactMap { event in
        if case .peerLeft(relay, let reason, _) = event { reason } else { nil }
      }
      #expect(reasons == [.refused(SessionError(closeCode: .tooSlow, message: ""))])
    }
  }

  @Test("[RLY-13] messages that a relay sends together arrive complete and in order") func gathered() async throws {
    let gathers: @Sendable (inout TransportConfiguration) -> Void = { $0.gathers = .milliseconds(16) }
    try await RelayWorld.run(relay: gathers) { world in
      for number in UInt8(0)...200 {
        try await world.hosted.send([number], to: [world.bob.peerID])
        try await world.joined.send([number], to: [world.alice.peerID])
      }
      await world.logs.bob.waitForMessages(201, from: world.alice.peerID)
      await world.logs.alice.waitForMessages(201, from: world.bob.peerID)
      #expect(await world.logs.bob.messages == (UInt8(0)...200).map { [$0] })
      #expect(await world.logs.alice.messages == (UInt8(0)...200).map { [$0] })
    }
  }

  @Test("[RLY-9] the peer itself confirms a relayed message; the confirmation fails if it leaves") func confirmed()
    async throws
  {
    try await RelayWorld.run { world in
      let bob = world.bob.peerID
      try await world.hosted.sendConfirmed([1], to: [bob])
      try await world.hosted.sendConfirmed([2])
      await world.logs.bob.waitForMessages(2)
      #expect(await world.logs.bob.messages == [[1], [2]])
      // Bob never answers this request, as if it were still on its way.
      let token = world.hosted.sender.confirmations.begin([bob])
      await withTaskGroup(of: SessionError?.self) { group in
        group.addTask {
          do throws(SessionError) {
            try await world.hosted.sender.confirmations.wait(for: token)
            return nil
          } catch { return error }
        }
        await world.joined.leave()
        #expect(await group.next() == .some(SessionError(.peerLost, "")))
      }
    }
  }

  @Test("[RLY-6] above the mesh size, a peer with a relay dials no other peer") func star() async throws {
    try await withPeer("relay", configure: RelayWorld.makeRelay) { relay in
      await relay.startAccepting()
      try await withPeer("alice", configure: { $0.meshSize = 2 }) { alice in
        try await withPeer("bob", configure: { $0.meshSize = 2 }) { bob in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          _ = try await hosted.carry(by: [relay.loopback], terms: RelayWorld.terms)
          let joined = try await bob.join(id, of: relay)
          let log = EventLog()
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(joined) }
            await log.waitForJoining(of: alice.peerID, times: 1)
            let status = try #require(joined.peers().first { $0.peer.id == alice.peerID })
            #expect(status.relay == relay.peerID)
            try await joined.sendConfirmed([1], to: [alice.peerID])
            await joined.leave()
            await hosted.leave()
            try await group.waitForAll()
          }
        }
      }
    }
  }
}
