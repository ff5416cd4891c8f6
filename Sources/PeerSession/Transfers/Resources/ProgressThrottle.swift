/// Limits the progress reports of a transfer to one every 100 ms, but always reports the last byte.
struct ProgressThrottle {
  /// The minimum time between two reports.
  static let interval = Duration.milliseconds(100)

  private var last: Duration?
  private var reported: Int?

  /// Returns whether to report `bytes` now.
  ///
  /// If so, `bytes` is recorded as reported.
  mutating func reports(_ bytes: Int, now: Duration) -> Bool {
    if let last, now - last < Self.interval { return false }
    last = now
    reported = bytes
    return true
  }

  /// Returns whether to report that all bytes arrived; `false` if the last report already included all bytes.
  mutating func reportsEnd(_ total: Int) -> Bool {
    defer { reported = total }
    return reported != total
  }
}
