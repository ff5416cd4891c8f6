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
  /// Breaks text at spaces, if possible, into lines of at most `columns` columns; after `limit` lines, the text ends in
  /// `…`.
  ///
  /// A word that is too long for a line is broken too. If `cutsWords` is true, such a word is cut instead, and ends in
  /// `…`; the text can also be broken after hyphens, and between letters of scripts without spaces.
  package static func wrapped(_ text: String, columns: Int, limit: Int, cutsWords: Bool = false) -> [String] {
    let columns = max(columns, 1)
    var lines: [String] = []
    for paragraph in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var line = ""
      var width = 0
      // Where the line can be broken: the end of its first part, and the start of its second part.
      var gap: (end: String.Index, start: String.Index)?
      // Whether the line ends in a word that is cut.
      var isCut = false
      var previous: Character?
      for character in paragraph {
        defer { previous = character }
        let size = max(CharacterWidth.columns(character), 1)
        let isGap = cutsWords && previous.map { canBreak($0, character) } ?? false
        if isCut {
          guard isGap || character == " " else { continue }
          lines.append(line)
          (line, width, gap, isCut) = ("", 0, nil, false)
          if character == " " { continue }
        } else if isGap {
          gap = (line.endIndex, line.endIndex)
        }
        if width + size > columns, !line.isEmpty {
          if let at = gap, character != " " {
            let rest = String(line[at.start...])
            lines.append(String(line[..<at.end]))
            line = rest
          } else if cutsWords, character != " " {
            line = cut(line + "…", columns: columns)
            isCut = true
            continue
          } else {
            lines.append(line)
            line = ""
          }
          width = CharacterWidth.columns(line)
          gap = nil
          if character == " ", line.isEmpty { continue }
        }
        line.append(character)
        width += size
        if character == " " { gap = (line.index(before: line.endIndex), line.endIndex) }
        guard lines.count <= limit else { break }
      }
      lines.append(line)
      guard lines.count <= limit else { break }
    }
    guard lines.count > limit else { return lines }
    lines.removeLast(lines.count - limit)
    if let last = lines.popLast() { lines.append(last.last == "…" ? last : cut(last + "…", columns: columns)) }
    return lines
  }

  /// Returns whether a line can be broken between two characters that are not spaces.
  private static func canBreak(_ first: Character, _ second: Character) -> Bool {
    guard first != " ", second != " " else { return false }
    return first == "-" && second != "-" || hasNoSpaces(first) || hasNoSpaces(second)
  }

  /// Returns the rest of the word at an index: the characters before the next space, line feed or possible break.
  static func restOfWord(in text: String, from start: String.Index) -> Substring {
    var previous = text[..<start].last
    return text[start...].prefix { character in
      defer { previous = character }
      return character != " " && character != "\n" && !(previous.map { canBreak($0, character) } ?? false)
    }
  }

  /// Returns whether a character belongs to a script that puts no spaces between words, such as Chinese or Thai.
  private static func hasNoSpaces(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first?.value, first >= 0x0E00 else { return false }
    return CharacterWidth.columns(character) == 2 || first < 0x0F00 || (0x1000..<0x10A0).contains(first)
      || (0x1780..<0x1800).contains(first)
  }

  /// Returns the text in at most `columns` columns; a truncated text ends in `…`.
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
