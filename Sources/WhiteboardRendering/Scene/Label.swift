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

/// A label that was laid out, and where it shows.
struct PlacedLabel: Sendable {
  let label: Label
  /// The cells that it takes up.
  private(set) var area: CellArea

  init(_ label: Label) {
    self.label = label
    area = CellArea(x: 0, y: 0, width: label.width, height: label.height)
  }

  /// Puts its middle on a cell.
  mutating func move(to center: (x: Int, y: Int)) {
    let (width, height) = (area.width, area.height)
    area = CellArea(
      x: center.x - width / 2,
      y: center.y - height / 2,
      width: width,
      height: height
    )
  }

  /// Writes as much of it as is in an area.
  func draw(on screen: inout Screen, in area: CellArea) {
    let origin = (self.area.columns.lowerBound, self.area.rows.lowerBound)
    label.draw(on: &screen, at: origin, in: area)
  }
}
