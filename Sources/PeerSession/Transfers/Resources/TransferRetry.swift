/// Decides how long a sender waits before it tries another link, and when it gives up.
struct TransferRetry {
  /// The number of consecutive failures after which the sender gives up.
  static let attemptLimit = 20
  /// The delays after consecutive failures, in milliseconds; the last one repeats.
  static let waits = [200, 500, 1_000, 2_000, 5_000]

  private var failures = 0

  /// Records that no link could be opened, or that a link broke before any byte was sent.
  ///
  /// - Returns: How long to wait before the next attempt; `nil` if the sender must give up.
  mutating func failed() -> Duration? {
    failures += 1
    guard failures < Self.attemptLimit else { return nil }
    return .milliseconds(Self.waits[min(failures, Self.waits.count) - 1])
  }

  /// Records that a link broke after bytes were sent.
  ///
  /// The next attempt follows immediately.
  mutating func progressed() { failures = 0 }
}
