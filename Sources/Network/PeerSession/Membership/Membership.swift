import PeerCore
import PeerDiscovery
import PeerWire

/// The members of a session, and the local peer's proof of its own membership (5).
///
/// This type does no I/O. A peer belongs to the session in three cases:
///
/// - It created the session.
/// - It proved its membership on an earlier link.
/// - A chain of signatures connects it to a peer that meets one of these conditions (TCK-3).
struct Membership: Sendable {
  enum Admitters: Sendable {
    case members
    /// The host, the relays of the session, and the local peer.
    case host
  }

  let local: PeerID
  /// The session's id; if the local peer does not know the id, the first ACCEPT supplies it.
  var session: SessionID { didSet { isHostNamed = session.names(host) } }
  /// The peer that the local peer assumes to be the host; this peer has the host's rights only if it is also the
  /// ``authority``.
  var host: PeerID { didSet { isHostNamed = session.names(host) } }
  /// Whether the session's id names the host. This takes a hash, and many decisions need it.
  private var isHostNamed: Bool
  /// Other peers that members name as the host of a session whose id proves nothing (MEM-16).
  private(set) var claimants: Set<PeerID> = []
  /// The owner of an owned board, which the application confirmed as the host (MEM-15).
  private var owner: PeerID?
  /// The peers that proved their membership; the most recently met peers come last.
  private(set) var members: [MembershipRecord.Member]
  /// The peers that the host removed, with the reasons; tickets that they signed are not accepted (MEM-3).
  private(set) var removed = Removals()
  /// The relays that showed the host's RELAY-GRANT (RLY-1).
  private(set) var relays: Set<PeerID> = []
  private(set) var ticket: Ticket?
  /// Whether the local peer, as the host, gives the members that it admits the right to admit newcomers (TCK-6).
  var givesRight = false
  /// The topology that the host chose, or that a relay of the session named (RLY-18).
  var topology: SessionTopology?

  init(local: PeerID, session: SessionID, host: PeerID) {
    self.local = local
    self.session = session
    self.host = host
    isHostNamed = session.names(host)
    members = []
  }

  var record: MembershipRecord {
    var record = MembershipRecord(host: host)
    record.members = members
    record.removed = removed.peers
    record.removedGuests = removed.guestCount
    for peer in removed.peers {
      if let reason = removed[peer], !reason.isEmpty { record.reasons[peer] = reason }
      record.signatures[peer] = removed.signature(of: peer)
    }
    record.relays = relays.sorted()
    record.ticket = ticket
    record.topology = topology
    return record
  }

  mutating func restore(_ record: MembershipRecord) {
    if !isHostNamed { host = record.host }
    // Unsigned removals are trusted only if the session's id allows the recorded host.
    let isTrusted = session.mayBeHosted(by: record.host)
    for (index, peer) in record.removed.enumerated() {
      let signer = record.signatures[peer].map { PeerID(spki: $0.key) }
      guard signer.map(session.mayBeHosted) ?? isTrusted else { continue }
      removed.add(
        peer,
        reason: record.reasons[peer] ?? UntrustedText(""),
        signature: record.signatures[peer],
        isGuest: index < record.removedGuests
      )
    }
    if isTrusted { for relay in record.relays { vouched(for: relay) } }
    for member in record.members where member.peer != local && !isRemoved(member.peer) {
      if !contains(member.peer) { members.append(member) }
    }
    makeRoom { _ in false }
    topology = record.topology ?? topology
    if let ticket = record.ticket { _ = received(ticket) }
    _ = noticed([local] + record.members.map(\.peer) + record.removed)
  }

  // MARK: The host

  /// The peer that has the host's rights: the host, if its identity is proved or no proof is possible; `nil` while a
  /// possible proof is missing (MEM-15).
  var authority: PeerID? {
    if session.namesHost { return isHostNamed ? host : nil }
    return session.isOfOwnedBoard ? owner : host
  }

  /// Whether the host's identity is proved, so that no other peer can be the host.
  var isHostProved: Bool {
    if session.namesHost { return isHostNamed }
    return session.isOfOwnedBoard ? owner == host : local == host
  }

  /// Returns whether a peer is admitted as the host (HEL-8). The owner of an owned board might not be confirmed yet,
  /// for example at a relay that has just accepted the board.
  func needsNoAdmission(_ peer: PeerID) -> Bool { peer == authority ?? (session.isOfOwnedBoard ? host : nil) }

  mutating func begin(_ id: SessionID, host: PeerID) {
    session = id
    self.host = host
  }

  /// Accepts a peer as the host if the session's id names it (MEM-15); returns whether the host changed.
  mutating func noticed(_ peers: some Sequence<PeerID>) -> Bool {
    guard session.namesHost, !isHostNamed, let named = peers.first(where: session.names) else { return false }
    replaceHost(with: named)
    return true
  }

  /// Accepts the owner of an owned board as the host (MEM-15); returns whether another peer was assumed to be the host.
  mutating func confirmed(owner peer: PeerID) -> Bool {
    guard session.isOfOwnedBoard else { return false }
    owner = peer
    guard peer != host else { return false }
    replaceHost(with: peer)
    return true
  }

  /// Records that a member names another peer as the host in a session whose id does not prove the host (MEM-16).
  /// Returns whether no member named this peer before.
  mutating func claimed(host peer: PeerID) -> Bool {
    guard peer != host, claimants.count < Limits.members else { return false }
    return claimants.insert(peer).inserted
  }

  /// Replaces a host whose identity was not proved, and drops the relays and removals that only that host vouched for.
  private mutating func replaceHost(with peer: PeerID) {
    host = peer
    relays = []
    removed.retain(signedBy: peer)
  }

  // MARK: Members

  func contains(_ peer: PeerID) -> Bool { members.contains { $0.peer == peer } }

  func isRemoved(_ peer: PeerID) -> Bool { removed[peer] != nil }

  /// Returns whether a peer joined from a browser, as a guest of the local peer or of another gateway (WEB-56). Neither
  /// a ticket nor an earlier admission admits a guest, and a guest admits no other peer (WEB-6).
  func isGuest(_ peer: PeerID) -> Bool { members.contains { $0.peer == peer && $0.isGuest } }

  /// Returns whether the local peer accepts tickets that `peer` signed (TCK-1).
  func mayAdmit(_ peer: PeerID) -> Bool {
    !isRemoved(peer) && !isGuest(peer) && (peer == host || peer == local || contains(peer))
  }

  /// Whether tickets signed by `peer` are accepted even if members are not allowed to admit peers (TCK-5).
  func maySpeakForHost(_ peer: PeerID) -> Bool {
    guard !isRemoved(peer) else { return false }
    return peer == local || peer == authority || authority != nil && relays.contains(peer)
  }

  func check(_ ticket: Ticket, of peer: PeerID, by admitters: Admitters = .members) throws(TicketError) {
    switch admitters {
    case .members:
      try ticket.verify(session: session, member: peer, mayAdmit: mayAdmit) { isRemoved($0) || isGuest($0) }
    case .host:
      // Check only the first signature. The rest of the chain proves that the signer is a member, but not that the host
      // lets members admit peers.
      do throws(TicketError) {
        try Ticket(ticket.signature).verify(
          session: session,
          member: peer,
          mayAdmit: maySpeakForHost,
          isRemoved: isRemoved
        )
      } catch {
        // The host's user can choose that members no longer admit newcomers.
        guard error == .unknownAdmitter, local != host || givesRight, !isRemoved(ticket.admitter),
          hasRight(ticket.admitter, showing: ticket.via.first)
        else { throw error }
      }
    }
  }

  /// Whether the first signature of the peer's ticket shows that the host lets the peer admit newcomers (TCK-6).
  func hasRight(_ peer: PeerID, showing ticket: Ticket.Signature?) -> Bool {
    guard let ticket, ticket.right != nil, ticket.admitter == authority, !isGuest(peer) else { return false }
    return ticket.givesRight(session: session, member: peer)
  }

  /// Whether the local peer may admit newcomers in the modes `known` and `ask`.
  var mayAdmitNewcomers: Bool { authority == local || hasRight(local, showing: ticket?.signature) }

  /// Returns whether a peer that shows this ticket, or none, belongs to the session (MEM-8).
  func proves(_ ticket: Ticket?, of peer: PeerID, by admitters: Admitters = .members) -> Bool {
    if isRemoved(peer) || isGuest(peer) { return false }
    if peer == host || contains(peer) { return true }
    guard let ticket else { return false }
    return (try? check(ticket, of: peer, by: admitters)) != nil
  }

  /// Returns whether the peer proved its membership for the first time.
  mutating func met(_ member: MembershipRecord.Member, isConnected: (PeerID) -> Bool = { _ in false }) -> Bool {
    guard member.peer != local, !isRemoved(member.peer) else { return false }
    var member = member
    let index = members.firstIndex { $0.peer == member.peer }
    if let index {
      let known = members.remove(at: index)
      member.admittedBy = known.admittedBy ?? member.admittedBy
      member.isGuest = known.isGuest || member.isGuest
    }
    members.append(member)
    makeRoom { isConnected($0) || $0 == member.peer }
    return index == nil
  }

  mutating func vouched(for relay: PeerID) {
    // Only the host can sign grants, so no other peer can exhaust this limit.
    guard relays.count < Limits.members else { return }
    relays.insert(relay)
  }

  mutating func remove(
    _ peer: PeerID,
    reason: UntrustedText = UntrustedText(""),
    signature: KickSignature? = nil,
    isGuest: Bool = false
  ) {
    let isGuest = isGuest || self.isGuest(peer)
    members.removeAll { $0.peer == peer }
    removed.add(peer, reason: reason, signature: signature, isGuest: isGuest)
  }

  mutating func signRemovals(by identity: PeerIdentity) {
    guard identity.peerID == host, session != .unnamed else { return }
    removed.sign(by: identity, session: session)
  }

  /// Drops the least recently met members, but never the host, a relay or a connected member (MEM-1).
  private mutating func makeRoom(isConnected: (PeerID) -> Bool) {
    while members.count > Limits.members {
      let dropped = members.firstIndex { member in
        member.peer != host && !relays.contains(member.peer) && !isConnected(member.peer)
      }
      members.remove(at: dropped ?? members.startIndex)
    }
  }

  // MARK: Tickets

  /// The number of signatures from the local peer to the host; `nil` if there is no chain.
  private var depth: Int? {
    if local == host { return 0 }
    guard let ticket, leadsToHost(ticket) else { return nil }
    return ticket.length
  }

  private func leadsToHost(_ ticket: Ticket) -> Bool {
    let signatures = [ticket.signature] + ticket.via
    return signatures.last?.admitter == host && !signatures.contains { isRemoved($0.admitter) }
  }

  /// Stores a ticket for the local peer if it is better than the current ticket (TCK-4); returns whether the ticket was
  /// stored and differs from the previous ticket. A ticket whose chain leads to the host is better. If that does not
  /// decide, a ticket signed by the host or a relay is better. If that does not decide either, the new ticket is better
  /// unless its chain is longer.
  mutating func received(_ new: Ticket) -> Bool {
    guard local != host, new != ticket else { return false }
    var holder = local
    for signature in [new.signature] + new.via {
      guard signature.isValid(session: session, member: holder) else { return false }
      holder = signature.admitter
    }
    if let ticket {
      let hadRight = hasRight(local, showing: ticket.signature)
      if hadRight && !hasRight(local, showing: new.signature) { return false }
      switch (leadsToHost(ticket), leadsToHost(new)) {
      case (true, false): return false
      case (false, true): break
      case (true, true), (false, false):
        // A ticket signed by the host or a relay is accepted even if members are not allowed to admit peers (TCK-5).
        switch (maySpeakForHost(ticket.admitter), maySpeakForHost(new.admitter)) {
        case (true, false): return false
        case (false, true): break
        case (true, true), (false, false): guard new.length <= ticket.length else { return false }
        }
      }
    }
    ticket = new
    return true
  }

  /// Returns a ticket for a member if it is better than the shown ticket (TCK-4); `nil` if the member needs no new
  /// ticket.
  func renewed(for peer: PeerID, showing shown: Ticket?, by identity: PeerIdentity) -> Ticket? {
    guard peer != host, !isGuest(peer), session != .unnamed else { return nil }
    let givesRight = givesRight && authority == local
    if let shown, !givesRight || hasRight(peer, showing: shown.signature) {
      let isGood = leadsToHost(shown) && (maySpeakForHost(shown.admitter) || !(local == host || relays.contains(local)))
      guard let depth else { return nil }
      if isGood && shown.length <= depth + 1 { return nil }
    }
    let own = depth == nil ? nil : ticket
    return Ticket.make(by: identity, session: session, member: peer, own: own, givesRight: givesRight)
  }
}

/// The peers that were removed from a session (MEM-3). At most 1,024 removals are stored. After that, each new removal
/// replaces the earliest removal of a guest or, if there is none, the earliest removal.
struct Removals: Equatable, Sendable {
  private struct Removal: Equatable {
    var reason: UntrustedText
    var signature: KickSignature?
  }

  private var removals: [PeerID: Removal] = [:]
  /// The removed peers: the guests first, then all others; in each group, the earliest removal comes first.
  private(set) var peers: [PeerID] = []
  private(set) var guestCount = 0

  subscript(peer: PeerID) -> UntrustedText? { removals[peer]?.reason }

  func signature(of peer: PeerID) -> KickSignature? { removals[peer]?.signature }

  /// The removals that any member can pass on, because the host signed them (MEM-11).
  var signed: [Control.Kick] {
    peers.compactMap { peer in
      guard let removal = removals[peer], let signature = removal.signature else { return nil }
      return Control.Kick(peer: peer, reason: removal.reason.raw, signature: signature)
    }
  }

  /// A repeated removal has no effect if the earlier removal is signed, or if the new removal has neither a reason nor
  /// a signature. The removal of a guest replaces only removals of other guests, because a guest without a browser link
  /// cannot join anyway (WEB-6).
  mutating func add(_ peer: PeerID, reason: UntrustedText, signature: KickSignature?, isGuest: Bool = false) {
    if let known = removals[peer] {
      guard known.signature == nil, signature != nil || !reason.isEmpty else { return }
    } else {
      peers.insert(peer, at: isGuest ? guestCount : peers.endIndex)
      if isGuest { guestCount += 1 }
    }
    removals[peer] = Removal(reason: reason, signature: signature)
    guard peers.count > Limits.removedPeers else { return }
    removals[peers.removeFirst()] = nil
    guestCount = max(0, guestCount - 1)
  }

  /// Drops the removals that `host` did not sign, because another peer was wrongly taken for the host (MEM-15).
  mutating func retain(signedBy host: PeerID) {
    let isGuest = Set(peers.prefix(guestCount))
    removals = removals.filter { _, removal in removal.signature.map { PeerID(spki: $0.key) == host } ?? false }
    peers.removeAll { removals[$0] == nil }
    guestCount = peers.count(where: isGuest.contains)
  }

  mutating func sign(by identity: PeerIdentity, session: SessionID) {
    for (peer, removal) in removals where removal.signature == nil {
      removals[peer]?.signature = KickSignature(by: identity, session: session, peer: peer, reason: removal.reason)
    }
  }
}
