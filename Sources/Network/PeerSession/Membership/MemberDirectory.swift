import NIOCore
import PeerCore
import PeerDiscovery
import PeerWire

/// The known peers of a session, and the membership proofs of these peers and the local peer (5). Confined to the
/// session's event loop.
final class MemberDirectory {
  unowned let session: SessionCore
  private(set) var entries: [PeerID: PeerEntry] = [:]
  private(set) var membership: Membership
  let records: AsyncStream<MembershipRecord>
  private let recordSource: AsyncStream<MembershipRecord>.Continuation
  /// Whether a host admitted the local peer, or the local peer is the host or its relay.
  var hasJoined = false
  var storedMembership: MembershipRecord?
  /// The signed removals that wait until the host's identity is proved (MEM-15).
  var heldRemovals: [Control.Kick] = []
  /// The peers that members wrongly named as the host; each is reported once.
  var falseHosts: Set<PeerID> = []
  /// The peers that joined and were not yet announced to the other members, and the time of the first of them.
  private var newcomers: Set<PeerID> = []
  private var newcomersSince = NIODeadline.now()
  static let announcementDelay = TimeAmount.milliseconds(500)

  init(_ session: SessionCore) {
    self.session = session
    membership = Membership(local: session.localPeer, session: .unnamed, host: session.localPeer)
    (records, recordSource) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func begin(_ id: SessionID, host: PeerID) { membership.begin(id, host: host) }

  // MARK: Peers

  var peerCount: Int { entries.values.count(where: \.isJoined) + 1 }

  func entry(for peer: PeerID, _ introduction: Control.Introduction) -> PeerEntry {
    if let entry = entries[peer] { return entry }
    let entry = PeerEntry(id: peer, member: Control.Member(peer: peer, introduction))
    entries[peer] = entry
    return entry
  }

  func forget(_ peer: PeerID) {
    entries[peer] = nil
    session.dialler.policy.forget(peer)
    session.relaying.unwant(peer, .rerouted)
  }

  /// A connection from the address of a member may use a reserved slot (LNK-6).
  func hasMember(at host: String) -> Bool { entries.values.contains { $0.addresses.contains { $0.host == host } } }

  /// Returns the peers in the session, as ACCEPT lists them (3.3).
  func members(besides other: PeerID) -> [Control.Member] {
    entries.values.filter { $0.isJoined && $0.id != other }.sorted { $0.id < $1.id }.map { entry in
      var member = entry.member
      // The address that the local peer reached comes first, because a peer might not know the address at which others
      // reach it.
      let seen = entry.observed.first { $0.port == member.port && isIPLiteral($0.host) }
      if let seen {
        member.addresses.removeAll { $0 == seen.host }
        member.addresses.insert(seen.host, at: 0)
        member.addresses = Array(member.addresses.prefix(Limits.addresses))
      }
      return member
    }
  }

  func announce(_ newcomer: PeerID) {
    guard let member = entries[newcomer]?.member else { return }
    let message = Control.Members(members: [member]).encoded()
    for entry in entries.values where entry.id != newcomer { entry.link?.send(.members, message) }
  }

  /// When the peers that joined must be announced to the other members; `nil` if there are none.
  var announcementsDue: NIODeadline? { newcomers.isEmpty ? nil : newcomersSince + Self.announcementDelay }

  /// Announces all peers that joined within ``announcementDelay`` together (MEM-1). Leaves out each peer that the
  /// receiver itself has announced. Otherwise, if many peers join at once, every member would announce all of them.
  func announceIfDue(_ now: NIODeadline) {
    guard let due = announcementsDue, now >= due else { return }
    let joined = newcomers.compactMap { entries[$0] }.filter(\.isJoined)
    newcomers = []
    for entry in entries.values {
      guard let link = entry.link else { continue }
      let members = joined.filter { $0.id != entry.id && !$0.isAnnounced(by: entry.id, now: now) }.map(\.member)
      for message in Control.Members.split(members) { link.send(.members, message.encoded()) }
    }
  }

  /// Announces a peer to the other members, because the peer joined, or returned without its delivery state (MEM-1).
  func introduce(_ entry: PeerEntry, _ link: ControlLink) {
    // A relay sends a more detailed message to all members (RLY-3).
    if !session.relaying.isRelaying {
      if newcomers.isEmpty { newcomersSince = .now() }
      newcomers.insert(entry.id)
      if link.side == .dialler {
        for members in Control.Members.split(members(besides: entry.id)) { link.send(.members, members.encoded()) }
      }
    }
    // The network may have recovered for all peers, because this peer returned.
    session.dialler.policy.peerReturned(now: .now())
    session.planTick()
  }

  // MARK: Named and discovered peers

  /// Adds members that a peer named (MEM-1, MEM-2); the local peer dials them after `delay` unless they dial first.
  func learn(_ members: [Control.Member], from source: PeerID? = nil, dialAfter delay: TimeAmount = .seconds(3)) {
    // If members are not allowed to admit peers, a report by a member does not vouch for a peer (TCK-5).
    let isVouching =
      switch session.admission.policy.admitters {
      case .members: true
      case .host: source.map(membership.maySpeakForHost) ?? true
      }
    notice(members.map(\.peer))
    let mayNameGuests = source.map(membership.maySpeakForHost) ?? true
    let remote = source.flatMap { entries[$0]?.link?.remote }
    for member in members where member.peer != session.localPeer && !membership.isRemoved(member.peer) {
      var member = source == nil ? member : member.usable(from: remote)
      // Without this check, any member could make other members treat a peer as unknown, or dial a guest.
      if !mayNameGuests { member.isGuest = entries[member.peer]?.member.isGuest ?? false }
      if let entry = entries[member.peer] {
        if isVouching { entry.isVouched = true }
        if let source, member.incarnation == entry.member.incarnation { entry.announced(by: source, now: .now()) }
        if let relayed = entry.relayed { dialIfMoved(member, entry, relayed) }
        guard !entry.isJoined else { continue }
        entry.member = member
      } else if mayName(source), makeRoomForMember() {
        let entry = PeerEntry(id: member.peer, member: member)
        entry.isVouched = isVouching
        entry.namedBy = source
        if let source { entry.announced(by: source, now: .now()) }
        entries[member.peer] = entry
      } else {
        continue
      }
      session.dialler.policy[member.peer].named(of: member.incarnation, dialAt: .now() + delay)
    }
    session.planTick()
  }

  /// Returns whether a peer may name one more peer that was never met (MEM-18).
  private func mayName(_ source: PeerID?) -> Bool {
    guard let source, !membership.maySpeakForHost(source) else { return true }
    let named = entries.values.count { entry in
      entry.namedBy == source && !entry.isJoined && !membership.contains(entry.id)
    }
    return named < Limits.strangersNamed
  }

  /// Dials a relayed peer that has new addresses, because the peer may be directly reachable at these addresses
  /// (RLY-6).
  private func dialIfMoved(_ member: Control.Member, _ entry: PeerEntry, _ relayed: RelayedPresence) {
    guard member.incarnation == relayed.incarnation,
      member.port != entry.member.port || member.addresses != entry.member.addresses
    else { return }
    entry.member.port = member.port
    entry.member.addresses = member.addresses
    session.dialler.plan(entry, after: .zero, in: session)
  }

  /// Makes room for one more peer by forgetting a peer that is out of the session (MEM-1); returns whether there is
  /// room.
  private func makeRoomForMember() -> Bool {
    if entries.count < Limits.members { return true }
    let candidates = entries.values.filter { entry in
      entry.id != membership.host && !membership.relays.contains(entry.id) && !entry.isJoined && entry.link == nil
        && session.dialler.policy.isIdle(entry.id)
    }
    // Prefer to forget a peer that the local peer never met.
    let unproven = candidates.first { !membership.contains($0.id) }
    guard let forgotten = unproven ?? candidates.first else { return false }
    forget(forgotten.id)
    return true
  }

  func found(_ peer: PeerID, at addresses: [PeerAddress], as incarnation: SessionIncarnation) {
    guard peer != session.localPeer, !session.hasEnded, !membership.isRemoved(peer) else { return }
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
    entry.observed = Array((addresses + entry.observed.filter { !addresses.contains($0) }).prefix(Limits.addresses))
    session.dialler.policy[peer].discovered(incarnation, isMoved: isMoved, hasLink: entry.link != nil, now: .now())
    session.planTick()
  }

  func vanished(_ peer: PeerID) { session.dialler.policy[peer].vanished() }

  // MARK: The membership record

  @discardableResult func update<Result>(_ change: (inout Membership) -> Result) -> Result {
    let before = membership.record
    let result = change(&membership)
    let after = membership.record
    if hasJoined, membership.session != .unnamed, after != before { recordSource.yield(after) }
    return result
  }

  func finish() { recordSource.finish() }

  /// Stores the session's id and host from the first ACCEPT; returns whether this ACCEPT joins the session.
  func joined(as id: SessionID, host: PeerID) -> Bool {
    guard !hasJoined else {
      membership.session = id
      return false
    }
    hasJoined = true
    membership.begin(id, host: host)
    return true
  }

  /// Restores a record stored before a restart (MEM-7), and dials the members.
  func restore(_ record: MembershipRecord) {
    update {
      $0.restore(record)
      // An earlier release stored removals without a signature.
      $0.signRemovals(by: session.configuration.identity)
    }
    // A relay may have many sessions, so it does not dial their members. The members dial it.
    guard !session.configuration.isRelay else { return }
    for member in membership.members where entries[member.peer] == nil {
      let entry = PeerEntry(
        id: member.peer,
        member: Control.Member(
          peer: member.peer,
          name: member.name,
          // No process has this placeholder incarnation, so a bar is lifted when a real incarnation of the peer
          // appears.
          incarnation: .unknown,
          port: 0,
          addresses: [],
          role: member.isRelay ? .relay : .member
        )
      )
      entry.observed = member.addresses
      entry.member.isGuest = member.isGuest
      entry.isVouched = true
      session.dialler.policy[member.peer].named(of: entry.member.incarnation, dialAt: .now())
      entries[member.peer] = entry
    }
    session.planTick()
  }

  // MARK: Proofs of membership

  /// Records that a peer proved its membership on a link, or that a relay vouches for it.
  func met(_ entry: PeerEntry) {
    notice([entry.id])
    guard hasJoined, membership.session != .unnamed else { return }
    var member = entry.stored
    member.admittedBy = admitter(of: entry)
    let isNew = update { membership in membership.met(member) { entries[$0]?.isJoined == true } }
    if isNew { proofChanged() }
    entry.hasRight = membership.hasRight(entry.id, showing: entry.shownTicket?.signature)
    guard let link = entry.link else { return }
    // Send a ticket only to a listener, because a dialler receives its ticket in ACCEPT.
    guard link.side == .dialler,
      let ticket = membership.renewed(for: entry.id, showing: entry.shownTicket, by: session.configuration.identity)
    else { return }
    entry.shownTicket = ticket
    link.send(.members, Control.Members(members: [], ticket: ticket).encoded())
  }

  private func admitter(of entry: PeerEntry) -> PeerID? {
    switch entry.admission {
    case .here: return session.localPeer
    case .vouched(let admitter): return admitter
    case nil:
      // The local peer dialed this member.
      if let ticket = entry.shownTicket, (try? membership.check(ticket, of: entry.id)) != nil { return ticket.admitter }
      return entry.namedBy
    }
  }

  /// Sets whether the tickets that the local peer signs as the host let members admit newcomers. While the host does
  /// not give this right, it rejects members that other members admitted. If the host gives the right again, it dials
  /// these members.
  func setGivesRight(_ givesRight: Bool) {
    guard givesRight != membership.givesRight else { return }
    membership.givesRight = givesRight
    if givesRight { proofChanged() }
  }

  func received(_ ticket: Ticket) {
    notice(([ticket.signature] + ticket.via).map(\.admitter))
    guard update({ $0.received(ticket) }) else { return }
    proofChanged()
    session.admission.follow()
  }

  private func proofChanged() {
    session.dialler.policy.proofChanged(now: .now())
    session.planTick()
  }
}

// The identity of the session's host (MEM-14 to MEM-16).
extension MemberDirectory {
  func notice(_ peers: [PeerID]) {
    guard membership.session.namesHost, membership.authority == nil else { return }
    let former = membership.host
    if update({ $0.noticed(peers) }) { hostReplaced(former) }
  }

  func confirm(owner: PeerID) {
    let former = membership.host
    if update({ $0.confirmed(owner: owner) }) { hostReplaced(former) }
    if let entry = entries[owner], entry.link != nil { session.relaying.offersRoutes(entry) }
    session.admission.termsChanged()
    session.admission.follow()
    let held = heldRemovals
    heldRemovals = []
    for kick in held where kick.signature.map({ PeerID(spki: $0.key) == owner }) ?? false { apply(kick) }
    session.deliverEvents()
  }

  func heard(host named: PeerID, from peer: PeerID) {
    notice([named, peer])
    if membership.session.namesHost {
      guard named != membership.authority else { return }
      reportFalse(named, namedBy: peer)
    } else if membership.isHostProved {
      if named != membership.host { reportFalse(named, namedBy: peer) }
    } else if !membership.session.isOfOwnedBoard, update({ $0.claimed(host: named) }) {
      session.emit(
        .warning(
          SessionWarning(
            code: "host-disputed",
            message: "\(name(peer)) says that \(name(named)) is the host, but until now,"
              + " \(name(membership.host)) was the host. The id of this session does not show"
              + " which of them is the host, so neither can remove the other here.",
            peer: peer
          )
        )
      )
    }
  }

  func reportFalse(_ named: PeerID, namedBy peer: PeerID) {
    guard falseHosts.count < Limits.members, falseHosts.insert(named).inserted else { return }
    session.emit(
      .warning(SessionWarning(code: "false-host", message: falseHostMessage(named, namedBy: peer), peer: named))
    )
  }

  /// Returns the warning about a false host. A peer that opened a copy of the session may call itself the host by
  /// mistake. Only a statement about another peer is therefore called false.
  private func falseHostMessage(_ named: PeerID, namedBy peer: PeerID) -> String {
    let host = membership.isHostProved ? name(membership.host) : nil
    guard peer != named else {
      return "\(name(peer)) opened a copy of this session, whose host is \(host ?? "another peer")."
        + " Only that host can remove members."
    }
    return "\(name(peer)) says that \(name(named)) is the host. That is false: the host is"
      + " \(host ?? "another peer"), and only that host can remove members."
  }

  private func hostReplaced(_ former: PeerID) {
    session.hostReplaced()
    if entries[former]?.isJoined == true { reportFalse(former, namedBy: former) }
  }

  private func name(_ peer: PeerID) -> String {
    guard peer != session.localPeer else { return "this peer" }
    guard let name = entries[peer]?.member.name, !name.isEmpty else { return "\(peer.short)…" }
    return "\(name) (\(peer.short)…)"
  }
}
