import Foundation
import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Members that cannot dial each other, and a host that both reach.
@Suite("Bridge", .timeLimit(.minutes(5))) struct BridgeTests {
  /// A peer of the session that other peers cannot dial.
  private struct Hidden: Sendable {
    var peer: PeerTransport
    var session: Session
    var log: EventLog
    var id: PeerID { peer.peerID }

    /// Waits until another peer is in the session through `bridge`; `nil` means a direct link.
    func waitFor(_ other: PeerID, through bridge: PeerID?) async {
      await log.wait { events in
        events.contains {
          if case .peerJoined(let peer) = $0 { peer.id == other && peer.relay == bridge } else { false }
        }
      }
    }
  }

  /// A session with a host that every member can dial.
  private struct World: Sendable {
    var host: PeerTransport
    var hosted: Session
    var id: SessionID

    /// Runs `body` with a peer that other peers cannot dial, and that joins through the host or another member.
    func withHidden(
      _ name: String,
      through member: PeerTransport? = nil,
      _ body: @escaping @Sendable (Hidden) async throws -> Void
    ) async throws {
      let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
      try await withPeer(name, configure: hide) { peer in
        let session = try await peer.joinOpenly(id, of: member ?? host)
        let log = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(session) }
          try await body(Hidden(peer: peer, session: session, log: log))
          await session.leave()
          try await group.waitForAll()
        }
      }
    }

    /// Runs `body` with two peers that other peers cannot dial.
    func withPair(_ body: @escaping @Sendable (_ alice: Hidden, _ bob: Hidden) async throws -> Void) async throws {
      try await withHidden("alice") { alice in try await withHidden("bob") { bob in try await body(alice, bob) } }
    }
  }

  /// Runs `body` with a host.
  private static func withHost(
    configure: @escaping @Sendable (inout TransportConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (World) async throws -> Void
  ) async throws {
    try await withPeer("host", configure: configure) { host in
      let id = SessionID.random()
      let world = World(host: host, hosted: try await host.host(id, admission: .anyone), id: id)
      try await body(world)
      await world.hosted.leave()
    }
  }

  @Test("[RLY-15] a host passes everything on between two members that cannot dial each other") func host() async throws
  {
    try await Self.withHost { world in
      try await world.withPair { alice, bob in
        await alice.waitFor(bob.id, through: world.host.peerID)
        await bob.waitFor(alice.id, through: world.host.peerID)
        #expect(world.hosted.peers().allSatisfy { !$0.peer.isRelay && $0.relay == nil })
        for number in UInt8(0)..<100 { try await alice.session.send([number], to: [bob.id]) }
        try await alice.session.sendConfirmed([100], to: [bob.id])
        await bob.log.waitForMessages(101, from: alice.id)
        #expect(await bob.log.messages(from: alice.id) == (0...100).map { [$0] })
        // Through the host, a datagram is dropped only under load.
        try await bob.session.send([1, 2], to: [alice.id], mode: .unreliable)
        await alice.log.wait { events in
          events.contains { if case .datagram([1, 2], from: let peer) = $0 { peer == bob.id } else { false } }
        }
        let stream = try await alice.session.openStream(named: "log", to: bob.id)
        try await stream.write([7])
        try await stream.finish()
        let arrived = try await bob.log.first { event in
          if case .streamOpened(let stream) = event { stream } else { nil }
        }
        try await arrived.finish()
        var received: [UInt8] = []
        for try await piece in arrived.inbound { received += piece }
        #expect(received == [7])
      }
    }
  }

  @Test("[RLY-15] after the host has left, another member that both reach takes over") func takeover() async throws {
    try await Self.withHost { world in
      try await withPeer("dave") { dave in
        let atDave = try await dave.joinOpenly(world.id, of: world.host)
        let davesLog = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await davesLog.follow(atDave) }
          try await world.withPair { alice, bob in
            await alice.waitFor(bob.id, through: world.host.peerID)
            await davesLog.waitForPeers(3)
            await world.hosted.leave()
            await alice.waitFor(bob.id, through: dave.peerID)
            await bob.waitFor(alice.id, through: dave.peerID)
            try await alice.session.sendConfirmed([1], to: [bob.id])
            // Bob's session has the message, but his log might not have read it yet.
            await bob.log.waitForMessages(1, from: alice.id)
            #expect(await bob.log.messages(from: alice.id) == [[1]])
            try await world.withHidden("carol", through: dave) { carol in
              await alice.waitFor(carol.id, through: dave.peerID)
              await carol.waitFor(alice.id, through: dave.peerID)
              try await carol.session.sendConfirmed([2], to: [alice.id])
              // Dave is not the host, so nothing proves that Carol is a member.
              let record = try await alice.session.membershipRecord()
              #expect(record.members.contains { $0.peer == bob.id })
              #expect(!record.members.contains { $0.peer == carol.id })
            }
          }
          await atDave.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("[RLY-15] a peer that offers no routes is not asked for one") func noOffer() async throws {
    let opensNoRoutes: @Sendable (inout TransportConfiguration) -> Void = { $0.isBridge = false }
    try await Self.withHost(configure: opensNoRoutes) { world in
      try await world.withPair { alice, bob in
        await alice.log.waitForPeers(1)
        // The host announces Bob up to half a second later.
        while try await alice.session.onLoop({ $0.entries[bob.id] == nil }) { await Task.yield() }
        let (isDue, isBridge) = try await alice.session.onLoop { core in
          let entry = try #require(core.entries[bob.id])
          return (core.relaying.nextDue(entry) != nil, core.entries[world.host.peerID]?.isBridge ?? false)
        }
        #expect(!isDue && !isBridge)
      }
    }
  }

  @Test("[RLY-16] a member cannot fill the session with peers that only it reports") func noRoom() async throws {
    try await Self.withHost { world in
      try await world.withHidden("alice") { alice in
        try await withPeer("dave") { dave in
          let atDave = try await dave.joinOpenly(world.id, of: world.host)
          // On a busy machine, the host may pass Dave's data on before the direct link opens.
          await alice.waitFor(dave.peerID, through: nil)
          let room = 3
          let asked = try await alice.session.onLoop { core in
            core.admission.maximum = core.directory.peerCount + room
            core.directory.learn(Self.invented(core), from: dave.peerID, dialAfter: .hours(1))
            // One bridge after the other is asked, before any of them answers.
            for second in 0..<4 { core.relaying.tick(.now() + .seconds(Int64(second * 2))) }
            return Self.invented(core).count { core.entries[$0.peer]?.bridgeAsked != nil }
          }
          #expect(asked == 10)
          try await atDave.onLoop { core in
            for (number, member) in Self.invented(core).enumerated() {
              let route = RelayMessage.route(UInt8(number)).encoded(member.encoded())
              _ = core.entries[alice.id]?.delivery?.outbox.appendControl(route)
            }
          }
          try await atDave.sendConfirmed([1], to: [alice.id])
          #expect(alice.session.connectedPeers().count == 2 + room)
          await atDave.leave()
        }
      }
    }
  }

  /// Members that do not exist.
  private static func invented(_ core: SessionCore) -> [Control.Member] {
    (50..<60).map { number in
      var member = Control.Member(peer: .numbered(number), core.introduction(for: nil))
      member.incarnation = SessionIncarnation(UInt64(number))
      member.port = 0
      member.addresses = []
      return member
    }
  }

  @Test("[RLY-15] one line tells the user that a member is reached through another, and what helps") func report()
    async throws
  {
    try await Self.withHost { world in
      try await world.withPair { alice, bob in
        await alice.waitFor(bob.id, through: world.host.peerID)
        try await alice.session.onLoop { core in
          let entry = try #require(core.entries[bob.id])
          entry.member.port = 4_242
          entry.member.addresses = ["192.0.2.1"]
          for _ in 0..<2 { core.dialler.dialFailed(entry, SessionError(.unreachable, ""), redial: .later, in: core) }
        }
        let warning = try await alice.log.first { event in
          if case .warning(let warning) = event { warning } else { nil }
        }
        #expect(warning.code == SessionWarning.reachedThroughMember)
        #expect(warning.peer == bob.id)
        for word in ["bob", "host", "4242", "relay"] { #expect(warning.message.contains(word), "\(warning.message)") }
        let count = await alice.log.all.count { if case .warning = $0 { true } else { false } }
        #expect(count == 1)
      }
    }
  }
}

extension PeerTransport {
  /// Joins `host`'s session with its key pinned, and lets members admit others.
  fileprivate func joinOpenly(_ session: SessionID, of host: PeerTransport) async throws -> Session {
    var request = JoinRequest(
      session: session,
      addresses: [host.loopback],
      peer: host.peerID,
      trust: .pinnedByLink,
      code: nil
    )
    request.admission = .anyone
    return try await join(request) { _ in true }
  }
}
