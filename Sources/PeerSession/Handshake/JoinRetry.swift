import PeerWire

/// Decides when a joining peer dials the listener again (3.6, LIV-3).
///
/// This type does no I/O and has no clock or random source. ``DialPlan`` makes the same decision for members.
package struct JoinRetry: Sendable {
  static let lockedOutLimit = Duration.seconds(75)

  private let limit: Duration
  private let start: Duration
  private var failures = 0

  /// If `limit` is zero, the peer dials only once.
  package init(limit: Duration, start: Duration) {
    self.limit = limit
    self.start = start
  }

  /// Returns the delay before the next dial after a failed one; `nil` if the peer must not dial again.
  package mutating func wait(after error: SessionError, now: Duration, jitter: Double) -> Duration? {
    guard limit > .zero, Self.isTemporary(error) else { return nil }
    let end = start + (error.code == .lockedOut ? max(limit, Self.lockedOutLimit) : limit)
    let milliseconds = DialPlan.waits[min(failures, DialPlan.waits.count - 1)]
    failures += 1
    let wait = Duration.milliseconds(milliseconds) * (1 + 0.3 * jitter)
    return now + wait < end ? wait : nil
  }

  /// Returns whether the cause of the failure may resolve itself while a user waits.
  ///
  /// `full` and `no-such-session` may resolve themselves too, but the user must see these errors.
  static func isTemporary(_ error: SessionError) -> Bool {
    switch error.redial {
    case .later: [.busy, .lockedOut, .timedOut, .internalError].contains(error.code)
    // One of two simultaneous links was closed.
    case .notApplicable: true
    case .afterRestart, .withProof, .never, nil: false
    }
  }
}
