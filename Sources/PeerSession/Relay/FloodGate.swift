/// How much one member may have a relay pass on: a bucket of bytes and one of messages (RLY-14).
///
/// A value without I/O. What was read is passed on, also beyond what the buckets hold; the member is
/// then not read until the debt is paid, so that TCP slows it down.
struct FloodGate: Sendable {
  /// How many seconds' worth a bucket holds.
  private static let burst = 2.0
  /// Below how many seconds' worth a bucket counts as empty.
  private static let low = 0.1
  /// How long a bucket may be empty.
  static let patience = Duration.seconds(10)

  private let bytesPerSecond: Double
  private let messagesPerSecond: Double
  private var bytes: Double
  private var messages: Double
  private var filledAt: Duration
  private var emptySince: Duration?

  /// Begins with full buckets.
  init(bytesPerSecond: Int, messagesPerSecond: Int, now: Duration) {
    self.bytesPerSecond = Double(max(1, bytesPerSecond))
    self.messagesPerSecond = Double(max(1, messagesPerSecond))
    bytes = self.bytesPerSecond * Self.burst
    messages = self.messagesPerSecond * Self.burst
    filledAt = now
  }

  /// What to do about a member.
  enum Verdict: Equatable {
    /// Go on reading it.
    case pass
    /// Read it again only after this time.
    case wait(Duration)
    /// Close it: it has been too fast for too long.
    case close
  }

  /// Counts a message of `count` bytes.
  mutating func take(_ count: Int, now: Duration) -> Verdict {
    fill(now)
    bytes -= Double(count)
    messages -= 1
    let level = min(bytes / bytesPerSecond, messages / messagesPerSecond)
    guard level < Self.low else {
      emptySince = nil
      return .pass
    }
    let since = emptySince ?? now
    emptySince = since
    if now - since >= Self.patience { return .close }
    return level < 0 ? .wait(.seconds(-level)) : .pass
  }

  /// Whether a datagram of `count` bytes may pass, which costs as much as a message.
  mutating func takeDatagram(_ count: Int, now: Duration) -> Bool {
    fill(now)
    guard bytes >= Double(count), messages >= 1 else { return false }
    bytes -= Double(count)
    messages -= 1
    return true
  }

  private mutating func fill(_ now: Duration) {
    let elapsed = max(.zero, now - filledAt) / .seconds(1)
    filledAt = now
    bytes = min(bytesPerSecond * Self.burst, bytes + elapsed * bytesPerSecond)
    messages = min(messagesPerSecond * Self.burst, messages + elapsed * messagesPerSecond)
    // What it was too fast with before it paused does not count once it has paused.
    if min(bytes / bytesPerSecond, messages / messagesPerSecond) >= Self.low { emptySince = nil }
  }
}
