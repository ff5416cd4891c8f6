import NIOCore
import PeerDiscovery
import PeerWire

/// Decides which peers of a session are dialed, and when (LIV-3, LIV-4, MEM-6, MEM-9, RLY-6). The session reports what
/// happens to its peers, and asks which dials are due. The policy does no I/O and has no clock or random source. The
/// caller passes the time and the fraction of the jitter to add (from 0 to 1). ``DialPlan`` holds the decisions for a
/// single peer.
struct RedialPolicy: Sendable {
  struct Standing: Sendable, Equatable {
    var hasLink = false
    var isRemoved = false
    /// Whether a relay reaches the peer, so that no dial is needed (RLY-6).
    var isLeftToRelays = false
    /// Whether the peer is a proven member, or shares delivery state with the local peer. Any other peer might not
    /// exist. Only a few such peers are dialed at a time (MEM-6).
    var isProven = false
  }

  enum CloseConsequence: Sendable, Equatable {
    case departs
    /// The peer leaves the session because it stopped waiting for a user's answer (3.2).
    case withdrawn
    /// The peer stays in the session, and is dialed again (LIV-3).
    case reconnects
  }

  struct FailedDial: Sendable {
    var incarnation: SessionIncarnation
    /// The redial rule implied by the peer's answer; `later` if there was no answer.
    var redial: CloseCode.Redial
    var code: SessionError.Code
    var isJoined = false
    var hasDelivery = false
    var isRelayed = false
    var isMember = false
    var isRelay = false
    var isHearsay = false
    var hasRelays = false
  }

  private var plans: [PeerID: DialPlan] = [:]
  private var hasEnded = false
  private let lostAfter: TimeAmount

  init(lostAfter: TimeAmount) { self.lostAfter = lostAfter }

  subscript(peer: PeerID) -> DialPlan {
    get { plans[peer] ?? DialPlan() }
    set { plans[peer] = newValue == DialPlan() ? nil : newValue }
  }

  /// Returns whether a peer may be forgotten to make room, because no dial is in progress or planned soon.
  func isIdle(_ peer: PeerID) -> Bool {
    let plan = self[peer]
    return !plan.isDialling && (plan.next == nil || plan.isBarred || plan.isLost)
  }

  mutating func peerReturned(now: NIODeadline) { for peer in plans.keys { plans[peer]?.otherPeerReturned(now: now) } }

  mutating func proofChanged(now: NIODeadline) { for peer in plans.keys { plans[peer]?.proofChanged(now: now) } }

  mutating func forget(_ peer: PeerID) { plans[peer] = nil }

  /// Handles a CLOSE that the other side sent (3.6).
  mutating func linkClosed(
    _ peer: PeerID,
    _ code: CloseCode,
    by incarnation: SessionIncarnation,
    isRelay: Bool,
    isAdmittedByPerson: Bool,
    now: NIODeadline,
    jitter: Double
  ) -> CloseConsequence {
    var plan = self[peer]
    defer { self[peer] = plan }
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

  mutating func end() {
    hasEnded = true
    for peer in plans.keys { plans[peer]?.bar(.always) }
  }

  mutating func dialFailed(_ peer: PeerID, _ dial: FailedDial, now: NIODeadline, jitter: Double) -> DialPlan.Outcome {
    if dial.code == .identityInUse {
      self[peer].ended()
      self[peer].linkTaken(now: now, jitter: jitter)
      return .planned
    }
    // The address belongs to a peer on another network, or the peer accepts only relayed connections. In both cases,
    // the peer may still be online (RLY-6).
    let isBehindRelay =
      !dial.hasDelivery && dial.code != .kicked && (dial.isRelayed || dial.hasRelays && dial.code == .wrongPeer)
    // A relay that ended before it answered will start again (RLY-7).
    let isRelayEnding = dial.isRelay && dial.code == .shuttingDown
    return self[peer].failed(
      isBehindRelay || isRelayEnding ? .later : dial.redial,
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

  mutating func excuse(_ delay: TimeAmount) { for peer in plans.keys { plans[peer]?.excuse(delay) } }

  /// Returns whether a peer with a broken link must be declared lost (LIV-4).
  func isOverdue(_ peer: PeerID, now: NIODeadline) -> Bool {
    plans[peer]?.brokenAt.map { now - $0 >= lostAfter } ?? false
  }

  /// Returns when a peer without a link must be dialed, or declared lost.
  func nextDue(for peer: PeerID) -> NIODeadline? {
    let plan = self[peer]
    let isWaiting = !plan.isDialling && !plan.isBarred
    return [isWaiting ? plan.next : nil, plan.brokenAt.map { $0 + lostAfter }].compactMap(\.self).min()
  }

  /// Returns the peers whose dial is due, in no particular order, except lost peers that discovery does not show. The
  /// caller asks ``allowsDial(of:now:standing:)`` before each dial, because one dial can rule out another.
  func due(now: NIODeadline) -> [PeerID] {
    plans.filter { isDue($1, now) && (!$1.isLost || $1.announced != nil) }.map(\.key)
  }

  func allowsDial(of peer: PeerID, now: NIODeadline, standing: (PeerID) -> Standing) -> Bool {
    let state = standing(peer)
    guard allows(peer, state, now), !state.isLeftToRelays else { return false }
    // A peer that other peers named might not exist, so only a few such peers are dialed at a time (MEM-6).
    guard isStranger(peer, state) else { return true }
    let strangers = plans.count { peer, plan in plan.isDialling && isStranger(peer, standing(peer)) }
    return strangers < Limits.dialsToStrangers
  }

  /// Only one lost peer is dialed at a time, because most lost peers have left for good (LIV-4).
  func lostPeerDue(now: NIODeadline, standing: (PeerID) -> Standing) -> PeerID? {
    let lost = plans.filter { $1.isLost && $1.announced == nil }
    guard !lost.contains(where: \.value.isDialling) else { return nil }
    return lost.filter { allows($0.key, standing($0.key), now) }.min {
      ($0.value.next ?? .distantFuture) < ($1.value.next ?? .distantFuture)
    }?.key
  }

  private func allows(_ peer: PeerID, _ standing: Standing, _ now: NIODeadline) -> Bool {
    !standing.hasLink && !standing.isRemoved && isDue(self[peer], now)
  }

  private func isDue(_ plan: DialPlan, _ now: NIODeadline) -> Bool {
    guard !hasEnded, !plan.isDialling, !plan.isBarred, let due = plan.next else { return false }
    return now >= due
  }

  private func isStranger(_ peer: PeerID, _ standing: Standing) -> Bool { !standing.isProven && !self[peer].isLost }
}
