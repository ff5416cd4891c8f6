import NIOCore
import PeerWire

/// Decides when one peer of a session is dialled (LIV-3, LIV-4, MEM-6, MEM-9).
///
/// A value without I/O, clock or randomness: the caller passes the time, and how much of the jitter
/// to add (0 for none, 1 for all of it).
struct DialPlan: Sendable, Equatable {
  /// Why a peer is not dialled at all.
  enum Bar: Sendable, Equatable {
    /// It left, or refused for a reason that a new process may not have: until it starts again.
    case untilRestart(of: SessionIncarnation)
    /// It did not accept the proof of membership, or gave none: until either side has a better one,
    /// or it starts again.
    case untilProof(of: SessionIncarnation)
    /// A person declined, or the host removed one of the two.
    case always
  }

  /// Whether a dial is under way.
  private(set) var isDialling = false
  /// When the peer is dialled next; `nil` if no dial is planned.
  private(set) var next: NIODeadline?
  /// How many dials failed since the peer was last reached.
  private(set) var failures = 0
  /// Why the peer is not dialled.
  private(set) var bar: Bar?
  /// When the peer was given up after a broken link.
  private(set) var lostAt: NIODeadline?
  /// The process of the peer that discovery shows now.
  private(set) var announced: SessionIncarnation?

  /// Whether the peer must not be dialled.
  var isBarred: Bool { bar != nil }
  /// Whether the peer was given up after a broken link, and is not back.
  var isLost: Bool { lostAt != nil }

  /// The waits after failed dials, in milliseconds; the last one repeats (LIV-3).
  private static let waits: [Int64] = [200, 500, 1_000, 2_000, 5_000]

  // MARK: News of the peer

  /// A member names the peer, as this process.
  mutating func heard(of incarnation: SessionIncarnation, dialAt due: NIODeadline) {
    lift(incarnation)
    guard !isBarred, next == nil || isLost else { return }
    next = due
  }

  /// Discovery shows the peer, as this process.
  ///
  /// - Parameters:
  ///   - incarnation: The process.
  ///   - isMoved: Whether it is at another address than before.
  ///   - hasLink: Whether there is a link with it.
  ///   - now: The time.
  mutating func found(
    _ incarnation: SessionIncarnation,
    isMoved: Bool,
    hasLink: Bool,
    now: NIODeadline
  ) {
    let isNews = announced != incarnation || isMoved
    announced = incarnation
    guard !hasLink else { return }
    lift(incarnation)
    guard isNews, !isBarred, !isDialling else { return }
    failures = 0
    next = now
  }

  /// Discovery does not show the peer any more, which proves nothing (LIV-5).
  mutating func vanished() { announced = nil }

  /// Either side may now prove what it could not prove before.
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

  // MARK: What becomes of links and dials

  /// A dial begins.
  mutating func began() {
    isDialling = true
    next = nil
  }

  /// A dial is over, whatever came of it.
  mutating func ended() { isDialling = false }

  /// The peer has a link, whichever side dialled.
  mutating func linkOpened() {
    next = nil
    failures = 0
    bar = nil
    lostAt = nil
  }

  /// The peer is reached through a relay, and dialled rarely from now on (RLY-6).
  mutating func relayed(now: NIODeadline, jitter: Double) {
    lostAt = nil
    failures = 0
    planRarely(now: now, jitter: jitter)
  }

  /// The link broke; the side that had dialled it dials first (LIV-3).
  mutating func linkBroke(dialledLast: Bool, now: NIODeadline) {
    failures = 0
    next = now + (dialledLast ? .zero : .seconds(1))
  }

  /// The peer was given up (LIV-4).
  mutating func lost(now: NIODeadline, jitter: Double) {
    lostAt = now
    failures = 0
    // The network may heal at this very moment.
    set(1_000, now, jitter)
  }

  /// Another peer came back: the network may have healed (LIV-4).
  mutating func mayBeBack(now: NIODeadline) {
    guard isLost, !isBarred, !isDialling else { return }
    next = min(next ?? .distantFuture, now)
  }

  /// The peer must not be dialled.
  mutating func bar(_ reason: Bar) {
    bar = reason
    next = nil
  }

  /// Either side closed, with a code that says when to dial again (3.6).
  ///
  /// - Parameters:
  ///   - redial: What the code says.
  ///   - incarnation: The process of the peer that the code is from, or about.
  /// - Returns: Whether the peer is barred, so that it is out of the session.
  mutating func closed(_ redial: CloseCode.Redial, by incarnation: SessionIncarnation) -> Bool {
    switch redial {
    case .never: bar(.always)
    case .afterRestart: bar(.untilRestart(of: announced ?? incarnation))
    case .withProof: bar(.untilProof(of: announced ?? incarnation))
    case .later, .notApplicable: return false
    }
    return true
  }

  /// Plans a first dial after the given wait.
  mutating func plan(after wait: TimeAmount, now: NIODeadline, jitter: Double) {
    failures = 0
    set(wait.nanoseconds / 1_000_000, now, jitter)
  }

  /// What a session knows of a peer whose dial failed.
  struct Circumstances {
    /// The process that the peer was when it was last heard of.
    var incarnation: SessionIncarnation
    /// Whether the peer is dialled until it is lost: a link to it broke.
    var isAwaited = false
    /// Whether it belongs to the session for certain, or a relay may reach it.
    var isKept = false
    /// Whether the next dial is not urgent: a relay carries us to the peer, or it has no room.
    var isRare = false
  }

  /// What becomes of a peer after a failed dial.
  enum Outcome: Equatable {
    /// It is dialled again.
    case planned
    /// It is not dialled until something changes.
    case barred
    /// It was only heard of and never answered: it is forgotten until it is heard of again (MEM-6).
    case forgotten
  }

  /// A dial failed.
  ///
  /// - Parameters:
  ///   - redial: What the peer's answer says about the next dial; `later` if it gave none.
  ///   - circumstances: What the session knows of the peer.
  ///   - now: The time.
  ///   - jitter: How much jitter to add.
  /// - Returns: What becomes of the peer.
  mutating func failed(
    _ redial: CloseCode.Redial,
    _ circumstances: Circumstances,
    now: NIODeadline,
    jitter: Double
  ) -> Outcome {
    isDialling = false
    if closed(redial, by: circumstances.incarnation) { return .barred }
    let wait = Self.waits[min(failures, Self.waits.count - 1)]
    failures += 1
    if circumstances.isRare {
      planRarely(now: now, jitter: jitter)
    } else if announced != nil || (circumstances.isAwaited && !isLost) {
      // It is there, or may be back any moment (MEM-9, LIV-3).
      set(wait, now, jitter)
    } else if isLost {
      planAfterLoss(now: now, jitter: jitter)
    } else if failures < Limits.dialsToOneStranger {
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

  /// Plans an attempt after 15 s, doubling up to 5 minutes; `quick` attempts were not of this kind.
  private mutating func planRarely(now: NIODeadline, jitter: Double, after quick: Int = 0) {
    let exponent = min(max(Int64(failures - quick), 0), 5)
    set(min(15_000 << exponent, 300_000), now, jitter)
  }

  private mutating func set(_ milliseconds: Int64, _ now: NIODeadline, _ jitter: Double) {
    let most = Double(milliseconds) * 0.3
    next = now + .milliseconds(milliseconds + Int64(most * jitter))
  }
}
