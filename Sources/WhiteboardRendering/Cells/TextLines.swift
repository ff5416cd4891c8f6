/// A namespace for fitting text into columns.
package enum TextLines {
  /// Breaks text into lines of at most `columns` columns, at spaces if possible.
  ///
  /// Text of more than `limit` lines is truncated and ends in `…`.
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
