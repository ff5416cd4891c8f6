struct CellKey: Hashable {
  let object: ObjectID
  let property: Property
}

/// The write that a cell's present value comes from. If undo restores an earlier write, the cell counts as written by
/// that earlier write. Therefore earlier steps can be undone too, and another member's write is never mistaken for a
/// local write.
enum Standing: Hashable {
  case uncreated
  case absent
  case written(Dot)
}

struct UndoItem {
  /// The state of a cell, and the value that restores it.
  struct Side {
    let standing: Standing
    let value: Value
  }

  let object: ObjectID
  /// The changed property. For inserted text, this is the property of the inserted run and, after an undo, the property
  /// of the run's deletion.
  var property: Property
  var before: Side
  var after: Side
  /// The latest write of each incarnation to an object before the step, as a sequence number; only for an item that
  /// deletes or restores the object. After an undo or redo of the step, the latest writes before that undo or redo.
  /// Empty if the step created the object.
  var writes: [Incarnation: UInt64] = [:]

  var key: CellKey { CellKey(object: object, property: property) }

  /// Whether an undo or a redo deletes an object that the step did not create.
  var deletesAgain: Bool { property == .deleted && before.standing != .uncreated }

  var byteCount: Int {
    before.value.length + after.value.length + MemoryLayout<UndoItem>.stride + writes.count * MemoryLayout<Dot>.stride
  }
}

struct UndoEntry {
  /// The label of the step, such as `move`.
  private(set) var label: String
  private(set) var items: [UndoItem] = []
  private(set) var byteCount = 0
  /// The index in `items` of each cell, while the step is in progress.
  private var places: [CellKey: Int] = [:]
  /// Undo reverts only the creation of these objects, not their cells.
  private var created: Set<ObjectID> = []
  private var isLabelled: Bool

  init(label: String?) {
    self.label = label ?? ""
    isLabelled = label != nil
  }

  mutating func call(_ name: String?) {
    guard let name, !isLabelled, items.isEmpty else { return }
    label = name
    isLabelled = true
  }

  /// Discards the data that is needed only while the step is in progress.
  mutating func close() {
    places = [:]
    created = []
  }

  /// Appends the changes of a later typing step. The steps have no cell in common, because typing writes new cells.
  mutating func join(_ later: UndoEntry) {
    items += later.items
    byteCount += later.byteCount
  }

  mutating func replaceItem(at index: Int, with item: UndoItem) {
    byteCount += item.byteCount - items[index].byteCount
    items[index] = item
  }

  mutating func addCreation(of id: ObjectID, kind: ObjectKind) {
    created.insert(id)
    if items.isEmpty, !isLabelled { label = kind.name }
    add(
      UndoItem(
        object: id,
        property: .deleted,
        before: .init(standing: .uncreated, value: .unsigned(1)),
        after: .init(standing: .absent, value: .unsigned(0))
      )
    )
  }

  /// If a cell is written several times, only the state before the first write and the last value are recorded.
  mutating func addWrite(_ item: UndoItem) {
    // The cells of a new object are removed and restored together with the object.
    if created.contains(item.object), item.property != .deleted { return }
    if items.isEmpty, !isLabelled { label = Self.label(of: item) }
    add(item)
  }

  private mutating func add(_ item: UndoItem) {
    guard let place = places[item.key] else {
      places[item.key] = items.count
      items.append(item)
      byteCount += item.byteCount
      return
    }
    // If another member wrote the cell in between, undo restores that member's value.
    let known = items[place]
    let isContinued = known.after.standing == item.before.standing
    var merged = item
    if isContinued { (merged.before, merged.writes) = (known.before, known.writes) }
    replaceItem(at: place, with: merged)
  }

  private static func label(of item: UndoItem) -> String {
    switch item.property {
    case .position: "move"
    case .scale: "scale"
    case .angle: "rotate"
    case .deleted: item.after.value == .unsigned(0) ? "undelete" : "delete"
    case .size: "resize"
    case .zIndex: "order"
    case .color: "color"
    case .lineWidth: "line width"
    case .group: "group"
    case .lock: item.after.value == .unsigned(1) ? "lock" : "unlock"
    case let setting where setting.isSetting: "settings"
    case .startBinding, .endBinding: "connection"
    case .link: "link"
    case .frame: "frame"
    case .crop: "crop"
    case .flip: "flip"
    case .resolved: "comment"
    case let look where Property.looks.contains(look): "style"
    default:
      switch item.property.number {
      case Property.runNumber, Property.deletionNumber: "text"
      case Property.erasureNumber: "erase"
      case Property.voteNumber: "vote"
      case Property.pointNumber: "points"
      default: "change"
      }
    }
  }
}

extension Property {
  package static let runNumber: UInt16 = 128
  static let deletionNumber: UInt16 = 129
  static let erasureNumber: UInt16 = 130
  static let inkNumber: UInt16 = 64
}

/// The answer to a catch-up request: everything that the other replica lacks.
public struct Difference: Hashable, Sendable {
  /// The cells of one object that the other replica lacks.
  public struct Entry: Hashable, Sendable {
    /// The id of the object.
    public let object: ObjectID
    /// The cells of the object that the other replica lacks, in ascending order of property.
    public var cells: [PropertyCell]

    /// Creates an entry for an object.
    public init(object: ObjectID, cells: [PropertyCell] = []) {
      self.object = object
      self.cells = cells
    }
  }

  /// The context of the replica that sent the answer.
  public var context: Context
  /// The ids of the sender's objects.
  ///
  /// An id in `context` that is missing in this set was purged.
  public var living = DotSet()
  /// The cells that the other replica lacks, in ascending order of object id.
  public var entries: [Entry] = []

  /// Creates an answer with a context and no cells.
  public init(context: Context) { self.context = context }

  /// Returns the answer without dots after the given sequence numbers. In the result, objects with a removed dot are
  /// neither living nor purged.
  package func limited(to last: [Incarnation: UInt64]) -> Difference {
    var limited = self
    for (incarnation, last) in last {
      _ = limited.context.removeAll(after: last, of: incarnation)
      _ = limited.living.removeAll(after: last, of: incarnation)
    }
    for index in limited.entries.indices { limited.entries[index].cells.removeAll { !$0.cell.dot.isWithin(last) } }
    limited.entries.removeAll(where: { $0.cells.isEmpty })
    return limited
  }

  /// Returns the answer without the operations of some incarnations, and without the objects that these incarnations
  /// created.
  func without(_ retired: Set<Incarnation>) -> Difference {
    let named = Set(context.incarnations.filter(retired.contains))
    let isAny = entries.contains { retired.contains($0.object.dot.incarnation) }
    guard isAny || !named.isEmpty else { return self }
    var rest = self
    rest.context.removeAll(of: named)
    rest.living.removeAll(of: named)
    for index in rest.entries.indices {
      rest.entries[index].cells.removeAll { retired.contains($0.cell.dot.incarnation) }
    }
    rest.entries.removeAll { $0.cells.isEmpty || retired.contains($0.object.dot.incarnation) }
    return rest
  }

  /// Throws an error if parts of the answer contradict each other, as no correct replica's answer does.
  package func validate() throws(CodecError) {
    guard context.isSuperset(of: living) else { throw .inconsistent("living") }
    for entry in entries {
      guard living.contains(entry.object.dot) || !context.contains(entry.object.dot) else {
        throw .inconsistent("purged object")
      }
      for index in entry.cells.indices {
        let (property, cell) = (entry.cells[index].property, entry.cells[index].cell)
        guard context.contains(cell.dot) else { throw .inconsistent("cell beyond the context") }
        guard !property.isPurge else { throw .reserved("purge") }
        try Operation.validate(entry.object, property, cell.value, as: cell.dot)
      }
    }
  }
}
