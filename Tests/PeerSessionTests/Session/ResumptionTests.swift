import Foundation
import NIOCore
import NIOPosix
import PeerWire
import Testing

@testable import PeerSession

@Suite("Resumption", .timeLimit(.minutes(5))) struct ResumptionTests {
  /// The seed; set `WHITEBOARD_SEED` to repeat a run.
  private static var seed: UInt64 {
    ProcessInfo.processInfo.environment["WHITEBOARD_SEED"].flatMap(UInt64.init) ?? .random(in: .min ... .max)
  }

  /// The number of cuts; `WHITEBOARD_CUTS` sets another number.
  private static var cuts: Int { ProcessInfo.processInfo.environment["WHITEBOARD_CUTS"].flatMap { Int($0) } ?? 200 }

  @Test("[RSM-2] numbered messages arrive exactly once and in order, in both directions, over many cuts")
  func exactlyOnce() async throws {
    let seed = Self.seed
    print("seed \(seed)")
    let count = 20_000
    let cuts = Self.cuts
    // Neither peer announces its address, so every link goes through the proxy.
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await withPeer("alice", configure: hide) { alice in
      try await withPeer("bob", configure: hide) { bob in
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        // A handshake takes about 3 KB in each direction, so some cuts are during it.
        let proxy = CuttingProxy(to: alice.loopback, seed: seed, offsets: 2_500...30_000, group: group)
        let address = try await proxy.start()
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice, at: address)
        let (atAlice, atBob) = (Numbers(), Numbers())
        try await withThrowingTaskGroup(of: Void.self) { group in
          proxy.cut(cuts)
          group.addTask { try await atAlice.follow(hosted, count) }
          group.addTask { try await atBob.follow(joined, count) }
          group.addTask { try await send(hosted, count, until: { proxy.cuts >= cuts }) }
          group.addTask { try await send(joined, count, until: { proxy.cuts >= cuts }) }
          // The first failure ends the test, because the other tasks would wait forever.
          while try await group.next() != nil {}
        }
        #expect(proxy.cuts >= cuts)
        let (fromBob, fromAlice) = (await atAlice.received, await atBob.received)
        #expect(fromBob >= count && fromAlice >= count)
        print("\(fromBob) + \(fromAlice) messages over \(proxy.cuts) cuts")
        try await proxy.stop()
        await joined.leave()
        await hosted.leave()
        try await group.shutdownGracefully()
      }
    }
  }

  @Test(
    "[LIV-3] a handshake that a bad network delays is dialed again on either side; no peer is lost",
    arguments: [nil, CloseCode.timedOut, .duplicateLink]
  ) func stalledHandshake(closed: CloseCode?) async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    let log = EventLog()
    try await withPeer("alice", configure: hide) { alice in
      try await withPeer("bob", configure: hide) { bob in
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let proxy = CuttingProxy(to: alice.loopback, seed: 1, offsets: 1...1, group: loops)
        let address = try await proxy.start()
        let hosted = try await alice.host(SessionID.random(), admission: .anyone)
        let joined = try await bob.join(hosted.id, of: alice, at: address)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(joined) }
          try await hosted.sendConfirmed([1])
          proxy.stall()
          await proxy.firstStall()
          try await joined.onLoop { core in
            let handshake = try #require(core.dialler.handshakes.values.first)
            if let closed {
              handshake.linkEnded(handshake.link, .closed(closed, message: ""))
            } else {
              // The 5 s for that step have passed.
              handshake.timePassed(now: .uptime + .seconds(6))
            }
          }
          proxy.resume()
          await log.wait { events in
            var wasAway = false
            return events.contains { event in
              switch event {
              case .peerStateChanged(_, .reconnecting): wasAway = true
              case .peerStateChanged(_, .connected), .peerLeft: return wasAway
              default: break
              }
              return false
            }
          }
          let left = await log.all.filter { if case .peerLeft = $0 { true } else { false } }
          try #require(left.isEmpty)
          try await hosted.sendConfirmed([2])
          await log.waitForMessages(2)
          #expect(await log.messages == [[1], [2]])
          await joined.leave()
          await hosted.leave()
          try await group.waitForAll()
        }
        try await proxy.stop()
        try await loops.shutdownGracefully()
      }
    }
  }

  @Test("[LIV-4] a lost peer is dialed when it is seen, and joins again") func backAfterLost() async throws {
    let identity = PeerIdentity.ephemeral()
    let id = SessionID.random()
    // Neither peer announces its address, so every link goes through the proxy.
    let hide: @Sendable (inout TransportConfiguration) -> Void = {
      $0.isDiallable = false
      $0.lostAfter = .milliseconds(100)
    }
    let log = EventLog()
    try await withPeer("bob", configure: hide) { bob in
      let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let joined = try await withPeer("alice", identity: identity, configure: hide) { alice in
        let proxy = CuttingProxy(to: alice.loopback, seed: 1, offsets: 1...1, group: loops)
        let address = try await proxy.start()
        _ = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice, at: address)
        try await proxy.stop()
        return joined
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await log.follow(joined) }
        let reason = try await log.first { event in if case .peerLeft(_, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == .lost)
        // Another run of the program, which does not know bob and admits only with a ticket.
        try await withPeer("alice", identity: identity, configure: hide) { alice in
          let again = try await alice.host(id, admission: .known)
          joined.found(alice.peerID, at: [alice.loopback], as: again.incarnation)
          await log.wait { events in events.count(where: { if case .peerJoined = $0 { true } else { false } }) == 2 }
          #expect(joined.connectedPeers() == [alice.peerID])
        }
        await joined.leave()
        try await group.waitForAll()
      }
      try await loops.shutdownGracefully()
    }
  }

  @Test("[LIV-2] a process that was suspended does not take its peers for silent") func stopped() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        try await hosted.onLoop { core in
          core.tick(.now())
          core.tick(.now() + .seconds(7))
        }
        #expect(hosted.peers().map(\.state) == [.connected])
        await joined.leave()
        await hosted.leave()
      }
    }
  }

  @Test(
    "[MEM-3] a peer that was kicked while it was away learns so when it dials again",
    arguments: [Duration.milliseconds(100), .seconds(60)]
  ) func kickedAway(lostAfter: Duration) async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = {
      $0.isDiallable = false
      $0.lostAfter = lostAfter
    }
    let isLostSoon = lostAfter < .seconds(1)
    let log = EventLog()
    try await withPeer("alice") { alice in
      try await withPeer("bob", configure: hide) { bob in
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let proxy = CuttingProxy(to: alice.loopback, seed: 1, offsets: 1...1, group: loops)
        let address = try await proxy.start()
        let hosted = try await alice.host(SessionID.random(), admission: .anyone)
        let id = hosted.id
        let joined = try await bob.join(id, of: alice, at: address)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(joined) }
          // No address works now, because Alice's own address is not known yet.
          try await joined.onLoop { $0.entries[alice.peerID]?.member.port = 0 }
          try await proxy.stop()
          _ = try await log.first { event in
            switch event {
            case .peerStateChanged(_, .reconnecting) where !isLostSoon: true
            case .peerLeft(_, .lost, _): true
            default: nil
            }
          }
          try await hosted.kick(bob.peerID, reason: "enough")
          joined.found(alice.peerID, at: [alice.loopback], as: hosted.incarnation)
          try await group.waitForAll()
        }
        await #expect(throws: SessionError(.kicked, "")) { try await joined.send([1]) }
        // The reason is the same as for a connected member (MEM-10).
        #expect(joined.endReason?.remark == "enough")
        await hosted.leave()
        try await loops.shutdownGracefully()
      }
    }
  }

  @Test("[HEL-2] a program that is still starting answers a dialler once it serves the session") func beforeTheSession()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let code = JoinCode.random()
        let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let proxy = CuttingProxy(to: alice.loopback, seed: 1, offsets: 1...1, group: loops)
        let address = try await proxy.start()
        async let joining = bob.join(id, of: alice, at: address, code: code)
        await proxy.firstConnection()
        // Stretching the code takes longer than a handshake.
        let hosted = try await alice.host(id, admission: .code(code))
        let joined = try await joining
        #expect(joined.connectedPeers() == [alice.peerID])
        try await proxy.stop()
        await joined.leave()
        await hosted.leave()
        try await loops.shutdownGracefully()
      }
    }
  }

  @Test("[DUP-3] a message for one process of a peer is not sent to its next process") func toOneProcess() async throws
  {
    let identity = PeerIdentity.ephemeral()
    let id = SessionID.random()
    let (log, atBob) = (EventLog(), EventLog())
    try await withPeer("alice") { alice in
      try await withPeer("bob", identity: identity) { before in
        try await withPeer("bob", identity: identity) { after in
          let hosted = try await alice.host(id, admission: .anyone)
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(hosted) }
            let old = try await before.join(id, of: alice)
            await log.waitForPeers(1)
            // Like a killed peer, the old session does not dial again.
            try await old.onLoop { $0.dialler.policy[alice.peerID].bar(.always) }
            let joined = try await after.join(id, of: alice)
            group.addTask { await atBob.follow(joined) }
            await log.wait { events in events.count(where: { if case .peerJoined = $0 { true } else { false } }) == 2 }
            let bobs = await log.all.compactMap { if case .peerJoined(let peer) = $0 { peer } else { nil } }
            await #expect(throws: SessionError(.notConnected, "")) {
              try await hosted.send([1], to: [bobs[0].id: bobs[0].joinGeneration])
            }
            try await hosted.send([2], to: [bobs[1].id: bobs[1].joinGeneration])
            await atBob.waitForMessages(1)
            #expect(await atBob.messages == [[2]])
            await joined.leave()
            await hosted.leave()
            try await group.waitForAll()
          }
        }
      }
    }
  }

  /// Sends increasing numbers, beginning with 0, until at least `count` numbers are sent and `isDone` returns true.
  /// Then sends the end mark.
  private func send(_ session: Session, _ count: Int, until isDone: @escaping @Sendable () -> Bool) async throws {
    var number: UInt64 = 0
    while number < UInt64(count) || !isDone() {
      let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) }
      // Lengths vary, so that cuts happen at all positions in frames.
      try await session.send(bytes + Array(repeating: 7, count: Int(number % 97)))
      number += 1
      if number % 512 == 0 { try await session.sendConfirmed([]) }
    }
    try await session.sendConfirmed([0xFF])
  }
}

/// Checks that numbers arrive exactly once and in order.
private actor Numbers {
  private(set) var received = 0

  func follow(_ session: Session, _ count: Int) async throws {
    for await event in session.events {
      switch event {
      case .message(let bytes, _):
        if bytes.isEmpty { continue }
        if bytes == [0xFF] { return }
        let number = bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        try #require(number == UInt64(received))
        received += 1
      case .peerLeft(_, let reason, _): throw SessionError(.peerLost, "the peer left: \(reason)")
      default: break
      }
    }
  }
}
