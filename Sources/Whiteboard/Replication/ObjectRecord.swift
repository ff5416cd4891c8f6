/// The cells of one object, sorted by property.
///
/// They are kept in pieces of bounded length, so that a write costs the same in whatever order the
/// properties come.
package struct ObjectRecord: Sendable {
  /// One cell and its property.
  package typealias Entry = PropertyCell

  private var pieces = ChunkedSortedArray<Entry>()
  /// How many bytes the values have.
  package private(set) var valueBytes = 0
  /// The milliseconds of the latest write, the selection aside.
  ///
  /// The time of a cell never goes back, so that the greatest time ever is the greatest time here.
  package private(set) var updatedAt: UInt64 = 0

  /// Whether users see the object.
  package private(set) var isVisible = false
  /// Whether changes tell of it: what users see on the board or in the chat.
  package private(set) var isTold = false

  /// An object without cells.
  package init() {}

  /// An object of cells that ascend, which it shares with whoever made them.
  init(ascending entries: [Entry]) {
    pieces = ChunkedSortedArray(entries)
    for entry in entries {
      valueBytes += entry.cell.value.length
      if !entry.property.isSelection {
        updatedAt = max(updatedAt, entry.cell.time.milliseconds)
      }
    }
    decideVisibility()
  }

  /// What became of a write.
  package enum Outcome {
    /// There was no such cell.
    case added
    /// It beat the cell that was there.
    case won
    /// The cell that was there beat it.
    case beaten
  }

  /// How many cells there are.
  package var count: Int { pieces.count }

  /// The cells, ascending.
  /// - Complexity: O(*n*) where there are hundreds of them.
  package var entries: [Entry] { pieces.elements }

  /// The cell of a property, or nil.
  /// - Complexity: O(log *n*).
  package subscript(property: Property) -> Cell? {
    guard let entry = pieces[position(of: property)], entry.property == property else {
      return nil
    }
    return entry.cell
  }

  /// Writes a cell where it beats the one that is there.
  /// - Complexity: O(log *n*), and a move of at most one piece.
  package mutating func write(_ cell: Cell, at property: Property) -> Outcome {
    put(cell, at: property) { cell.beats($0) }
  }

  /// Writes a cell, whatever is there.
  /// - Complexity: as ``write(_:at:)``.
  mutating func overwrite(_ property: Property, with cell: Cell) {
    _ = put(cell, at: property) { _ in true }
  }

  private mutating func put(
    _ cell: Cell,
    at property: Property,
    where beats: (Cell) -> Bool
  ) -> Outcome {
    let position = position(of: property)
    let growth: Int? = pieces.update(position) { entry in
      guard entry.property == property else { return nil }
      guard beats(entry.cell) else { return .min }
      let growth = cell.value.length - entry.cell.value.length
      entry.cell = cell
      return growth
    }
    if growth == .min { return .beaten }
    if growth == nil { pieces.insert(Entry(property, cell), at: position) }
    valueBytes += growth ?? cell.value.length
    if !property.isSelection { updatedAt = max(updatedAt, cell.time.milliseconds) }
    if property.decidesVisibility { decideVisibility() }
    return growth == nil ? .added : .won
  }

  private mutating func decideVisibility() {
    isVisible = cellsAreVisible
    isTold = isVisible && (kind.map { $0.isShown || $0 == .chat } ?? false)
  }

  /// The cells whose property has this number, ascending: the first `limit` at most.
  package func entries(of number: UInt16, upTo limit: Int) -> [Entry] {
    var result: [Entry] = []
    var position = pieces.position { $0.property.number < number }
    while result.count < limit, let entry = pieces[position], entry.property.number == number {
      result.append(entry)
      position = pieces.position(after: position)
    }
    return result
  }

  private func position(of property: Property) -> ChunkedSortedArray<Entry>.Position {
    pieces.position { $0.property < property }
  }
}
