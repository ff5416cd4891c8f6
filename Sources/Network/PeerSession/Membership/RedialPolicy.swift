import NIOCore
import PeerDiscovery
import PeerWire

/// Decides which peers of a session are dialed, and when (LIV-3, LIV-4, MEM-6, MEM-9, RLY-6).
///
/// The session reports what happens to its peers, and asks which dials are due. The policy does no I/O and has no clock
/// or random source. The caller passes the time and the fraction of the jitter to add (from 0 to 1). ``DialPlan`` holds
/// the decisions for a single peer.
struct RedialPolicy: Sendable {
  struct Standing: Sendable, Equatable {
    var hasLink = false
    /// Whether the host removed the peer from the session (MEM-3).
    var isRemoved = false
    /// Whether a relay reaches the peer, so that no dial is needed (RLY-6).
    var isLeftToRelays = false
    /// Whether the peer is a proven member, or shares delivery state with the local peer.
    ///
    /// Any other peer might not exist. Only a few such peers are dialed at a time (MEM-6).
    var isProven = false
  }

  enum CloseConsequence: Sendable, Equatable {
    /// The peer leaves the session for the reason in its CLOSE.
    case departs
    /// The peer leaves the session because it stopped waiting for a user's answer (3.2).
    case withdrawn
    /// The peer stays in the session, and is dialed again (LIV-3).
    case reconnects
  }

  /// A dial that failed, and the peer's state at that time.
  struct FailedDial: Sendable {
    /// The peer's incarnation according to the latest report.
    var incarnation: SessionIncarnation
    /// The redial rule implied by the peer's answer; `later` if there was no answer.
    var redial: CloseCode.Redial
    var code: SessionError.Code
    var isJoined = false
    /// Whether the peer and the local peer share delivery state.
    var hasDelivery = false
    /// Whether the peer is in the session through a relay.
    var isRelayed = false
    var isMember = false
    var isRelay = false
    /// Whether only an ordinary member named the peer (MEM-18).
    var isHearsay = false
    var hasRelays = false
  }

  private struct Contact {
    var plan = DialPlan()
    /// Whether the local peer dialed the last link.
    ///
    /// If so, it also dials first after the link breaks (LIV-3).
    var dialledLast = true
    /// When the link broke; `nil` while the peer is linked, relayed or out of the session.
    var brokenAt: NIODeadline?
  }

  private var contacts: [PeerID: Contact] = [:]
  private var hasEnded = false
  private let lostAfter: TimeAmount

  /// Creates a policy for a session without peers.
  init(lostAfter: TimeAmount) { self.lostAfter = lostAfter }

  func plan(for peer: PeerID) -> DialPlan { contacts[peer]?.plan ?? DialPlan() }

  /// Returns whether a peer may be forgotten to make room.
  ///
  /// This is the case if no dial is in progress or planned soon.
  func isIdle(_ peer: PeerID) -> Bool {
    let plan = plan(for: peer)
    return !plan.isDialling && (plan.next == nil || plan.isBarred || plan.isLost)
  }

  // MARK: Reports about peers

  /// Records that a member or the stored record named a peer, with this incarnation.
  mutating func named(_ peer: PeerID, as incarnation: SessionIncarnation, dialAt due: NIODeadline) {
    contacts[peer, default: Contact()].plan.named(of: incarnation, dialAt: due)
  }

  mutating func discovered(
    _ peer: PeerID,
    as incarnation: SessionIncarnation,
    isMoved: Bool,
    hasLink: Bool,
    now: NIODeadline
  ) { contacts[peer, default: Contact()].plan.discovered(incarnation, isMoved: isMoved, hasLink: hasLink, now: now) }

  mutating func vanished(_ peer: PeerID) { contacts[peer]?.plan.vanished() }

  /// The network has probably recovered, so lost peers are dialed soon (LIV-4).
  mutating func peerReturned(now: NIODeadline) {
    for peer in contacts.keys { contacts[peer]?.plan.otherPeerReturned(now: now) }
  }

  /// Records that failed proofs of membership may now succeed.
  mutating func proofChanged(now: NIODeadline) {
    for peer in contacts.keys { contacts[peer]?.plan.proofChanged(now: now) }
  }

  mutating func forget(_ peer: PeerID) { contacts[peer] = nil }

  // MARK: Links

  mutating func linkOpened(_ peer: PeerID, dialledHere: Bool) {
    contacts[peer, default: Contact()].plan.linkOpened()
    contacts[peer]?.dialledLast = dialledHere
    contacts[peer]?.brokenAt = nil
  }

  /// Records that a relay reaches a peer (RLY-6).
  mutating func routeOpened(_ peer: PeerID, now: NIODeadline, jitter: Double) {
    contacts[peer, default: Contact()].plan.relayed(now: now, jitter: jitter)
    contacts[peer]?.brokenAt = nil
  }

  /// Records that a link broke; the peer stays in the session for now (LIV-3).
  mutating func linkBroke(_ peer: PeerID, now: NIODeadline) {
    let contact = contacts[peer] ?? Contact()
    contacts[peer, default: Contact()].brokenAt = contact.brokenAt ?? now
    contacts[peer]?.plan.linkBroke(dialledLast: contact.dialledLast, now: now)
  }

  /// Records that another process with the local key replaced the link, or keeps it (DUP-7).
  mutating func linkTaken(_ peer: PeerID, now: NIODeadline, jitter: Double) {
    contacts[peer, default: Contact()].plan.linkTaken(now: now, jitter: jitter)
  }

  /// Records that the local peer dials a new link to replace an open one.
  mutating func linkRenewed(_ peer: PeerID) { contacts[peer, default: Contact()].dialledLast = true }

  /// Handles a CLOSE that the other side sent (3.6); returns the consequence for the peer.
  mutating func linkClosed(
    _ peer: PeerID,
    _ code: CloseCode,
    by incarnation: SessionIncarnation,
    isRelay: Bool,
    isAdmittedByPerson: Bool,
    now: NIODeadline,
    jitter: Double
  ) -> CloseConsequence {
    var plan = plan(for: peer)
    defer { contacts[peer, default: Contact()].plan = plan }
    switch code {
    case .shuttingDown where isRelay:
      // A relay will start again (RLY-7), so it is dialed like a peer that a member named.
      plan.plan(after: .seconds(1), now: now, jitter: jitter)
      return .departs
    case .tooSlow, .tooFast:
      // The peer discarded the delivery state, but admits the local peer again (CLS-2).
      plan.plan(after: .seconds(5), now: now, jitter: jitter)
      return .departs
    case .timedOut where isAdmittedByPerson:
      // The dialler sent CLOSE before it received the user's answer (3.2).
      plan.bar(.untilRestart(of: incarnation))
      return .withdrawn
    default: return plan.closed(code.redial, by: incarnation) ? .departs : .reconnects
    }
  }

  mutating func departed(_ peer: PeerID) { contacts[peer]?.brokenAt = nil }

  mutating func bar(_ peer: PeerID, _ reason: DialPlan.Bar) { contacts[peer, default: Contact()].plan.bar(reason) }

  /// Bars all peers, because the session is over.
  mutating func end() {
    hasEnded = true
    for peer in contacts.keys { contacts[peer]?.plan.bar(.always) }
  }

  // MARK: Dials

  mutating func plan(_ peer: PeerID, after wait: TimeAmount, now: NIODeadline, jitter: Double) {
    contacts[peer, default: Contact()].plan.plan(after: wait, now: now, jitter: jitter)
  }

  mutating func postpone(_ peer: PeerID, until due: NIODeadline) { contacts[peer]?.plan.postpone(until: due) }

  mutating func dialBegan(_ peer: PeerID) { contacts[peer, default: Contact()].plan.began() }

  mutating func dialEnded(_ peer: PeerID) { contacts[peer]?.plan.ended() }

  /// Plans the next dial after a failed one (LIV-3, LIV-4); returns the consequence for the peer.
  mutating func dialFailed(_ peer: PeerID, _ dial: FailedDial, now: NIODeadline, jitter: Double) -> DialPlan.Outcome {
    if dial.code == .identityInUse {
      dialEnded(peer)
      linkTaken(peer, now: now, jitter: jitter)
      return .planned
    }
    // The address belongs to a peer on another network, or the peer accepts only relayed connections. In both cases,
    // the peer may still be online (RLY-6).
    let isBehindRelay =
      !dial.hasDelivery && dial.code != .kicked && (dial.isRelayed || dial.hasRelays && dial.code == .wrongPeer)
    return contacts[peer, default: Contact()].plan.failed(
      isBehindRelay ? .later : dial.redial,
      .init(
        incarnation: dial.incarnation,
        isAwaited: dial.isJoined,
        isKept: dial.isMember || !dial.isHearsay && (dial.hasRelays || dial.isRelay),
        isRare: isBehindRelay || dial.code == .full,
        isHearsay: dial.isHearsay
      ),
      now: now,
      jitter: jitter
    )
  }

  // MARK: Time

  /// Ignores the time in which the program was suspended, because the program could not dial any peer then (LIV-4).
  mutating func excuse(_ delay: TimeAmount) {
    for (peer, contact) in contacts {
      if let brokenAt = contact.brokenAt { contacts[peer]?.brokenAt = brokenAt + delay }
    }
  }

  /// Returns whether a peer with a broken link must be declared lost (LIV-4).
  func isOverdue(_ peer: PeerID, now: NIODeadline) -> Bool {
    contacts[peer]?.brokenAt.map { now - $0 >= lostAfter } ?? false
  }

  /// Records that a peer was declared lost (LIV-4).
  mutating func lost(_ peer: PeerID, now: NIODeadline, jitter: Double) {
    contacts[peer, default: Contact()].plan.lost(now: now, jitter: jitter)
  }

  /// Returns when a peer without a link must be dialed, or declared lost.
  func nextDue(for peer: PeerID) -> NIODeadline? {
    guard let contact = contacts[peer] else { return nil }
    let isWaiting = !contact.plan.isDialling && !contact.plan.isBarred
    return [isWaiting ? contact.plan.next : nil, contact.brokenAt.map { $0 + lostAfter }].compactMap(\.self).min()
  }

  /// Returns the peers whose dial is due, in no particular order, except lost peers that discovery does not show.
  ///
  /// The caller asks ``allowsDial(of:now:standing:)`` before each dial, because one dial can rule out another.
  func due(now: NIODeadline) -> [PeerID] {
    contacts.keys.filter { peer in
      let plan = plan(for: peer)
      return isDue(plan, now) && (!plan.isLost || plan.announced != nil)
    }
  }

  func allowsDial(of peer: PeerID, now: NIODeadline, standing: (PeerID) -> Standing) -> Bool {
    let state = standing(peer)
    guard allows(peer, state, now), !state.isLeftToRelays else { return false }
    // A peer that other peers named might not exist, so only a few such peers are dialed at a time (MEM-6).
    guard isStranger(peer, state) else { return true }
    let strangers = contacts.count { peer, contact in contact.plan.isDialling && isStranger(peer, standing(peer)) }
    return strangers < Limits.dialsToStrangers
  }

  /// Only one lost peer is dialed at a time, because most lost peers have left for good (LIV-4).
  func lostPeerDue(now: NIODeadline, standing: (PeerID) -> Standing) -> PeerID? {
    let lost = contacts.filter { $0.value.plan.isLost && $0.value.plan.announced == nil }
    guard !lost.contains(where: \.value.plan.isDialling) else { return nil }
    return lost.filter { allows($0.key, standing($0.key), now) }.min {
      ($0.value.plan.next ?? .distantFuture) < ($1.value.plan.next ?? .distantFuture)
    }?.key
  }

  private func allows(_ peer: PeerID, _ standing: Standing, _ now: NIODeadline) -> Bool {
    !standing.hasLink && !standing.isRemoved && isDue(plan(for: peer), now)
  }

  private func isDue(_ plan: DialPlan, _ now: NIODeadline) -> Bool {
    guard !hasEnded, !plan.isDialling, !plan.isBarred, let due = plan.next else { return false }
    return now >= due
  }

  private func isStranger(_ peer: PeerID, _ standing: Standing) -> Bool {
    !standing.isProven && !plan(for: peer).isLost
  }
}
