import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Removals that last and spread, between real transports.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemovalSessionTests {
  /// Runs `body` with a host and a member, and the events of both.
  private func withPair(
    admission: AdmissionPolicy = .anyone,
    configure: @escaping @Sendable (inout TransportConfiguration) -> Void = { _ in },
    _ body: @escaping @Sendable (Pair) async throws -> Void
  ) async throws {
    try await withPeer("alice", configure: configure) { alice in
      try await withPeer("bob") { bob in
        let hosted = try await alice.host(.random(), admission: .anyone)
        let joined = try await bob.join(hosted.id, of: alice)
        try await hosted.onLoop { $0.admission.replacePolicy(with: admission) }
        let pair = Pair(alice: alice, bob: bob, hosted: hosted, joined: joined, logs: (EventLog(), EventLog()))
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await pair.logs.alice.follow(hosted) }
          group.addTask { await pair.logs.bob.follow(joined) }
          await pair.logs.alice.waitForPeers(1)
          await pair.logs.bob.waitForPeers(1)
          try await body(pair)
          for session in [joined, hosted] { await session.leave() }
          try await group.waitForAll()
        }
      }
    }
  }

  private struct Pair: Sendable {
    var alice: PeerTransport
    var bob: PeerTransport
    var hosted: Session
    var joined: Session
    var logs: (alice: EventLog, bob: EventLog)

    /// Sends a KICK from the member to the host's session or in the other direction.
    func send(_ kick: Control.Kick, from session: Session, to peer: PeerID) async throws {
      try await session.onLoop { core in core.entries[peer]?.link?.send(.kick, kick.encoded()) }
    }
  }

  private func signed(_ peer: PeerID, by identity: PeerIdentity, in session: SessionID, reason: String = "")
    -> Control.Kick
  {
    var kick = Control.Kick(peer: peer, reason: reason)
    kick.signature = KickSignature(by: identity, session: session, peer: peer, reason: kick.reason)
    return kick
  }

  @Test("[MEM-11] a member that was away learns of a removal from another one, without the host")
  func learnsFromMember() async throws {
    let code = JoinCode.random()
    try await withPeer("bob") { bob in
      let removed = PeerIdentity.ephemeral()
      let host = PeerIdentity.ephemeral()
      let session = SessionID.random()
      var record = MembershipRecord(host: host.peerID)
      record.removed = [removed.peerID]
      record.reasons = [removed.peerID: UntrustedText("spam")]
      let kick = signed(removed.peerID, by: host, in: session, reason: "spam")
      record.signatures[removed.peerID] = kick.signature
      // Bob was connected when the host removed a peer; the host is offline now.
      let kept = try await bob.host(session, admission: .code(code), membership: record)
      try await withPeer("carol") { carol in
        let joined = try await carol.join(session, of: bob, code: code)
        for await record in joined.membership where record.removed == [removed.peerID] {
          #expect(record.reasons[removed.peerID]?.raw == "spam")
          #expect(record.signatures == [removed.peerID: kick.signature])
          break
        }
        _ = try await withPeer("dave", identity: removed) { dave in
          await #expect(throws: SessionError(.kicked, "")) { _ = try await dave.join(session, of: carol, code: code) }
        }
        await joined.leave()
      }
      await kept.leave()
    }
  }

  @Test("[MEM-11] a removal reaches the connected members, and is stored with its signature") func spreads()
    async throws
  {
    try await withPair { pair in
      try await withPeer("carol") { carol in
        let session = try await carol.join(pair.hosted.id, of: pair.alice)
        await pair.logs.bob.waitForJoining(of: carol.peerID, times: 1)
        try await pair.hosted.kick(carol.peerID, reason: "enough")
        for await _ in session.events {}
        #expect(session.endReason?.code == .kicked)
        let reason = try await pair.logs.bob.first { event in
          if case .peerLeft(carol.peerID, let reason, _) = event { reason } else { nil }
        }
        #expect(reason == .kicked(reason: UntrustedText("enough")))
        let record = try await pair.joined.membershipRecord()
        #expect(record.signatures[carol.peerID] != nil)
        // An absent member can be removed, too; a peer that never was a member cannot be removed.
        await #expect(throws: SessionError(.notConnected, "")) { try await pair.hosted.kick(.numbered(5), reason: "") }
        await #expect(throws: SessionError(.notHost, "")) { try await pair.joined.kick(pair.alice.peerID, reason: "") }
      }
    }
  }

  @Test("[MEM-11] a forged signature closes the link; a KICK without one by a member is ignored") func forged()
    async throws
  {
    try await withPair { pair in
      let (alice, bob) = (pair.alice.peerID, pair.bob.peerID)
      let id = pair.hosted.id
      let other = PeerIdentity.ephemeral()
      try await pair.send(.init(peer: .numbered(7), reason: ""), from: pair.joined, to: alice)
      try await pair.joined.sendConfirmed([1])
      #expect(try await pair.hosted.membershipRecord().removed.isEmpty)
      let forged = signed(.numbered(7), by: other, in: id)
      try await pair.send(forged, from: pair.joined, to: alice)
      let reason = try await pair.logs.alice.first { event in
        if case .peerLeft(bob, let reason, _) = event { reason } else { nil }
      }
      #expect(reason == .refused(SessionError(.protocolError, "")))
      #expect(try await pair.hosted.membershipRecord().removed.isEmpty)
    }
  }

  @Test("[MEM-11] the host's signed KICK counts on the link of a member, also for the receiver")
  func countsOnEveryLink() async throws {
    let host = PeerIdentity.ephemeral()
    try await withPair { pair in
      let (alice, bob) = (pair.alice.peerID, pair.bob.peerID)
      let id = pair.hosted.id
      // The host is a third peer, which is offline.
      for session in [pair.hosted, pair.joined] {
        try await session.onLoop { $0.directory.begin($0.id, host: host.peerID) }
      }
      let seven = signed(.numbered(7), by: host, in: id, reason: "spam")
      try await pair.send(seven, from: pair.joined, to: alice)
      try await pair.joined.sendConfirmed([1])
      #expect(try await pair.hosted.membershipRecord().removed == [.numbered(7)])
      // The host itself is never removed.
      let itself = signed(host.peerID, by: host, in: id)
      try await pair.send(itself, from: pair.joined, to: alice)
      try await pair.joined.sendConfirmed([1])
      #expect(try await pair.hosted.membershipRecord().removed == [.numbered(7)])
      try await pair.send(signed(bob, by: host, in: id), from: pair.hosted, to: bob)
      await pair.logs.bob.wait { _ in false }
      #expect(pair.joined.endReason?.code == .kicked)
    }
  }

  @Test("[TCK-5] the host of an `ask` session does not admit a peer that a member named") func namedByMember()
    async throws
  {
    try await withPair(admission: .ask) { pair in
      try await withPeer("scriptedNode") { scriptedNode in
        // A malicious member, which answers every dialler with `none`.
        let trap = try await scriptedNode.host(pair.hosted.id, admission: .anyone)
        let bob = pair.bob.peerID
        let isBarred = try await pair.hosted.onLoop { core in
          let member = Control.Member(peer: scriptedNode.peerID, core.introduction(for: nil))
          var named = member
          named.port = scriptedNode.port
          named.addresses = ["127.0.0.1"]
          core.directory.learn([named], from: bob, dialAfter: .zero)
          core.entries[scriptedNode.peerID]?.observed = [scriptedNode.loopback]
          return core.entries[scriptedNode.peerID]?.isVouched
        }
        #expect(isBarred == false)
        var isRefused = false
        while !isRefused {
          isRefused = try await pair.hosted.onLoop { $0.dialler.policy[scriptedNode.peerID].isBarred }
          await Task.yield()
        }
        #expect(pair.hosted.connectedPeers() == [bob])
        await trap.leave()
      }
    }
  }

  @Test("[MEM-12] a removed peer is no longer a known peer") func forgotten() async throws {
    try await withScratchDirectory { directory in
      let store = try PeerStore(file: directory + "/peers.json")
      try await withPair(configure: { $0.peerStore = store }) { pair in
        let bob = pair.bob.peerID
        try await pair.hosted.alwaysAdmit(bob, name: "bob")
        #expect(await store.contains(bob))
        try await pair.hosted.kick(bob, reason: "")
        #expect(await !store.contains(bob))
        let isKnown = try await pair.hosted.onLoop { core in
          core.transport.known[bob] != nil || core.transport.alwaysAdmitted.contains(bob)
            || core.transport.proved.contains(bob)
        }
        #expect(!isKnown)
      }
    }
  }

  @Test("[MEM-12] a new code replaces the former one and the additional ones, also at a relay") func newCode()
    async throws
  {
    let (former, additional, code) = (JoinCode.random(), JoinCode.random(), JoinCode.random())
    try await withPeer("relay", configure: RelayWorld.makeRelay) { relay in
      await relay.startAccepting()
      try await withPeer("alice") { alice in
        let hosted = try await alice.host(.random(), admission: .code(former))
        let terms = CarryTerms(name: "board", admission: .code(former))
        _ = try await hosted.carry(by: [relay.loopback], relay: relay.peerID, terms: terms)
        try await hosted.invite(additional)
        let log = EventLog()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { await log.follow(hosted) }
          await log.waitForPeers(1)
          try await hosted.replaceCode(with: code)
          // The relay gets the code on a new link.
          await log.wait { events in
            let broken = events.lastIndex { if case .peerStateChanged(_, .reconnecting) = $0 { true } else { false } }
            let connected = events.lastIndex { if case .peerStateChanged(_, .connected) = $0 { true } else { false } }
            guard let broken, let connected else { return false }
            return connected > broken
          }
          try await withPeer("bob") { bob in
            for host in [alice, relay] {
              for wrong in [former, additional] {
                await #expect(throws: SessionError(.wrongCode, "")) {
                  _ = try await bob.join(hosted.id, of: host, code: wrong)
                }
              }
            }
            let joined = try await bob.join(hosted.id, of: relay, code: code)
            await joined.leave()
          }
          await hosted.leave()
          try await group.waitForAll()
        }
      }
    }
  }
}
