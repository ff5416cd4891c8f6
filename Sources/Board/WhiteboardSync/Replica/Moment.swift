/// The readings of the wall clock and of a monotonic clock at one moment, both in milliseconds.
///
/// Inputs of a ``Replica`` take the moment at which they happen. A replica reads no clock itself.
public struct Moment: Hashable, Sendable {
  /// The milliseconds since 1970 by the wall clock, which may jump.
  public let wall: UInt64
  /// The milliseconds of a monotonic clock.
  public let uptime: UInt64

  /// Creates a moment from both readings, in milliseconds.
  public init(wall: UInt64, uptime: UInt64) {
    self.wall = wall
    self.uptime = uptime
  }
}
