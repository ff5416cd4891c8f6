/// When each point of a stroke that is drawn over a time is due.
struct StrokePace: Sendable {
  /// How many points there are.
  let count: Int
  /// Over how many seconds they are drawn; the last one is due at the end.
  let seconds: Double

  /// How long a frame is.
  static let frame = Duration.milliseconds(16)

  /// Returns the number of points that are due after a time: the first one at once, the last one at
  /// the end.
  func due(after elapsed: Duration) -> Int {
    guard count > 1, seconds > 0 else { return count }
    let share = min(max(elapsed / .seconds(1) / seconds, 0), 1)
    return share >= 1 ? count : 1 + Int(Double(count - 1) * share)
  }
}
