import Foundation
import NIOCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

@Suite("Relayed resources, streams and datagrams", .timeLimit(.minutes(5))) struct RelayBulkTests {
  @Test(
    "[RLY-11] a stream passes a relay in both directions, whichever side dialed the links",
    arguments: [false, true]
  ) func streams(_ isRelayDialler: Bool) async throws {
    try await RelayWorld.run { world in
      if isRelayDialler { try await world.redial() }
      for (from, to, log) in [
        (world.hosted, world.joined, world.logs.bob), (world.joined, world.hosted, world.logs.alice),
      ] {
        let stream = try await from.openStream(named: "log", to: to.localPeer)
        let bytes = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let other = try await log.first { event in if case .streamOpened(let other) = event { other } else { nil } }
        #expect(other.peer == from.localPeer)
        async let writing: Void = stream.write(bytes)
        async let answering: Void = other.write([1, 2, 3])
        try await writing
        try await stream.finish()
        try await answering
        try await other.finish()
        var received: [UInt8] = []
        for try await piece in other.inbound { received += piece }
        #expect(received == bytes)
        received = []
        for try await piece in stream.inbound { received += piece }
        #expect(received == [1, 2, 3])
      }
    }
  }

  @Test("[RLY-11] a resource passes a relay whole and verified, and the relay stores nothing of it") func resource()
    async throws
  {
    try await withScratchDirectory { directory in
      try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
      let path = directory + "/photo"
      let bytes = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      try await RelayWorld.run { world in
        let transfer = try world.hosted.sendResource(atPath: path, named: "photo", to: world.bob.peerID)
        let received = try await world.logs.bob.first { event in
          if case .resourceFinished(_, .success(let received)) = event { received } else { nil }
        }
        let written = try Data(contentsOf: URL(fileURLWithPath: try #require(received.path)))
        #expect(written == Data(bytes))
        _ = try await transfer.result()
        let atRelay = await world.logs.relay.all.contains { if case .resourceStarted = $0 { true } else { false } }
        #expect(!atRelay)
      }
    }
  }

  @Test("[RLY-11] a tunnel to a peer without a route is refused") func noRoute() async throws {
    try await RelayWorld.run { world in
      let stranger = PeerID.numbered(5)
      let refused = try await world.joined.onLoop { core in
        let entry = try #require(core.entries[world.relay.peerID])
        let link = try #require(entry.link)
        return core.bulk.dial(entry, link, opener: .dialler, route: stranger, in: core, BulkLink.wrap).map { _ in
          SessionError(.internalError, "it was attached")
        }.flatMapErrorThrowing { error in (error as? SessionError) ?? SessionError(.system, "") }
      }.get()
      #expect(refused.code == .notConnected)
      try await world.joined.sendConfirmed([1], to: [world.alice.peerID])
    }
  }

  @Test("[RLY-10] datagrams pass a relay", arguments: [1, 1_200, 5_000, 20_000]) func datagrams(_ count: Int)
    async throws
  {
    try await RelayWorld.run { world in
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 11) }
      for log in [world.logs.alice, world.logs.bob] {
        await log.wait { events in
          events.contains { if case .datagramPath(world.relay.peerID, .udp) = $0 { true } else { false } }
        }
      }
      let arrived = world.logs.bob
      while await arrived.datagrams(from: world.alice.peerID).isEmpty {
        try await world.hosted.send(bytes, to: [world.bob.peerID], mode: .unreliable)
        // Wait for one turn of each event loop.
        for session in [world.hosted, world.atRelay, world.joined] { try await session.onLoop { _ in } }
      }
      #expect(await arrived.datagrams(from: world.alice.peerID).first == bytes)
      #expect(await world.logs.relay.datagrams(from: world.alice.peerID).isEmpty)
    }
  }

  @Test("[RLY-10] an invalid datagram is dropped, and no link is closed for it") func wrongDatagrams() async throws {
    try await RelayWorld.run { world in
      for bytes in [
        [], [4, 0, 1], [99], RelayMessage.from(0).encoded([9]), RelayMessage.send(RouteSet([200])).encoded([9]),
        RelayMessage.free(0).encoded(),
      ] as [[UInt8]] {
        try await world.joined.onLoop { core in core.entries[world.relay.peerID]?.link?.send(.relayDatagram, bytes) }
      }
      try await world.joined.sendConfirmed([1], to: [world.alice.peerID])
      #expect(await world.logs.alice.datagrams(from: world.bob.peerID).isEmpty)
      #expect(world.joined.connectedPeers().count == 2)
    }
  }
}

extension RelayWorld {
  /// Makes the relay dial both members, so that the relay also dials further links.
  fileprivate func redial() async throws {
    for (peer, session) in [(alice, hosted), (bob, joined)] {
      // When the link is closed, only the relay dials.
      try await session.onLoop { core in core.dialler.policy[relay.peerID].bar(.always) }
      try await atRelay.onLoop { core in
        let entry = try #require(core.entries[peer.peerID])
        entry.observed = [peer.loopback]
        core.renewLink(entry)
      }
      var side = LinkSide.listener
      while side != .dialler { side = try await atRelay.onLoop { $0.entries[peer.peerID]?.link?.side ?? .listener } }
    }
  }
}

extension EventLog {
  fileprivate func datagrams(from peer: PeerID) -> [[UInt8]] {
    all.compactMap { if case .datagram(let bytes, peer) = $0 { bytes } else { nil } }
  }
}
