#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

extension Moment {
  /// Returns the current readings of the system's clocks.
  ///
  /// The uptime does not include the time in which the system is suspended. If the wall clock shows a time before 1970,
  /// `wall` is zero.
  public static func now() -> Moment { Moment(wall: read(CLOCK_REALTIME), uptime: read(CLOCK_MONOTONIC)) }

  private static func read(_ clock: clockid_t) -> UInt64 {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0, time.tv_sec >= 0 else { return 0 }
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
  }
}
