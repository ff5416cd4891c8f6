/// What has to be written so that a board reads as an earlier state of it did.
///
/// What can be put back is put back. What was purged, or what only others could put back, is made
/// anew and names what it stands for (`Property.replaces`).
struct RestorePlan {
  /// An object on the board, or one still to be made in place of another.
  enum Place: Hashable {
    case here(ObjectID)
    case anew(ObjectID)
  }

  /// One operation.
  enum Change {
    case create(ObjectKind)
    case write(Property, Value)
    case run(Value)
    case append(String)
    case deletion(Value)
    case erasure(Value)

    /// How many bytes it writes.
    var length: Int {
      switch self {
      case .create: 0
      case .write(_, let value), .run(let value), .deletion(let value), .erasure(let value):
        value.length
      // The characters, and the one that they follow.
      case .append(let text): text.utf8.count + 32
      }
    }
  }

  /// The operations in order; objects are made before anything names them.
  private(set) var changes: [(place: Place, change: Change)] = []
  /// The current positions of the objects of the earlier state.
  private var places: [ObjectID: Place] = [:]

  private let present: BoardState
  private let earlier: BoardState
  private let incarnation: Incarnation

  /// Creates a plan that replaces one object with a new one.
  init(
    replacing id: ObjectID,
    _ record: ObjectRecord,
    as incarnation: Incarnation
  ) throws(BoardError) {
    (present, earlier, self.incarnation) = (BoardState(), BoardState(), incarnation)
    try make(record, insteadOf: id, at: .anew(id))
  }

  /// - Throws: `tooLong` if a text has no room for its old words.
  init(
    from present: BoardState,
    to earlier: BoardState,
    as incarnation: Incarnation
  ) throws(BoardError) {
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

  /// Returns everything that users see except the chat, including groups and settings, by ascending
  /// id.
  private static func content(of state: BoardState) -> [ObjectID] {
    state.records.keys.filter { state.isVisible($0) && state.record($0)?.kind != .chat }.sorted()
  }

  /// Returns the objects that earlier restores made as replacements.
  private static func standIns(
    in present: BoardState,
    unknownTo earlier: BoardState
  ) -> [ObjectID: ObjectID] {
    var result: [ObjectID: ObjectID] = [:]
    for id in present.records.keys.sorted() {
      guard case .dot(let dot)? = present.record(id)?[.replaces]?.value,
        earlier.record(id) == nil, result[ObjectID(dot)] == nil
      else { continue }
      result[ObjectID(dot)] = id
    }
    return result
  }

  /// Whether writes of ours can make the object `here` read as `id` did.
  private func canBecome(_ id: ObjectID, _ here: ObjectID) -> Bool {
    guard let old = earlier.record(id), let now = present.record(here), now.kind == old.kind else {
      return false
    }
    // Of another object what its creator wrote has to be the same; nobody writes that later.
    if here != id, Self.creation(of: old) != Self.creation(of: now) { return false }
    let wanted = Set(Self.erasures(of: old).map(\.value))
    return Self.erasures(of: now).allSatisfy {
      wanted.contains($0.value) || $0.property.dot?.incarnation == incarnation
    }
  }

  /// What only its creator writes, but what the object stands for.
  private static func creation(of record: ObjectRecord) -> [Property: Value] {
    var result: [Property: Value] = [:]
    for entry in record.entries
    where entry.property.right == .creator && entry.property != .replaces {
      result[entry.property] = entry.cell.value
    }
    return result
  }

  private static func erasures(
    of record: ObjectRecord
  ) -> [(property: Property, value: Value)] {
    record.entries(of: Property.erasureNumber, upTo: .max)
      .filter { $0.cell.value != .none }
      .map { ($0.property, $0.cell.value) }
  }

  /// Whether a restore puts a property back as it was: not what undo leaves alone, nor deletion.
  private static func isPlain(_ property: Property) -> Bool {
    property.right == .anyone && property.isUndoable && property != .deleted
  }

  // MARK: - What is here

  private mutating func change(
    _ now: ObjectRecord,
    to old: ObjectRecord,
    at place: Place
  ) throws(BoardError) {
    if now.isDeleted { changes.append((place, .write(.deleted, .unsigned(0)))) }
    for property in Set(now.entries.map(\.property)).union(old.entries.map(\.property)).sorted()
    where Self.isPlain(property) {
      let value = resolved(old[property]?.value ?? .none, of: property)
      if now[property]?.value ?? .none != value {
        changes.append((place, .write(property, value)))
      }
    }
    let (before, after) = (Self.erasures(of: old), Self.erasures(of: now))
    for (property, value) in after where !before.contains(where: { $0.value == value }) {
      changes.append((place, .write(property, .none)))
    }
    for value in Set(before.map(\.value)).subtracting(after.map(\.value)).sorted(by: Self.precedes)
    {
      changes.append((place, .erasure(value)))
    }
    if old.kind == .text { try changeText(now, to: old.text, at: place) }
  }

  /// The value, where it names a group that has a stand-in here with that one's name.
  ///
  /// A group that is still to be made goes by its old name, which nothing here has.
  private func resolved(_ value: Value, of property: Property) -> Value {
    guard property == .group, case .dot(let dot) = value,
      case .here(let id)? = places[ObjectID(dot)]
    else { return value }
    return .dot(id.dot)
  }

  private static func precedes(_ lhs: Value, _ rhs: Value) -> Bool {
    guard case .bytes(let left) = lhs, case .bytes(let right) = rhs else {
      return lhs.shape < rhs.shape
    }
    return left.lexicographicallyPrecedes(right)
  }

  private mutating func changeText(
    _ now: ObjectRecord,
    to text: String,
    at place: Place
  ) throws(BoardError) {
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

  private mutating func insert(
    _ text: String,
    at anchor: TextTree.Anchor,
    of place: Place
  ) throws(BoardError) {
    let run = TextTree.encodeRun(text, at: anchor)
    // A text that several members typed may be longer than one run can hold.
    guard run.length <= BoardLimits.valueBytes else { throw .tooLong("text") }
    changes.append((place, .run(run)))
  }

  // MARK: - What is not

  private mutating func make(
    _ old: ObjectRecord,
    insteadOf id: ObjectID,
    at place: Place
  ) throws(BoardError) {
    changes.append((place, .write(.replaces, .dot(id.dot))))
    for entry in old.entries where entry.cell.value != .none {
      let property = entry.property
      if Self.isPlain(property) || property.right == .creator && property != .replaces {
        changes.append((place, .write(property, resolved(entry.cell.value, of: property))))
      }
    }
    for (_, value) in Self.erasures(of: old) { changes.append((place, .erasure(value))) }
    // What several people typed may be more than one run holds.
    let scalars = Array((old.kind == .text ? old.text : "").unicodeScalars)
    for start in stride(from: 0, to: scalars.count, by: BoardLimits.textBytes) {
      var text = String.UnicodeScalarView()
      text.append(contentsOf: scalars[start..<min(scalars.count, start + BoardLimits.textBytes)])
      changes.append((place, .append(String(text))))
    }
  }
}
