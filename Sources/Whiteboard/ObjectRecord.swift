/// The cells of one object, sorted by property.
///
/// They are kept in pieces of bounded length, so that a write costs the same in whatever order the
/// properties come.
package struct ObjectRecord: Sendable {
  /// One cell and its property.
  package struct Entry: Hashable, Sendable {
    package let property: Property
    package fileprivate(set) var cell: Cell
  }

  /// None is empty; all of one is before all of the next.
  private var pieces: [[Entry]] = []
  private static let pieceLength = 256
  /// How many cells there are.
  package private(set) var count = 0
  /// How many bytes the values have.
  package private(set) var valueBytes = 0
  /// The milliseconds of the latest write, the selection aside.
  ///
  /// The time of a cell never goes back, so that the greatest time ever is the greatest time here.
  package private(set) var updatedAt: UInt64 = 0

  /// An object without cells.
  package init() {}

  /// What became of a write.
  package enum Outcome {
    /// There was no such cell.
    case added
    /// It beat the cell that was there.
    case won
    /// The cell that was there beat it.
    case beaten
  }

  /// The cells, ascending.
  /// - Complexity: O(*n*).
  package var entries: [Entry] { pieces.count == 1 ? pieces[0] : Array(pieces.joined()) }

  /// The cell of a property, or nil.
  /// - Complexity: O(log *n*).
  package subscript(property: Property) -> Cell? {
    let piece = Self.partition(pieces) { ($0.last?.property).map { $0 < property } ?? true }
    guard piece < pieces.count else { return nil }
    let index = Self.partition(pieces[piece]) { $0.property < property }
    let entry = pieces[piece][index]
    return entry.property == property ? entry.cell : nil
  }

  /// Writes a cell where it beats the one that is there.
  /// - Complexity: O(log *n*), and a move of at most one piece.
  package mutating func write(_ cell: Cell, at property: Property) -> Outcome {
    if pieces.isEmpty { pieces.append([]) }
    let piece = min(
      Self.partition(pieces) { ($0.last?.property).map { $0 < property } ?? false },
      pieces.count - 1
    )
    let index = Self.partition(pieces[piece]) { $0.property < property }
    guard index < pieces[piece].count, pieces[piece][index].property == property else {
      pieces[piece].insert(Entry(property: property, cell: cell), at: index)
      count += 1
      valueBytes += cell.value.length
      note(cell, at: property)
      if pieces[piece].count > Self.pieceLength {
        let half = Self.pieceLength / 2
        pieces.insert(Array(pieces[piece][half...]), at: piece + 1)
        pieces[piece].removeSubrange(half...)
      }
      return .added
    }
    let old = pieces[piece][index].cell
    guard cell.beats(old) else { return .beaten }
    valueBytes += cell.value.length - old.value.length
    pieces[piece][index].cell = cell
    note(cell, at: property)
    return .won
  }

  private mutating func note(_ cell: Cell, at property: Property) {
    if !property.isSelection { updatedAt = max(updatedAt, cell.time.milliseconds) }
  }

  /// The cells whose property has this number, ascending: the first `limit` at most.
  package func entries(of number: UInt16, upTo limit: Int) -> [Entry] {
    var result: [Entry] = []
    let first = Self.partition(pieces) {
      ($0.last?.property.number).map { $0 < number } ?? true
    }
    for piece in pieces[first...] {
      for entry in piece[Self.partition(piece) { $0.property.number < number }...] {
        guard entry.property.number == number, result.count < limit else { return result }
        result.append(entry)
      }
    }
    return result
  }

  /// The first index whose element is not before.
  private static func partition<Element>(
    _ elements: [Element],
    isBefore: (Element) -> Bool
  ) -> Int {
    var low = 0
    var high = elements.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(elements[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
