/// The cells of one object, sorted by property. The cells are stored in pieces of bounded length, so that the cost of a
/// write does not depend on the order in which properties are written.
package struct ObjectRecord: Sendable {
  package typealias Entry = PropertyCell

  private var pieces = ChunkedSortedArray<Entry>()
  /// The bits of the properties that were ever written. Most lookups end here, because objects have few properties.
  private var written: UInt64 = 0
  package private(set) var valueBytes = 0
  /// The time of the latest write to a property other than the selection, in milliseconds since 1970. The time of a
  /// cell never decreases, so the greatest time of any write is the time of a current cell.
  package private(set) var updatedAt: UInt64 = 0

  /// Whether the object is created, not deleted and, if it is a chat line, complete.
  package private(set) var isVisible = false
  /// Whether changes of the object are reported: it is on the board, or is a chat line.
  package private(set) var isReported = false

  /// The positions of the first and the last point of a line, relative to the line's position, if these points are
  /// bound to objects. Empty for stored objects, because the positions depend on other objects.
  var ends: [Point?] = []

  package init() {}

  /// The array of cells in ascending order is shared with the caller, not copied.
  init(ascending entries: [Entry]) {
    pieces = ChunkedSortedArray(entries)
    for entry in entries {
      written |= entry.property.bit
      valueBytes += entry.cell.value.length
      if !entry.property.isSelection { updatedAt = max(updatedAt, entry.cell.time.milliseconds) }
    }
    decideVisibility()
  }

  package enum Outcome {
    /// The object had no cell for this property.
    case added
    case won
    case beaten
  }

  package var count: Int { pieces.count }

  /// The cells in ascending order of property.
  /// - Complexity: O(*n*) if there are hundreds of cells.
  package var entries: [Entry] { pieces.elements }

  /// O(log *n*).
  package subscript(property: Property) -> Cell? {
    guard written & property.bit != 0, let entry = pieces[position(of: property)], entry.property == property
    else { return nil }
    return entry.cell
  }

  /// Writes a cell if it beats the existing cell.
  /// - Complexity: O(log *n*), plus the cost of moving the cells of at most one piece.
  package mutating func write(_ cell: Cell, at property: Property) -> Outcome {
    put(cell, at: property) { cell.beats($0) }
  }

  mutating func overwrite(_ property: Property, with cell: Cell) { _ = put(cell, at: property) { _ in true } }

  private mutating func put(_ cell: Cell, at property: Property, where beats: (Cell) -> Bool) -> Outcome {
    let position = position(of: property)
    let growth: Int? = pieces.update(position) { entry in
      guard entry.property == property else { return nil }
      guard beats(entry.cell) else { return .min }
      let growth = cell.value.length - entry.cell.value.length
      entry.cell = cell
      return growth
    }
    if growth == .min { return .beaten }
    if growth == nil {
      pieces.insert(Entry(property, cell), at: position)
      written |= property.bit
    }
    valueBytes += growth ?? cell.value.length
    if !property.isSelection { updatedAt = max(updatedAt, cell.time.milliseconds) }
    if property.decidesVisibility { decideVisibility() }
    return growth == nil ? .added : .won
  }

  private mutating func decideVisibility() {
    isVisible = cellsAreVisible
    isReported = isVisible && (kind.map { $0.isShown || $0 == .chat } ?? false)
  }

  /// Returns the first cells whose property has this number, at most `limit`, in ascending order.
  package func entries(of number: UInt16, upTo limit: Int) -> [Entry] {
    guard written & Property.bit(of: number) != 0 else { return [] }
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

extension Property {
  /// Properties with large numbers share a bit.
  fileprivate static func bit(of number: UInt16) -> UInt64 { 1 << UInt64(min(number, 63)) }

  fileprivate var bit: UInt64 { Self.bit(of: number) }
}

extension ObjectRecord {
  package var gameName: String? {
    guard case .text(let name)? = self[.game]?.value, name.utf8.count <= BoardLimits.gameNameBytes else { return nil }
    return name
  }

  package var setup: [UInt8]? {
    guard case .bytes(let bytes)? = self[.setup]?.value, bytes.count <= BoardLimits.setupBytes else { return nil }
    return bytes
  }

  func requireRoomForMove(by incarnation: Incarnation) throws(GameError) {
    let moves = entries(of: Property.moveNumber, upTo: BoardLimits.gameMoves)
    let own = moves.reduce(0) { $0 + ($1.cell.dot.incarnation == incarnation ? 1 : 0) }
    guard moves.count < BoardLimits.gameMoves, own < BoardLimits.gameMovesPerIncarnation else { throw .tooManyMoves }
  }

  /// Returns the moves of the game within the limits of GAM-3, in no particular order. Moves of incarnations without a
  /// known member are left out.
  package func moves(by member: (Incarnation) -> MemberID?) -> [PlacedMove] {
    var result: [PlacedMove] = []
    var author: (incarnation: Incarnation, member: MemberID?, count: Int)?
    for entry in entries(of: Property.moveNumber, upTo: BoardLimits.gameMoves) {
      let cell = entry.cell
      if author?.incarnation != cell.dot.incarnation {
        author = (cell.dot.incarnation, member(cell.dot.incarnation), 0)
      }
      author?.count += 1
      guard let author, let member = author.member, author.count <= BoardLimits.gameMovesPerIncarnation else {
        continue
      }
      // A value that is not bytes is treated as a malformed move.
      var bytes: [UInt8] = []
      if case .bytes(let value) = cell.value { bytes = value }
      result.append(PlacedMove(dot: cell.dot, time: cell.time, member: member, bytes: bytes))
    }
    return result
  }
}
