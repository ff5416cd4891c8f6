/// Decides by probes whether messages travel as packets or on the link (DGM-9, DGM-10).
///
/// The caller passes the time in milliseconds, which never goes back. It calls ``timePassed(now:)``
/// at `wakeAt`, reports the answers that it opened, and itself answers the other side's probes.
struct DatagramPathState: Sendable {
  /// The time between probes until the first answer, in milliseconds.
  static let firstInterval: UInt64 = 200
  /// The time between probes after that.
  static let interval: UInt64 = 5_000
  /// The number of unanswered probes that ends the first attempt.
  static let firstUnansweredLimit = 5
  /// The number of unanswered probes that ends the use of packets.
  static let unansweredLimit = 2

  /// An action for the caller.
  struct Action: Equatable, Sendable {
    /// The content of a probe to send now.
    var probe: UInt64?
    /// Whether packets are used from now on; set if that changed, or if the first attempt failed.
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

  /// Whether messages travel as packets; otherwise they go on the link.
  var usesPackets: Bool { stage == .passing }

  /// Begins when the link opens.
  ///
  /// The first probe is due at once, through ``timePassed(now:)``.
  ///
  /// - Parameters:
  ///   - firstProbe: Any number; later probes count up from it.
  ///   - now: The time in milliseconds.
  init(firstProbe: UInt64, now: UInt64) {
    lastSent = firstProbe &- 1
    lastAnswered = lastSent
    wakeAt = now
  }

  /// Does the work that is due at ``wakeAt``; does nothing before that time.
  mutating func timePassed(now: UInt64) -> Action {
    guard now >= wakeAt else { return Action() }
    var action = Action()
    switch stage {
    case .opening where unanswered >= Self.firstUnansweredLimit,
      .passing where unanswered >= Self.unansweredLimit:
      stage = .fallenBack
      action.usesPackets = false
    default:
      break
    }
    lastSent &+= 1
    unanswered += 1
    wakeAt = now + (stage == .opening ? Self.firstInterval : Self.interval)
    action.probe = lastSent
    return action
  }

  /// Handles the answer to a probe.
  ///
  /// An answer to any probe since the last answered one counts: on a slow path, it comes after
  /// further probes were sent. Other answers change nothing.
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
