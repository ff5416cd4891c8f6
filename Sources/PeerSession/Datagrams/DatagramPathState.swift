/// Decides whether messages travel as packets or on the link, by probes (rules DGM-9 and DGM-10).
///
/// Time is what the caller measures in milliseconds, never going back. The caller wakes it when
/// `wakeAt` says and hands it the answers that opened; it answers the other side's probes itself.
struct DatagramPathState: Sendable {
  /// How often a probe goes until the first is answered, in milliseconds.
  static let firstInterval: UInt64 = 200
  /// How often it goes later.
  static let interval: UInt64 = 5_000
  /// How many unanswered probes end the first attempt.
  static let firstPatience = 5
  /// How many unanswered probes end the use of packets.
  static let patience = 2

  /// An action for the caller.
  struct Action: Equatable, Sendable {
    /// The content of a probe to send now.
    var probe: UInt64?
    /// Whether packets are used from now on, when that changed or when the first attempt failed.
    var usesPackets: Bool?
  }

  private enum Stage: Equatable, Sendable {
    case opening
    case passing
    case fallenBack
  }

  private var stage = Stage.opening
  /// Probes sent since the last answer.
  private var unanswered = 0
  private var lastSent: UInt64
  private var lastAnswered: UInt64
  /// When to call ``timePassed(now:)`` next.
  private(set) var wakeAt: UInt64

  /// Whether messages travel as packets; otherwise they go on the link.
  var usesPackets: Bool { stage == .passing }

  /// Begins when the link opens; the first probe is due at once, by ``timePassed(now:)``.
  ///
  /// - Parameters:
  ///   - firstProbe: Any number; later probes count up from it.
  ///   - now: The time in milliseconds.
  init(firstProbe: UInt64, now: UInt64) {
    lastSent = firstProbe &- 1
    lastAnswered = lastSent
    wakeAt = now
  }

  /// Tells that `wakeAt` came; earlier it does nothing.
  mutating func timePassed(now: UInt64) -> Action {
    guard now >= wakeAt else { return Action() }
    var action = Action()
    switch stage {
    case .opening where unanswered >= Self.firstPatience,
      .passing where unanswered >= Self.patience:
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

  /// Tells that an answer opened.
  ///
  /// An answer to any probe since the last one answered counts: on a slow path it comes after further
  /// probes went out. Others change nothing.
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
