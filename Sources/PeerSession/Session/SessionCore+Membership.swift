import NIOCore
import PeerDiscovery
import PeerWire

// The members of the session: learning, storing and proving them (5).
extension SessionCore {
  /// Restores the record that a program stored before a restart (MEM-7), and dials the members.
  func restore(_ record: MembershipRecord) {
    update {
      $0.restore(record)
      // An earlier release stored removals without a signature.
      $0.signRemovals(by: configuration.identity)
    }
    // A relay is dialled by its members; it may have many sessions.
    guard !configuration.isRelay else { return }
    for member in membership.members where entries[member.peer] == nil {
      let entry = PeerEntry(
        id: member.peer,
        member: Control.Member(
          peer: member.peer,
          name: member.name,
          // No process has this incarnation, so any process of the peer lifts a bar.
          incarnation: SessionIncarnation(0),
          port: 0,
          addresses: [],
          role: member.isRelay ? .relay : .member
        )
      )
      entry.observed = member.addresses
      entry.isVouched = true
      entry.plan.heard(of: entry.member.incarnation, dialAt: .now())
      entries[member.peer] = entry
    }
    planTick()
  }

  /// A peer proved that it belongs to the session: on a link, or a relay vouches for it.
  func met(_ entry: PeerEntry) {
    guard hasJoined, id != .unnamed else { return }
    var member = entry.stored
    member.admittedBy = admitter(of: entry)
    let isNew = update { membership in
      membership.met(member) { entries[$0]?.isJoined == true }
    }
    if isNew { proofChanged() }
    guard let link = entry.link else { return }
    // The dialler gets its ticket in ACCEPT.
    guard link.side == .dialler,
      let ticket = membership.renewed(
        for: entry.id,
        showing: entry.shownTicket,
        by: configuration.identity
      )
    else { return }
    entry.shownTicket = ticket
    link.send(.members, Control.Members(members: [], ticket: ticket).encoded())
  }

  /// Returns the peer that admitted a member, as far as this peer knows.
  private func admitter(of entry: PeerEntry) -> PeerID? {
    switch entry.admission {
    case .here: return localPeer
    case .vouched(let admitter): return admitter
    case nil:
      // The local peer dialled it.
      if let ticket = entry.shownTicket, (try? membership.check(ticket, of: entry.id)) != nil {
        return ticket.admitter
      }
      return entry.namedBy
    }
  }

  // MARK: Removals

  /// Removes a peer from the session for all members, as its host (MEM-3).
  func kick(_ peer: PeerID, reason: String) {
    var kick = Control.Kick(peer: peer, reason: reason)
    kick.signature = KickSignature(
      by: configuration.identity,
      session: id,
      peer: peer,
      reason: kick.reason
    )
    remove(kick)
  }

  /// A peer reports a removal; it counts if the host signed it, or if the peer may speak for the host
  /// (MEM-3, MEM-11).
  func received(_ kick: Control.Kick, _ entry: PeerEntry, _ link: ControlLink) {
    guard kick.peer != host else { return }
    if let signature = kick.signature {
      // Only the first of equal signatures costs a verification.
      guard
        membership.removed.signature(of: kick.peer) == signature
          && membership.removed[kick.peer] == kick.reason
          || signature.isValid(session: id, host: host, peer: kick.peer, reason: kick.reason)
      else {
        return fail(link, entry, .protocolError, "The signature of a KICK does not verify.")
      }
      entry.knownRemovals.insert(kick.peer)
    }
    guard kick.signature != nil || entry.id == host || entry.isSessionRelay else { return }
    if kick.peer == localPeer {
      end(.left, SessionError(closeCode: .kicked, message: kick.reason.explanation))
    } else {
      remove(kick)
    }
  }

  /// Stores a removal, passes it on and closes the link with the removed peer.
  private func remove(_ kick: Control.Kick) {
    let wasRemoved = membership.isRemoved(kick.peer)
    let wasSigned = membership.removed.signature(of: kick.peer) != nil
    if !wasRemoved || (!wasSigned && kick.signature != nil) || !kick.reason.isEmpty {
      update { $0.remove(kick.peer, reason: kick.reason, signature: kick.signature) }
    }
    if kick.signature != nil {
      if !wasSigned { for entry in entries.values { spreadRemovals(to: entry) } }
    } else if relaying.isRelaying && !wasRemoved {
      // The members behind this relay learn of it only here.
      for entry in entries.values where entry.id != kick.peer {
        entry.link?.send(.kick, kick.encoded())
      }
    }
    disconnect(kick.peer, .kicked, .kicked(reason: kick.reason), message: kick.reason.raw)
  }

  /// Sends the signed removals that a peer has not seen on its link, while the link takes them
  /// (MEM-11).
  func spreadRemovals(to entry: PeerEntry) {
    entry.owesRemovals = false
    guard let link = entry.link, !membership.isRemoved(entry.id) else { return }
    for kick in membership.removed.signed where !entry.knownRemovals.contains(kick.peer) {
      guard link.isWritable else {
        entry.owesRemovals = true
        return
      }
      entry.knownRemovals.insert(kick.peer)
      link.send(.kick, kick.encoded())
    }
  }

  /// Announces to the other members a peer that joined, or returned without its delivery state
  /// (MEM-1).
  func spreadWord(of entry: PeerEntry, _ link: ControlLink) {
    // A relay sends a more detailed message to all members (RLY-3).
    if !relaying.isRelaying {
      announce(entry.id)
      if link.side == .dialler {
        for members in Control.Members.split(members(besides: entry.id)) {
          link.send(.members, members.encoded())
        }
      }
    }
    // If one peer returned, the network may have recovered for all.
    for other in entries.values { other.plan.mayBeBack(now: .now()) }
    planTick()
  }

  /// A member signed that this peer belongs to the session (TCK-4).
  func received(_ ticket: Ticket) {
    if update({ $0.received(ticket) }) { proofChanged() }
  }

  /// Allows dialling peers again that did not accept the local proof of membership, or gave none.
  private func proofChanged() {
    for entry in entries.values { entry.plan.proofChanged(now: .now()) }
    planTick()
  }

  /// Changes the membership, and publishes a new record if it differs.
  @discardableResult
  func update<Result>(_ change: (inout Membership) -> Result) -> Result {
    let before = membership.record
    let result = change(&membership)
    let after = membership.record
    if hasJoined, id != .unnamed, after != before { recordSource.yield(after) }
    return result
  }

  // MARK: Discovery

  /// Discovery shows a peer of this session (MEM-9).
  func found(_ peer: PeerID, at addresses: [PeerAddress], as incarnation: SessionIncarnation) {
    guard peer != localPeer, !hasEnded, !membership.isRemoved(peer) else { return }
    let entry: PeerEntry
    if let known = entries[peer] {
      entry = known
    } else if makeRoomForMember() {
      entry = PeerEntry(
        id: peer,
        member: Control.Member(
          peer: peer,
          name: UntrustedText(""),
          incarnation: incarnation,
          port: 0,
          addresses: [],
          role: .member
        )
      )
      entries[peer] = entry
    } else {
      return
    }
    let isMoved = addresses.contains { !entry.observed.contains($0) }
    entry.observed = Array(
      (addresses + entry.observed.filter { !addresses.contains($0) }).prefix(Limits.addresses)
    )
    entry.plan.found(incarnation, isMoved: isMoved, hasLink: entry.link != nil, now: .now())
    planTick()
  }

  /// Discovery does not show a peer any more.
  func vanished(_ peer: PeerID) { entries[peer]?.plan.vanished() }
}
