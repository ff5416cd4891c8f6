import PeerSession

/// The command `wait`.
extension CommandRunner {
  /// Waits until a condition holds.
  ///
  /// - Returns: The contents of the answer; for `synced`, the members.
  /// - Throws: ``CommandError`` if the condition did not hold in time.
  nonisolated(nonsending) func wait(for condition: WaitCondition, timeout: Duration?) async throws(CommandError)
    -> CommandOutcome
  {
    let board = try board
    var outcome = CommandOutcome()
    var problem = "the condition was not met in time"
    let isMet: Bool
    switch condition {
    case .seconds(let seconds):
      _ = await runtime.wait(timeout: .seconds(seconds)) { false }
      isMet = runtime.ending == nil
    case .peers(let count):
      isMet = await runtime.wait(timeout: timeout) {
        let connected = self.members.reachedCount
        return count == 0 ? connected == 0 : connected >= count
      }
    case .objects(let count):
      isMet = await runtime.wait(timeout: timeout) {
        let objects = board.replica.board.objectIDs.count
        return count == 0 ? objects == 0 : objects >= count
      }
    case .synced:
      let report = await board.convergence.wait(.connected, timeout: timeout)
      isMet = report.isComplete
      outcome.sync = report
      let isAlone = report.synced.isEmpty && report.notSynced.isEmpty
      problem = isAlone ? "not synced: \(report.problem)" : report.problem
    }
    guard isMet else {
      throw runtime.ending == nil ? CommandError(.timedOut, problem) : CommandError(.ending, "the program ends")
    }
    return outcome
  }
}
