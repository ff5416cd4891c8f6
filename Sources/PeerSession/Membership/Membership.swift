import PeerDiscovery
import PeerWire

/// The members of a session, and the local peer's proof that it is one of them (5).
///
/// It does no I/O. A peer belongs to the session if it created the session, if it proved itself on
/// a link before, or if a chain of signatures leads from it to such a peer (TCK-3).
struct Membership: Sendable {
  /// The local peer.
  let local: PeerID
  /// The session id; the first ACCEPT supplies it if the local peer did not know it.
  var session: SessionID
  /// The peer that created the session.
  var host: PeerID
  /// The peers that proved themselves, those met most recently last.
  private(set) var members: [MembershipRecord.Member]
  /// The peers that the host removed, with its reasons: no ticket of theirs counts (MEM-3).
  private(set) var removed: [PeerID: UntrustedText]
  /// The best ticket that this peer received.
  private(set) var ticket: Ticket?

  /// Creates the membership of a session that no other peer has joined yet.
  init(local: PeerID, session: SessionID, host: PeerID) {
    self.local = local
    self.session = session
    self.host = host
    members = []
    removed = [:]
  }

  /// The record for a program to store.
  var record: MembershipRecord {
    var record = MembershipRecord(host: host)
    record.members = members
    record.removed = removed.keys.sorted()
    record.reasons = removed.filter { !$0.value.isEmpty }
    record.ticket = ticket
    return record
  }

  /// Adds a stored record to the membership known so far.
  mutating func restore(_ record: MembershipRecord) {
    host = record.host
    for peer in record.removed where removed[peer] == nil {
      removed[peer] = record.reasons[peer] ?? UntrustedText("")
    }
    for member in record.members where member.peer != local && !isRemoved(member.peer) {
      if !contains(member.peer) { members.append(member) }
    }
    makeRoom()
    if let ticket = record.ticket { _ = received(ticket) }
  }

  // MARK: Members

  /// Whether a peer proved before that it belongs to the session.
  func contains(_ peer: PeerID) -> Bool { members.contains { $0.peer == peer } }

  /// Whether the host removed a peer.
  func isRemoved(_ peer: PeerID) -> Bool { removed[peer] != nil }

  /// Whether this peer accepts tickets that `peer` signed (TCK-1).
  func mayAdmit(_ peer: PeerID) -> Bool {
    !isRemoved(peer) && (peer == host || peer == local || contains(peer))
  }

  /// Checks the ticket that a peer shows.
  ///
  /// - Throws: ``TicketError``.
  func check(_ ticket: Ticket, of peer: PeerID) throws(TicketError) {
    try ticket.verify(session: session, member: peer, mayAdmit: mayAdmit, isRemoved: isRemoved)
  }

  /// Whether a peer that shows this ticket, or none, belongs to the session (MEM-8).
  func proves(_ ticket: Ticket?, of peer: PeerID) -> Bool {
    if isRemoved(peer) { return false }
    if peer == host || contains(peer) { return true }
    guard let ticket else { return false }
    return (try? check(ticket, of: peer)) != nil
  }

  /// Records that a peer proved itself, and its addresses.
  ///
  /// - Returns: Whether it had not proved itself before.
  mutating func met(_ member: MembershipRecord.Member) -> Bool {
    guard member.peer != local, !isRemoved(member.peer) else { return false }
    let index = members.firstIndex { $0.peer == member.peer }
    if let index { members.remove(at: index) }
    members.append(member)
    makeRoom()
    return index == nil
  }

  /// Removes a peer permanently (MEM-3).
  ///
  /// - Parameters:
  ///   - peer: The peer.
  ///   - reason: The host's reason, which the peer receives whenever it comes back; may be empty.
  mutating func remove(_ peer: PeerID, reason: UntrustedText = UntrustedText("")) {
    members.removeAll { $0.peer == peer }
    guard removed[peer] != nil || removed.count < Limits.removedPeers else { return }
    // What is repeated without a reason does not take the first one away.
    if removed[peer] == nil || !reason.isEmpty { removed[peer] = reason }
  }

  private mutating func makeRoom() {
    if members.count > Limits.members { members.removeFirst(members.count - Limits.members) }
  }

  // MARK: Tickets

  /// The number of signatures from this peer to the host; `nil` if there is no chain.
  private var depth: Int? {
    if local == host { return 0 }
    guard let ticket, leadsToHost(ticket) else { return nil }
    return ticket.length
  }

  private func leadsToHost(_ ticket: Ticket) -> Bool {
    let signatures = [ticket.signature] + ticket.via
    return signatures.last?.admitter == host && !signatures.contains { isRemoved($0.admitter) }
  }

  /// Stores a ticket for this peer if it is better than the current one: if only the new one leads
  /// to the host, or if it is not longer.
  ///
  /// - Returns: Whether the ticket was stored and differs from the one before.
  mutating func received(_ new: Ticket) -> Bool {
    guard local != host, new != ticket else { return false }
    var holder = local
    for signature in [new.signature] + new.via {
      guard signature.isValid(session: session, member: holder) else { return false }
      holder = signature.admitter
    }
    if let ticket {
      switch (leadsToHost(ticket), leadsToHost(new)) {
      case (true, false): return false
      case (false, true): break
      case (true, true), (false, false): guard new.length <= ticket.length else { return false }
      }
    }
    ticket = new
    return true
  }

  /// Returns a ticket for a member, if it is better than the one that the member showed (TCK-4).
  ///
  /// - Parameters:
  ///   - peer: The member.
  ///   - shown: The ticket that it showed on this link.
  ///   - identity: The local peer's key.
  /// - Returns: The ticket; `nil` if the member needs none.
  func renewed(for peer: PeerID, showing shown: Ticket?, by identity: PeerIdentity) -> Ticket? {
    guard peer != host, session != .unnamed else { return nil }
    if let shown {
      let isGood = leadsToHost(shown)
      guard let depth else { return nil }
      if isGood && shown.length <= depth + 1 { return nil }
    }
    let own = depth == nil ? nil : ticket
    return Ticket.make(by: identity, session: session, member: peer, own: own)
  }
}
