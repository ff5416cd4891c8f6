import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Guests among the members, without a network.
struct GuestMembershipTests {
  private let session = SessionID.random()
  private let local = PeerIdentity.ephemeral()
  private let guest = PeerIdentity.ephemeral()
  private let peer = PeerIdentity.ephemeral()

  private func membership() -> Membership {
    var membership = Membership(local: local.peerID, session: session, host: local.peerID)
    var member = MembershipRecord.Member(peer: guest.peerID, name: UntrustedText("guest"))
    member.isGuest = true
    _ = membership.met(member)
    _ = membership.met(.init(peer: peer.peerID, name: UntrustedText("peer")))
    return membership
  }

  private func ticket(by identity: PeerIdentity, for member: PeerID, via: [Ticket.Signature] = []) -> Ticket {
    Ticket(.init(by: identity, session: session, member: member), via: via)
  }

  @Test("[WEB-6] the earlier admission of a guest does not admit it again") func earlierAdmission() {
    let membership = membership()
    #expect(!membership.mayAdmit(guest.peerID))
    #expect(membership.mayAdmit(peer.peerID))
  }

  @Test("[WEB-6] a guest stays a guest when it is met again") func metAgain() {
    var membership = membership()
    let isNew = membership.met(.init(peer: guest.peerID, name: UntrustedText("guest")))
    #expect(!isNew)
    #expect(membership.isGuest(guest.peerID))
  }

  @Test("[WEB-33] no ticket that a guest signed is accepted, even with a chain to a member") func tickets() throws {
    let membership = membership()
    let friend = PeerID.numbered(7)
    #expect(throws: TicketError.unknownAdmitter) { try membership.check(ticket(by: guest, for: friend), of: friend) }
    let chain = Ticket.Signature(by: peer, session: session, member: guest.peerID)
    #expect(throws: TicketError.unknownAdmitter) {
      try membership.check(ticket(by: guest, for: friend, via: [chain]), of: friend)
    }
    try membership.check(ticket(by: peer, for: friend), of: friend)
  }

  @Test("[WEB-6] the record of the members contains which of them are guests") func record() throws {
    let record = try #require(MembershipRecord(json: membership().record.json))
    #expect(record.members.map(\.isGuest) == [true, false])
    var restored = Membership(local: local.peerID, session: session, host: local.peerID)
    restored.restore(record)
    #expect(!restored.mayAdmit(guest.peerID))
    #expect(restored.mayAdmit(peer.peerID))
  }
}
