/// The visible settings objects of a board, and their cells of each setting in the order of their
/// stamps (BRD-28).
///
/// Any member may create settings objects. With the index, reading or writing a setting costs the
/// same however many there are: O(log *n*) in them.
struct SettingsIndex: Sendable {
  private struct Entry: Sendable {
    let object: ObjectID
    let cell: Cell

    /// Whether the cell loses to that of another entry.
    func isBefore(_ other: Entry) -> Bool {
      if other.cell.beats(cell) { return true }
      return object < other.object && !cell.beats(other.cell)
    }
  }

  /// The cells of one setting: those of the shape that it has, and the others.
  private struct Cells: Sendable {
    var legal = ChunkedSortedArray<Entry>()
    var others = ChunkedSortedArray<Entry>()
  }

  /// The settings of a board.
  static let properties: [Property] = [.title, .background, .grid, .language]

  /// The ids of the objects, ascending.
  private(set) var objects = ChunkedSortedArray<ObjectID>()
  private var cells = Array(repeating: Cells(), count: SettingsIndex.properties.count)

  /// Returns the cell of a setting that counts: the greatest one whose value has the shape of the
  /// setting, or nil.
  func winner(_ property: Property) -> Cell? {
    Self.properties.firstIndex(of: property).flatMap { cells[$0].legal.last?.cell }
  }

  /// Returns the greatest cell of a setting, whatever its shape, or nil.
  func latest(_ property: Property) -> Cell? {
    guard let index = Self.properties.firstIndex(of: property) else { return nil }
    guard let other = cells[index].others.last?.cell else { return cells[index].legal.last?.cell }
    guard let legal = cells[index].legal.last?.cell else { return other }
    return legal.beats(other) ? legal : other
  }

  /// Adds an object, if users see it and it is a settings object.
  mutating func insert(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.insert(id, at: objects.position { $0 < id })
    update(id, record) { pieces, entry in
      pieces.insert(entry, at: pieces.position { $0.isBefore(entry) })
    }
  }

  /// Removes an object that was added with these cells.
  mutating func remove(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.remove(at: objects.position { $0 < id })
    update(id, record) { pieces, entry in
      pieces.remove(at: pieces.position { $0.isBefore(entry) })
    }
  }

  private mutating func update(
    _ id: ObjectID,
    _ record: ObjectRecord,
    _ body: (inout ChunkedSortedArray<Entry>, Entry) -> Void
  ) {
    for (index, property) in Self.properties.enumerated() {
      guard let cell = record[property] else { continue }
      let entry = Entry(object: id, cell: cell)
      if cell.value.shape == property.settingShape {
        body(&cells[index].legal, entry)
      } else {
        body(&cells[index].others, entry)
      }
    }
  }
}

extension Property {
  /// The shape of the values of a setting, or nil if the property is none.
  fileprivate var settingShape: UInt8? {
    switch self {
    case .title, .language: Value.text("").shape
    case .background, .grid: Value.unsigned(0).shape
    default: nil
    }
  }

  /// Whether the property, on a settings object, is a setting of the board.
  package var isSetting: Bool { settingShape != nil }

  /// Whether a write may change what the indexes of the settings and the groups have of an object.
  var concernsIndexes: Bool {
    switch number {
    case Property.deleted.number, Property.kind.number, Property.group.number,
      Property.title.number...Property.language.number:
      true
    default: false
    }
  }
}
