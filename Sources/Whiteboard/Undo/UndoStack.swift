/// The steps of one person on one board that can be undone and redone.
///
/// Nothing of it is shared or stored: an undo is an ordinary write.
struct UndoStack {
  /// How many steps are kept; the oldest goes first.
  static let steps = 1000
  /// How many bytes all the steps take at most, about; the latest step is kept whatever it takes.
  static let bytes = 16 << 20

  /// Milliseconds without typing after which what is typed is another step.
  static let typingPause: UInt64 = 1000

  /// The steps that can be undone, the latest last.
  private(set) var done: [UndoEntry] = []
  /// The steps that can be redone, the next one last.
  private(set) var undone: [UndoEntry] = []
  /// Whether gestures are those of undo itself, which make no steps.
  var isReplaying = false

  private var open: UndoEntry?
  private var depth = 0
  private var byteCount = 0
  /// The text that the current gesture types into, and the time.
  private var typing: Typing?
  /// The same of the latest step.
  private var typed: Typing?
  /// Of cells that undo wrote last: by which operation, and what that brought back.
  private var standings: [CellKey: (winner: Dot?, standing: Standing)] = [:]
  /// What stood there before each note of the undo under way, to take the notes back.
  private var replaced: [(key: CellKey, known: (winner: Dot?, standing: Standing)?)] = []

  /// A user's typing into a text.
  private struct Typing {
    let text: ObjectID
    let time: UInt64

    /// Whether it goes on with what was typed before; a clock that was set back begins anew.
    func continues(_ earlier: Typing) -> Bool {
      text == earlier.text && time >= earlier.time && time - earlier.time <= UndoStack.typingPause
    }
  }

  /// Returns the contents of a cell.
  func standing(of key: CellKey, in state: borrowing BoardState) -> Standing {
    let winner = state.record(key.object)?[key.property]?.dot
    if let known = standings[key], known.winner == winner { return known.standing }
    return winner.map { .written($0) } ?? .absent
  }

  /// Records that the operation `winner`, or none, restored the contents of a cell.
  mutating func note(_ standing: Standing, by winner: Dot?, at key: CellKey) {
    replaced.append((key, standings[key]))
    standings[key] = (winner, standing)
  }

  /// Keeps the notes of the undo under way.
  mutating func keepNotes() { replaced = [] }

  /// Takes back the notes of the undo under way, whose steps stay where they are.
  mutating func takeBackNotes() {
    for (key, known) in replaced.reversed() { standings[key] = known }
    replaced = []
  }

  // MARK: - Steps

  /// The latest step, the one that goes on included.
  var latest: UndoEntry? { open.flatMap { $0.items.isEmpty ? nil : $0 } ?? done.last }

  /// The objects that a step touches.
  var objects: Set<ObjectID> {
    var objects: Set<ObjectID> = []
    for entry in done + undone + (open.map { [$0] } ?? []) {
      for item in entry.items { objects.insert(item.object) }
    }
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

  /// Ends the step that goes on, if any.
  mutating func closeStep() {
    depth = 0
    guard let entry = open else { return }
    open = nil
    push(entry)
  }

  /// Has the next gesture go on with the latest step, where that was typed into the same text just
  /// before.
  mutating func beginTyping(into text: ObjectID, at time: UInt64) {
    typing = Typing(text: text, time: time)
  }

  /// Makes later gestures separate steps.
  mutating func endTyping() { typing = nil }

  /// Records a gesture that is about to be applied to `state`.
  mutating func record(_ batches: [Batch], over state: borrowing BoardState, label: String?) {
    guard !isReplaying else { return }
    let isAlone = open == nil
    var entry = open ?? UndoEntry(label: label)
    entry.call(label)
    // So that the entry is not copied at each gesture of a long step.
    open = nil
    // Chat is not taken back, and what is purged cannot be.
    let written = batches.flatMap { batch in
      batch.operations.enumerated().map { (batch.dot(at: $0.offset), $0.element) }
    }
    // Without what replaces a purged object, nothing would be left of that.
    let purged = Set(written.lazy.filter { $0.1.property.isPurge }.map(\.1.object))
    var left = Set(
      written.lazy.filter { _, operation in
        guard operation.property == .replaces, case .dot(let dot) = operation.value else {
          return false
        }
        return purged.contains(ObjectID(dot))
      }
      .map(\.1.object)
    )
    for (dot, operation) in written {
      let id = operation.object
      switch (operation.property, operation.value) {
      case (.purge, _): left.insert(id)
      case (.kind, .unsigned(ObjectKind.chat.rawValue)): left.insert(id)
      // Others' settings may come to stand on it: each setting is taken back by itself.
      case (.kind, .unsigned(ObjectKind.settings.rawValue)): break
      case (.kind, _) where left.contains(id): break
      case (.kind, .unsigned(let number)):
        entry.addCreation(of: id, kind: ObjectKind(rawValue: number))
      default:
        guard !left.contains(id), state.record(id)?.kind != .chat,
          let item = item(for: operation, dot: dot, over: state)
        else { continue }
        entry.addWrite(item)
      }
    }
    if isAlone { push(entry) } else { open = entry }
  }

  private func item(
    for operation: Operation,
    dot: Dot,
    over state: borrowing BoardState
  ) -> UndoItem? {
    let property = operation.property
    let key = CellKey(object: operation.object, property: property)
    let after = UndoItem.Side(standing: .written(dot), value: operation.value)
    if property.number == Property.runNumber {
      guard case .bytes(let bytes) = operation.value,
        let text = try? TextTree.decodeRun(bytes).1
      else { return nil }
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
      after: after
    )
  }

  private mutating func push(_ closing: UndoEntry) {
    // A selection, a chat line or a move of a game is no step, and what was undone stays redoable.
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
    while done.count - surplus > Self.steps
      || (byteCount > Self.bytes && done.count - surplus > 1)
    {
      byteCount -= done[surplus].byteCount
      surplus += 1
    }
    done.removeFirst(surplus)
    forgetStandings()
  }

  /// Forgets what undo wrote to cells that no step names any more, once they are many.
  private mutating func forgetStandings() {
    let named = done.reduce(0) { $0 + $1.items.count }
    guard standings.count > 2 * named + 64 else { return }
    let keys = Set(done.lazy.flatMap { $0.items.lazy.map(\.key) })
    standings = standings.filter { keys.contains($0.key) }
  }

  /// Puts the step that was undone where it can be redone.
  mutating func didUndo(_ entry: UndoEntry) {
    typed = nil
    guard let old = done.popLast() else { return }
    byteCount += entry.byteCount - old.byteCount
    undone.append(entry)
  }

  /// Puts the step that was redone where it can be undone.
  mutating func didRedo(_ entry: UndoEntry) {
    typed = nil
    guard let old = undone.popLast() else { return }
    byteCount += entry.byteCount - old.byteCount
    done.append(entry)
  }
}

extension Property {
  /// Whether a write of this property can be taken back by another write of it.
  var isUndoable: Bool {
    switch right {
    case .anyone: self != .selection && self != .purge
    case .writer: true
    case .creator, .own, .create: false
    }
  }
}
