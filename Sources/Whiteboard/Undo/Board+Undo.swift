/// The result of an undo or a redo.
public struct UndoOutcome: Hashable, Sendable {
  /// The label of the step, such as `move`.
  public let label: String
  /// The number of cells that were restored.
  public internal(set) var changed = 0
  /// The number of cells that another member wrote since, and that were therefore not restored.
  public internal(set) var overwritten = 0
  /// The number of cells whose objects were purged since.
  public internal(set) var purged = 0
  /// The number of cells that only an earlier incarnation of the local member may write (BRD-25).
  public internal(set) var unwritable = 0
  /// The number of games that were not removed because moves were made in them; moves cannot be
  /// undone.
  public internal(set) var played = 0

  /// The steps that were skipped because none of their changes could be restored.
  public internal(set) var skipped: [SkippedStep] = []

  /// Whether the whole step was restored.
  public var isComplete: Bool { overwritten + purged + unwritable + played == 0 }

  /// The reason why nothing was restored.
  fileprivate var obstacle: SkippedStep.Reason {
    if overwritten > 0 { return .overwritten }
    if played > 0 { return .played }
    if purged > 0 { return .purged }
    return unwritable > 0 ? .unwritable : .unchanged
  }
}

/// A step that an undo or a redo skipped.
public struct SkippedStep: Hashable, Sendable {
  /// The reason why none of a step's changes could be restored.
  public enum Reason: String, Hashable, Sendable {
    /// Other members changed the same cells since.
    case overwritten
    /// The objects of the step were purged since.
    case purged
    /// Only an earlier incarnation of the local member may write the cells (BRD-25).
    case unwritable
    /// The step created a game in which moves were made since.
    case played
    /// The board already has the values that the step would restore.
    case unchanged
  }

  /// The label of the step, such as `move`.
  public let label: String
  /// The reason why none of the step's changes could be restored.
  public let reason: Reason
}

/// Undo and redo of the local member's edits, step by step.
///
/// A step is one gesture, or the gestures between `beginStep` and `endStep`, or text that is typed
/// without a pause (`typeText`). Undo restores a cell only if the step's write is still the last
/// one, so it never overwrites what another member wrote. Selections, chat lines, moves of games
/// and purges are not steps. An undo does not remove a game in which moves were made. If nothing of
/// a step can be restored, the step is skipped.
extension Board {
  /// Whether there is a step to undo.
  ///
  /// `undo` may still have to skip it.
  public var canUndo: Bool { history.latest != nil }
  /// Whether there is a step to redo.
  ///
  /// `redo` may still have to skip it.
  public var canRedo: Bool { !history.undone.isEmpty }
  /// The label of the latest step; nil if there is no step to undo.
  public var undoLabel: String? { history.latest?.label }
  /// The label of the next step to redo; nil if there is none.
  public var redoLabel: String? { history.undone.last?.label }
  /// The objects that an undo or a redo may need.
  ///
  /// If one of them is purged, its steps become incomplete.
  /// - Complexity: O(*n*) in the cells of all steps.
  public var objectsInUndo: Set<ObjectID> { history.objects }

  /// Begins a step of several gestures, such as a drag that is shown while it is in progress.
  ///
  /// A step inside a step is part of the outer one. Without a `label`, the first change determines
  /// the label of the step.
  public func beginStep(_ label: String? = nil) { history.beginStep(label) }

  /// Ends the current step.
  ///
  /// Without a current step, does nothing.
  public func endStep() { history.endStep() }

  /// Runs `body` and makes its gestures one step, even if `body` throws.
  public func step<Result, Failure: Error>(
    _ label: String? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    history.beginStep(label)
    defer { history.endStep() }
    return try body()
  }

  /// Undoes the latest step that can be restored.
  ///
  /// A step in progress ends first.
  ///
  /// Later steps, which cannot be restored, are skipped. They can be redone if that becomes
  /// possible. The restored values are written as ordinary operations. Do not call this method
  /// inside a gesture.
  ///
  /// - Throws: `nothingToUndo`; `held` or `locked` if an object cannot be changed now, in which
  ///   case the step stays on the undo stack; `boardFull`, `clockExhausted`.
  @discardableResult
  public func undo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.done, .undo)
  }

  /// Redoes the step that was undone last, or the first one before it that can be restored.
  /// - Throws: The same errors as `undo`, and `nothingToRedo`.
  @discardableResult
  public func redo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.undone, .redo)
  }

  private func replayLatest(
    of entries: [UndoEntry],
    _ direction: Direction
  ) throws(BoardError) -> UndoOutcome {
    var skipped: [SkippedStep] = []
    // The stack changes only if a step can be restored, so that no step is lost.
    defer { history.takeBackNotes() }
    var passed: [UndoEntry] = []
    // Keep objects that other members changed: undoing their creation would remove the members'
    // work.
    var changedByOthers: Set<ObjectID> = []
    for entry in entries.reversed() {
      var entry = entry
      if direction == .undo, entry.creates(any: changedByOthers) {
        passed.append(entry)
        skipped.append(SkippedStep(label: entry.label, reason: .overwritten))
        continue
      }
      var outcome = try replay(&entry, direction)
      passed.append(entry)
      guard outcome.changed > 0 else {
        skipped.append(SkippedStep(label: entry.label, reason: outcome.obstacle))
        if outcome.overwritten > 0 { changedByOthers.formUnion(entry.items.map(\.object)) }
        continue
      }
      for entry in passed {
        if direction == .undo { history.didUndo(entry) } else { history.didRedo(entry) }
      }
      history.keepNotes()
      outcome.skipped = skipped
      return outcome
    }
    throw direction == .undo ? .nothingToUndo(skipped: skipped) : .nothingToRedo(skipped: skipped)
  }

  private enum Direction { case undo, redo }

  /// A cell to restore.
  private struct Write {
    let item: Int
    let to: UndoItem.Side
    /// Whether the value is written to a new cell, because this incarnation must not write the old
    /// one.
    let isFresh: Bool
  }

  private func replay(
    _ entry: inout UndoEntry,
    _ direction: Direction
  ) throws(BoardError) -> UndoOutcome {
    precondition(!isInGesture, "undo must not be called inside a gesture")
    leaveClaimedIncarnation()
    var outcome = UndoOutcome(label: entry.label)
    let writes = plan(entry, direction, &outcome)
    try requireWritable(writes, of: entry)
    history.isReplaying = true
    defer { history.isReplaying = false }
    var rest = writes[...]
    while !rest.isEmpty {
      let count = Self.prefix(of: rest.map(\.to.value.length))
      try put(rest.prefix(count), into: &entry, direction)
      rest = rest.dropFirst(count)
    }
    outcome.changed = writes.count
    return outcome
  }

  /// Returns how many operations, counted from the first, fit in one batch, given the maximum size
  /// of each value in bytes.
  static func prefix(of lengths: [Int]) -> Int {
    var bytes = 0
    let fitting = lengths.prefix(BoardLimits.operationsPerBatch).prefix {
      bytes += $0
      return bytes <= BoardLimits.batchBytes / 2
    }
    return max(1, fitting.count)
  }

  /// Returns the writes that restore a step.
  ///
  /// Cells that already hold the right value are recorded, but not written.
  private func plan(
    _ entry: UndoEntry,
    _ direction: Direction,
    _ outcome: inout UndoOutcome
  ) -> [Write] {
    var writes: [Write] = []
    let order =
      direction == .undo ? Array(entry.items.indices.reversed()) : Array(entry.items.indices)
    for index in order {
      let item = entry.items[index]
      let (from, to) =
        direction == .undo ? (item.after, item.before) : (item.before, item.after)
      guard let record = state.record(item.object) else {
        outcome.purged += 1
        continue
      }
      let standing = history.standing(of: item.key, in: state)
      guard standing == from.standing else {
        // If an undo left this game on the board, its cell is unchanged and does not count as
        // overwritten.
        let isThere = from.standing == .uncreated && standing == to.standing
        if !isThere { outcome.overwritten += 1 }
        continue
      }
      if direction == .undo, item.property == .deleted, to.standing == .uncreated,
        record.kind == .game, !record.entries(of: Property.moveNumber, upTo: 1).isEmpty
      {
        outcome.played += 1
        continue
      }
      let current = record[item.property]
      // The setting in effect may come from another settings object.
      guard !item.property.isSetting || state.isLatestSetting(current, item.property) else {
        outcome.overwritten += 1
        continue
      }
      if item.property.right != .own, current?.value ?? .none == to.value {
        history.note(to.standing, by: current?.dot, at: item.key)
        continue
      }
      let isOurs =
        item.property.right == .anyone
        || item.property.right == .writer && item.property.dot?.incarnation == incarnation
      if !isOurs, to.value == .none {
        outcome.unwritable += 1
        continue
      }
      writes.append(Write(item: index, to: to, isFresh: !isOurs))
    }
    return writes
  }

  /// Throws an error if any of the writes would be refused.
  ///
  /// This is checked before the first write, so that no step is restored in part.
  private func requireWritable(_ writes: [Write], of entry: UndoEntry) throws(BoardError) {
    // Ignore a lock that the step itself set or removed, even temporarily.
    var unlocked: Set<ObjectID> = []
    for item in entry.items where item.property == .lock {
      let standing = history.standing(of: item.key, in: state)
      if standing == item.before.standing || standing == item.after.standing {
        unlocked.insert(item.object)
      }
    }
    for write in writes {
      let item = entry.items[write.item]
      try requireChangeable(
        item.object,
        item.property,
        isUnlocked: unlocked.contains(item.object) || isFreeOfLock(write, of: entry)
      )
    }
    try requireRoom(values: writes.map(\.to.value.length))
  }

  /// Returns whether the write is allowed despite a lock.
  ///
  /// It is if it undeletes an object, or if it deletes one that the step created and this member
  /// locked, such as the copy of a locked object.
  private func isFreeOfLock(_ write: Write, of entry: UndoEntry) -> Bool {
    let item = entry.items[write.item]
    guard item.property == .deleted else { return false }
    guard write.to.value == .unsigned(1) else { return true }
    guard write.to.standing == .uncreated, let lock = state.record(item.object)?[.lock] else {
      return false
    }
    return isOwn(lock.dot.incarnation)
  }

  /// Throws an error if a write of this cell would be refused, whether or not the object is
  /// deleted.
  func requireChangeable(
    _ id: ObjectID,
    _ property: Property,
    isUnlocked: Bool
  ) throws(BoardError) {
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
    guard let record = state.record(id) else { return }
    if record.isLocked, !isUnlocked, property != .lock { throw .locked(id) }
    if let cell = record[property], !cell.time.canBeFollowed { throw .clockExhausted }
  }

  /// Throws an error if values of these lengths might not fit.
  ///
  /// The check is as strict as that of staging.
  func requireRoom(values lengths: [Int]) throws(BoardError) {
    let perBatch = min(lengths.count, BoardLimits.operationsPerBatch)
    guard
      state.hasRoom(
        objects: lengths.count,
        cells: lengths.count,
        bytes: lengths.reduce(0, +),
        incarnations: perBatch + 1,
        ranges: perBatch + 1
      )
    else { throw .boardFull }
  }

  private func put(
    _ writes: ArraySlice<Write>,
    into entry: inout UndoEntry,
    _ direction: Direction
  ) throws(BoardError) {
    let dots = try gesture { () throws(BoardError) in
      var dots: [Dot] = []
      for write in writes {
        let item = entry.items[write.item]
        let dot = nextDot()
        let property = write.isFresh ? item.property.fresh(dot) : item.property
        try stage(item.object, property, write.to.value)
        dots.append(dot)
      }
      return dots
    }
    for (write, dot) in zip(writes, dots) {
      var item = entry.items[write.item]
      if write.isFresh {
        item.property = item.property.fresh(dot)
        let there = UndoItem.Side(standing: .written(dot), value: write.to.value)
        let gone = UndoItem.Side(standing: .absent, value: .none)
        item.before = direction == .undo ? there : gone
        item.after = direction == .undo ? gone : there
        entry.replaceItem(at: write.item, with: item)
      } else {
        history.note(write.to.standing, by: dot, at: item.key)
      }
    }
  }
}

extension Property {
  /// Returns the property of a new cell, written by the operation `dot`, that has the effect of
  /// this one.
  ///
  /// For a run of text, that is the deletion of the run.
  fileprivate func fresh(_ dot: Dot) -> Property {
    number == Property.erasureNumber ? .erasure(dot) : .deletion(dot)
  }
}
