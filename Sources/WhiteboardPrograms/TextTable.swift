import WhiteboardRendering

package enum TextTable {
  /// Returns a line for each row, without trailing spaces or a line feed.
  ///
  /// Columns are two spaces apart, and those in `numbers` are aligned to the right.
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

  package static func text(_ rows: [[String]], numbers: Set<Int> = []) -> String {
    lines(rows, numbers: numbers).map { $0 + "\n" }.joined()
  }
}
