/// The output of a board that its caller has not received yet: batches to send, and changes to show.
struct PendingOutput {
  /// The objects that changed, and how.
  var changes = ChangeLog()
  private var batches: [Batch] = []
  private var haveSettingsChanged = false

  /// Adds local batches to send.
  mutating func send(_ more: some Sequence<Batch>) { batches += more }

  /// Removes and returns the batches to send.
  mutating func removeBatches() -> [Batch] {
    defer { batches = [] }
    return batches
  }

  /// Removes and returns the recorded changes of objects.
  ///
  /// `state` is the current state of the board.
  mutating func removeChanges(in state: borrowing BoardState) -> [ObjectChange] {
    defer { changes = ChangeLog() }
    if changes.touchesSettings(in: state) { haveSettingsChanged = true }
    return changes.changes(in: state)
  }

  /// Returns whether the settings may be affected by changes that were removed since the last call.
  mutating func removeSettingsChange() -> Bool {
    defer { haveSettingsChanged = false }
    return haveSettingsChanged
  }
}
