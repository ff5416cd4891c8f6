/// The schedule of a stroke that is drawn over a period.
struct StrokePace: Sendable {
  /// The number of points in the stroke.
  let count: Int
  /// The duration of the stroke, in seconds; the last point is due at its end.
  let seconds: Double

  /// The interval between two updates of the stroke.
  static let frame = Duration.milliseconds(16)

  /// Returns the number of points that are due after a time; the first point is due immediately, the last one at the
  /// end.
  func due(after elapsed: Duration) -> Int {
    guard count > 1, seconds > 0 else { return count }
    let share = min(max(elapsed / .seconds(1) / seconds, 0), 1)
    return share >= 1 ? count : 1 + Int(Double(count - 1) * share)
  }
}
