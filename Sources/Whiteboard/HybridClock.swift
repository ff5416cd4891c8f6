/// A hybrid time: milliseconds since 1970 in the upper 48 bits, a counter in the lower 16.
public struct HybridTime: Hashable, Comparable, Sendable {
  /// Both parts as one number, at most `BoardLimits.time`.
  public let rawValue: UInt64

  /// A time of known bits; beyond the limit is a broken invariant.
  @inlinable public init(_ rawValue: UInt64) {
    precondition(rawValue <= BoardLimits.time, "a hybrid time has 63 bits")
    self.rawValue = rawValue
  }

  /// The milliseconds since 1970.
  @inlinable public var milliseconds: UInt64 { rawValue >> 16 }

  /// What tells times of one millisecond apart, at most 65,535.
  @inlinable public var counter: UInt64 { rawValue & 0xFFFF }

  /// Whether a batch of any length can be later than this.
  var canBeFollowed: Bool {
    rawValue < BoardLimits.time - UInt64(BoardLimits.operationsPerBatch)
  }

  /// Orders by milliseconds, then by counter.
  public static func < (lhs: HybridTime, rhs: HybridTime) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// What decides between two writes of one cell: the time, then the author (BRD-5).
public struct Stamp: Hashable, Comparable, Sendable {
  /// When the write was made, by its author's hybrid clock.
  public let time: HybridTime
  /// Who made it.
  public let incarnation: Incarnation

  /// A stamp of its two parts.
  public init(time: HybridTime, incarnation: Incarnation) {
    self.time = time
    self.incarnation = incarnation
  }

  /// Orders by time, then by incarnation.
  public static func < (lhs: Stamp, rhs: Stamp) -> Bool {
    lhs.time == rhs.time ? lhs.incarnation < rhs.incarnation : lhs.time < rhs.time
  }
}

/// The clock that gives local writes their times; wall time comes in from outside.
///
/// It stays within `BoardLimits.drift` of the wall clock, whatever it hears (BRD-7). A write that
/// must be later than a time beyond that gets a time of its own, which advances nothing else
/// (BRD-32).
public struct HybridClock: Sendable {
  /// Operations that follow on each other and go out as one batch.
  public struct Run: Hashable, Sendable {
    /// The number of operations.
    public let count: Int
    /// The time of the first of them; each further one is one later.
    public let time: HybridTime
  }

  private var last: UInt64 = 0

  /// A clock that has seen nothing.
  public init() {}

  /// Gives times to operations that are written together.
  ///
  /// Operations whose floors lie near the wall clock share one time. If others come between them,
  /// their times count on as if they were one batch. An operation whose floor lies further ahead
  /// than `BoardLimits.drift` gets a time just above its floor, and so its own batch.
  /// - Parameters:
  ///   - wall: The wall clock, in milliseconds since 1970.
  ///   - floors: For each operation the time that it must be later than, such as that of the cell
  ///     it overwrites (BRD-6); nil if there is none.
  /// - Returns: The batches in which the operations go out, in their order; nil if no legal time is
  ///   left.
  public mutating func next(wall: UInt64, after floors: [HybridTime?]) -> [Run]? {
    let limit = Self.limit(wall)
    // The wall clock was ahead and was set back: what it said then is no reason to stay ahead.
    if last > limit { last = 0 }
    var base = max(last + 1, Self.time(wall))
    for case let floor? in floors where floor.rawValue < limit {
      base = max(base, floor.rawValue + 1)
    }
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

  /// Takes note of a remote time, unless it lies further ahead of `wall` than the limit (BRD-7).
  public mutating func observe(_ time: HybridTime, wall: UInt64) {
    if time.rawValue <= Self.limit(wall) { last = max(last, time.rawValue) }
  }

  /// Takes as many operations together as have floors within the limit of each other, so that none
  /// is driven further ahead than that.
  private static func farRun(
    _ floors: ArraySlice<HybridTime?>,
    _ limit: UInt64
  ) -> (end: Int, time: UInt64) {
    var (least, greatest) = (UInt64.max, UInt64(0))
    var end = floors.startIndex
    while end < floors.endIndex, let floor = floors[end], isFar(floor, limit) {
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

  /// The latest time that is taken for a right one.
  private static func limit(_ wall: UInt64) -> UInt64 {
    // The wall clock may say anything.
    let (sum, isTooMuch) = wall.addingReportingOverflow(BoardLimits.drift)
    return time(isTooMuch ? .max : sum)
  }

  private static func time(_ milliseconds: UInt64) -> UInt64 {
    min(milliseconds, (BoardLimits.time >> 16) - 1) << 16
  }
}
