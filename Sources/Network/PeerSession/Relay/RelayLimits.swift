import PeerCore

/// The limits on the data that a relay forwards and queues for each of its members.
public struct RelayLimits: Sendable, Equatable {
  /// The maximum number of bytes from other members that may be queued for a member, in addition to its outbox.
  ///
  /// A single message of any size may be queued. If the limit is exceeded, the member's routes end with `overrun`
  /// (RLY-12).
  public var queuedBytes = 8 << 20
  /// The rate at which the relay forwards data for one member.
  public var rate = RelayRate()
  /// How long a member may leave messages unacknowledged before the relay disconnects it (RLY-12).
  public var patience: Duration = .seconds(30)

  /// Creates limits with the defaults of `Protocol/session.md`.
  public init() {}
}

/// The amount of data that a relay forwards per second for one member.
///
/// A burst may be twice as large (RLY-14).
public struct RelayRate: Sendable, Equatable {
  /// The number of copies; a message has one copy for each recipient.
  public var copies = 5_000
  /// The total number of bytes in all copies.
  public var bytes = 64 << 20

  /// Creates a rate with the defaults of `Protocol/session.md`.
  public init() {}

  /// Creates a rate of at least one copy and one byte.
  public init(copies: Int, bytes: Int) {
    self.copies = max(1, copies)
    self.bytes = max(1, bytes)
  }
}

extension RelayRate: ControlObject {
  mutating func list(_ fields: inout ControlFields) throws(ControlMessageError) {
    try fields.required("copies", &copies, .integer(in: 1...maximumControlInteger))
    try fields.required("bytes", &bytes, .integer(in: 1...maximumControlInteger))
  }
}

/// The amount that a relay has forwarded in a session so far.
public struct RelayTally: Sendable, Equatable {
  /// The number of copies; a message has one copy for each recipient.
  public var copies = 0
  /// The total number of bytes in all copies.
  public var bytes = 0
  /// The number of times a member's routes ended because too many bytes were queued for the member (RLY-12).
  public var overruns = 0

  /// Creates a tally with all counters at zero.
  public init() {}
}

/// Limits how fast a member sends to its relay, so that the member never exceeds the relay's rate (RLY-14). A lock
/// protects a ``RateLimiter`` whose rate is a tenth lower than the relay's.
final class RelayPace: Sendable {
  private let gate: Locked<RateLimiter>

  init(_ rate: RelayRate, now: Duration) {
    gate = Locked(RateLimiter(RelayRate(copies: rate.copies / 10 * 9, bytes: rate.bytes / 10 * 9), now: now))
  }

  func charge(_ count: Int, copies: Int, now: Duration) -> Duration {
    gate.withLock { gate in
      _ = gate.charge(count, copies: copies, now: now)
      return gate.debt
    }
  }
}

/// Limits the rate at which a relay forwards one member's data (RLY-14). The limiter consists of two token buckets: one
/// for bytes, one for copies. This type does no I/O. A message that was read is forwarded even if it overdraws a
/// bucket. The relay then stops reading the member's link until the bucket is refilled, so that TCP slows the member
/// down.
struct RateLimiter: Sendable {
  /// The fixed cost of each message, in bytes, in addition to its length.
  static let overhead = 64
  /// The capacity of a bucket, in seconds of refill at its rate.
  private static let burst = 2.0
  /// The level below which a bucket is treated as empty, in seconds of refill at its rate.
  private static let low = 0.1
  static let timeout = Duration.seconds(10)

  private let rate: RelayRate
  private var bytes: Double
  private var copies: Double
  private var filledAt: Duration
  private var emptySince: Duration?

  init(_ rate: RelayRate, now: Duration) {
    self.rate = rate
    bytes = Double(rate.bytes) * Self.burst
    copies = Double(rate.copies) * Self.burst
    filledAt = now
  }

  enum Verdict: Equatable {
    case pass
    case wait(Duration)
    /// Close the link, because the member exceeded the rate for too long.
    case close
  }

  /// The level of the emptier bucket, in seconds of refill at its rate; negative if the bucket is overdrawn.
  private var level: Double { min(bytes / Double(rate.bytes), copies / Double(rate.copies)) }

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

  /// Returns whether a datagram to the given number of members may pass; if so, the datagram costs as much as a
  /// message.
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
    if level >= Self.low { emptySince = nil }
  }
}
