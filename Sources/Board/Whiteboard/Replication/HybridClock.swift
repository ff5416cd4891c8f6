/// A time of the hybrid clock, with milliseconds since 1970 in the upper 48 bits and a counter in the lower 16.
public struct HybridTime: Hashable, Comparable, Sendable {
  /// The milliseconds and the counter as one number, at most `BoardLimits.time`.
  public let rawValue: UInt64

  /// Creates a time from its bits, which must not exceed `BoardLimits.time`.
  @inlinable public init(_ rawValue: UInt64) {
    precondition(rawValue <= BoardLimits.time, "a hybrid time has at most 63 bits")
    self.rawValue = rawValue
  }

  /// The milliseconds since 1970.
  @inlinable public var milliseconds: UInt64 { rawValue >> 16 }

  /// The counter that distinguishes times within one millisecond; at most 65,535.
  @inlinable public var counter: UInt64 { rawValue & 0xFFFF }

  /// Whether a batch of the maximum length can still get times after this time.
  var canBeFollowed: Bool { rawValue < BoardLimits.time - UInt64(BoardLimits.operationsPerBatch) }

  /// Compares two times by milliseconds, then by counter.
  public static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The key by which two writes of one cell are compared: first by time, then by author (BRD-5).
public struct Stamp: Hashable, Comparable, Sendable {
  /// The time of the write, by its author's hybrid clock.
  public let time: HybridTime
  /// The incarnation that wrote the cell.
  public let incarnation: Incarnation

  /// Creates a stamp from its two parts.
  public init(time: HybridTime, incarnation: Incarnation) {
    self.time = time
    self.incarnation = incarnation
  }

  /// Compares two stamps by time, then by incarnation.
  public static func < (lhs: Stamp, rhs: Stamp) -> Bool {
    lhs.time == rhs.time ? lhs.incarnation < rhs.incarnation : lhs.time < rhs.time
  }
}

/// The hybrid logical clock that assigns times to local writes.
///
/// The caller passes in the wall-clock time. The clock stays within `BoardLimits.drift` of the wall clock, even if it
/// observes remote times that are further ahead (BRD-7). If a write must follow such a remote time, it gets a separate
/// time that does not advance the clock (BRD-32).
public struct HybridClock: Sendable {
  /// A sequence of operations that are sent as one batch.
  public struct Run: Hashable, Sendable {
    /// The number of operations in the batch.
    public let count: Int
    /// The time of the first operation; the time of each further operation is one greater.
    public let time: HybridTime
  }

  private var last: UInt64 = 0

  /// Creates a clock that has seen no times yet.
  public init() {}

  /// Assigns times to operations that are written together.
  ///
  /// Operations whose floors are near the wall clock get consecutive times, even if there are other operations between
  /// them. An operation whose floor is ahead of the wall clock by more than `BoardLimits.drift` gets a time just above
  /// its floor, and therefore a separate batch.
  /// - Parameters:
  ///   - wall: The wall clock, in milliseconds since 1970.
  ///   - floors: For each operation, the time that its time must exceed, such as the time of the cell it overwrites
  ///     (BRD-6); nil if any time is allowed.
  /// - Returns: The batches to send, in order; nil if no legal time is left.
  public mutating func next(wall: UInt64, after floors: [HybridTime?]) -> [Run]? {
    let limit = Self.limit(wall)
    // If the wall clock was set back, do not continue from the later times that the clock showed before.
    if last > limit { last = 0 }
    var base = max(last + 1, Self.time(wall))
    for case let floor? in floors where floor.rawValue < limit { base = max(base, floor.rawValue + 1) }
    var runs: [Run] = []
    var first = floors.startIndex
    while first < floors.endIndex {
      let end: Int
      let time: UInt64
      if Self.isFar(floors[first], limit) {
        (end, time) = Self.farRun(floors[first...], limit)
      } else {
        end = floors[first...].firstIndex { Self.isFar($0, limit) } ?? floors.endIndex
        time = base + UInt64(first)
        last = time + UInt64(end - first) - 1
      }
      guard time + UInt64(end - first) - 1 <= BoardLimits.time else { return nil }
      runs.append(Run(count: end - first, time: HybridTime(time)))
      first = end
    }
    return runs
  }

  /// Advances the clock to a remote time, unless the time is too far ahead of `wall` (BRD-7).
  public mutating func observe(_ time: HybridTime, wall: UInt64) {
    if time.rawValue <= Self.limit(wall) { last = max(last, time.rawValue) }
  }

  /// Returns the end index of the leading operations that can share a batch, and the time of that batch. All floors of
  /// the batch are within `BoardLimits.drift` of each other. Therefore the time is at most `BoardLimits.drift` later
  /// than any of the operations requires.
  private static func farRun(_ floors: ArraySlice<HybridTime?>, _ limit: UInt64) -> (end: Int, time: UInt64) {
    var (least, greatest) = (UInt64.max, UInt64(0))
    var end = floors.startIndex
    let last = min(floors.endIndex, floors.startIndex + BoardLimits.operationsPerBatch)
    while end < last, let floor = floors[end], isFar(floor, limit) {
      let (low, high) = (min(least, floor.rawValue), max(greatest, floor.rawValue))
      guard high - low <= BoardLimits.drift << 16 else { break }
      (least, greatest) = (low, high)
      end += 1
    }
    return (end, greatest + 1)
  }

  private static func isFar(_ floor: HybridTime?, _ limit: UInt64) -> Bool {
    floor.map { $0.rawValue >= limit } ?? false
  }

  /// Returns the latest time that is considered plausible when the wall clock shows `wall`.
  private static func limit(_ wall: UInt64) -> UInt64 {
    // Prevent an overflow, because the wall clock may have any value.
    let (sum, isTooMuch) = wall.addingReportingOverflow(BoardLimits.drift)
    return time(isTooMuch ? .max : sum)
  }

  /// The result is limited, so that the times of a whole gesture can follow.
  private static func time(_ milliseconds: UInt64) -> UInt64 {
    let room = UInt64(BoardLimits.operationsPerGesture >> 16) + 1
    return min(milliseconds, (BoardLimits.time >> 16) - room) << 16
  }
}
