/// A timer for a task that sleeps until its next deadline; an earlier deadline wakes the task.
///
/// Confined to the board's actor.
struct WakeTimer {
  private var until: ContinuousClock.Instant?
  private var sleeper: Task<Void, Never>?

  /// Starts the timer, and returns a task that ends when the timer fires.
  mutating func begin(until due: ContinuousClock.Instant) -> Task<Void, Never> {
    // The task ends at the deadline, or when `wake(by:)` cancels it.
    let sleeper = Task.detached { _ = try? await ContinuousClock().sleep(until: due) }
    until = due
    self.sleeper = sleeper
    return sleeper
  }

  /// Cancels the timer.
  mutating func end() {
    until = nil
    sleeper = nil
  }

  /// Fires the timer now if it would fire after the given time.
  func wake(by due: ContinuousClock.Instant) { if let until, due < until { sleeper?.cancel() } }
}
