/// The rate limit for the data that a relay forwards for one member (RLY-14).
///
/// It consists of a bucket of bytes and one of copies.
///
/// This type does no I/O. A message that was read is forwarded even if it exceeds the buckets. The
/// member's link is then not read until the debt is paid, so that TCP slows the member down.
struct RateLimiter: Sendable {
  /// The cost of a message in bytes, in addition to its own bytes.
  static let overhead = 64
  /// The capacity of a bucket, in seconds of its rate.
  private static let burst = 2.0
  /// The level, in seconds of the rate, below which a bucket counts as empty.
  private static let low = 0.1
  /// How long a bucket may be empty.
  static let timeout = Duration.seconds(10)

  private let rate: RelayRate
  private var bytes: Double
  private var copies: Double
  private var filledAt: Duration
  private var emptySince: Duration?

  /// Creates a limiter with full buckets.
  init(_ rate: RelayRate, now: Duration) {
    self.rate = rate
    bytes = Double(rate.bytes) * Self.burst
    copies = Double(rate.copies) * Self.burst
    filledAt = now
  }

  /// How the relay must treat a member after a message.
  enum Verdict: Equatable {
    /// Continue reading it.
    case pass
    /// Read the member's link again only after this time.
    case wait(Duration)
    /// Close the link, because the member was too fast for too long.
    case close
  }

  /// The level of the emptier bucket, in seconds of its rate; debts are negative.
  private var level: Double {
    min(bytes / Double(rate.bytes), copies / Double(rate.copies))
  }

  /// How long it takes until the debt is paid off.
  var debt: Duration { .seconds(max(0, -level)) }

  /// Counts a message of `count` bytes to the given number of members.
  mutating func charge(_ count: Int, copies: Int, now: Duration) -> Verdict {
    spend(count, copies, now)
    guard level < Self.low else {
      emptySince = nil
      return .pass
    }
    let since = emptySince ?? now
    emptySince = since
    if now - since >= Self.timeout { return .close }
    return level < 0 ? .wait(debt) : .pass
  }

  /// Returns whether a datagram of `count` bytes to the given number of members may pass; it costs
  /// as much as a message.
  mutating func allowsDatagram(_ count: Int, copies: Int, now: Duration) -> Bool {
    fill(now)
    guard bytes >= Double(count * copies), self.copies >= Double(copies) else { return false }
    spend(count, copies, now)
    return true
  }

  private mutating func spend(_ count: Int, _ copies: Int, _ now: Duration) {
    fill(now)
    bytes -= Double(count * copies)
    self.copies -= Double(copies)
  }

  private mutating func fill(_ now: Duration) {
    let elapsed = max(.zero, now - filledAt) / .seconds(1)
    filledAt = now
    bytes = min(Double(rate.bytes) * Self.burst, bytes + elapsed * Double(rate.bytes))
    copies = min(Double(rate.copies) * Self.burst, copies + elapsed * Double(rate.copies))
    // After a pause, earlier excess no longer counts.
    if level >= Self.low { emptySince = nil }
  }
}
