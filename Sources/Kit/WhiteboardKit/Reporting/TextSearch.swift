import Foundation
import Whiteboard

/// A search that ignores case, accents and line breaks.
package struct TextSearch: Hashable, Sendable {
  private let words: [UInt8]

  /// Returns nil if the words contain only white space or accents.
  package init?(_ words: String) {
    self.words = Self.folded(words)
    guard !self.words.isEmpty else { return nil }
  }

  package func matches(_ text: String) -> Bool {
    let text = Self.folded(text)
    guard text.count >= words.count else { return false }
    return (0...text.count - words.count).contains { text[$0...].starts(with: words) }
  }

  /// Returns the text in lower case, without accents, and with one space between words. The removed combining classes
  /// contain only accents, and the points of Hebrew and Arabic. The marks of Indic, Thai and Japanese scripts form
  /// letters, so they remain.
  private static func folded(_ text: String) -> [UInt8] {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldedASCII(text) }
    var folded = String.UnicodeScalarView()
    for scalar in text.uppercased().lowercased().decomposedStringWithCompatibilityMapping.unicodeScalars {
      let properties = scalar.properties
      let combining = properties.canonicalCombiningClass.rawValue
      if combining >= 200 || (10...35).contains(combining) { continue }
      if !properties.isWhitespace {
        folded.append(scalar)
      } else if folded.last != " ", !folded.isEmpty {
        folded.append(" ")
      }
    }
    if folded.last == " " { folded.removeLast() }
    // A letter whose diacritic remains is a different letter.
    return Array(String(folded).precomposedStringWithCanonicalMapping.utf8)
  }

  /// Returns the same as ``folded(_:)`` for ASCII, in a fraction of the time, because most texts are ASCII.
  private static func foldedASCII(_ text: String) -> [UInt8] {
    let space = UInt8(ascii: " ")
    var folded: [UInt8] = []
    folded.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if byte != space, !(0x09...0x0D).contains(byte) {
        folded.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
      } else if let last = folded.last, last != space {
        folded.append(space)
      }
    }
    if folded.last == space { folded.removeLast() }
    return folded
  }
}

extension TextSearch {
  /// Returns the objects whose text or alias matches, from top to bottom and from left to right. `named` contains the
  /// objects whose aliases match.
  package func objects(in snapshots: some Sequence<ObjectSnapshot>, named: Set<ObjectID> = []) -> [ObjectSnapshot] {
    snapshots.filter { named.contains($0.id) || $0.text.map(matches) ?? false }.sorted {
      let (left, right) = ($0.centerPosition, $1.centerPosition)
      return (left.y, left.x) < (right.y, right.x)
    }
  }
}
