/// Lines of text in several styles: what shows of a text, a game or a frame's caption.
package struct Label: Hashable, Sendable {
  /// Some text in one style.
  package struct Span: Hashable, Sendable {
    /// The text; names in it are as others chose them.
    package let text: String
    /// How it looks.
    package let style: CellStyle

    init(_ text: String, _ style: CellStyle = .plain) {
      self.text = text
      self.style = style
    }
  }

  /// One line after the other.
  package var lines: [[Span]] = []

  /// Columns of the widest line.
  package var width: Int { lines.reduce(0) { max($0, Self.columns($1)) } }
  /// Rows.
  package var height: Int { lines.count }

  static func columns(_ line: [Span]) -> Int {
    line.reduce(0) { $0 + CharacterWidth.columns($1.text) }
  }

  /// Writes it into an area, from the top left on.
  func draw(on screen: inout Screen, at origin: (x: Int, y: Int), in area: CellArea) {
    for (row, line) in lines.enumerated() {
      var column = origin.x
      for span in line {
        column = screen.put(span.text, x: column, y: origin.y + row, span.style, in: area)
      }
    }
  }
}
