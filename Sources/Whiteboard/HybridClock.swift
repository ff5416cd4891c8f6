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
public struct HybridClock: Sendable {
  private var last: UInt64 = 0

  /// A clock that has seen nothing.
  public init() {}

  /// The time of the first of `count` operations written together now.
  ///
  /// It is later than every time this clock gave, not before `wall` (milliseconds), and later than
  /// `overwritten`, so that an edit beats what its author saw even beside a clock that runs years
  /// ahead (the cell bump, BRD-6). Such a bump does not drag later, unrelated writes ahead with it
  /// by more than the drift cap. Nil where no legal time is left.
  public mutating func next(
    wall: UInt64,
    after overwritten: HybridTime?,
    count: Int
  ) -> HybridTime? {
    let span = UInt64(max(count, 1)) - 1
    let own = max(last + 1, Self.time(wall))
    let first = max(own, overwritten.map { $0.rawValue + 1 } ?? 0)
    guard first <= BoardLimits.time - span else { return nil }
    last = max(own, min(first + span, Self.time(wall + BoardLimits.drift)))
    return HybridTime(first)
  }

  /// Takes note of a remote time, at most `BoardLimits.drift` ahead of `wall` (BRD-7).
  public mutating func observe(_ time: HybridTime, wall: UInt64) {
    last = max(last, min(time.rawValue, Self.time(wall + BoardLimits.drift)))
  }

  private static func time(_ milliseconds: UInt64) -> UInt64 {
    min(milliseconds, (BoardLimits.time >> 16) - 1) << 16
  }
}
