import WhiteboardDocument

/// The callers of ``SharedBoard/perform(_:)`` that wait for the result of their command.
struct Callers {
  typealias Outcome = Result<CommandOutcome, CommandError>

  private var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
  private var last = 0
  private var isClosed = false

  /// Returns the number for a new caller.
  mutating func reserve() -> Int {
    last += 1
    return last
  }

  /// Adds a caller under its number; resumes it immediately if the board is closed.
  mutating func add(_ caller: Int, _ continuation: CheckedContinuation<Outcome, Never>) {
    guard !isClosed else { return continuation.resume(returning: .failure(.closed)) }
    waiting[caller] = continuation
  }

  /// Resumes a caller, if it still waits.
  mutating func answer(_ caller: Int, with outcome: Outcome) {
    waiting.removeValue(forKey: caller)?.resume(returning: outcome)
  }

  /// Resumes all callers, because the board is closed; later callers are resumed immediately.
  mutating func close() {
    isClosed = true
    for continuation in waiting.values { continuation.resume(returning: .failure(.closed)) }
    waiting = [:]
  }
}

extension CommandError {
  /// The error for a command after the board was closed.
  static let closed = CommandError(.ending, "the board is closed")
  /// The error for a command whose caller was canceled; the command itself may still run.
  static let callerCanceled = CommandError(.cancelled, "the task that waited for the command was canceled")

  /// Creates the error for a command whose changes are on the board but not on disk.
  init(unsaved failure: DocumentError) {
    let problem = SaveProblem(failure)
    self.init(.notSaved, "\(problem.headline). The change is on the board, but not on disk: \(problem.message)")
  }
}
