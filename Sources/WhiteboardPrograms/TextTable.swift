import WhiteboardRendering

/// A table of text whose columns are aligned.
package enum TextTable {
  /// Returns a line for each row, with aligned columns that are two spaces apart.
  ///
  /// - Parameters:
  ///   - rows: The cells of each row; a row may have fewer cells than others.
  ///   - numbers: The columns that are aligned to the right.
  /// - Returns: The lines, without trailing spaces or line feeds.
  /// - Complexity: O(*n*), where *n* is the number of characters.
  package static func lines(_ rows: [[String]], numbers: Set<Int> = []) -> [String] {
    var widths: [Int] = []
    for row in rows {
      for (column, cell) in row.enumerated() {
        let width = CharacterWidth.columns(cell)
        if column == widths.count { widths.append(width) }
        widths[column] = max(widths[column], width)
      }
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let gap = String(repeating: " ", count: widths[column] - CharacterWidth.columns(cell))
        if column > 0 { line += "  " }
        line += numbers.contains(column) ? gap + cell : cell + gap
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// Returns the rows as one string, aligned as in ``lines(_:numbers:)``.
  ///
  /// - Parameters:
  ///   - rows: The cells of each row.
  ///   - numbers: The columns that are aligned to the right.
  /// - Returns: The lines, each followed by a line feed.
  package static func text(_ rows: [[String]], numbers: Set<Int> = []) -> String {
    lines(rows, numbers: numbers).map { $0 + "\n" }.joined()
  }
}
