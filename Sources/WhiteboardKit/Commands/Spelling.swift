/// A namespace for finding the word that a user most likely meant by a mistyped word.
package enum Spelling {
  /// Returns the valid word whose spelling is closest to a mistyped word; nil if no word is similar enough.
  ///
  /// Only the first 32 bytes of the mistyped word are compared.
  package static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().utf8.prefix(32))
    let candidates = words.map { (word: $0, distance: distance(letters, Array($0.utf8))) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= 2,
      best.distance < best.word.utf8.count - 1
    else { return nil }
    return best.word
  }

  /// Returns the number of letters that must be added, removed or replaced.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let substitution = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
