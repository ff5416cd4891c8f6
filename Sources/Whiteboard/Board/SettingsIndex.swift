/// An index of the visible settings objects of a board, with the cells of each setting sorted by stamp (BRD-28).
///
/// Any member may create settings objects. With the index, reading or writing a setting takes O(log *n*) time, where
/// *n* is the number of settings objects.
struct SettingsIndex: Sendable {
  private struct Entry: Sendable {
    let object: ObjectID
    let cell: Cell

    /// Returns whether the cell of another entry wins over the cell of this entry.
    func isBefore(_ other: Entry) -> Bool {
      if other.cell.beats(cell) { return true }
      return object < other.object && !cell.beats(other.cell)
    }
  }

  /// Cells with a value of the right type are separate from the other cells.
  private struct Cells: Sendable {
    var legal = ChunkedSortedArray<Entry>()
    var others = ChunkedSortedArray<Entry>()
  }

  static let properties: [Property] = [.title, .background, .grid, .language]

  /// The ids of the settings objects, in ascending order.
  private(set) var objects = ChunkedSortedArray<ObjectID>()
  private var cells = Array(repeating: Cells(), count: SettingsIndex.properties.count)

  /// Returns the cell that determines a setting; nil if the setting was never set.
  ///
  /// It is the cell with the greatest stamp among those with a value of the right type.
  func winner(_ property: Property) -> Cell? {
    Self.properties.firstIndex(of: property).flatMap { cells[$0].legal.last?.cell }
  }

  /// Returns the cell of a setting with the greatest stamp; nil if no settings object has such a cell.
  ///
  /// Cells with a value of the wrong type are considered too.
  func latest(_ property: Property) -> Cell? {
    guard let index = Self.properties.firstIndex(of: property) else { return nil }
    guard let other = cells[index].others.last?.cell else { return cells[index].legal.last?.cell }
    guard let legal = cells[index].legal.last?.cell else { return other }
    return legal.beats(other) ? legal : other
  }

  /// Adds an object if it is a visible settings object.
  mutating func insert(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.insert(id, at: objects.position { $0 < id })
    update(id, record) { pieces, entry in pieces.insert(entry, at: pieces.position { $0.isBefore(entry) }) }
  }

  /// `record` must be the cells with which the object was added.
  mutating func remove(_ id: ObjectID, _ record: ObjectRecord) {
    guard record.isVisible, record.kind == .settings else { return }
    objects.remove(at: objects.position { $0 < id })
    update(id, record) { pieces, entry in pieces.remove(at: pieces.position { $0.isBefore(entry) }) }
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
  /// The type of the setting's values; nil if the property is not a setting.
  fileprivate var settingShape: UInt8? {
    switch self {
    case .title, .language: Value.text("").shape
    case .background, .grid: Value.unsigned(0).shape
    default: nil
    }
  }

  /// Whether the property is a setting of the board when it is written to a settings object.
  package var isSetting: Bool { settingShape != nil }

  var concernsIndexes: Bool {
    switch number {
    case Property.deleted.number, Property.kind.number, Property.group.number,
      Property.title.number...Property.language.number:
      true
    default: false
    }
  }
}
