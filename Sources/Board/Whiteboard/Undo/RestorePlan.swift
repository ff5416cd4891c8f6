/// The writes that restore an earlier state of a board. If this replica has the right to change an existing object
/// back, the object is changed. If not, or if the object was purged, a new object is created. The cell
/// `Property.replaces` of the new object names the old object.
struct RestorePlan {
  /// An existing object, or a new object that replaces the object with this id.
  enum Place: Hashable {
    case here(ObjectID)
    case anew(ObjectID)
  }

  enum Change {
    case create(ObjectKind)
    case write(Property, Value)
    case run(Value)
    case append(String)
    case deletion(Value)
    case erasure(Value)

    /// An upper bound of the number of bytes in the values that the change writes.
    var length: Int {
      switch self {
      case .create: 0
      case .write(_, let value), .run(let value), .deletion(let value), .erasure(let value): value.length
      // The characters of a text object, each with a reference to the character that it follows.
      case .append(let text): text.utf8.count + 32
      }
    }
  }

  /// The changes in order; objects are created before other changes refer to them.
  private(set) var changes: [(place: Place, change: Change)] = []
  private var places: [ObjectID: Place] = [:]

  private let present: BoardState
  private let earlier: BoardState
  private let incarnation: Incarnation

  init(replacing id: ObjectID, _ record: ObjectRecord, as incarnation: Incarnation) throws(BoardError) {
    (present, earlier, self.incarnation) = (BoardState(), BoardState(), incarnation)
    try make(record, insteadOf: id, at: .anew(id))
  }

  init(from present: BoardState, to earlier: BoardState, as incarnation: Incarnation) throws(BoardError) {
    self.present = present
    self.earlier = earlier
    self.incarnation = incarnation
    let wanted = Self.content(of: earlier)
    let standIns = Self.standIns(in: present, unknownTo: earlier)
    for id in wanted {
      let usable = [id, standIns[id]].compactMap { $0 }.first { canBecome(id, $0) }
      places[id] = usable.map { .here($0) } ?? .anew(id)
    }
    for id in wanted where places[id] == .anew(id) {
      guard let kind = earlier.record(id)?.kind else { continue }
      changes.append((.anew(id), .create(kind)))
    }
    let kept = Set(places.values)
    for id in Self.content(of: present) where !kept.contains(.here(id)) {
      changes.append((.here(id), .write(.deleted, .unsigned(1))))
    }
    for id in wanted {
      guard let old = earlier.record(id), let place = places[id] else { continue }
      if case .here(let here) = place, let now = present.record(here) {
        try change(now, to: old, at: place)
      } else {
        try make(old, insteadOf: id, at: place)
      }
    }
  }

  /// Returns the ids of all visible objects except chat lines, including groups and settings, in ascending order.
  private static func content(of state: BoardState) -> [ObjectID] {
    state.records.keys.filter { state.isVisible($0) && state.record($0)?.kind != .chat }.sorted()
  }

  private static func standIns(in present: BoardState, unknownTo earlier: BoardState) -> [ObjectID: ObjectID] {
    var result: [ObjectID: ObjectID] = [:]
    for id in present.records.keys.sorted() {
      guard case .dot(let dot)? = present.record(id)?[.replaces]?.value, earlier.record(id) == nil,
        result[ObjectID(dot)] == nil
      else { continue }
      result[ObjectID(dot)] = id
    }
    return result
  }

  /// Returns whether local writes can make the object `here` equal to the object `id` of the earlier state.
  private func canBecome(_ id: ObjectID, _ here: ObjectID) -> Bool {
    guard let old = earlier.record(id), let now = present.record(here), now.kind == old.kind else { return false }
    // A replacement must already have equal values in the cells that only the creator may write, because these cells
    // cannot be written again.
    if here != id, Self.creation(of: old, movedFrom: id, to: here) != Self.creation(of: now) { return false }
    let wanted = Set(Self.erasures(of: old).map { $0.value })
    return Self.erasures(of: now).allSatisfy {
      wanted.contains($0.value) || $0.property.dot?.incarnation == incarnation
    }
  }

  /// Returns the cells that only the creator of an object may write, without the cell `replaces`.
  private static func creation(of record: ObjectRecord) -> [Property: Value] {
    var result: [Property: Value] = [:]
    for entry in record.entries where entry.property.right == .creator && entry.property != .replaces {
      result[entry.property] = entry.cell.value
    }
    return result
  }

  /// Returns the cells that only the creator of an object may write, as they are in the object `new` that replaces
  /// `old`.
  private static func creation(of record: ObjectRecord, movedFrom old: ObjectID, to new: ObjectID) -> [Property: Value]
  {
    var cells = creation(of: record)
    if let setup = cells[.setup] { cells[.setup] = moved(setup, from: old, to: new) }
    return cells
  }

  /// Returns the setup of a game for its replacement. The answer of a Wordle is encrypted for one object (GAM-5).
  private static func moved(_ setup: Value, from old: ObjectID, to new: ObjectID) -> Value {
    guard case .bytes(let bytes) = setup else { return setup }
    return .bytes(Wordle.setup(bytes, of: old, movedTo: new))
  }

  private static func erasures(of record: ObjectRecord) -> [(property: Property, value: Value)] {
    record.entries(of: Property.erasureNumber, upTo: .max).filter { $0.cell.value != .none }.map {
      ($0.property, $0.cell.value)
    }
  }

  /// Returns whether a restore writes back the old value of a property. Deletions, and properties that undo skips, are
  /// excluded.
  private static func isPlain(_ property: Property) -> Bool {
    property.right == .anyone && property.isUndoable && property != .deleted
  }

  // MARK: - Changing existing objects

  private mutating func change(_ now: ObjectRecord, to old: ObjectRecord, at place: Place) throws(BoardError) {
    if now.isDeleted { changes.append((place, .write(.deleted, .unsigned(0)))) }
    for property in Set(now.entries.map { $0.property }).union(old.entries.map { $0.property }).sorted()
    where Self.isPlain(property) {
      let value = resolved(old[property]?.value ?? .none, of: property)
      if now[property]?.value ?? .none != value { changes.append((place, .write(property, value))) }
    }
    let (before, after) = (Self.erasures(of: old), Self.erasures(of: now))
    for (property, value) in after where !before.contains(where: { $0.value == value }) {
      changes.append((place, .write(property, .none)))
    }
    for value in Set(before.map { $0.value }).subtracting(after.map { $0.value }).sorted(by: Self.precedes) {
      changes.append((place, .erasure(value)))
    }
    if old.hasText { try changeText(now, to: old.text, at: place) }
  }

  /// If the value names an object, such as a group, whose replacement already exists, returns a value that names the
  /// replacement.
  private func resolved(_ value: Value, of property: Property) -> Value {
    Self.naming(value, of: property) { id in if case .here(let here)? = places[id] { here } else { nil } }
  }

  /// If the value names an object that has a replacement, returns a value that names the replacement.
  private static func naming(_ value: Value, of property: Property, _ replacement: (ObjectID) -> ObjectID?) -> Value {
    switch property {
    case .group, .frame, .about:
      guard case .dot(let dot) = value, let id = replacement(ObjectID(dot)) else { return value }
      return .dot(id.dot)
    case .startBinding, .endBinding:
      guard let binding = Binding(value), let id = replacement(binding.target) else { return value }
      return Binding(to: id, at: binding.anchor, isExact: binding.isExact).value
    default: return value
    }
  }

  private static func precedes(_ lhs: Value, _ rhs: Value) -> Bool {
    guard case .bytes(let left) = lhs, case .bytes(let right) = rhs else { return lhs.shape < rhs.shape }
    return left.lexicographicallyPrecedes(right)
  }

  private mutating func changeText(_ now: ObjectRecord, to text: String, at place: Place) throws(BoardError) {
    let tree = TextTree(now)
    let edit = tree.leastEdit(to: text)
    for deletion in tree.deletions(of: edit.range) {
      changes.append((place, .deletion(TextTree.encodeDeletion(deletion))))
    }
    guard !edit.words.isEmpty else { return }
    guard tree.elementCount + edit.words.unicodeScalars.count <= BoardLimits.textElements else {
      throw .tooLong("text")
    }
    try insert(edit.words, at: tree.anchor(at: edit.range.lowerBound), of: place)
  }

  private mutating func insert(_ text: String, at anchor: TextTree.Anchor, of place: Place) throws(BoardError) {
    let run = TextTree.encodeRun(text, at: anchor)
    // The inserted text must fit in one run, but text that several members typed may be longer.
    guard run.length <= BoardLimits.valueBytes else { throw .tooLong("text") }
    changes.append((place, .run(run)))
  }

  // MARK: - Creating objects again

  private mutating func make(_ old: ObjectRecord, insteadOf id: ObjectID, at place: Place) throws(BoardError) {
    changes.append((place, .write(.replaces, .dot(id.dot))))
    for entry in old.entries where entry.cell.value != .none {
      let property = entry.property
      if Self.isPlain(property) || property.right == .creator && property != .replaces {
        changes.append((place, .write(property, resolved(entry.cell.value, of: property))))
      }
    }
    for (_, value) in Self.erasures(of: old) { changes.append((place, .erasure(value))) }
    // Split the text into runs, because text that several members typed may be too long for one run.
    let scalars = Array((old.hasText ? old.text : "").unicodeScalars)
    for start in stride(from: 0, to: scalars.count, by: BoardLimits.textBytes) {
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars[start..<min(scalars.count, start + BoardLimits.textBytes)])
      changes.append((place, .append(String(text))))
    }
  }
}

extension RestorePlan {
  var createdCount: Int {
    changes.reduce(0) { count, next in if case .create = next.change { count + 1 } else { count } }
  }

  func requireWritable(on board: BoardReplica) throws(BoardError) {
    for case (.here(let id), let change) in changes {
      let property: Property = if case .write(let property, _) = change { property } else { .kind }
      try board.requireChangeable(id, property, isUnlocked: false)
    }
    try board.requireRoom(values: changes.map { $0.change.length })
  }

  func write(on board: BoardReplica) throws(BoardError) -> RestoreOutcome {
    var replaced: [ObjectID: ObjectID] = [:]
    var changed: Set<ObjectID> = []
    var deleted: Set<ObjectID> = []
    for run in changes.batches(length: { $0.change.length }) {
      try board.gesture { () throws(BoardError) in
        for (place, change) in run {
          switch (place, change) {
          case (.anew(let old), .create(let kind)): replaced[old] = try board.create(kind)
          case (.anew(let old), _):
            guard let id = replaced[old] else {
              preconditionFailure("the replacement object is created before it is changed")
            }
            try Self.stage(change, of: id, insteadOf: old, on: board, replaced)
          case (.here(let id), .write(.deleted, .unsigned(1))):
            deleted.insert(id)
            try Self.stage(change, of: id, on: board, replaced)
          case (.here(let id), _):
            changed.insert(id)
            try Self.stage(change, of: id, on: board, replaced)
          }
        }
      }
    }
    return RestoreOutcome(changed: changed.sorted(), deleted: deleted.sorted(), replaced: replaced)
  }

  static func stage(
    _ change: Change,
    of id: ObjectID,
    insteadOf old: ObjectID? = nil,
    on board: BoardReplica,
    _ replaced: [ObjectID: ObjectID] = [:]
  ) throws(BoardError) {
    switch change {
    case .create: preconditionFailure("a plan never creates an object that already exists")
    case .write(.setup, let value): try board.stage(id, .setup, old.map { moved(value, from: $0, to: id) } ?? value)
    case .write(let property, let value):
      try board.stage(id, property, naming(value, of: property) { replaced[$0] })
    case .run(let value): try board.stage(id, .run(board.nextDot()), value)
    case .append(let text):
      let tree = TextTree(board.state.record(id) ?? ObjectRecord())
      try board.stageRun(text, at: tree.anchor(at: tree.scalars.count), of: id)
    case .deletion(let value): try board.stage(id, .deletion(board.nextDot()), value)
    case .erasure(let value): try board.stage(id, .erasure(board.nextDot()), value)
    }
  }
}

/// The result of a restore.
///
/// A restore is one undo step.
public struct RestoreOutcome: Hashable, Sendable {
  /// The objects that were changed or undeleted, in ascending order of id.
  public internal(set) var changed: [ObjectID] = []
  /// The objects that were deleted because they are newer than the restored state, in ascending order of id.
  public internal(set) var deleted: [ObjectID] = []
  /// The objects that were created again, by the ids of the purged objects that they replace.
  public internal(set) var replaced: [ObjectID: ObjectID] = [:]
}
