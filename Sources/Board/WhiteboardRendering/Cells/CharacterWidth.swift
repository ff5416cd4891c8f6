import PeerCore

/// The width of characters in terminal columns. Terminals disagree about the width of rare characters. Therefore the
/// writer positions the cursor again after such a character.
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

extension Character {
  /// The maximum number of code points that one cell can hold, enough for joined emoji.
  private static let maximumScalars = 9

  /// Whether a cell may show the character unchanged: all its code points are safe, or join letters or emoji.
  var isShown: Bool {
    guard let first = unicodeScalars.first, first.isSafe else { return false }
    if unicodeScalars.count == 1, first.isASCII { return true }
    guard unicodeScalars.count <= Self.maximumScalars else { return false }
    var isShown = true
    InvisibleText.scan(String(self)) { scalar, isInvisible in
      let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
      if isInvisible || !(isJoiner || scalar.isSafe) { isShown = false }
    }
    return isShown
  }
}

package enum TextLines {
  /// Breaks text at spaces, if possible, into lines of at most `columns` columns; after `limit` lines, it ends in `…`.
  package static func wrapped(_ text: String, columns: Int, limit: Int) -> [String] {
    let columns = max(columns, 1)
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      var width = 0
      var space: String.Index?
      for character in paragraph {
        let size = max(CharacterWidth.columns(character), 1)
        if width + size > columns, !line.isEmpty {
          if let at = space, character != " " {
            let rest = String(line[line.index(after: at)...])
            lines.append(String(line[..<at]))
            line = rest
          } else {
            lines.append(line)
            line = ""
          }
          width = CharacterWidth.columns(line)
          space = nil
          if character == " ", line.isEmpty { continue }
        }
        line.append(character)
        width += size
        if character == " " { space = line.index(before: line.endIndex) }
        guard lines.count <= limit else { break }
      }
      lines.append(line)
      guard lines.count <= limit else { break }
    }
    guard lines.count > limit else { return lines }
    lines.removeLast(lines.count - limit)
    if let last = lines.popLast() { lines.append(cut(last + "…", columns: columns)) }
    return lines
  }

  /// Returns the text in at most `columns` columns; if it is truncated, it ends in `…`.
  package static func cut(_ text: String, columns: Int) -> String {
    guard CharacterWidth.columns(text) > columns else { return text }
    var result = ""
    var width = 0
    for character in text where character != "…" {
      let size = CharacterWidth.columns(character)
      guard width + size < columns else { break }
      result.append(character)
      width += size
    }
    return columns > 0 ? result + "…" : ""
  }
}
