import Whiteboard
import WhiteboardSync

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

enum SystemTime {
  /// The processor time that the current thread has used, in seconds.
  static var processorTime: Double {
    var time = timespec()
    guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The current time in milliseconds since 1970; zero if the clock shows an earlier time.
  static var milliseconds: UInt64 { Moment.now().wall }

  /// Returns the end of a timeout that begins now, in RFC 3339 format.
  static func deadlineText(_ timeout: Duration) -> String {
    Timestamp.text(milliseconds: milliseconds + UInt64(max(timeout / .milliseconds(1), 0)))
  }
}
