/// Undo and redo of the local member's edits, step by step.
///
/// A step is one gesture, or the gestures between `beginStep` and `endStep`, or text that is typed without a pause
/// (`TextObject.type(replacing:with:)`). Undo restores a cell only if the step's write is still the last one, so it
/// never overwrites another member's write. Selections, chat lines, moves of games and purges are not steps. Neither
/// undo nor redo deletes an object that another member has changed since the step (BRD-40), or a game in which moves
/// were made. Changes of an object that is deleted are left out, because they would not be visible. If nothing of a
/// step can be restored, the step is skipped.
extension BoardReplica {
  /// Whether there is a step to undo.
  ///
  /// It may turn out that `undo` must skip the step.
  public var canUndo: Bool { history.latest != nil }
  /// Whether there is a step to redo.
  ///
  /// It may turn out that `redo` must skip the step.
  public var canRedo: Bool { !history.undone.isEmpty }
  /// The label of the latest step; nil if there is no step to undo.
  public var undoLabel: String? { history.latest?.label }
  /// The label of the next step to redo; nil if there is no step to redo.
  public var redoLabel: String? { history.undone.last?.label }
  /// The objects that an undo or a redo may need.
  ///
  /// If one of them is purged, its steps become incomplete.
  /// - Complexity: O(*n*), where *n* is the number of cells in all steps.
  public var objectsInUndo: Set<ObjectID> { history.objects }

  /// Begins a step of several gestures, such as a drag that is shown while it is in progress.
  ///
  /// A step inside a step is part of the outer one. Without a `label`, the first change determines the label of the
  /// step.
  public func beginStep(_ label: String? = nil) { history.beginStep(label) }

  /// Ends the current step; does nothing if there is no current step.
  public func endStep() { history.endStep() }

  /// Runs `body` and makes its gestures one step, even if `body` throws.
  public func step<Result, Failure: Error>(_ label: String? = nil, _ body: () throws(Failure) -> Result) throws(Failure)
    -> Result
  {
    history.beginStep(label)
    defer { history.endStep() }
    return try body()
  }

  /// Undoes the latest step that can be restored.
  ///
  /// A step in progress ends first.
  ///
  /// Later steps that cannot be restored are skipped. They can still be redone if that becomes possible. The restored
  /// values are written as ordinary operations. Do not call this method inside a gesture.
  ///
  /// - Throws: `nothingToUndo`; `held` or `locked` if an object cannot be changed now, in which case the step stays on
  ///   the undo stack; `boardFull`, `clockExhausted`.
  @discardableResult public func undo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.done, .undo)
  }

  /// Redoes the step that was undone last.
  ///
  /// If that step cannot be restored, redoes the first earlier one that can be.
  /// - Throws: The same errors as `undo`, and `nothingToRedo`.
  @discardableResult public func redo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.undone, .redo)
  }

  private func replayLatest(of entries: [UndoEntry], _ direction: UndoPlan.Direction) throws(BoardError) -> UndoOutcome
  {
    precondition(!isInGesture, "undo must not be called inside a gesture")
    var skipped: [SkippedStep] = []
    // Change the history only if a step can be restored, so that no step is lost.
    defer { history.discardNotes() }
    var passed: [UndoEntry] = []
    for entry in entries.reversed() {
      leaveClaimedIncarnation()
      var plan = UndoPlan(entry, direction, on: state, as: incarnation, isOwn: isOwn, &history)
      try plan.write(on: self)
      passed.append(plan.entry)
      var outcome = plan.outcome
      guard outcome.changed > 0 else {
        skipped.append(SkippedStep(label: entry.label, reason: outcome.skipReason))
        continue
      }
      for entry in passed { if direction == .undo { history.didUndo(entry) } else { history.didRedo(entry) } }
      history.commitNotes()
      outcome.skipped = skipped
      return outcome
    }
    throw direction == .undo ? .nothingToUndo(skipped: skipped) : .nothingToRedo(skipped: skipped)
  }
}
