import Glibc

/// A time with millisecond precision.
///
/// Its description is RFC 3339 in UTC.
struct LogTime: Equatable, CustomStringConvertible {
  var seconds: Int
  var milliseconds: Int

  /// The current time of the system clock.
  static var now: LogTime {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return LogTime(seconds: time.tv_sec, milliseconds: time.tv_nsec / 1_000_000)
  }

  var description: String {
    var (seconds, parts) = (time_t(seconds), tm())
    gmtime_r(&seconds, &parts)
    let date = "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(parts.tm_mon + 1))-\(padded(parts.tm_mday))"
    let time = "\(padded(parts.tm_hour)):\(padded(parts.tm_min)):\(padded(parts.tm_sec))"
    return "\(date)T\(time).\(padded(milliseconds, 3))Z"
  }

  private func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(width - digits.count, 0)) + digits
  }
}
