/// Restoring an earlier state of the board.
extension Board {
  /// Restores an earlier state of the board, with ordinary writes.
  ///
  /// The method deletes objects that were created since, undeletes deleted objects, and creates
  /// purged objects again under new ids. Chat lines, moves of games, and points that were added to
  /// strokes since then are kept. If the writes do not fit in one batch, they are sent in several.
  /// All of them are one undo step. Do not call this method inside a gesture.
  ///
  /// - Throws: `held` or `locked` if an object that differs cannot be changed now, `tooLong`,
  ///   `boardFull`, `clockExhausted`. If it throws, nothing is changed.
  @discardableResult
  public func restore(_ earlier: BoardState) throws(BoardError) -> RestoreOutcome {
    precondition(!isInGesture, "restore must not be called inside a gesture")
    leaveClaimedIncarnation()
    let plan = try RestorePlan(from: state, to: earlier, as: incarnation)
    guard state.objectCount + plan.createdCount <= BoardLimits.objects else { throw .boardFull }
    try plan.requireWritable(on: self)
    return try step("restore") { () throws(BoardError) in try plan.write(on: self) }
  }
}
