/// How much one member may have a relay pass on: a bucket of bytes and one of copies (RLY-14).
///
/// A value without I/O. What was read is passed on, also beyond what the buckets hold; the member is
/// then not read until the debt is paid, so that TCP slows it down.
struct RateLimiter: Sendable {
  /// The cost of a message in addition to its bytes.
  static let overhead = 64
  /// How many seconds' worth a bucket holds.
  private static let burst = 2.0
  /// Below how many seconds' worth a bucket counts as empty.
  private static let low = 0.1
  /// How long a bucket may be empty.
  static let patience = Duration.seconds(10)

  private let rate: RelayRate
  private var bytes: Double
  private var copies: Double
  private var filledAt: Duration
  private var emptySince: Duration?

  /// Begins with full buckets.
  init(_ rate: RelayRate, now: Duration) {
    self.rate = rate
    bytes = Double(rate.bytes) * Self.burst
    copies = Double(rate.copies) * Self.burst
    filledAt = now
  }

  /// The decision about a member.
  enum Verdict: Equatable {
    /// Go on reading it.
    case pass
    /// Read it again only after this time.
    case wait(Duration)
    /// Close it: it has been too fast for too long.
    case close
  }

  /// How many seconds' worth the emptier of the buckets holds; what is owed is less than nothing.
  private var level: Double {
    min(bytes / Double(rate.bytes), copies / Double(rate.copies))
  }

  /// How long it takes until nothing is owed.
  var debt: Duration { .seconds(max(0, -level)) }

  /// Counts a message of `count` bytes to so many members.
  mutating func take(_ count: Int, copies: Int, now: Duration) -> Verdict {
    spend(count, copies, now)
    guard level < Self.low else {
      emptySince = nil
      return .pass
    }
    let since = emptySince ?? now
    emptySince = since
    if now - since >= Self.patience { return .close }
    return level < 0 ? .wait(debt) : .pass
  }

  /// Whether a datagram of `count` bytes to so many members may pass, which costs as much as a message.
  mutating func takeDatagram(_ count: Int, copies: Int, now: Duration) -> Bool {
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
    // What it was too fast with before it paused does not count once it has paused.
    if level >= Self.low { emptySince = nil }
  }
}
