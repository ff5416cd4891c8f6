/// The difference between two strings: the part of each string that lies between their common prefix and their common
/// suffix.
///
/// All positions and counts are in Unicode scalars.
package struct TextDifference: Hashable, Sendable {
  /// The range of the first string that differs from the second string.
  package let range: Range<Int>
  /// The text that replaces the range in the second string.
  package let words: String
  /// The number of scalars in the replacement.
  private let count: Int

  /// Creates the difference between two strings.
  ///
  /// - Complexity: O(*n*), where *n* is the total length of both strings.
  package init(from old: [Unicode.Scalar], to new: [Unicode.Scalar]) {
    let room = min(old.count, new.count)
    var start = 0
    while start < room, old[start] == new[start] { start += 1 }
    var end = 0
    while end < room - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    range = start..<(old.count - end)
    count = new.count - end - start
    var words = String.UnicodeScalarView()
    words.append(contentsOf: new[start..<(new.count - end)])
    self.words = String(words)
  }

  /// Converts a position in the first string to a position in the second string.
  ///
  /// Positions inside the replaced range move to its start.
  package func moved(_ place: Int) -> Int {
    if place <= range.lowerBound { return place }
    return place >= range.upperBound ? place + count - range.count : range.lowerBound
  }
}
