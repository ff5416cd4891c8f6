/// The normal form in which this program writes text to a board (BRD-33).
///
/// Text from peers is not changed. It may contain any characters, because BRD-30 limits only its length.
package enum PlainText {
  /// Normalizes text that may have several lines, such as the content of a text object or a chat line; returns the text
  /// as it is stored.
  ///
  /// Normalizing it again does not change it. Every line end becomes a line feed: CR, CRLF, vertical tab, form feed,
  /// NEL, and the line and paragraph separators. Tabs are kept. All other control characters are removed.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the text.
  package static func lines(_ text: String) -> String { normalized(text, lineEnd: "\n", tab: "\t") }

  /// Normalizes text that has only one line, such as a name or a title; returns the text as it is stored.
  ///
  /// Normalizing it again does not change it. Line ends and tabs become spaces. All other control characters are
  /// removed.
  ///
  /// - Complexity: O(*n*), where *n* is the length of the text.
  package static func line(_ text: String) -> String { normalized(text, lineEnd: " ", tab: " ") }

  private static func normalized(_ text: String, lineEnd: Unicode.Scalar, tab: Unicode.Scalar) -> String {
    // Iterate over scalars, because CR and LF together are one character.
    var result = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in text.unicodeScalars {
      defer { isAfterReturn = scalar == "\r" }
      switch scalar {
      case "\n" where isAfterReturn: break
      case "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}": result.append(lineEnd)
      case "\t": result.append(tab)
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}": break
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}
