/// What an undo or a redo did.
public struct UndoOutcome: Hashable, Sendable {
  /// What the step was, in a word, such as `move`.
  public let label: String
  /// How many cells were put back.
  public internal(set) var changed = 0
  /// How many cells somebody else wrote since: they were left as they are.
  public internal(set) var overwritten = 0
  /// How many cells belonged to objects that were purged since.
  public internal(set) var purged = 0
  /// How many cells only an earlier incarnation of ours may write (BRD-25).
  public internal(set) var unwritable = 0
  /// How many games stay where they are, since moves were made in them, which nothing takes back.
  public internal(set) var played = 0

  /// The steps that were passed over, since nothing of them could be put back.
  public internal(set) var skipped: [SkippedStep] = []

  /// Whether all of the step was put back.
  public var isComplete: Bool { overwritten + purged + unwritable + played == 0 }

  /// Why nothing was put back.
  fileprivate var obstacle: SkippedStep.Reason {
    if overwritten > 0 { return .overwritten }
    if played > 0 { return .played }
    if purged > 0 { return .purged }
    return unwritable > 0 ? .unwritable : .unchanged
  }
}

/// A step that an undo or a redo passed over.
public struct SkippedStep: Hashable, Sendable {
  /// Why nothing of a step could be put back.
  public enum Reason: String, Hashable, Sendable {
    /// Other members changed the same since.
    case overwritten
    /// Its objects were purged since.
    case purged
    /// Only an earlier incarnation of ours may write there (BRD-25).
    case unwritable
    /// It made a game in which moves were made since.
    case played
    /// The board is already as it would be afterwards.
    case unchanged
  }

  /// What the step was, in a word, such as `move`.
  public let label: String
  /// Why nothing of it could be put back.
  public let reason: Reason
}

/// Undo and redo of this board's own edits, step by step.
///
/// A step is a gesture, or several between `beginStep` and `endStep`, or what is typed into a text
/// without a pause (`typeText`). A cell is put back only while
/// what the step left there still stands: what somebody else wrote is never touched. Selections,
/// chat lines, moves of games and purges are no steps, and an undo leaves a game in which moves were
/// made where it is. A step of which nothing can be put back is passed over.
extension Board {
  /// Whether there is a step to undo, which `undo` may have to pass over.
  public var canUndo: Bool { history.latest != nil }
  /// Whether there is a step to redo, which `redo` may have to pass over.
  public var canRedo: Bool { !history.undone.isEmpty }
  /// What the latest step is, in a word; nil if there is none to undo.
  public var undoLabel: String? { history.latest?.label }
  /// What the next step to redo is, in a word; nil if there is none.
  public var redoLabel: String? { history.undone.last?.label }
  /// The objects that an undo or a redo may need; to purge one makes its steps incomplete.
  /// - Complexity: O(*n*) in the cells of all steps.
  public var objectsInUndo: Set<ObjectID> { history.objects }

  /// Begins a step of several gestures, such as a drag that shows while it goes on.
  ///
  /// A step inside a step is part of it. `label` says what it is, in a word; without one its first
  /// change does.
  public func beginStep(_ label: String? = nil) { history.beginStep(label) }

  /// Ends the step; without a step that goes on, nothing happens.
  public func endStep() { history.endStep() }

  /// Makes the gestures of `body` one step, also where it throws.
  public func step<Result, Failure: Error>(
    _ label: String? = nil,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    history.beginStep(label)
    defer { history.endStep() }
    return try body()
  }

  /// Undoes the latest step that can be restored; a step in progress ends first.
  ///
  /// Later steps are passed over, and can be redone in their turn if that becomes possible. What goes
  /// back is written as ordinary operations. Not for use inside a gesture.
  ///
  /// - Throws: `nothingToUndo`; `held` or `locked` if an object may not be changed now, and the
  ///   step stays as it is; `boardFull`, `clockExhausted`.
  @discardableResult
  public func undo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.done, .undo)
  }

  /// Redoes the step that was undone last, or the next one before it that can be restored.
  /// - Throws: as `undo`, and `nothingToRedo`.
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
    // The stack changes only if a step is found, so that no step is lost.
    defer { history.takeBackNotes() }
    var passed: [UndoEntry] = []
    // What others changed stays: undoing its creation would take their work away, too.
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

  /// A cell to be put back.
  private struct Write {
    let item: Int
    let to: UndoItem.Side
    /// Whether the value goes into a cell of its own, since the old one is not ours to write.
    let isFresh: Bool
  }

  private func replay(
    _ entry: inout UndoEntry,
    _ direction: Direction
  ) throws(BoardError) -> UndoOutcome {
    precondition(!isInGesture, "an undo is a gesture of its own")
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

  /// Returns how many of the first values fit into one batch, as operations with the given maximum
  /// size.
  static func prefix(of lengths: [Int]) -> Int {
    var bytes = 0
    let fitting = lengths.prefix(BoardLimits.operationsPerBatch).prefix {
      bytes += $0
      return bytes <= BoardLimits.batchBytes / 2
    }
    return max(1, fitting.count)
  }

  /// Returns the cells that can be restored; cells that hold the value already are only recorded.
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
        // A game that an undo left where it was is there already, and nobody else wrote.
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
      // What counts as the setting may stand on another object.
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

  /// Throws where one of the writes would be refused, before any is made: half a step surprises.
  private func requireWritable(_ writes: [Write], of entry: UndoEntry) throws(BoardError) {
    // A lock that the step itself set or removed, even for a while, is no reason to refuse it.
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

  /// Whether a lock is no reason to refuse this: it brings an object back, or takes away one that the
  /// step made and that we locked ourselves, such as the copy of a locked object.
  private func isFreeOfLock(_ write: Write, of entry: UndoEntry) -> Bool {
    let item = entry.items[write.item]
    guard item.property == .deleted else { return false }
    guard write.to.value == .unsigned(1) else { return true }
    guard write.to.standing == .uncreated, let lock = state.record(item.object)?[.lock] else {
      return false
    }
    return isOwn(lock.dot.incarnation)
  }

  /// Throws where a write of this cell would be refused, be the object deleted or not.
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

  /// Throws where values of those lengths might not fit: asks for as much as staging them will.
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
  /// The cell of the operation `dot` that does what this one does; for a run, that takes it away.
  fileprivate func fresh(_ dot: Dot) -> Property {
    number == Property.erasureNumber ? .erasure(dot) : .deletion(dot)
  }
}
