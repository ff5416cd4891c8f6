import PeerDiscovery
import PeerWire

/// Who belongs to a session, and how this peer proves that it does (5).
///
/// A value without I/O. A peer belongs to the session if it made the session, if it proved itself on a
/// link before, or if a chain of signatures leads from it to such a peer (TCK-3).
struct Membership: Sendable {
  /// The local peer.
  let local: PeerID
  /// The session; named by the first ACCEPT if the local peer did not know it.
  var session: SessionID
  /// The peer that made the session.
  var host: PeerID
  /// The peers that proved themselves, those met most recently last.
  private(set) var members: [MembershipRecord.Member]
  /// The peers that the host removed: no ticket of theirs counts (MEM-3).
  private(set) var removed: Set<PeerID>
  /// The best ticket that this peer received.
  private(set) var ticket: Ticket?

  /// Creates the membership of a session that no other peer has joined yet.
  init(local: PeerID, session: SessionID, host: PeerID) {
    self.local = local
    self.session = session
    self.host = host
    members = []
    removed = []
  }

  /// What a program stores.
  var record: MembershipRecord {
    var record = MembershipRecord(host: host)
    record.members = members
    record.removed = removed.sorted()
    record.ticket = ticket
    return record
  }

  /// Adds a stored record to the membership known so far.
  mutating func restore(_ record: MembershipRecord) {
    host = record.host
    removed.formUnion(record.removed)
    for member in record.members where member.peer != local && !isRemoved(member.peer) {
      if !contains(member.peer) { members.append(member) }
    }
    makeRoom()
    if let ticket = record.ticket { _ = received(ticket) }
  }

  // MARK: Who belongs

  /// Whether a peer proved before that it belongs to the session.
  func contains(_ peer: PeerID) -> Bool { members.contains { $0.peer == peer } }

  /// Whether the host removed a peer.
  func isRemoved(_ peer: PeerID) -> Bool { removed.contains(peer) }

  /// Whether tickets that a peer signed count here (TCK-1).
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

  /// Records that a peer proved itself, and where it is.
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

  /// Removes a peer for good (MEM-3).
  mutating func remove(_ peer: PeerID) {
    members.removeAll { $0.peer == peer }
    guard removed.count < Limits.removedPeers else { return }
    removed.insert(peer)
  }

  private mutating func makeRoom() {
    if members.count > Limits.members { members.removeFirst(members.count - Limits.members) }
  }

  // MARK: Tickets

  /// How many signatures lead from this peer to the host; `nil` if none do.
  private var depth: Int? {
    if local == host { return 0 }
    guard let ticket, leadsToHost(ticket) else { return nil }
    return ticket.length
  }

  private func leadsToHost(_ ticket: Ticket) -> Bool {
    let signatures = [ticket.signature] + ticket.via
    return signatures.last?.admitter == host && !signatures.contains { isRemoved($0.admitter) }
  }

  /// Keeps a ticket for this peer if it is better than the one it holds: if it alone leads to the
  /// host, or is not longer.
  ///
  /// - Returns: Whether it was kept and differs from the one before.
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

  /// A ticket for a member, if it is better than the one that the member showed (TCK-4).
  ///
  /// - Parameters:
  ///   - peer: The member.
  ///   - shown: What it showed on this link.
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
