/// One cell of one object.
struct CellKey: Hashable {
  let object: ObjectID
  let property: Property
}

/// What stands in a cell, as undo sees it.
///
/// A write that undo made to bring an earlier one back counts as that earlier one, so that the step
/// before can be undone too, and what somebody else wrote in between is never taken for ours.
enum Standing: Hashable {
  /// The object was not there yet.
  case uncreated
  /// The cell had not been written.
  case absent
  /// The value of the operation `dot`.
  case written(Dot)
}

/// One cell that a step changed, with what stood there before and after.
struct UndoItem {
  /// The contents of a cell, and the value that restores them.
  struct Side {
    let standing: Standing
    let value: Value
  }

  let object: ObjectID
  /// The cell; that of a run until its insertion is undone, then that of the deletion over it.
  var property: Property
  var before: Side
  var after: Side

  var key: CellKey { CellKey(object: object, property: property) }

  /// How many bytes it takes, about.
  var byteCount: Int {
    before.value.length + after.value.length + MemoryLayout<UndoItem>.stride
  }
}

/// One step that can be undone as a whole.
struct UndoEntry {
  /// The kind of step, in one word.
  private(set) var label: String
  private(set) var items: [UndoItem] = []

  /// Returns whether undoing the step would take away one of these objects.
  func creates(any objects: Set<ObjectID>) -> Bool {
    items.contains { item in
      item.property == .deleted && item.before.standing == .uncreated
        && objects.contains(item.object)
    }
  }
  private(set) var byteCount = 0
  /// The items by their cells, while the step goes on.
  private var places: [CellKey: Int] = [:]
  /// The objects that the step created: nothing of them is undone but that.
  private var created: Set<ObjectID> = []
  private var isLabelled: Bool

  init(label: String?) {
    self.label = label ?? ""
    isLabelled = label != nil
  }

  /// Says what the step is, where nothing was said yet and nothing has changed.
  mutating func call(_ name: String?) {
    guard let name, !isLabelled, items.isEmpty else { return }
    label = name
    isLabelled = true
  }

  /// Forgets what only further gestures of the step would need.
  mutating func close() {
    places = [:]
    created = []
  }

  /// Takes in what was typed after; no cell is in both, since what is typed goes into new ones.
  mutating func join(_ later: UndoEntry) {
    items += later.items
    byteCount += later.byteCount
  }

  mutating func replaceItem(at index: Int, with item: UndoItem) {
    byteCount += item.byteCount - items[index].byteCount
    items[index] = item
  }

  /// Records an object that the step created.
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

  /// Records a write; of several writes to one cell, only the first and the last values count.
  mutating func addWrite(_ item: UndoItem) {
    // What a new object holds goes and comes with it.
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
    // Where somebody else wrote in between, the step goes back to what he wrote and no further.
    let known = items[place]
    let isContinued = known.after.standing == item.before.standing
    var merged = item
    if isContinued { merged.before = known.before }
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
    default:
      switch item.property.number {
      case Property.runNumber, Property.deletionNumber: "text"
      case Property.erasureNumber: "erase"
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
