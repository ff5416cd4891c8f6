import PeerSession

extension Node {
  /// Waits until a condition holds.
  ///
  /// - Returns: The contents of the answer; for `synced`, the members.
  /// - Throws: ``CommandError`` with the condition that did not hold in time.
  func wait(
    for condition: WaitCondition,
    timeout: Duration?
  ) async throws(CommandError) -> CommandOutcome {
    var outcome = CommandOutcome()
    var problem = "the condition was not met in time"
    let isSo: Bool
    switch condition {
    case .seconds(let seconds):
      _ = await wait(timeout: .seconds(seconds)) { false }
      isSo = ending == nil
    case .peers(let count):
      isSo = await wait(timeout: timeout) {
        let connected = self.members.reachedCount
        return count == 0 ? connected == 0 : connected >= count
      }
    case .objects(let count):
      isSo = await wait(timeout: timeout) {
        let objects = self.replica?.board.objectIDs.count ?? 0
        return count == 0 ? objects == 0 : objects >= count
      }
    case .synced:
      let report = await waitUntilSynced(.connected, timeout: timeout)
      isSo = report.isComplete
      outcome.sync = report
      let isAlone = report.synced.isEmpty && report.notSynced.isEmpty
      problem = isAlone ? "not synced: \(report.problem)" : report.problem
    }
    guard isSo else {
      throw ending == nil
        ? CommandError(.timedOut, problem)
        : CommandError(.ending, "the program ends")
    }
    return outcome
  }
}
