import PeerSession

extension Node {
  /// Waits until a condition holds.
  func wait(
    for condition: WaitCondition,
    timeout: Duration?
  ) async throws(VerbError) {
    let isSo: Bool
    switch condition {
    case .seconds(let seconds):
      _ = await wait(timeout: .seconds(seconds)) { _ in false }
      isSo = ending == nil
    case .peers(let count):
      isSo = await wait(timeout: timeout) { node in
        let connected = node.members.values.count { $0.isReached }
        return count == 0 ? connected == 0 : connected >= count
      }
    case .objects(let count):
      isSo = await wait(timeout: timeout) { node in
        let objects = node.replica?.board.objectIDs.count ?? 0
        return count == 0 ? objects == 0 : objects >= count
      }
    case .synced:
      isSo = await waitUntilSynced(timeout: timeout)
    }
    guard isSo else {
      throw ending == nil
        ? VerbError(.timedOut, "it did not come to be in time")
        : VerbError(.ending, "the program ends")
    }
  }
}
