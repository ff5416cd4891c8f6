extension UntrustedText {
  /// Returns the text with its unsafe and invisible characters as escapes such as `\u{1b}`, truncated with `…` after
  /// `limit` code points.
  ///
  /// The result is one line. It cannot control a terminal, and cannot reorder or hide other text. A character keeps at
  /// most two combining marks, and marks without a character are dropped.
  ///
  /// - Complexity: O(n) in the limit.
  public func escaped(limit: Int = 2_048) -> String {
    let shown = raw.unicodeScalars.prefix(limit)
    var result = String.UnicodeScalarView()
    var marks = MarkLimit()
    InvisibleText.scan(Substring(shown)) { scalar, isInvisible in
      if scalar.isMark {
        guard marks.accept() else { return }
      } else if scalar.properties.isWhitespace {
        marks.endCharacter()
      } else {
        marks.startCharacter()
      }
      if scalar == "\n" {
        result.append(contentsOf: #"\n"#.unicodeScalars)
      } else if scalar.isSafe, !isInvisible {
        result.append(scalar)
      } else {
        result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      }
    }
    if shown.endIndex < raw.unicodeScalars.endIndex { result.append("…") }
    return String(result)
  }

  /// Returns the escaped text in double quotes, for a message.
  public func quoted(limit: Int = 64) -> String { "\"\(escaped(limit: limit))\"" }
}
