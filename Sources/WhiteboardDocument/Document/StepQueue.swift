/// The steps that wait for the next transaction of a document, by caller.
///
/// The owner runs a loop that stores the steps group by group. The loop starts when the first steps arrive, and ends
/// when none are left.
struct StepQueue: Sendable {
  /// A caller that waits until its steps are stored.
  struct Caller: Sendable {
    let steps: [LogWriter.Step]
    /// A continuation that is resumed with nil when the steps are stored, or with the error.
    let done: CheckedContinuation<DocumentError?, Never>
  }

  private var callers: [Caller] = []
  private var isRunning = false

  /// Whether a caller without steps is waiting.
  ///
  /// Such a caller only waits for the steps before it.
  var hasBarrier: Bool { callers.contains(where: \.steps.isEmpty) }

  /// Adds a caller.
  /// - Returns: Whether the owner must start its loop.
  mutating func add(_ caller: Caller) -> Bool {
    callers.append(caller)
    defer { isRunning = true }
    return !isRunning
  }

  /// Removes and returns the waiting callers.
  ///
  /// Returns nil if there are none, and the loop must end.
  mutating func next() -> [Caller]? {
    guard !callers.isEmpty else {
      isRunning = false
      return nil
    }
    defer { callers = [] }
    return callers
  }
}
