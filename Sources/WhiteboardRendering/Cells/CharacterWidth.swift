import PeerCore

/// The width of characters in terminal columns.
///
/// Terminals disagree about the width of rare characters. Therefore the writer positions the cursor again after such a
/// character.
package enum CharacterWidth {
  /// Returns the number of columns of a character: 0 if it only modifies its neighbors, otherwise 1 or 2.
  package static func columns(_ character: Character) -> Int {
    guard let first = character.unicodeScalars.first else { return 0 }
    if first.value < 0x300, character.unicodeScalars.dropFirst().isEmpty {
      return first.value < 0x20 || (0x7F..<0xA0).contains(first.value) ? 0 : 1
    }
    let width = columns(first)
    // A variation selector requests an emoji, and two regional indicators form a flag.
    let isEmoji = character.unicodeScalars.dropFirst().contains {
      $0.value == 0xFE0F || (0x1F1E6...0x1F1FF).contains($0.value)
    }
    if isEmoji { return 2 }
    // Spacing marks, as in the scripts of India, need a column of their own.
    let marks = character.unicodeScalars.dropFirst().count { $0.properties.generalCategory == .spacingMark }
    return min(width + marks, 2)
  }

  package static func columns(_ text: some StringProtocol) -> Int { text.reduce(0) { $0 + columns($1) } }

  private static func columns(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .surrogate, .unassigned: return 0
    default: return scalar.isWide ? 2 : 1
    }
  }
}
