import NIOCore
import PeerWire

/// Decides when to dial one peer of a session (LIV-3, LIV-4, MEM-6, MEM-9). The plan does no I/O and has no clock or
/// random source. The caller passes the time and the fraction of the jitter to add (from 0 to 1).
struct DialPlan: Sendable, Equatable {
  enum Bar: Sendable, Equatable {
    /// The peer left, or refused for a reason that might not apply after a restart.
    case untilRestart(of: SessionIncarnation)
    /// The peer rejected the local peer's proof of membership, or gave no proof of its own; a restart also lifts this
    /// bar.
    case untilProof(of: SessionIncarnation)
    /// A user declined, or the host removed one of the two peers.
    case always
  }

  private(set) var isDialling = false
  private(set) var next: NIODeadline?
  private(set) var failures = 0
  private(set) var bar: Bar?
  private(set) var lostAt: NIODeadline?
  private(set) var announced: SessionIncarnation?
  /// Whether the local peer dialed the last link; if so, the local peer also dials first after the link breaks (LIV-3).
  var dialledLast = true
  /// When the link broke; `nil` while the peer is linked, relayed or out of the session.
  private(set) var brokenAt: NIODeadline?

  var isBarred: Bool { bar != nil }
  var isLost: Bool { lostAt != nil }

  var mayReturn: Bool { !isBarred && !isLost }

  /// The number of times that another process with the local key took the link (DUP-7).
  private var takeovers = 0
  private var takenAt: NIODeadline?

  /// The delays after failed dials, in milliseconds; the last delay repeats (LIV-3).
  static let waits: [Int64] = [200, 500, 1_000, 2_000, 5_000]

  // MARK: Reports about the peer

  mutating func named(of incarnation: SessionIncarnation, dialAt due: NIODeadline) {
    lift(incarnation)
    guard !isBarred, next == nil || isLost else { return }
    next = due
  }

  mutating func discovered(_ incarnation: SessionIncarnation, isMoved: Bool, hasLink: Bool, now: NIODeadline) {
    let isNews = announced != incarnation || isMoved
    announced = incarnation
    guard !hasLink else { return }
    lift(incarnation)
    guard isNews, !isBarred, !isDialling else { return }
    failures = 0
    next = now
  }

  mutating func vanished() { announced = nil }

  mutating func proofChanged(now: NIODeadline) {
    guard case .untilProof = bar else { return }
    bar = nil
    failures = 0
    next = now
  }

  private mutating func lift(_ incarnation: SessionIncarnation) {
    switch bar {
    case .untilRestart(incarnation), .untilProof(incarnation), .always, nil: break
    case .untilRestart, .untilProof:
      bar = nil
      failures = 0
    }
  }

  // MARK: Links and dials

  mutating func began() {
    isDialling = true
    next = nil
  }

  mutating func ended() { isDialling = false }

  mutating func linkOpened(dialledHere: Bool) {
    dialledLast = dialledHere
    brokenAt = nil
    next = nil
    failures = 0
    bar = nil
    lostAt = nil
  }

  /// Records that a relay reaches the peer, and plans dials at long intervals (RLY-6).
  mutating func relayed(now: NIODeadline, jitter: Double) {
    brokenAt = nil
    lostAt = nil
    failures = 0
    planRarely(now: now, jitter: jitter)
  }

  /// The peer stays in the session for now, and the side that dialed the link dials first (LIV-3).
  mutating func linkBroke(now: NIODeadline) {
    brokenAt = brokenAt ?? now
    failures = 0
    next = now + (dialledLast ? .zero : .seconds(1))
  }

  mutating func departed() { brokenAt = nil }

  /// Ignores the time in which the program was suspended, because the program could not dial any peer then (LIV-4).
  mutating func excuse(_ delay: TimeAmount) { brokenAt = brokenAt.map { $0 + delay } }

  /// Records that another process with the local key took the link, so that this process waits. The delay doubles each
  /// time, up to 32 s, and is short again after 10 minutes without this event (DUP-7).
  mutating func linkTaken(now: NIODeadline, jitter: Double) {
    if let takenAt, now - takenAt > .minutes(10) { takeovers = 0 }
    takenAt = now
    set(4_000 << min(Int64(takeovers), 3), now, jitter)
    takeovers += 1
  }

  mutating func lost(now: NIODeadline, jitter: Double) {
    lostAt = now
    failures = 0
    // Dial again, because the network may recover soon.
    set(1_000, now, jitter)
  }

  /// The network has probably recovered, so a lost peer is dialed soon (LIV-4).
  mutating func otherPeerReturned(now: NIODeadline) {
    guard isLost, !isBarred, !isDialling else { return }
    next = min(next ?? .distantFuture, now)
  }

  mutating func bar(_ reason: Bar) {
    bar = reason
    next = nil
  }

  /// Handles a CLOSE from either side; returns whether the peer is barred and thus out of the session. The code of the
  /// CLOSE determines when to dial again (3.6).
  mutating func closed(_ redial: CloseCode.Redial, by incarnation: SessionIncarnation) -> Bool {
    switch redial {
    case .never: bar(.always)
    case .afterRestart: bar(.untilRestart(of: announced ?? incarnation))
    case .withProof: bar(.untilProof(of: announced ?? incarnation))
    case .later, .notApplicable: return false
    }
    return true
  }

  mutating func postpone(until due: NIODeadline) { next = due }

  mutating func plan(after wait: TimeAmount, now: NIODeadline, jitter: Double) {
    failures = 0
    set(wait.nanoseconds / 1_000_000, now, jitter)
  }

  struct Circumstances {
    var incarnation: SessionIncarnation
    /// Whether a link to the peer broke; if so, the peer is dialed until it is lost.
    var isAwaited = false
    var isKept = false
    /// Whether to dial only at long intervals, because a relay reaches the peer or the peer has no room.
    var isRare = false
    /// Whether only an ordinary member named the peer. Such a peer might not exist (MEM-18).
    var isHearsay = false
  }

  enum Outcome: Equatable {
    case planned
    case barred
    /// The peer never answered, and is forgotten until a member names it again (MEM-6).
    case forgotten
  }

  /// `redial` is `later` if there was no answer.
  mutating func failed(_ redial: CloseCode.Redial, _ circumstances: Circumstances, now: NIODeadline, jitter: Double)
    -> Outcome
  {
    isDialling = false
    if closed(redial, by: circumstances.incarnation) { return .barred }
    let wait = Self.waits[min(failures, Self.waits.count - 1)]
    failures += 1
    if circumstances.isRare {
      planRarely(now: now, jitter: jitter)
    } else if announced != nil || (circumstances.isAwaited && !isLost) {
      // Discovery shows the peer, or its link broke recently (MEM-9, LIV-3).
      set(wait, now, jitter)
    } else if isLost {
      planAfterLoss(now: now, jitter: jitter)
    } else if failures < (circumstances.isHearsay ? Limits.dialsToHearsay : Limits.dialsToOneStranger) {
      set(wait, now, jitter)
    } else if circumstances.isKept {
      planRarely(now: now, jitter: jitter, after: Limits.dialsToOneStranger)
    } else {
      return .forgotten
    }
    return .planned
  }

  private mutating func planAfterLoss(now: NIODeadline, jitter: Double) {
    guard let lostAt, now - lostAt < .hours(1) else {
      next = nil
      return
    }
    planRarely(now: now, jitter: jitter)
  }

  /// Plans the next dial after 15 s. After the first `quick` failures, each failure doubles the delay, up to 5 minutes.
  private mutating func planRarely(now: NIODeadline, jitter: Double, after quick: Int = 0) {
    let exponent = min(max(Int64(failures - quick), 0), 5)
    set(min(15_000 << exponent, 300_000), now, jitter)
  }

  private mutating func set(_ milliseconds: Int64, _ now: NIODeadline, _ jitter: Double) {
    let most = Double(milliseconds) * 0.3
    next = now + .milliseconds(milliseconds + Int64(most * jitter))
  }
}
