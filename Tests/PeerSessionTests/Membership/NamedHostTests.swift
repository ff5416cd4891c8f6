import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Sessions whose id names the host, and members that lie about the host.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NamedHostTests {
  private static let (anna, mal, ben) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral(), PeerIdentity.ephemeral())

  private func signed(_ peer: PeerID, by identity: PeerIdentity, in session: SessionID) -> Control.Kick {
    var kick = Control.Kick(peer: peer, reason: "")
    kick.signature = KickSignature(by: identity, session: session, peer: peer, reason: kick.reason)
    return kick
  }

  @Test("[MEM-14] an id names its host and no other peer; the ids of owned boards name none") func ids() throws {
    let id = SessionID.random(hostedBy: Self.anna.peerID)
    #expect(id.namesHost && id.names(Self.anna.peerID) && !id.names(Self.mal.peerID))
    #expect(id != .random(hostedBy: Self.anna.peerID))
    for index in id.bytes.indices {
      var bytes = id.bytes
      bytes[index] ^= 1
      #expect(try !#require(SessionID(bytes: bytes)).names(Self.anna.peerID))
    }
    let owned = try #require(SessionID(bytes: [0x6F, 0x77] + id.bytes.dropFirst(2)))
    #expect(!owned.namesHost && !owned.names(Self.anna.peerID))
    for vector in AdmissionVectors.all.namedSessions {
      let id = try #require(SessionID(bytes: vector.session.bytes))
      let peer = try #require(PeerID(bytes: vector.peer.bytes))
      #expect(id.names(peer) == vector.isNamed, "\(vector.name)")
    }
  }

  @Test("[MEM-15] only the peer that the id names has the rights of the host") func authority() {
    let id = SessionID.random(hostedBy: Self.anna.peerID)
    var membership = Membership(local: .numbered(1), session: id, host: Self.mal.peerID)
    #expect(membership.authority == nil && !membership.maySpeakForHost(Self.mal.peerID))
    membership.vouched(for: .numbered(5))
    #expect(!membership.maySpeakForHost(.numbered(5)))
    membership.remove(Self.ben.peerID, signature: signed(Self.ben.peerID, by: Self.mal, in: id).signature)
    let byAnna = signed(.numbered(3), by: Self.anna, in: id).signature
    membership.remove(.numbered(3), signature: byAnna)
    var isReplaced = membership.noticed([Self.ben.peerID])
    #expect(!isReplaced)
    isReplaced = membership.noticed([.numbered(9), Self.anna.peerID])
    #expect(isReplaced)
    #expect(membership.authority == Self.anna.peerID && membership.host == Self.anna.peerID)
    #expect(membership.relays.isEmpty && !membership.maySpeakForHost(Self.mal.peerID))
    // Only the removals that the host signed remain.
    #expect(!membership.isRemoved(Self.ben.peerID) && membership.isRemoved(.numbered(3)))
  }

  @Test("[MEM-15] a stored belief in a false host heals, with the removals that it caused") func heals() {
    let id = SessionID.random(hostedBy: Self.anna.peerID)
    var record = MembershipRecord(host: Self.mal.peerID)
    record.removed = [Self.anna.peerID, Self.ben.peerID, .numbered(3)]
    for peer in record.removed.prefix(2) { record.signatures[peer] = signed(peer, by: Self.mal, in: id).signature }
    record.signatures[.numbered(3)] = signed(.numbered(3), by: Self.anna, in: id).signature
    var membership = Membership(local: .numbered(1), session: id, host: .numbered(1))
    membership.restore(record)
    #expect(membership.authority == Self.anna.peerID)
    #expect(membership.removed.peers == [.numbered(3)])
    // A record that names a false host does not replace the proved host.
    var joined = Membership(local: .numbered(1), session: id, host: Self.anna.peerID)
    joined.restore(record)
    #expect(joined.authority == Self.anna.peerID && joined.removed.peers == [.numbered(3)])
  }

  @Test("[MEM-15] on an owned board, only the owner that the application confirms has the rights") func owned() throws {
    let id = try #require(SessionID(bytes: [0x6F, 0x77] + Array(repeating: 7, count: 14)))
    var membership = Membership(local: .numbered(1), session: id, host: Self.mal.peerID)
    #expect(membership.authority == nil)
    let isReplaced = membership.confirmed(owner: Self.anna.peerID)
    #expect(isReplaced && membership.authority == Self.anna.peerID)
    var right = Membership(local: .numbered(1), session: id, host: Self.anna.peerID)
    let isWrong = right.confirmed(owner: Self.anna.peerID)
    #expect(!isWrong && right.authority == Self.anna.peerID)
  }

  private static func warning(_ event: SessionEvent) -> SessionWarning? {
    if case .warning(let warning) = event { warning } else { nil }
  }

  private static func warningCode(_ event: SessionEvent) -> String? { warning(event)?.code }

  @Test("[MEM-15] a false host removes no peer and is reported; the host's first KICK counts") func falseHost()
    async throws
  {
    let id = SessionID.random(hostedBy: Self.anna.peerID)
    try await withPeer("mal", identity: Self.mal) { mal in
      try await withPeer("nora") { nora in
        let lying = try await mal.host(id, admission: .anyone)
        let joined = try await nora.join(id, of: mal)
        let log = EventLog()
        let following = Task { await log.follow(joined) }
        let warned = try await log.first(Self.warning)
        #expect(warned.code == "false-host" && joined.hostPeer == Self.mal.peerID)
        // The peer may have opened a copy of another computer's board, so the message does not accuse the peer of
        // lying.
        let message = " opened a copy of this session, whose host is another peer. Only that host can remove members."
        #expect(warned.message.hasSuffix(message))
        func send(_ kicks: [Control.Kick]) async throws {
          try await lying.onLoop { core in
            for kick in kicks { core.entries[nora.peerID]?.link?.send(.kick, kick.encoded()) }
          }
          try await lying.sendConfirmed([1])
        }
        try await send([
          signed(Self.anna.peerID, by: Self.mal, in: id), signed(Self.ben.peerID, by: Self.mal, in: id),
          Control.Kick(peer: Self.anna.peerID, reason: ""), Control.Kick(peer: Self.ben.peerID, reason: ""),
        ])
        #expect(try await joined.membershipRecord().removed.isEmpty)
        // A KICK by the host, which any member may forward, is the first message that shows who the host is.
        try await send([signed(.numbered(7), by: Self.anna, in: id)])
        #expect(joined.hostPeer == Self.anna.peerID)
        #expect(try await joined.membershipRecord().removed == [.numbered(7)])
        // The false host cannot end the session either.
        try await lying.onLoop { core in core.disconnect(nora.peerID, .kicked, .disconnected, message: "") }
        _ = try await log.first { event -> Bool? in
          if case .peerLeft(Self.mal.peerID, .refused, _) = event { true } else { nil }
        }
        #expect(joined.endReason == nil)
        for session in [joined, lying] { await session.leave() }
        await following.value
      }
    }
  }

  @Test("[MEM-16] if the id proves nothing, no claimant removes another") func disputed() async throws {
    let id = try #require(SessionID(bytes: Array(repeating: 5, count: 16)))
    try await withPeer("anna", identity: Self.anna) { anna in
      try await withPeer("mal", identity: Self.mal) { mal in
        try await withPeer("nora") { nora in
          let hosted = try await anna.host(id, admission: .anyone)
          let lying = try await mal.host(id, admission: .anyone)
          let joined = try await nora.join(id, of: mal)
          let log = EventLog()
          let following = Task { await log.follow(joined) }
          #expect(joined.hostPeer == Self.mal.peerID)
          try await joined.onLoop { core in
            var member = Control.Member(peer: Self.anna.peerID, core.introduction(for: nil))
            (member.port, member.addresses) = (anna.port, ["127.0.0.1"])
            core.directory.learn([member], dialAfter: .zero)
          }
          let warned = try await log.first(Self.warningCode)
          #expect(warned == "host-disputed")
          await log.waitForPeers(2)
          let kicks = [
            (lying, signed(Self.anna.peerID, by: Self.mal, in: id)),
            (hosted, signed(.numbered(7), by: Self.anna, in: id)),
          ]
          for (session, kick) in kicks {
            try await session.onLoop { core in core.entries[nora.peerID]?.link?.send(.kick, kick.encoded()) }
            try await session.sendConfirmed([1])
          }
          #expect(try await joined.membershipRecord().removed.isEmpty)
          #expect(Set(joined.connectedPeers()) == [Self.anna.peerID, Self.mal.peerID])
          for session in [joined, lying, hosted] { await session.leave() }
          await following.value
        }
      }
    }
  }

  @Test("[MEM-15] a relay serves a session only for the host that the id names") func relay() async throws {
    let configureRelay: @Sendable (inout TransportConfiguration) -> Void = {
      $0.isRelay = true
      $0.carries = { _ in .carry }
    }
    try await withPeer("relay", configure: configureRelay) { relay in
      await relay.startAccepting()
      for identity in [Self.mal, Self.anna] {
        try await withPeer("host", identity: identity) { host in
          let session = try await host.host(.random(hostedBy: Self.anna.peerID), admission: .anyone)
          let terms = CarryTerms(name: "x", admission: .anyone)
          if identity.peerID == Self.anna.peerID {
            #expect(try await session.carry(by: [relay.loopback], relay: relay.peerID, terms: terms) == relay.peerID)
          } else {
            await #expect(throws: SessionError(.notHost, "")) {
              _ = try await session.carry(by: [relay.loopback], relay: relay.peerID, terms: terms)
            }
          }
          await session.leave()
        }
      }
    }
  }
}
