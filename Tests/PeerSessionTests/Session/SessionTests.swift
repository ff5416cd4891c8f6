import Foundation
import NIOCore
import NIOPosix
import PeerCore
import PeerDiscovery
import Testing

@testable import PeerSession

@Suite("Session", .timeLimit(.minutes(5))) struct SessionTests {
  @Test("a message sent by each side arrives whole at the other") func message() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        let (atAlice, atBob) = (EventLog(), EventLog())
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await atAlice.follow(hosted) }
          group.addTask { await atBob.follow(joined) }
          await atAlice.waitForPeers(1)
          #expect(hosted.connectedPeers() == [bob.peerID])
          #expect(joined.connectedPeers() == [alice.peerID])
          #expect(joined.hostPeer == alice.peerID)
          try await hosted.sendConfirmed(Array("hello".utf8))
          try await joined.sendConfirmed(Array("and back".utf8))
          await atBob.waitForMessages(1)
          await atAlice.waitForMessages(1)
          #expect(await atBob.messages == [Array("hello".utf8)])
          #expect(await atAlice.messages == [Array("and back".utf8)])
          await hosted.leave()
          await joined.leave()
        }
      }
    }
  }

  @Test("a transport is freed after its end", arguments: ["alone", "hosted", "left", "joined", "joined and left"])
  func isFreed(_ way: String) async throws {
    let cores = Cores()
    try await withPeer("alice") { alice in
      await cores.note(alice)
      if way == "alone" { return }
      let hosted = try await alice.host(.random(), admission: .anyone)
      if way.hasPrefix("joined") {
        try await withPeer("bob") { bob in
          await cores.note(bob)
          let joined = try await bob.join(hosted.id, of: alice)
          #expect(joined.hostPeer == alice.peerID)
          if way.hasSuffix("left") { await joined.leave() }
        }
      }
      if way.hasSuffix("left") { await hosted.leave() }
    }
    await eventually { cores.areFreed }
  }

  @Test("a transport is freed after its end, also if a bulk link waited for the peer to return")
  func isFreedAfterWait() async throws {
    let cores = Cores()
    try await withPeer("alice") { alice in
      await cores.note(alice)
      let hosted = try await alice.host(.random(), admission: .anyone)
      try await withPeer("bob") { bob in
        let joined = try await bob.join(hosted.id, of: alice)
        // Neither side dials again.
        try await joined.onLoop { $0.dialler.policy[alice.peerID].bar(.always) }
        let waiting = try await hosted.onLoop { core in
          core.dialler.policy[bob.peerID].bar(.always)
          core.entries[bob.peerID]?.link.take()?.abort()
          return core.bulk.openLink(to: bob.peerID, in: core)
        }
        await hosted.leave()
        await #expect(throws: SessionError.self) { _ = try await waiting.get() }
      }
    }
    await eventually { cores.areFreed }
  }

  @Test("a dial that fails after its session has ended has no effect") func dialOutlastsSession() async throws {
    let accepted = AsyncStream.makeStream(of: (any Channel).self)
    let silent = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).childChannelInitializer {
      channel in
      accepted.continuation.yield(channel)
      return channel.eventLoop.makeSucceededVoidFuture()
    }.bind(host: "127.0.0.1", port: 0).get()
    let address = PeerAddress(host: "127.0.0.1", port: try #require(silent.localAddress?.port))
    try await withPeer("alice") { alice in
      var connections = accepted.stream.makeAsyncIterator()
      let connection = try await { () async throws -> (any Channel)? in
        let hosted = try await alice.host(.random(), admission: .anyone)
        hosted.found(PeerIdentity.ephemeral().peerID, at: [address], as: .random())
        let connection = await connections.next()
        await hosted.leave()
        return connection
      }()
      // The dialer closes the connection when its TLS handshake has failed.
      let other = try #require(connection)
      try await other.writeAndFlush(ByteBuffer(string: "no TLS"))
      try await other.closeFuture.get()
    }
    try await silent.close()
  }

  /// Weak references to transports.
  private final class Cores: Sendable {
    private struct Core: @unchecked Sendable { weak var value: TransportCore? }

    private let cores = Locked<[Core]>([])

    func note(_ transport: PeerTransport) async {
      let core = transport.core
      try? await transport.eventLoop.submit { [self] in
        let noted = Core(value: core.value)
        cores.withLock { $0.append(noted) }
      }.get()
    }

    var areFreed: Bool { cores.withLock { $0.allSatisfy { $0.value == nil } } }
  }

  @Test("a peer that has the name of a known peer, but another key, causes a warning") func changedKey() async throws {
    try await withPeer("alice") { alice in
      let hosted = try await alice.host(.random(), admission: .anyone)
      var events = hosted.events.makeAsyncIterator()
      for (name, isWarned) in [("Bob", false), ("bob ", true), ("Guest", false), ("Guest", false)] {
        let bob = try await withPeer(name) { bob in
          try await bob.join(hosted.id, of: alice).leave()
          return bob.peerID
        }
        var warned: [PeerID?] = []
        while let event = await events.next() {
          if case .warning(let warning) = event, warning.code == "changed-key" { warned.append(warning.peer) }
          if case .peerLeft = event { break }
        }
        #expect(warned == (isWarned ? [bob] : []))
      }
      await hosted.leave()
    }
  }

  @Test("[HEL-5] the host gets a warning that newcomers found no room, once a minute") func fullSession() async throws {
    let isAlone: @Sendable (inout TransportConfiguration) -> Void = { $0.maximumPeers = 1 }
    try await withPeer("alice", configure: isAlone) { alice in
      let hosted = try await alice.host(.random(), admission: .anyone)
      let log = EventLog()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await log.follow(hosted) }
        for name in ["bob", "carol"] {
          try await withPeer(name) { peer in
            let error = await #expect(throws: SessionError.self) { try await peer.join(hosted.id, of: alice) }
            #expect(error?.code == .full)
          }
        }
        await hosted.leave()
        try await group.waitForAll()
      }
      let warnings = await log.all.compactMap { if case .warning(let warning) = $0 { warning } else { nil } }
      #expect(warnings.map(\.code) == [SessionWarning.sessionFull])
      #expect(warnings.first?.message.contains("bob") == true)
    }
  }

  @Test("the wait for an unreachable peer that another one replaced ends at once; a connected peer stays")
  func givenUp() async throws {
    let hide: @Sendable (inout TransportConfiguration) -> Void = { $0.isDiallable = false }
    try await withPeer("alice", configure: hide) { alice in
      try await withPeer("bob", configure: hide) { bob in
        let hosted = try await alice.host(.random(), admission: .anyone)
        let joined = try await bob.join(hosted.id, of: alice)
        let log = EventLog()
        let following = Task { await log.follow(hosted) }
        hosted.giveUp(bob.peerID)
        try await hosted.sendConfirmed([1])
        // Bob does not dial again.
        try await joined.onLoop { $0.dialler.policy.end() }
        _ = try await hosted.onLoop { $0.entries[bob.peerID]?.link?.abort() }
        _ = try await log.first { event -> Bool? in
          if case .peerStateChanged(_, .reconnecting) = event { true } else { nil }
        }
        hosted.giveUp(bob.peerID)
        let reason = try await log.first { event -> DepartureReason? in
          if case .peerLeft(_, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == .lost)
        await joined.leave()
        await hosted.leave()
        await following.value
      }
    }
  }

  @Test("[DUP-2] a dial that reaches its peer after another link opened does not replace that link") func lateDial()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let hosted = try await alice.host(.random(), admission: .anyone)
        let joined = try await bob.join(hosted.id, of: alice)
        let peer = alice.peerID
        let link = try await joined.onLoop { core in
          let entry = core.entries[peer]
          if let entry { core.dialler.dial(entry, in: core) }
          return entry?.link.map(ObjectIdentifier.init)
        }
        while try await joined.onLoop({ $0.dialler.policy[peer].isDialling }) { await Task.yield() }
        #expect(try await joined.onLoop { $0.entries[peer]?.link.map(ObjectIdentifier.init) } == link)
        #expect(link != nil)
        await joined.leave()
        await hosted.leave()
      }
    }
  }

  @Test("a traffic observer gets everything that the application receives and sends, in order") func observedTraffic()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let hosted = try await alice.host(.random(), admission: .anyone)
        let told = Locked<[String]>([])
        hosted.observeTraffic { traffic in
          let line: String? =
            switch traffic {
            case .event(.peerJoined(let peer)): "joined \(peer.name.raw)"
            case .event(.peerLeft(_, let reason, _)): "left \(reason.word)"
            case .event(.message(let bytes, _)): "<- \(bytes)"
            case .event(.streamOpened(let stream)): "<- stream \(stream.name.raw)"
            case .message(let bytes, let peers): "-> \(bytes) to \(peers.count)"
            case .datagram(let bytes, let peers): "-> datagram \(bytes) to \(peers.count)"
            case .streamBytes(let bytes, _, let isSent): "\(isSent ? "->" : "<-") bytes \(bytes)"
            case .streamFinished(_, let isSent): "\(isSent ? "->" : "<-") finished"
            case .event, .openedStream, .streamBroke: nil
            }
          if let line { told.withLock { $0.append(line) } }
        }
        let received = Locked<PeerStream?>(nil)
        let joined = try await bob.join(hosted.id, of: alice)
        var events = hosted.events.makeAsyncIterator()
        func until(_ holds: (SessionEvent) -> Bool) async {
          while let event = await events.next() { if holds(event) { return } }
        }
        await until { if case .peerJoined = $0 { true } else { false } }
        try await hosted.send([1], to: [bob.peerID])
        try await hosted.sendConfirmed([2])
        try await hosted.send([3], mode: .unreliable)
        // A send that fails is not reported.
        await #expect(throws: SessionError.self) { try await hosted.send([4], to: [alice.peerID]) }
        try await joined.send([5])
        await until { if case .message = $0 { true } else { false } }
        let stream = try await joined.openStream(named: "s", to: alice.peerID)
        try await stream.write([6])
        try await stream.finish()
        await until { event in
          guard case .streamOpened(let found) = event else { return false }
          // The bytes of the stream are reported when the code below reads them.
          received.withLock { $0 = found }
          return true
        }
        let found = try #require(received.withLock { $0 })
        for try await _ in found.inbound {}
        try await found.write([7])
        try await found.finish()
        await joined.leave()
        await until { if case .peerLeft = $0 { true } else { false } }
        hosted.observeTraffic(nil)
        await hosted.leave()
        #expect(
          told.withLock { $0 } == [
            "joined bob", "-> [1] to 1", "-> [2] to 1", "-> datagram [3] to 1", "<- [5]", "<- stream s", "<- bytes [6]",
            "<- finished", "-> bytes [7]", "-> finished", "left left",
          ]
        )
      }
    }
  }

  @Test("a transfer ends with session-ended when the local peer leaves the session") func leftWithTransfers()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        try await withScratchDirectory { directory in
          try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
          let file = directory + "/big"
          #expect(FileManager.default.createFile(atPath: file, contents: nil))
          let handle = try #require(FileHandle(forWritingAtPath: file))
          try handle.truncate(atOffset: 1 << 32)
          try handle.close()
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          let joined = try await bob.join(id, of: alice)
          let log = EventLog()
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(hosted) }
            await log.waitForPeers(1)
            let transfer = try hosted.sendResource(atPath: file, named: "big", to: bob.peerID)
            await hosted.leave()
            await #expect(throws: SessionError(.sessionEnded, "")) { try await transfer.result() }
            for await _ in transfer.progress {}
          }
          await joined.leave()
        }
      }
    }
  }

  @Test("[CLS-4] on a first join, a busy listener is dialed again until it admits") func joinsBusyListener()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        try await withPeer("carol") { carol in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .ask)
          var atAlice = JoinRequest(session: id, addresses: [alice.loopback], peer: alice.peerID, trust: .pinnedByLink)
          atAlice.admission = .anyone
          async let bobs = bob.join(atAlice) { _ in true }
          var events = hosted.events.makeAsyncIterator()
          var waiting: InvitationID?
          while waiting == nil, let event = await events.next() {
            if case .invitation(let invitation) = event { waiting = invitation.id }
          }
          let atBob = JoinRequest(session: id, addresses: [bob.loopback], peer: bob.peerID, trust: .pinnedByLink)
          let (retries, retry) = AsyncStream<SessionError>.makeStream()
          async let carols = carol.join(atBob) { step in
            if case .retrying(let error) = step { retry.yield(error) }
          } verify: { _ in
            true
          }
          // Bob is itself waiting for an answer, so Bob refuses Carol for now.
          var reason: SessionError?
          for await error in retries {
            reason = error
            break
          }
          #expect(reason?.code == .busy)
          try await hosted.respond(to: #require(waiting), .accept)
          for session in try await [bobs, carols] { await session.leave() }
          await hosted.leave()
        }
      }
    }
  }

  @Test("[HEL-2] a peer that is still joining a session answers busy, which is not a refusal") func busyWhileJoining()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        try await withPeer("carol") { carol in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .ask)
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
              let joined = try await bob.join(id, of: alice)
              await joined.leave()
            }
            var events = hosted.events.makeAsyncIterator()
            var waiting: InvitationID?
            while waiting == nil, let event = await events.next() {
              if case .invitation(let invitation) = event { waiting = invitation.id }
            }
            await #expect(throws: SessionError(.busy, "")) { try await carol.join(id, of: bob) }
            try await hosted.respond(to: #require(waiting), .accept)
            try await group.waitForAll()
          }
          await hosted.leave()
        }
      }
    }
  }

  @Test("[MEM-1] a returning member that is dialed learns of the others, and they learn of it") func wordSpreads()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let identity = PeerIdentity.ephemeral()
        try await withPeer("carol", identity: identity) { carol in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          let joined = try await bob.join(id, of: alice)
          let (log, atCarol) = (EventLog(), EventLog())
          // Carol was in the session before, but never met the other two.
          var record = MembershipRecord(host: alice.peerID)
          record.ticket = try await hosted.onLoop { core in
            core.membership.renewed(for: identity.peerID, showing: nil, by: core.configuration.identity)
          }
          let opened = try await carol.host(id, admission: .known, membership: record)
          await withTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(joined) }
            group.addTask { await atCarol.follow(opened) }
            // Discovery shows carol only to alice.
            hosted.found(carol.peerID, at: [carol.loopback], as: opened.incarnation)
            await atCarol.waitForPeers(2)
            await log.waitForPeers(2)
            #expect(Set(opened.connectedPeers()) == [alice.peerID, bob.peerID])
            await opened.leave()
            await joined.leave()
          }
          await hosted.leave()
        }
      }
    }
  }

  @Test("transports that share threads end one by one, and the others continue") func sharedThreads() async throws {
    try await TransportThreads.withThreads(1) { threads in
      try await withPeer("alice", configure: { $0.threads = threads }) { alice in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        for name in ["bob", "carol"] {
          let log = EventLog()
          try await withPeer(name, configure: { $0.threads = threads }) { guest in
            let joined = try await guest.join(id, of: alice)
            try await withThrowingTaskGroup(of: Void.self) { group in
              group.addTask { await log.follow(joined) }
              await log.waitForPeers(1)
              try await hosted.sendConfirmed(Array(name.utf8), to: [guest.peerID])
              await log.waitForMessages(1)
              await joined.leave()
            }
          }
          #expect(await log.messages == [Array(name.utf8)])
        }
        await hosted.leave()
      }
    }
  }

  @Test("[MSG-1] a message of the maximum length arrives, and one byte more is refused") func greatestMessage()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        let atBob = EventLog()
        await withTaskGroup(of: Void.self) { group in
          group.addTask { await atBob.follow(joined) }
          let message = (0..<16_777_216).map { UInt8(truncatingIfNeeded: $0 &* 31) }
          await #expect(throws: Never.self) { try await hosted.sendConfirmed(message) }
          await atBob.waitForMessages(1)
          #expect(await atBob.messages == [message])
          await #expect(throws: SessionError(.messageTooLarge, "")) { try await hosted.send(message + [0]) }
          await hosted.leave()
          await joined.leave()
        }
      }
    }
  }

  @Test("[MSG-5] members that send large messages at once take turns, and every message arrives") func largeMessages()
    async throws
  {
    try await withPeer("alice") { alice in
      let id = SessionID.random()
      let hosted = try await alice.host(id, admission: .anyone)
      let log = EventLog()
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await log.follow(hosted) }
        try await withThrowingTaskGroup(of: Void.self) { senders in
          for sender: UInt8 in 0..<4 {
            senders.addTask {
              try await withPeer("sender") { peer in
                let joined = try await peer.join(id, of: alice)
                for number: UInt8 in 0..<3 {
                  let message = [sender, number] + [UInt8](repeating: number, count: 12 << 20)
                  try await joined.sendConfirmed(message, to: [alice.peerID])
                }
                await joined.leave()
              }
            }
          }
          try await senders.waitForAll()
        }
        await log.waitForMessages(12)
        let messages = await log.messages
        for sender: UInt8 in 0..<4 { #expect(messages.filter { $0[0] == sender }.map { $0[1] } == [0, 1, 2]) }
        await hosted.leave()
        try await group.waitForAll()
      }
    }
  }

  @Test("a task on the session's executor receives and sends on the thread of the links") func executor() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask(executorPreference: hosted.executor) {
            for await case .message(let bytes, let peer) in hosted.events {
              // The core can be accessed only on its own thread.
              #expect(hosted.core.value.id == id)
              try await hosted.send(bytes + [1], to: [peer])
              #expect(hosted.core.value.id == id)
            }
          }
          let atBob = EventLog()
          group.addTask { await atBob.follow(joined) }
          for number: UInt8 in 0..<100 { try await joined.send([number]) }
          await atBob.waitForMessages(100)
          #expect(await atBob.messages == (0..<100).map { [$0, 1] })
          await hosted.leave()
          await joined.leave()
          try await group.waitForAll()
        }
      }
    }
  }

  @Test("after a peer says goodbye, its reason arrives") func goodbye() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        let atAlice = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await atAlice.follow(hosted) }
          await joined.leave()
          let reason = try await atAlice.first { if case .peerLeft(_, let reason, _) = $0 { reason } else { nil } }
          #expect(reason == .left)
          await hosted.leave()
        }
      }
    }
  }

  @Test("an address that became the dialler's own leads to no other program") func ownPort() async throws {
    try await withPeer("alice") { alice in
      let request = JoinRequest(
        session: .random(),
        addresses: [alice.loopback],
        peer: PeerIdentity.ephemeral().peerID,
        trust: .pinnedByLink
      )
      await #expect(throws: SessionError(.unreachable, "")) { _ = try await alice.join(request) { _ in true } }
    }
  }

  @Test("[LNK-3] a listener with another key than the one named is refused") func wrongKey() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        _ = try await alice.host(id, admission: .anyone)
        let other = PeerIdentity.ephemeral().peerID
        let request = JoinRequest(session: id, addresses: [alice.loopback], peer: other, trust: .pinnedByLink)
        await #expect(throws: SessionError(.wrongPeer, "")) { _ = try await bob.join(request) { _ in true } }
      }
    }
  }

  @Test("[MEM-2] three peers find each other through the one that admitted the other two") func mesh() async throws {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        try await withPeer("carol") { carol in
          let id = SessionID.random()
          let hosted = try await alice.host(id, admission: .anyone)
          let sessions = [hosted, try await bob.join(id, of: alice), try await carol.join(id, of: alice)]
          let logs = sessions.map { _ in EventLog() }
          await withTaskGroup(of: Void.self) { group in
            for (session, log) in zip(sessions, logs) { group.addTask { await log.follow(session) } }
            for log in logs { await log.waitForPeers(2) }
            for session in sessions { #expect(session.connectedPeers().count == 2) }
            for session in sessions { await session.leave() }
          }
        }
      }
    }
  }

  @Test("[STR-1] bytes written directly after the opening of a stream arrive, in both directions") func streams()
    async throws
  {
    try await withPeer("alice") { alice in
      try await withPeer("bob") { bob in
        let id = SessionID.random()
        let hosted = try await alice.host(id, admission: .anyone)
        let joined = try await bob.join(id, of: alice)
        for (from, to) in [(hosted, joined), (joined, hosted)] {
          let log = EventLog()
          try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await log.follow(to) }
            for round in 0..<20 {
              let stream = try await from.openStream(named: "\(round)", to: to.localPeer)
              let bytes = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ round) }
              group.addTask {
                try await stream.write(bytes)
                try await stream.finish()
              }
              let other = try await log.first { event -> PeerStream? in
                if case .streamOpened(let other) = event, other.name.raw == "\(round)" { other } else { nil }
              }
              var received: [UInt8] = []
              for try await piece in other.inbound { received += piece }
              #expect(received == bytes)
              try await other.finish()
            }
            group.cancelAll()
          }
        }
        await hosted.leave()
        await joined.leave()
      }
    }
  }
}
