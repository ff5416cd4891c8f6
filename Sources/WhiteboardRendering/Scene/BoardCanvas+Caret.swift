import Whiteboard

/// The carets of members who are typing.
extension BoardCanvas {
  /// Returns the cell for the caret of a text object; nil if the object shows no text.
  ///
  /// - Parameters:
  ///   - id: The text object.
  ///   - scalars: The number of Unicode scalars before the caret.
  /// - Returns: The cell, which can be outside the view.
  package func caret(in id: ObjectID, after scalars: Int) -> (x: Int, y: Int)? {
    guard let item = items[id], let text = item.snapshot.text, let placed = order.first(where: { $0.id == id })?.label
    else { return nil }
    let lines = placed.label.lines
    // Lines are consecutive parts of the text. Only spaces and line feeds between them are left out.
    var rest = text.unicodeScalars[...]
    var count = 0
    for (row, line) in lines.enumerated() {
      let words = line.first?.text.unicodeScalars ?? "".unicodeScalars
      while let first = rest.first, first != words.first, count < scalars {
        (rest, count) = (rest.dropFirst(), count + 1)
        if first == "\n" { break }
      }
      let inLine = scalars - count
      if inLine <= words.count || row == lines.count - 1 {
        let before = String(String.UnicodeScalarView(words.prefix(max(0, inLine))))
        // Trailing spaces are not shown, but a caret after them must be at the right column.
        let blanks = max(0, inLine - words.count)
        return (
          placed.area.columns.lowerBound + CharacterWidth.columns(before) + blanks, placed.area.rows.lowerBound + row
        )
      }
      rest = rest.dropFirst(words.count)
      count += words.count
    }
    return nil
  }
}
