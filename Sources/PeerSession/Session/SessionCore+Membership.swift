import NIOCore
import PeerDiscovery
import PeerWire

// The members of the session: learning, storing and proving them (5).
extension SessionCore {
  /// Restores the record that a program stored before a restart (MEM-7), and dials the members.
  func restore(_ record: MembershipRecord) {
    update { $0.restore(record) }
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
    let isNew = update { $0.met(entry.stored) }
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
