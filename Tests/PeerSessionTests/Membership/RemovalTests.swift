import PeerCore
import PeerDiscovery
import PeerWire
import Testing

@testable import PeerSession

/// Members, admitters and removals, without a network.
struct RemovalTests {
  private static let session = SessionID.random()
  private static let host = PeerIdentity.ephemeral()

  private func membership(of local: PeerID = PeerID.numbered(1)) -> Membership {
    Membership(local: local, session: Self.session, host: Self.host.peerID)
  }

  private func member(_ number: Int, by admitter: PeerID? = nil) -> MembershipRecord.Member {
    var member = MembershipRecord.Member(peer: .numbered(number), name: UntrustedText("m"))
    member.admittedBy = admitter
    return member
  }

  private func signature(_ peer: PeerID, _ reason: String) -> KickSignature {
    KickSignature(by: Self.host, session: Self.session, peer: peer, reason: UntrustedText(reason))
  }

  @Test("[MEM-3] a removed member is not proved, although it shows a ticket that the host signed")
  func removedIsNotProved() {
    var membership = membership()
    let peer = PeerID.numbered(7)
    let ticket = Ticket.make(by: Self.host, session: Self.session, member: peer)
    #expect(membership.proves(ticket, of: peer))
    membership.remove(peer)
    #expect(!membership.proves(ticket, of: peer))
  }

  @Test("[MEM-11] the signature of a removal is valid only for its session, peer, reason and host") func signatures() {
    let (peer, reason) = (PeerID.numbered(7), UntrustedText("spam"))
    let good = signature(peer, "spam")
    let host = Self.host.peerID
    func isValid(
      _ signature: KickSignature,
      session: SessionID = Self.session,
      host: PeerID = host,
      peer: PeerID = peer,
      reason: UntrustedText = reason
    ) -> Bool { signature.isValid(session: session, host: host, peer: peer, reason: reason) }
    #expect(isValid(good))
    #expect(!isValid(good, session: .random()))
    #expect(!isValid(good, host: PeerIdentity.ephemeral().peerID))
    #expect(!isValid(good, peer: .numbered(8)))
    #expect(!isValid(good, reason: UntrustedText("")))
    let other = PeerIdentity.ephemeral()
    var forged = KickSignature(by: other, session: Self.session, peer: peer, reason: reason)
    #expect(!isValid(forged))
    forged.key = good.key
    #expect(!isValid(forged))
    // Another key can sign bytes that name the host.
    forged.key = other.publicKeyDER
    forged.bytes = other.sign(
      KickSignature.signedBytes(session: Self.session, signer: host, peer: peer, reason: reason)
    )
    #expect(!isValid(forged))
    // The bytes of the specification (MEM-11).
    let signed = KickSignature.signedBytes(session: Self.session, signer: host, peer: peer, reason: reason)
    let expected =
      Array("whiteboard-p2p kick 1".utf8) + [0] + Self.session.bytes + host.bytes + peer.bytes + Array("spam".utf8)
    #expect(signed == expected)
  }

  @Test("[MEM-11] KICK contains a whole signature or none; one of its two keys alone is malformed") func payload()
    throws
  {
    let peer = PeerID.numbered(7)
    let kick = Control.Kick(peer: peer, reason: "x", signature: signature(peer, "x"))
    #expect(try Control.Kick.decode(kick.encoded()) == kick)
    let plain = Control.Kick(peer: peer, reason: "x")
    #expect(try Control.Kick.decode(plain.encoded()) == plain)
    for key in ["key", "signature"] {
      let half = #"{"peer":"\#(peer.text)","reason":"","\#(key)":"AAAA"}"#
      #expect(throws: (any Error).self) { try Control.Kick.decode(Array(half.utf8)) }
    }
  }

  @Test("[MEM-3] if there are 1,024 removals, a new one replaces the earliest") func full() {
    var membership = membership()
    for number in 0...Limits.removedPeers { membership.remove(.numbered(number + 2)) }
    #expect(membership.removed.peers.count == Limits.removedPeers)
    #expect(!membership.isRemoved(.numbered(2)))
    #expect(membership.isRemoved(.numbered(3)))
    #expect(membership.isRemoved(.numbered(Limits.removedPeers + 2)))
    var restored = self.membership()
    restored.restore(membership.record)
    restored.remove(.numbered(1_000_000))
    #expect(!restored.isRemoved(.numbered(3)))
  }

  @Test("[MEM-3] removed guests replace only guests, also after a restart") func guests() throws {
    var membership = membership()
    membership.remove(.numbered(2))
    for number in 0..<2 * Limits.removedPeers { membership.remove(.numbered(10_000 + number), isGuest: true) }
    #expect(membership.isRemoved(.numbered(2)))
    #expect(membership.removed.peers.count == Limits.removedPeers)
    #expect(membership.removed.guestCount == Limits.removedPeers - 1)
    #expect(!membership.isRemoved(.numbered(10_000)))
    #expect(membership.isRemoved(.numbered(10_000 + 2 * Limits.removedPeers - 1)))

    var restored = self.membership()
    restored.restore(try #require(MembershipRecord(json: membership.record.json)))
    #expect(restored.removed == membership.removed)
    for number in 0..<Limits.removedPeers - 1 { restored.remove(.numbered(20_000 + number)) }
    #expect(restored.isRemoved(.numbered(2)) && restored.removed.guestCount == 0)
    // There is no room left for guests.
    restored.remove(.numbered(30_000), isGuest: true)
    #expect(restored.isRemoved(.numbered(2)) && !restored.isRemoved(.numbered(30_000)))
    restored.remove(.numbered(30_001))
    #expect(!restored.isRemoved(.numbered(2)) && restored.isRemoved(.numbered(30_001)))
  }

  @Test("[MEM-3] a member that joined from a browser is removed as a guest") func markedGuest() {
    var membership = membership()
    var guest = member(2, by: .numbered(1))
    guest.isGuest = true
    _ = membership.met(guest)
    membership.remove(.numbered(3))
    membership.remove(guest.peer)
    #expect(membership.removed.peers == [guest.peer, .numbered(3)])
  }

  @Test("[MEM-11] the signed form of a removal replaces the unsigned one, and stays") func signedForm() {
    var removals = Removals()
    let peer = PeerID.numbered(7)
    removals.add(peer, reason: UntrustedText("first"), signature: nil)
    removals.add(peer, reason: UntrustedText(""), signature: nil)
    #expect(removals[peer]?.raw == "first" && removals.signed.isEmpty)
    removals.add(peer, reason: UntrustedText("signed"), signature: signature(peer, "signed"))
    removals.add(peer, reason: UntrustedText("later"), signature: nil)
    removals.add(peer, reason: UntrustedText("again"), signature: signature(peer, "again"))
    #expect(removals.signed.map(\.reason.raw) == ["signed"])
    #expect(removals.peers == [peer])
  }

  @Test("[MEM-7] a record stores admitters, relays and signed removals; older records are read") func stored() throws {
    var membership = membership()
    for number in 0..<Limits.removedPeers {
      let peer = PeerID.numbered(number + 1_000)
      let reason = String(repeating: "\u{1}", count: 512)
      membership.remove(peer, reason: UntrustedText(reason), signature: signature(peer, reason))
    }
    _ = membership.met(member(2, by: .numbered(1)))
    membership.vouched(for: .numbered(3))
    let record = membership.record
    let read = try #require(MembershipRecord(json: record.json))
    #expect(read == record)
    #expect(read.members.first?.admittedBy == .numbered(1) && read.relays == [.numbered(3)])
    var restored = self.membership()
    restored.restore(read)
    #expect(restored.removed == membership.removed)

    let old =
      #"{"version":1,"host":"\#(Self.host.peerID.text)","members":[{"peer":"#
      + #""\#(PeerID.numbered(2).text)","name":"b","addresses":[],"role":"member"}],"removed":[]}"#
    let earlier = try #require(MembershipRecord(json: old))
    #expect(earlier.members.map(\.admittedBy) == [nil] && earlier.relays.isEmpty)
  }

  @Test("[MEM-11] the host signs the removals of an earlier release; another peer cannot") func signsOld() {
    for identity in [Self.host, PeerIdentity.ephemeral()] {
      var membership = membership()
      membership.remove(.numbered(7), reason: UntrustedText("why"))
      membership.signRemovals(by: identity)
      let kicks = membership.removed.signed
      #expect(kicks.count == (identity.peerID == Self.host.peerID ? 1 : 0))
      for kick in kicks {
        let isValid = kick.signature?.isValid(
          session: Self.session,
          host: Self.host.peerID,
          peer: .numbered(7),
          reason: UntrustedText("why")
        )
        #expect(isValid == true)
      }
    }
  }

  @Test("[MEM-13] the members that a peer admitted are found transitively, and never the host") func admitted() {
    var record = MembershipRecord(host: Self.host.peerID)
    var hostEntry = member(0, by: .numbered(1))
    hostEntry.peer = Self.host.peerID
    record.members = [
      hostEntry, member(1, by: .numbered(4)), member(2, by: .numbered(1)), member(3, by: Self.host.peerID),
      member(4, by: .numbered(2)), member(5),
    ]
    #expect(record.members(admittedBy: .numbered(1)) == [.numbered(2), .numbered(4)])
    #expect(record.members(admittedBy: .numbered(3)).isEmpty)
  }

  @Test("[MEM-13] the admitter that was recorded first stays") func firstAdmitter() {
    var membership = membership()
    _ = membership.met(member(2))
    _ = membership.met(member(2, by: .numbered(3)))
    _ = membership.met(member(2, by: .numbered(4)))
    #expect(membership.members.map(\.admittedBy) == [.numbered(3)])
  }

  @Test("[MEM-1] a full set drops members that are away, not the host, a relay or a linked member") func trimmed() {
    var membership = membership()
    let host = MembershipRecord.Member(peer: Self.host.peerID, name: UntrustedText("h"))
    _ = membership.met(host)
    membership.vouched(for: .numbered(2))
    let linked: Set<PeerID> = [.numbered(3)]
    for number in 2...(2 * Limits.members) { _ = membership.met(member(number)) { linked.contains($0) } }
    #expect(membership.members.count == Limits.members)
    for kept in [Self.host.peerID, .numbered(2), .numbered(3), .numbered(2 * Limits.members)] {
      #expect(membership.contains(kept))
    }
    #expect(!membership.contains(.numbered(4)))
  }
}
