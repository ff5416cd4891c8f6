/// The local steps on one board that can be undone and redone. The history is neither shared with other members nor
/// stored. An undo is an ordinary write.
struct UndoHistory {
  /// The maximum number of steps; the oldest step is removed first.
  static let steps = 1000
  /// The approximate maximum size of all steps in bytes; the latest step is kept whatever its size.
  static let bytes = 16 << 20

  /// The pause in milliseconds after which typing begins a new step.
  static let typingPause: UInt64 = 1000

  /// The steps that can be undone, the latest last.
  private(set) var done: [UndoEntry] = []
  /// The steps that can be redone, the next step last.
  private(set) var undone: [UndoEntry] = []
  /// Whether an undo or redo is in progress. The gestures of an undo or redo are not recorded as steps.
  var isReplaying = false

  private var open: UndoEntry?
  private var depth = 0
  private var byteCount = 0
  /// The text object and the time of the typing in the current gesture.
  private var typing: Typing?
  /// The text object and the time of the typing in the latest step.
  private var typed: Typing?
  /// For each cell that undo wrote, the operation that restored the cell, and the restored state.
  private var standings: [CellKey: (winner: Dot?, standing: Standing)] = [:]
  /// The number of entries in `standings` above which unneeded entries are discarded.
  private var standingsLimit = 64
  /// The previous values of the entries in `standings` that the undo in progress replaced, so that these values can be
  /// restored.
  private var replaced: [(key: CellKey, known: (winner: Dot?, standing: Standing)?)] = []

  private struct Typing {
    let text: ObjectID
    let time: UInt64

    /// Returns whether this typing continues the earlier typing; false if the clock was set back in between.
    func continues(_ earlier: Typing) -> Bool {
      text == earlier.text && time >= earlier.time && time - earlier.time <= UndoHistory.typingPause
    }
  }

  func standing(of key: CellKey, in state: borrowing BoardState) -> Standing {
    let winner = state.record(key.object)?[key.property]?.dot
    if let known = standings[key], known.winner == winner { return known.standing }
    return winner.map { .written($0) } ?? .absent
  }

  /// Records that the operation `winner` restored the state of a cell; `winner` is nil if no operation was needed.
  mutating func note(_ standing: Standing, by winner: Dot?, at key: CellKey) {
    replaced.append((key, standings[key]))
    standings[key] = (winner, standing)
  }

  /// Returns whether other members have changed the object of an item since the step. A value that an undo restored
  /// counts as the original write.
  func isChangedByOthers(_ item: UndoItem, in state: borrowing BoardState, isOwn: (Incarnation) -> Bool) -> Bool {
    for key in Self.content(of: item.object, in: state) {
      guard case .written(let dot) = standing(of: key, in: state), !isOwn(dot.incarnation) else { continue }
      if dot.sequence > item.writes[dot.incarnation] ?? 0 { return true }
    }
    return false
  }

  func latestWrites(to id: ObjectID, in state: borrowing BoardState) -> [Incarnation: UInt64] {
    var latest: [Incarnation: UInt64] = [:]
    for key in Self.content(of: id, in: state) {
      guard case .written(let dot) = standing(of: key, in: state) else { continue }
      latest[dot.incarnation] = max(latest[dot.incarnation] ?? 0, dot.sequence)
    }
    return latest
  }

  /// Returns the cells that users see as part of an object: all cells except the selection. A group also consists of
  /// the cells that assign objects to it.
  private static func content(of id: ObjectID, in state: borrowing BoardState) -> [CellKey] {
    guard let record = state.record(id) else { return [] }
    var keys = record.entries.filter { $0.property != .selection }.map { CellKey(object: id, property: $0.property) }
    if record.kind == .group {
      keys += state.objects.groups.members(of: id).map { CellKey(object: $0, property: .group) }
    }
    return keys
  }

  /// Ends the undo in progress, and keeps its changes of `standings`.
  mutating func commitNotes() { replaced = [] }

  /// Reverts the changes that the undo in progress made to `standings`, because no step was restored.
  mutating func discardNotes() {
    for (key, known) in replaced.reversed() { standings[key] = known }
    replaced = []
  }

  // MARK: - Steps

  var latest: UndoEntry? { open.flatMap { $0.items.isEmpty ? nil : $0 } ?? done.last }

  var objects: Set<ObjectID> {
    var objects: Set<ObjectID> = []
    for entry in done + undone + (open.map { [$0] } ?? []) { for item in entry.items { objects.insert(item.object) } }
    return objects
  }

  mutating func beginStep(_ label: String?) {
    if depth == 0 { open = UndoEntry(label: label) }
    depth += 1
  }

  mutating func endStep() {
    depth = max(0, depth - 1)
    if depth == 0 { closeStep() }
  }

  /// A step that has gestures of other steps between its own.
  struct SeparateStep {
    fileprivate(set) var entry: UndoEntry?
    fileprivate var depth = 1

    init(label: String) { entry = UndoEntry(label: label) }
  }

  /// Makes a separate step the current step, and stores the current step in its place; another call reverts the
  /// exchange.
  mutating func exchange(_ step: inout SeparateStep) {
    swap(&open, &step.entry)
    swap(&depth, &step.depth)
  }

  mutating func push(_ step: SeparateStep) { if let entry = step.entry { push(entry) } }

  mutating func closeStep() {
    depth = 0
    guard let entry = open else { return }
    open = nil
    push(entry)
  }

  /// Marks the next gesture as typing. The gesture extends the latest step if that step is recent typing in the same
  /// text object.
  mutating func beginTyping(into text: ObjectID, at time: UInt64) { typing = Typing(text: text, time: time) }

  /// Ends the typing, so that later gestures are separate steps.
  mutating func endTyping() { typing = nil }

  mutating func record(_ batches: [Batch], over state: borrowing BoardState, label: String?) {
    guard !isReplaying else { return }
    let isAlone = open == nil
    var entry = open ?? UndoEntry(label: label)
    entry.call(label)
    // Clear the property, so that `entry` has only one reference and is not copied at each gesture.
    open = nil
    // Skip chat lines and purged objects, because neither can be undone.
    let written = batches.flatMap { batch in
      batch.operations.enumerated().map { (batch.dot(at: $0.offset), $0.element) }
    }
    // Do not undo the creation of an object that replaces a purged object, because its content would be lost.
    let purged = Set(written.lazy.filter { $0.1.property.isPurge }.map { $0.1.object })
    var left = Set(
      written.lazy.filter { _, operation in
        guard operation.property == .replaces, case .dot(let dot) = operation.value else { return false }
        return purged.contains(ObjectID(dot))
      }.map { $0.1.object }
    )
    for (dot, operation) in written {
      let id = operation.object
      switch (operation.property, operation.value) {
      case (.purge, _): left.insert(id)
      case (.kind, .unsigned(ObjectKind.chat.rawValue)): left.insert(id)
      // Other members may write settings to a new settings object, so undo each setting instead of the creation of the
      // object.
      case (.kind, .unsigned(ObjectKind.settings.rawValue)): break
      case (.kind, _) where left.contains(id): break
      case (.kind, .unsigned(let number)): entry.addCreation(of: id, kind: ObjectKind(rawValue: number))
      default:
        guard !left.contains(id), state.record(id)?.kind != .chat,
          let item = item(for: operation, dot: dot, over: state)
        else { continue }
        entry.addWrite(item)
      }
    }
    if isAlone { push(entry) } else { open = entry }
  }

  private func item(for operation: Operation, dot: Dot, over state: borrowing BoardState) -> UndoItem? {
    let property = operation.property
    let key = CellKey(object: operation.object, property: property)
    let after = UndoItem.Side(standing: .written(dot), value: operation.value)
    if property.number == Property.runNumber {
      guard case .bytes(let bytes) = operation.value, let text = try? TextTree.decodeRun(bytes).1 else { return nil }
      let all = TextTree.Deletion(run: dot, offsets: 0...(text.unicodeScalars.count - 1))
      return UndoItem(
        object: operation.object,
        property: property,
        before: .init(standing: .absent, value: TextTree.encodeDeletion(all)),
        after: .init(standing: .written(dot), value: .none)
      )
    }
    guard property.isUndoable else { return nil }
    let before = state.record(operation.object)?[property]?.value ?? .none
    return UndoItem(
      object: operation.object,
      property: property,
      before: .init(standing: standing(of: key, in: state), value: before),
      after: after,
      writes: property == .deleted ? latestWrites(to: operation.object, in: state) : [:]
    )
  }

  private mutating func push(_ closing: UndoEntry) {
    // Selections, chat lines and moves of games are not steps, and do not clear the redo stack.
    guard !closing.items.isEmpty else { return }
    var entry = closing
    entry.close()
    for old in undone { byteCount -= old.byteCount }
    undone = []
    if let typing, let typed, typing.continues(typed), !done.isEmpty {
      done[done.count - 1].join(entry)
    } else {
      done.append(entry)
    }
    typed = typing
    byteCount += entry.byteCount
    var surplus = 0
    while done.count - surplus > Self.steps || (byteCount > Self.bytes && done.count - surplus > 1) {
      byteCount -= done[surplus].byteCount
      surplus += 1
    }
    done.removeFirst(surplus)
    forgetStandings()
  }

  /// Discards the entries in `standings` whose objects no step names, if there are many entries.
  private mutating func forgetStandings() {
    guard standings.count > standingsLimit else { return }
    let objects = self.objects
    standings = standings.filter { objects.contains($0.key.object) }
    standingsLimit = 2 * standings.count + 64
  }

  mutating func didUndo(_ entry: UndoEntry) {
    typed = nil
    guard let old = done.popLast() else { return }
    byteCount += entry.byteCount - old.byteCount
    undone.append(entry)
  }

  mutating func didRedo(_ entry: UndoEntry) {
    typed = nil
    guard let old = undone.popLast() else { return }
    byteCount += entry.byteCount - old.byteCount
    done.append(entry)
  }
}

extension Property {
  /// Whether a write of this property can be undone by another write of the same property.
  var isUndoable: Bool {
    switch right {
    case .anyone: self != .selection && self != .purge
    case .writer: true
    case .creator, .own, .create: false
    }
  }
}

/// Undo and redo of the local member's edits, step by step. A step is one gesture, or the gestures between `beginStep`
/// and `endStep`, or text that is typed without a pause (`TextObject.type(replacing:with:)`). Undo restores a cell only
/// if the step's write is still the last write of the cell, so undo never overwrites another member's write.
/// Selections, chat lines, moves of games and purges are not steps. Neither undo nor redo deletes an object that
/// another member has changed since the step (BRD-40), or a game in which moves were made. Changes of an object that is
/// deleted are left out, because they would not be visible. If nothing of a step can be restored, the step is skipped.
extension BoardReplica {
  /// Whether there is a step to undo.
  ///
  /// `undo` may have to skip the step.
  public var canUndo: Bool { history.latest != nil }
  /// Whether there is a step to redo.
  ///
  /// `redo` may have to skip the step.
  public var canRedo: Bool { !history.undone.isEmpty }
  /// The label of the latest step; nil if there is no step to undo.
  public var undoLabel: String? { history.latest?.label }
  /// The label of the next step to redo; nil if there is no step to redo.
  public var redoLabel: String? { history.undone.last?.label }
  /// The objects that an undo or a redo may need.
  ///
  /// If one of these objects is purged, the steps that changed it become incomplete.
  /// - Complexity: O(*n*), where *n* is the number of cells in all steps.
  public var objectsInUndo: Set<ObjectID> { history.objects }

  /// Begins a step of several gestures, such as a drag that is shown while it is in progress.
  ///
  /// A step inside a step is part of the outer step. Without a `label`, the first change determines the label of the
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
  /// Later steps that cannot be restored are skipped. Skipped steps can still be redone if that becomes possible. The
  /// restored values are written as ordinary operations. Do not call this method inside a gesture.
  ///
  /// - Throws: `nothingToUndo`; `held` or `locked` if an object cannot be changed now, in which case the step stays on
  ///   the undo stack; `boardFull`, `clockExhausted`.
  @discardableResult public func undo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.done, .undo)
  }

  /// Redoes the step that was undone last.
  ///
  /// If that step cannot be restored, the method redoes the first earlier step that can be restored.
  /// - Throws: The same errors as `undo`, and `nothingToRedo`.
  @discardableResult public func redo() throws(BoardError) -> UndoOutcome {
    history.closeStep()
    return try replayLatest(of: history.undone, .redo)
  }

  /// Undoes a step that is not on the stack; throws the same errors as `undo`, in which case nothing is changed.
  func revert(_ entry: UndoEntry) throws(BoardError) -> UndoOutcome {
    precondition(!isInGesture, "undo must not be called inside a gesture")
    leaveClaimedIncarnation()
    defer { history.discardNotes() }
    var plan = UndoPlan(entry, .undo, on: state, as: incarnation, isOwn: isOwn, &history)
    try plan.write(on: self)
    history.commitNotes()
    return plan.outcome
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
