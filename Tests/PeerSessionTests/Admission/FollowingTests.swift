import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Members that follow the host's admission policy, if the host gives them the right to admit.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FollowingTests {
  private static let (host, ben, dora) = (PeerIdentity.ephemeral(), PeerIdentity.ephemeral(), PeerIdentity.ephemeral())
  private static let session = SessionID.random(hostedBy: host.peerID)

  private func membership(of local: PeerID = .numbered(1)) -> Membership {
    Membership(local: local, session: Self.session, host: Self.host.peerID)
  }

  private func ticket(_ member: PeerID, hasRight: Bool = true) -> Ticket {
    Ticket.make(by: Self.host, session: Self.session, member: member, givesRight: hasRight)
  }

  @Test("[TCK-6] in `known` and `ask`, a member with the host's signed right admits newcomers") func right() throws {
    func verdict(_ via: Ticket, at local: PeerID = .numbered(1), givesRight: Bool = false) -> Bool {
      var membership = membership(of: local)
      membership.givesRight = givesRight
      let shown = Ticket.make(by: Self.ben, session: Self.session, member: Self.dora.peerID, own: via)
      return membership.proves(shown, of: Self.dora.peerID, by: .host)
    }
    let good = ticket(Self.ben.peerID)
    #expect(verdict(good))
    #expect(!verdict(ticket(Self.ben.peerID, hasRight: false)))
    // The member cannot use the right of another member, or a right that another peer signed.
    #expect(!verdict(ticket(.numbered(9))))
    var forged = ticket(Self.ben.peerID, hasRight: false)
    forged.signature.right =
      Ticket.Signature(by: Self.ben, session: Self.session, member: Self.ben.peerID, givesRight: true).right
    #expect(!verdict(forged))
    // The host itself accepts such a ticket only as long as it gives the right.
    #expect(!verdict(good, at: Self.host.peerID))
    #expect(verdict(good, at: Self.host.peerID, givesRight: true))

    var removed = membership()
    removed.remove(Self.ben.peerID)
    let shown = Ticket.make(by: Self.ben, session: Self.session, member: Self.dora.peerID, own: good)
    #expect(!removed.proves(shown, of: Self.dora.peerID, by: .host))
    // The right cannot be passed on.
    let further = Ticket.make(by: Self.dora, session: Self.session, member: .numbered(5), own: shown)
    #expect(!membership().proves(further, of: .numbered(5), by: .host))
  }

  @Test("[TCK-6] a ticket with the right replaces one without, and is not replaced by one without") func stored() throws
  {
    var member = membership(of: Self.ben.peerID)
    var isStored = member.received(ticket(Self.ben.peerID, hasRight: false))
    #expect(isStored && !member.mayAdmitNewcomers)
    isStored = member.received(ticket(Self.ben.peerID))
    #expect(isStored && member.mayAdmitNewcomers)
    isStored = member.received(ticket(Self.ben.peerID, hasRight: false))
    #expect(!isStored)
    var restored = membership(of: Self.ben.peerID)
    restored.restore(try #require(MembershipRecord(json: member.record.json)))
    #expect(restored.mayAdmitNewcomers)

    var host = membership(of: Self.host.peerID)
    let plain = ticket(Self.ben.peerID, hasRight: false)
    #expect(host.renewed(for: Self.ben.peerID, showing: plain, by: Self.host) == nil)
    host.givesRight = true
    let renewed = host.renewed(for: Self.ben.peerID, showing: plain, by: Self.host)
    #expect(renewed?.signature.right != nil)
    #expect(host.renewed(for: Self.ben.peerID, showing: renewed, by: Self.host) == nil)
  }

  @Test("[MEM-17] MEMBERS names the host's mode and code; an unknown mode is ignored") func payload() throws {
    let code = JoinCode.random()
    var members = Control.Members(members: [])
    members.admission = .code
    members.code = code
    #expect(try Control.Members.decode(members.encoded()) == members)
    let unknown = try Control.Members.decode(Array(#"{"members":[],"admission":"oracle"}"#.utf8))
    #expect(unknown.admission == nil && unknown.code == nil)
    #expect(throws: (any Error).self) {
      try Control.Members.decode(Array(#"{"members":[],"code":"no such words here"}"#.utf8))
    }
  }

  private func follow(
    _ session: SessionID,
    of host: PeerTransport,
    by peer: PeerTransport,
    code: JoinCode? = nil,
    earlier: JoinCode? = nil,
    membership: MembershipRecord? = nil
  ) async throws -> Session {
    var request = JoinRequest(
      session: session,
      addresses: [host.loopback],
      peer: host.peerID,
      trust: .pinnedByLink,
      code: code
    )
    request.redialLimit = .zero
    request.followsHost = true
    request.earlierCode = earlier
    request.membership = membership
    request.admission = code.map { .code($0) } ?? .known
    return try await peer.join(request) { _ in true }
  }

  private func policy(_ session: Session, _ isWanted: (AdmissionPolicy) -> Bool) async throws {
    if isWanted(try await session.admissionPolicy()) { return }
    for await policy in session.admissionChanges where isWanted(policy) { return }
    Issue.record("The session ended.")
  }

  @Test("[MEM-17] a code that the host did not check is not used; the host sends the present one") func wrongCode()
    async throws
  {
    let (right, wrong) = (JoinCode.random(), JoinCode.random())
    try await withPeer("anna", identity: Self.host) { anna in
      try await withPeer("ben", identity: Self.ben) { ben in
        let hosted = try await anna.host(Self.session, admission: .code(right))
        var record = MembershipRecord(host: Self.host.peerID)
        record.ticket = ticket(Self.ben.peerID, hasRight: false)
        // The member returns with a wrong code, and is admitted because of its ticket.
        let again = try await follow(Self.session, of: anna, by: ben, code: wrong, membership: record)
        #expect(try await again.admissionPolicy() == .known)
        hosted.shareAdmission(membersAdmit: nil)
        try await policy(again) { $0 == .code(right) }
        // A new code reaches the member too (MEM-12).
        let new = JoinCode.random()
        try await hosted.replaceCode(with: new)
        try await policy(again) { $0 == .code(new) }
        try await withPeer("carl") { carl in
          await #expect(throws: SessionError(.wrongCode, "")) {
            _ = try await carl.join(Self.session, of: ben, code: right, redialLimit: .seconds(20))
          }
          let joined = try await carl.join(Self.session, of: ben, code: new, redialLimit: .seconds(20))
          await joined.leave()
        }
        await again.leave()
        // Now the host sends its code together with the admission.
        let third = try await follow(Self.session, of: anna, by: ben, code: wrong, earlier: right, membership: record)
        #expect(try await third.admissionPolicy() == .code(new))
        await third.leave()
        await hosted.leave()
      }
    }
  }

  @Test("[TCK-6] after the host has left, a member admits a newcomer, and the others accept it") func withoutHost()
    async throws
  {
    try await withPeer("ben", identity: Self.ben) { ben in
      try await withPeer("carl") { carl in
        try await withPeer("dora", identity: Self.dora) { dora in
          let members = try await withPeer("anna", identity: Self.host) { anna in
            let hosted = try await anna.host(Self.session, admission: .ask)
            hosted.shareAdmission(membersAdmit: nil)
            let answering = Task { await Self.acceptAll(hosted) }
            let first = try await follow(Self.session, of: anna, by: ben)
            let second = try await follow(Self.session, of: anna, by: carl)
            for session in [first, second] { try await policy(session) { $0 == .ask } }
            #expect(first.admitters.contains(anna.peerID))
            await hosted.leave()
            await answering.value
            return [first, second]
          }
          let answering = members.map { session in Task { await Self.acceptAll(session) } }
          let joined = try await follow(Self.session, of: ben, by: dora)
          // The newcomer has no right to admit, but knows a member that has this right.
          #expect(try await joined.admissionPolicy() == .known)
          #expect(joined.admitters.contains(ben.peerID) && joined.hostPeer == Self.host.peerID)
          let log = EventLog()
          let following = Task { await log.follow(joined) }
          await log.waitForJoining(of: carl.peerID, times: 1)
          for session in members + [joined] { await session.leave() }
          for task in answering { await task.value }
          await following.value
        }
      }
    }
  }

  private static func acceptAll(_ session: Session) async {
    for await event in session.events {
      if case .invitation(let invitation) = event { _ = try? await session.respond(to: invitation.id, .accept) }
    }
  }
}
