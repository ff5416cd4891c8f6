import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Peers that break the rules of relays lose only their own link.
@Suite("Hostile relays and members", .timeLimit(.minutes(5))) struct HostileRelayTests {
  /// Messages that a member must not send to a relay.
  private static let toRelay: [(name: String, bytes: [UInt8])] = [
    ("no kind", []), ("an unknown kind", [99]), ("a relay's kind", RelayMessage.from(0).encoded([1])),
    ("half a REACH", Array(RelayMessage.reach(peer: id, incarnation: []).encoded().dropLast())),
    ("bytes behind UNREACH", RelayMessage.unreach(peer: id, .left).encoded([0])), ("a bitmap of no bytes", [4, 0, 1]),
    ("a bitmap of 33 bytes", [4, 33] + Array(repeating: 1, count: 40)),
    ("a bitmap that ends in zero", [4, 2, 1, 0, 7]), ("a bitmap that ends early", [4, 3, 1]),
    ("a route over 255", [3, 0x80, 0x02]), ("a FREE for what was not taken back", RelayMessage.free(3).encoded()),
  ]

  private static let id = PeerID.numbered(77).bytes

  @Test("[RLY-5] a relay disconnects a member that sends an invalid relay message", arguments: toRelay.indices)
  func malformedToRelay(_ index: Int) async throws {
    let (name, bytes) = Self.toRelay[index]
    do {
      try await RelayWorld.run { world in
        try await world.joined.inject(bytes, to: world.relay.peerID)
        let reason = try await world.logs.bob.first { event in
          if case .peerLeft(world.relay.peerID, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == .refused(SessionError(.protocolError, "")), "\(name)")
        // The other members are notified that it left, and are not affected otherwise.
        await world.logs.alice.wait { events in
          events.contains { if case .peerLeft(world.bob.peerID, _, _) = $0 { true } else { false } }
        }
        try await world.hosted.sendConfirmed([1], to: [world.relay.peerID])
      }
    }
  }

  @Test("[RLY-4] a relay disconnects a member that asks for more peers than a session has") func reachFlood()
    async throws
  {
    try await RelayWorld.run { world in
      try await world.joined.onLoop { core in
        for number in 0...Limits.members {
          let reach = RelayMessage.reach(peer: PeerID.numbered(number).bytes, incarnation: SessionIncarnation(1).bytes)
          _ = core.entries[world.relay.peerID]?.delivery?.outbox.appendControl(reach.encoded())
        }
      }
      let reason = try await world.logs.bob.first { event in
        if case .peerLeft(world.relay.peerID, let reason, _) = event { reason } else { nil }
      }
      #expect(reason == .refused(SessionError(.protocolError, "")))
    }
  }

  @Test("[RLY-5] a member disconnects a peer that sends relay messages and is not a relay") func noRelay() async throws
  {
    for message in [
      RelayMessage.from(0).encoded([1]), RelayMessage.route(0).encoded(Array("{}".utf8)),
      RelayMessage.unroute(0, .left).encoded(), RelayMessage.send(RouteSet([0])).encoded([1]),
      RelayMessage.reach(peer: Self.id, incarnation: SessionIncarnation(1).bytes).encoded(),
    ] {
      let opensNoRoutes: @Sendable (inout TransportConfiguration) -> Void = { $0.isBridge = false }
      try await withPeer("alice", configure: opensNoRoutes) { alice in
        try await withPeer("bob", configure: { $0.isRelay = true }) { bob in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          // The peer claims to be a relay, but the host has granted nothing.
          let joined = try await bob.join(id, of: alice)
          let log = EventLog()
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(hosted) }
            await log.waitForPeers(1)
            #expect(hosted.peers().map(\.peer.isRelay) == [true])
            try await joined.inject(message, to: alice.peerID)
            let reason = try await log.first { event in
              if case .peerLeft(bob.peerID, let reason, _) = event { reason } else { nil }
            }
            #expect(reason == .refused(SessionError(.protocolError, "")))
            #expect(await log.messages.isEmpty)
            await hosted.leave()
          }
        }
      }
    }
  }

  @Test("[RLY-1] a grant that does not verify closes the link", arguments: 0..<4) func forgedGrant(_ kind: Int)
    async throws
  {
    let (host, other) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral())
    try await withPeer("alice", identity: host) { alice in
      try await withPeer("bob", configure: { $0.isRelay = true }) { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        let good = RelayGrant.make(by: host, session: id, relay: bob.peerID)
        #expect(good.isValid(session: id, host: alice.peerID, relay: bob.peerID))
        let forged =
          switch kind {
          case 0: RelayGrant.make(by: other, session: id, relay: bob.peerID)
          case 1: RelayGrant.make(by: host, session: .random(), relay: bob.peerID)
          case 2: RelayGrant.make(by: host, session: id, relay: alice.peerID)
          default: RelayGrant(key: good.key, signature: Array(good.signature.reversed()))
          }
        let log = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(hosted) }
          try await joined.onLoop { core in core.entries[alice.peerID]?.link?.send(.relayGrant, forged.encoded()) }
          let reason = try await log.first { event in
            if case .peerLeft(bob.peerID, let reason, _) = event { reason } else { nil }
          }
          #expect(reason == .refused(SessionError(.protocolError, "")))
          await hosted.leave()
        }
      }
    }
  }

  @Test("[RLY-5] messages on an unknown route are dropped, at a relay and at a member") func unknownRoutes()
    async throws
  {
    try await RelayWorld.run { world in
      let (alice, bob, relay) = (world.alice.peerID, world.bob.peerID, world.relay.peerID)
      try await world.joined.inject(RelayMessage.send(RouteSet([200])).encoded([9]), to: relay)
      try await world.joined.send([1], to: [alice])
      await world.logs.alice.waitForMessages(1)
      try await world.atRelay.inject(RelayMessage.from(200).encoded([9]), to: bob)
      try await world.hosted.send([2], to: [bob])
      await world.logs.bob.waitForMessages(1)
      #expect(await world.logs.alice.messages == [[1]])
      #expect(await world.logs.bob.messages == [[2]])
    }
  }

  @Test("[RLY-5] a member disconnects a relay that ends an unknown route or sends malformed messages")
  func hostileRelay() async throws {
    for message in [
      RelayMessage.unroute(200, .left).encoded(), RelayMessage.route(200).encoded([1, 2]),
      RelayMessage.route(0).encoded(Array("{\"peer\":1}".utf8)), [18, 0x80],
    ] {
      try await RelayWorld.run { world in
        try await world.atRelay.inject(message, to: world.bob.peerID)
        let reason = try await world.logs.bob.first { event in
          if case .peerLeft(world.relay.peerID, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == .refused(SessionError(.protocolError, "")))
        // The peer behind the relay may still be online.
        await world.logs.bob.wait { events in
          events.contains { if case .peerLeft(world.alice.peerID, .reset, _) = $0 { true } else { false } }
        }
      }
    }
  }

  @Test("[RLY-3] a relay cannot remove the host of a session") func kickOfTheHost() async throws {
    try await RelayWorld.run { world in
      let (alice, bob) = (world.alice.peerID, world.bob.peerID)
      try await world.atRelay.onLoop { core in
        core.entries[bob]?.link?.send(.kick, Control.Kick(peer: alice, reason: "").encoded())
      }
      try await world.hosted.send([1], to: [bob])
      await world.logs.bob.waitForMessages(1)
      #expect(await world.logs.bob.departures(of: alice).isEmpty)
    }
  }
}

extension Session {
  /// Sends any bytes as a message between a member and a relay.
  func inject(_ bytes: [UInt8], to peer: PeerID) async throws {
    let isTaken = try await onLoop { core in core.entries[peer]?.delivery?.outbox.appendControl(bytes) ?? false }
    try #require(isTaken)
  }
}
