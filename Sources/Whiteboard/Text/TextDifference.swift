/// Where two texts differ: what is between the beginning and the end that they have in common.
///
/// Places and counts are of Unicode scalars.
package struct TextDifference: Hashable, Sendable {
  /// The range of the first text that is not in the second.
  package let range: Range<Int>
  /// The words of the second text in its place.
  package let words: String
  /// How many scalars that is.
  private let count: Int

  /// Compares two texts.
  ///
  /// - Complexity: O(n).
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

  /// Where a place of the first text is in the second; what was there is gone where it has no place.
  package func moved(_ place: Int) -> Int {
    if place <= range.lowerBound { return place }
    return place >= range.upperBound ? place + count - range.count : range.lowerBound
  }
}
