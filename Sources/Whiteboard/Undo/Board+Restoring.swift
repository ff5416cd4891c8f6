/// Restoring an earlier state of the board.
extension Board {
  /// Restores an earlier state of the board by means of ordinary writes.
  ///
  /// The method deletes newer objects, undeletes deleted objects, and creates purged objects again under new ids. Newer
  /// chat lines, moves of games, and points of strokes are kept. If the writes do not fit in one batch, they are split
  /// into several. All writes together are one undo step. Do not call this method inside a gesture.
  ///
  /// - Throws: `held` or `locked` if an object that differs cannot be changed now, `tooLong`, `boardFull`,
  ///   `clockExhausted`. If it throws, nothing is changed.
  @discardableResult public func restore(_ earlier: BoardState) throws(BoardError) -> RestoreOutcome {
    precondition(!isInGesture, "restore must not be called inside a gesture")
    leaveClaimedIncarnation()
    let plan = try RestorePlan(from: state, to: earlier, as: incarnation)
    try requireShare(forObjects: plan.createdCount)
    try plan.requireWritable(on: self)
    return try step("restore") { () throws(BoardError) in try plan.write(on: self) }
  }
}
