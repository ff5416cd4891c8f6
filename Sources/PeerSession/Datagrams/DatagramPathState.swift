/// Uses probes to decide whether messages are sent as UDP packets or on the control link (DGM-9, DGM-10).
///
/// The caller passes the time in milliseconds, which must never decrease. The caller also calls ``timePassed(now:)`` at
/// `wakeAt`, reports received answers, and answers the other side's probes.
struct DatagramPathState: Sendable {
  /// The time between probes until the first answer, in milliseconds.
  static let firstInterval: UInt64 = 200
  /// The time between probes after the first answer, in milliseconds.
  static let interval: UInt64 = 5_000
  /// The number of unanswered probes after which the first attempt ends.
  static let firstUnansweredLimit = 5
  /// The number of unanswered probes after which packets are no longer used.
  static let unansweredLimit = 2

  struct Action: Equatable, Sendable {
    /// The content of a probe to send now.
    var probe: UInt64?
    /// Whether to use packets from now on; `nil` if there is nothing to report.
    ///
    /// The value is set if the choice changed or the first attempt failed.
    var usesPackets: Bool?
  }

  private enum Stage: Equatable, Sendable {
    case opening
    case passing
    case fallenBack
  }

  private var stage = Stage.opening
  /// The number of probes sent since the last answer.
  private var unanswered = 0
  private var lastSent: UInt64
  private var lastAnswered: UInt64
  /// When to call ``timePassed(now:)`` next.
  private(set) var wakeAt: UInt64

  /// Whether messages are sent as packets; otherwise they are sent on the link.
  var usesPackets: Bool { stage == .passing }

  /// Creates the state of a link that has just opened.
  ///
  /// The first probe is due immediately; ``timePassed(now:)`` returns it.
  init(firstProbe: UInt64, now: UInt64) {
    lastSent = firstProbe &- 1
    lastAnswered = lastSent
    wakeAt = now
  }

  mutating func timePassed(now: UInt64) -> Action {
    guard now >= wakeAt else { return Action() }
    var action = Action()
    switch stage {
    case .opening where unanswered >= Self.firstUnansweredLimit, .passing where unanswered >= Self.unansweredLimit:
      stage = .fallenBack
      action.usesPackets = false
    default: break
    }
    lastSent &+= 1
    unanswered += 1
    wakeAt = now + (stage == .opening ? Self.firstInterval : Self.interval)
    action.probe = lastSent
    return action
  }

  /// An answer is accepted if its probe was sent after the last answered probe, even if newer probes were sent since.
  ///
  /// Answers can arrive late on a slow path. All other answers are ignored.
  mutating func answered(_ probe: UInt64, now: UInt64) -> Action {
    let ahead = probe &- lastAnswered
    guard ahead >= 1, ahead <= lastSent &- lastAnswered else { return Action() }
    lastAnswered = probe
    unanswered = 0
    guard stage != .passing else { return Action() }
    stage = .passing
    wakeAt = now + Self.interval
    return Action(usesPackets: true)
  }
}
