/// The sleep of a task that does what is due, which whoever makes something due earlier cuts short.
///
/// Confined to the node's isolation.
struct WakeTimer {
  private var until: ContinuousClock.Instant?
  private var sleeper: Task<Void, Never>?

  /// Begins; the task that is to sleep waits for what this gives.
  mutating func begin(until due: ContinuousClock.Instant) -> Task<Void, Never> {
    // Ends when it is due or cut short; the task that is to sleep waits for it.
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

  /// Wakes the task by the given time, or at once if that has passed.
  func wake(by due: ContinuousClock.Instant) {
    if let until, due < until { sleeper?.cancel() }
  }
}
