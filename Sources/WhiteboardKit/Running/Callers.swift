import WhiteboardDocument

/// The callers of ``SharedBoard/perform(_:)`` that wait for the result of their command.
struct Callers {
  typealias Outcome = Result<CommandOutcome, CommandError>

  private var waiting: [Int: CheckedContinuation<Outcome, Never>] = [:]
  private var next = 0

  /// Adds a caller.
  ///
  /// - Returns: The number of the caller, for ``answer(_:with:)``.
  mutating func add(_ continuation: CheckedContinuation<Outcome, Never>) -> Int {
    defer { next += 1 }
    waiting[next] = continuation
    return next
  }

  /// Resumes a caller.
  mutating func answer(_ caller: Int, with outcome: Outcome) {
    waiting.removeValue(forKey: caller)?.resume(returning: outcome)
  }

  /// Resumes all callers, since the board is closed.
  mutating func close() {
    for continuation in waiting.values { continuation.resume(returning: .failure(.closed)) }
    waiting = [:]
  }
}

extension CommandError {
  /// The error of a command after the board was closed.
  static let closed = CommandError(.ending, "the board is closed")

  /// Creates the error of a command whose changes are on the board but not on disk.
  init(unsaved failure: DocumentError) {
    let problem = SaveProblem(failure)
    self.init(
      .notSaved,
      "\(problem.headline). The change is on the board, but not on disk: \(problem.message)"
    )
  }
}
