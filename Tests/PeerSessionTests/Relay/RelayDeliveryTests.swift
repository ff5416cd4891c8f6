import PeerDiscovery
import Testing

@testable import PeerSession

@Suite("Delivery through a relay", .timeLimit(.minutes(5))) struct RelayDeliveryTests {
  @Test("[RLY-4] a relayed peer that was killed and starts again counts as restarted, not as lost") func restarted()
    async throws
  {
    let identity = PeerIdentity.ephemeral()
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await RelayWorld.run { world in
      let alice = world.logs.alice
      try await withPeer("carol", identity: identity, configure: hide) { before in
        let old = try await before.join(world.id, of: world.relay)
        await alice.waitForJoining(of: before.peerID, times: 1)
        // Like a killed peer, the old session neither says goodbye nor dials again.
        try await old.onLoop { core in
          for entry in core.entries.values {
            core.dialler.policy[entry.id].bar(.always)
            entry.link.take()?.abort()
          }
        }
        try await withPeer("carol", identity: identity, configure: hide) { after in
          let new = try await after.join(world.id, of: world.relay)
          await alice.waitForJoining(of: after.peerID, times: 2)
          #expect(await alice.departures(of: after.peerID) == [.restarted])
          await new.leave()
        }
      }
    }
  }

  @Test("[RLY-9] when a relayed peer leaves, its unconfirmed messages are counted and marked in receipts")
  func undelivered() async throws {
    try await RelayWorld.run { world in
      let bob = world.bob.peerID
      let first = try await world.hosted.send([1], to: [bob])
      try await world.hosted.confirmation(of: first, by: bob)
      #expect(first.isConfirmed(by: bob))
      // Bob receives nothing more from the relay, but the relay still acknowledges for Bob.
      try await world.joined.onLoop { core in for entry in core.entries.values { entry.link?.pauseReading() } }
      let second = try await world.hosted.send([2], to: [bob])
      let third = try await world.hosted.send([3], to: [bob])
      try await world.hosted.sendConfirmed([], to: [world.relay.peerID])
      #expect(!second.isConfirmed(by: bob))
      try await world.atRelay.disconnect(bob)
      let left = try await world.logs.alice.first { event in
        if case .peerLeft(bob, let reason, let undelivered) = event { "\(reason.word) \(undelivered)" } else { nil }
      }
      #expect(left == "reset 2")
      #expect(first.isConfirmed(by: bob))
      #expect(!second.isConfirmed(by: bob) && !third.isConfirmed(by: bob))
    }
  }

  @Test("[LIV-4] peers behind a relay that was reset are not lost") func relayReset() async throws {
    try await RelayWorld.run { world in
      let (relay, bob) = (world.relay.peerID, world.bob.peerID)
      // The relay gives up on Alice before her own timeout ends.
      try await world.atRelay.onLoop { core in
        let entry = try #require(core.entries[world.alice.peerID])
        entry.link.take()?.abort()
        core.depart(entry, .lost)
      }
      await world.logs.alice.waitForJoining(of: bob, times: 2)
      #expect(await world.logs.alice.departures(of: relay) == [.reset])
      #expect(await world.logs.alice.departures(of: bob) == [.reset])
    }
  }
}
