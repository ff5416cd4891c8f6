import Whiteboard

/// A namespace for making text from other members safe to show on a terminal or to include in a message.
///
/// The result cannot move the cursor, change colors, or reorder or hide other text. Controls, format characters, line
/// and paragraph separators, and private and unassigned code points become escapes. The number of combining marks on
/// one character is limited.
package enum TerminalText {
  /// The maximum number of combining marks on one base character.
  private static let maximumMarks = 4

  /// Returns the text with unsafe characters escaped, truncated after `limit` code points.
  package static func cleaned(_ text: some StringProtocol, limit: Int = 2_048) -> String {
    var result = String.UnicodeScalarView()
    var count = 0
    var marks = 0
    for scalar in text.unicodeScalars {
      guard count < limit else {
        result.append("…")
        break
      }
      count += 1
      if isMark(scalar) {
        marks += 1
        guard marks <= maximumMarks, count > 1 else { continue }
      } else {
        marks = 0
      }
      if isSafe(scalar) {
        result.append(scalar)
      } else if scalar == "\n" {
        result.append(contentsOf: #"\n"#.unicodeScalars)
      } else {
        let code = String(scalar.value, radix: 16)
        result.append(contentsOf: "\\u{\(code)}".unicodeScalars)
      }
    }
    return String(result)
  }

  /// Returns the escaped text in double quotes, truncated for use in a message.
  package static func quoted(_ text: some StringProtocol, limit: Int = 64) -> String {
    "\"\(cleaned(text, limit: limit))\""
  }

  /// Returns whether a code point may be shown unchanged.
  package static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
    if (0x20...0x7E).contains(scalar.value) {
      return true
    }
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return false
    default:
      return true
    }
  }

  /// Returns whether a character may be shown unchanged.
  ///
  /// All its code points must be safe, or join letters or emoji.
  static func isShown(_ character: Character) -> Bool {
    let scalars = character.unicodeScalars
    guard let first = scalars.first, isSafe(first) else { return false }
    if scalars.count == 1, first.isASCII { return true }
    guard scalars.count <= 1 + 2 * maximumMarks else { return false }
    var isShown = true
    InvisibleText.scan(String(character)) { scalar, isInvisible in
      let isJoiner = scalar == "\u{200C}" || scalar == "\u{200D}"
      if isInvisible || !(isJoiner || isSafe(scalar)) { isShown = false }
    }
    return isShown
  }

  private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    guard scalar.value >= 0x300 else { return false }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: return true
    default: return false
    }
  }
}
