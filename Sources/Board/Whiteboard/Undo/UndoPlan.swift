struct UndoPlan {
  enum Direction { case undo, redo }

  struct Write {
    let item: Int
    let to: UndoItem.Side
    /// Whether the value is written to a new cell, because this incarnation must not write the original cell.
    let isFresh: Bool
  }

  /// `write(on:)` replaces the items whose cells could not be written.
  private(set) var entry: UndoEntry
  private(set) var writes: [Write] = []
  private(set) var outcome: UndoOutcome

  private let direction: Direction
  private var undeleted: Set<ObjectID> = []
  /// The objects that are not deleted, because other members have changed them.
  private var kept: Set<ObjectID> = []

  /// Cells that already have the right value are recorded in the history, but not written.
  init(
    _ entry: UndoEntry,
    _ direction: Direction,
    on state: BoardState,
    as incarnation: Incarnation,
    isOwn: (Incarnation) -> Bool,
    _ history: inout UndoHistory
  ) {
    self.entry = entry
    self.direction = direction
    outcome = UndoOutcome(label: entry.label)
    let order = direction == .undo ? Array(entry.items.indices.reversed()) : Array(entry.items.indices)
    for item in entry.items where item.property == .deleted {
      if side(item).value.isTrue, history.isChangedByOthers(item, in: state, isOwn: isOwn) { kept.insert(item.object) }
    }
    // Plan the objects that the step brings back first, because changes of an object are left out while the object is
    // deleted.
    let returns = Set(order.filter { entry.items[$0].property == .deleted && !side(entry.items[$0]).value.isTrue })
    for index in order where returns.contains(index) { plan(index, on: state, as: incarnation, &history) }
    for index in order where !returns.contains(index) { plan(index, on: state, as: incarnation, &history) }
    outcome.changed = writes.count
  }

  private func side(_ item: UndoItem) -> UndoItem.Side { direction == .undo ? item.before : item.after }

  private mutating func plan(
    _ index: Int,
    on state: BoardState,
    as incarnation: Incarnation,
    _ history: inout UndoHistory
  ) {
    let item = entry.items[index]
    let (from, to) = (direction == .undo ? item.after : item.before, side(item))
    guard let record = state.record(item.object) else {
      outcome.purged += 1
      return
    }
    let standing = history.standing(of: item.key, in: state)
    guard standing == from.standing else {
      // If an undo kept this game on the board, the game's cell is unchanged and is not treated as overwritten.
      let isThere = from.standing == .uncreated && standing == to.standing
      if !isThere { outcome.overwritten += 1 }
      return
    }
    if direction == .undo, item.property == .deleted, to.standing == .uncreated, record.kind == .game,
      !record.entries(of: Property.moveNumber, upTo: 1).isEmpty
    {
      outcome.played += 1
      return
    }
    if item.property == .deleted {
      if !to.value.isTrue {
        undeleted.insert(item.object)
      } else if kept.contains(item.object) {
        outcome.kept += 1
        return
      }
    } else if record.isDeleted, !undeleted.contains(item.object) {
      outcome.deleted += 1
      return
    }
    // If a group is kept, its objects stay in the group.
    if case .dot(let group) = from.value, kept.contains(ObjectID(group)) { return }
    let current = record[item.property]
    // The cell that determines the setting may belong to another settings object.
    guard !item.property.isSetting || state.isLatestSetting(current, item.property) else {
      outcome.overwritten += 1
      return
    }
    if item.property.right != .own, current?.value ?? .none == to.value {
      history.note(to.standing, by: current?.dot, at: item.key)
      return
    }
    let isOwn =
      item.property.right == .anyone || item.property.right == .writer && item.property.dot?.incarnation == incarnation
    if !isOwn, to.value == .none {
      outcome.unwritable += 1
      return
    }
    writes.append(Write(item: index, to: to, isFresh: !isOwn))
  }

  // MARK: - Writing

  /// Makes the writes, in as few batches as possible; throws `held`, `locked`, `clockExhausted` or `boardFull`. If the
  /// method throws, nothing is written.
  mutating func write(on board: BoardReplica) throws(BoardError) {
    try requireWritable(on: board)
    board.history.isReplaying = true
    defer { board.history.isReplaying = false }
    for run in writes.batches(length: { $0.to.value.length }) {
      let dots = try board.gesture { () throws(BoardError) in
        var dots: [Dot] = []
        for write in run {
          let item = entry.items[write.item]
          let dot = board.nextDot()
          let property = write.isFresh ? item.property.fresh(dot) : item.property
          try board.stage(item.object, property, write.to.value)
          dots.append(dot)
        }
        return dots
      }
      for (write, dot) in zip(run, dots) { didPut(write, as: dot, &board.history) }
      for write in run where entry.items[write.item].deletesAgain {
        var item = entry.items[write.item]
        item.writes = board.history.latestWrites(to: item.object, in: board.state)
        entry.replaceItem(at: write.item, with: item)
      }
    }
  }

  /// Throws an error if any of the writes would be refused. All writes are checked before the first write is made, so
  /// that no step is restored in part.
  private func requireWritable(on board: BoardReplica) throws(BoardError) {
    // Ignore a lock that the step itself set or removed, even temporarily.
    var unlocked: Set<ObjectID> = []
    for item in entry.items where item.property == .lock {
      let standing = board.history.standing(of: item.key, in: board.state)
      if standing == item.before.standing || standing == item.after.standing { unlocked.insert(item.object) }
    }
    for write in writes {
      let item = entry.items[write.item]
      try board.requireChangeable(
        item.object,
        item.property,
        isUnlocked: unlocked.contains(item.object) || isFreeOfLock(write, on: board)
      )
    }
    try board.requireRoom(values: writes.map { $0.to.value.length })
  }

  /// Returns whether the write is allowed despite a lock. Undeleting is always allowed. Deleting is allowed if the step
  /// created the object and this member locked it. This is the case for the copy of a locked object.
  private func isFreeOfLock(_ write: Write, on board: BoardReplica) -> Bool {
    let item = entry.items[write.item]
    guard item.property == .deleted else { return false }
    guard write.to.value == .unsigned(1) else { return true }
    guard write.to.standing == .uncreated, let lock = board.state.record(item.object)?[.lock] else { return false }
    return board.isOwn(lock.dot.incarnation)
  }

  private mutating func didPut(_ write: Write, as dot: Dot, _ history: inout UndoHistory) {
    var item = entry.items[write.item]
    guard write.isFresh else {
      history.note(write.to.standing, by: dot, at: item.key)
      return
    }
    item.property = item.property.fresh(dot)
    let there = UndoItem.Side(standing: .written(dot), value: write.to.value)
    let gone = UndoItem.Side(standing: .absent, value: .none)
    item.before = direction == .undo ? there : gone
    item.after = direction == .undo ? gone : there
    entry.replaceItem(at: write.item, with: item)
  }
}

extension Property {
  /// Returns the property for a new cell that has the same effect as this property. The operation `dot` writes the new
  /// cell. For a run of text, the new property is the deletion of the run.
  fileprivate func fresh(_ dot: Dot) -> Property {
    switch number {
    case Property.erasureNumber: .erasure(dot)
    case Property.voteNumber: .vote(dot)
    default: .deletion(dot)
    }
  }
}

/// The result of an undo or a redo.
public struct UndoOutcome: Hashable, Sendable {
  /// The label of the step, such as `move`.
  public let label: String
  /// The number of cells that were restored.
  public internal(set) var changed = 0
  /// The number of cells that were not restored because another member has written them since.
  public internal(set) var overwritten = 0
  /// The number of cells that were not restored because their objects have been purged since.
  public internal(set) var purged = 0
  /// The number of cells that were not restored because only an earlier incarnation of the local member may write them
  /// (BRD-25).
  public internal(set) var unwritable = 0
  /// The number of games that were not removed because moves were made in them.
  ///
  /// Moves cannot be undone.
  public internal(set) var played = 0
  /// The number of objects that were not deleted because other members have changed them since.
  public internal(set) var kept = 0
  /// The number of cells that were not restored because their objects are deleted, so that the change would not be
  /// visible.
  public internal(set) var deleted = 0

  /// The steps that were skipped because none of their changes could be restored.
  public internal(set) var skipped: [SkippedStep] = []

  /// Whether the whole step was restored.
  public var isComplete: Bool { overwritten + purged + unwritable + played + kept + deleted == 0 }

  var skipReason: SkippedStep.Reason {
    if overwritten > 0 { return .overwritten }
    if kept > 0 { return .kept }
    if played > 0 { return .played }
    if deleted > 0 { return .deleted }
    if purged > 0 { return .purged }
    return unwritable > 0 ? .unwritable : .unchanged
  }
}

/// A step that an undo or a redo skipped.
public struct SkippedStep: Hashable, Sendable {
  /// The reason why none of a step's changes could be restored.
  public enum Reason: String, Hashable, Sendable {
    /// Other members have changed the same cells since.
    case overwritten
    case purged
    /// Only an earlier incarnation of the local member may write the cells (BRD-25).
    case unwritable
    /// Other members have changed the objects that would be deleted.
    case kept
    case deleted
    /// The step created a game in which moves have been made since.
    case played
    /// The board already has the values that the step would restore.
    case unchanged
  }

  /// The label of the step, such as `move`.
  public let label: String
  /// The reason why none of the step's changes could be restored.
  public let reason: Reason
}
