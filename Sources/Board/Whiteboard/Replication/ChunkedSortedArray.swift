/// A sorted array that is stored in pieces of bounded length, so that all insertions have a similar cost. The caller
/// defines the order and passes it to each search. Nearly all arrays have only one piece. The first piece is therefore
/// stored outside the array of pieces.
struct ChunkedSortedArray<Element: Sendable>: Sendable {
  struct Position: Hashable {
    /// The index of the piece; 0 for the first piece.
    fileprivate var piece: Int
    fileprivate var index: Int
  }

  private var first: [Element] = []
  /// The pieces after the first piece; no piece is empty.
  private var rest: [[Element]] = []
  private(set) var count = 0
  private var pieceLength: Int { 256 }

  init() {}

  /// `elements` must be in ascending order.
  init(_ elements: [Element]) {
    count = elements.count
    guard count > pieceLength else {
      first = elements
      return
    }
    first = Array(elements[..<pieceLength])
    for start in stride(from: pieceLength, to: count, by: pieceLength) {
      rest.append(Array(elements[start..<min(start + pieceLength, count)]))
    }
  }

  var least: Element? { first.first }

  var last: Element? { rest.last?.last ?? first.last }

  var elements: [Element] { rest.isEmpty ? first : first + rest.joined() }

  /// Returns the position of the first element for which `isBefore` is false.
  /// - Complexity: O(log *n*).
  func position(where isBefore: (Element) -> Bool) -> Position {
    if rest.isEmpty || !isBefore(first[first.count - 1]) {
      return Position(piece: 0, index: partition(first, isBefore))
    }
    var low = 0
    var high = rest.count - 1
    while low < high {
      let middle = (low + high) / 2
      if isBefore(rest[middle][rest[middle].count - 1]) { low = middle + 1 } else { high = middle }
    }
    return Position(piece: low + 1, index: partition(rest[low], isBefore))
  }

  private func partition(_ piece: [Element], _ isBefore: (Element) -> Bool) -> Int {
    // For a few elements, a linear search is faster than a binary search, because the elements share cache lines.
    if piece.count <= 8 { return piece.firstIndex { !isBefore($0) } ?? piece.count }
    var low = 0
    var high = piece.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(piece[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  subscript(position: Position) -> Element? {
    if position.piece == 0 { return position.index < first.count ? first[position.index] : nil }
    let index = position.index
    return index < rest[position.piece - 1].count ? rest[position.piece - 1][index] : nil
  }

  func position(after position: Position) -> Position {
    let length = position.piece == 0 ? first.count : rest[position.piece - 1].count
    return position.index + 1 < length || position.piece == rest.count
      ? Position(piece: position.piece, index: position.index + 1) : Position(piece: position.piece + 1, index: 0)
  }

  mutating func update<Result>(_ position: Position, _ body: (inout Element) -> Result?) -> Result? {
    if position.piece == 0 { return position.index < first.count ? body(&first[position.index]) : nil }
    let piece = position.piece - 1
    return position.index < rest[piece].count ? body(&rest[piece][position.index]) : nil
  }

  mutating func updateLast<Result>(_ body: (inout Element) -> Result?) -> Result? {
    if rest.isEmpty { return first.isEmpty ? nil : body(&first[first.count - 1]) }
    let piece = rest.count - 1
    return body(&rest[piece][rest[piece].count - 1])
  }

  mutating func insert(_ element: Element, at position: Position) {
    count += 1
    if position.piece == 0 {
      first.insert(element, at: position.index)
      if first.count > pieceLength {
        rest.insert(Array(first[(pieceLength / 2)...]), at: 0)
        first.removeSubrange((pieceLength / 2)...)
      }
      return
    }
    let piece = position.piece - 1
    rest[piece].insert(element, at: position.index)
    if rest[piece].count > pieceLength {
      rest.insert(Array(rest[piece][(pieceLength / 2)...]), at: piece + 1)
      rest[piece].removeSubrange((pieceLength / 2)...)
    }
  }

  /// The position must not be the end.
  mutating func remove(at position: Position) {
    count -= 1
    if position.piece > 0 {
      rest[position.piece - 1].remove(at: position.index)
      if rest[position.piece - 1].isEmpty { rest.remove(at: position.piece - 1) }
    } else {
      first.remove(at: position.index)
      if first.isEmpty, !rest.isEmpty { first = rest.removeFirst() }
    }
  }
}
