/// Elements in ascending order, kept in pieces of bounded length, so that an insertion costs the same
/// wherever it is.
///
/// What the order is, its user knows and says with each search. Nearly always all is in the first
/// piece, which therefore is not one of an array of pieces.
struct ChunkedSortedArray<Element: Sendable>: Sendable {
  /// The position of an element, or the position at which it would be inserted.
  struct Position: Hashable {
    /// 0 for the first piece.
    fileprivate var piece: Int
    fileprivate var index: Int
  }

  private var first: [Element] = []
  /// None is empty.
  private var rest: [[Element]] = []
  /// The number of elements.
  private(set) var count = 0
  /// How long a piece is at most.
  private var pieceLength: Int { 256 }

  /// Nothing.
  init() {}

  /// Elements that ascend.
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

  /// The first element, or nil.
  var least: Element? { first.first }

  /// The last element, or nil.
  var last: Element? { rest.last?.last ?? first.last }

  /// All elements.
  /// - Complexity: O(*n*) if there is more than one piece.
  var elements: [Element] { rest.isEmpty ? first : first + rest.joined() }

  /// The place of the first element that is not before.
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
    // A few neighbours are in memory that is read at one go, which jumping about in it is not.
    if piece.count <= 8 { return piece.firstIndex { !isBefore($0) } ?? piece.count }
    var low = 0
    var high = piece.count
    while low < high {
      let middle = (low + high) / 2
      if isBefore(piece[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The element at a place, or nil if that is the end.
  subscript(position: Position) -> Element? {
    if position.piece == 0 { return position.index < first.count ? first[position.index] : nil }
    let index = position.index
    return index < rest[position.piece - 1].count ? rest[position.piece - 1][index] : nil
  }

  /// Returns the next position.
  func position(after position: Position) -> Position {
    let length = position.piece == 0 ? first.count : rest[position.piece - 1].count
    return position.index + 1 < length || position.piece == rest.count
      ? Position(piece: position.piece, index: position.index + 1)
      : Position(piece: position.piece + 1, index: 0)
  }

  /// Changes the element at a place in place; nil if that is the end.
  mutating func update<Result>(
    _ position: Position,
    _ body: (inout Element) -> Result?
  ) -> Result? {
    if position.piece == 0 {
      return position.index < first.count ? body(&first[position.index]) : nil
    }
    let piece = position.piece - 1
    return position.index < rest[piece].count ? body(&rest[piece][position.index]) : nil
  }

  /// Changes the greatest element in place; nil if there is none.
  mutating func updateLast<Result>(_ body: (inout Element) -> Result?) -> Result? {
    if rest.isEmpty { return first.isEmpty ? nil : body(&first[first.count - 1]) }
    let piece = rest.count - 1
    return body(&rest[piece][rest[piece].count - 1])
  }

  /// Puts an element in front of the one at a place.
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

  /// Removes the element at a place that has one.
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
