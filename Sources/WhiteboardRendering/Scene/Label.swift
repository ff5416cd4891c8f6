/// Lines of text in several styles, for a text object or a game.
package struct Label: Hashable, Sendable {
  /// Text in one style.
  package struct Span: Hashable, Sendable {
    /// The text; it may contain names chosen by other members.
    package let text: String
    package let style: CellStyle

    init(_ text: String, _ style: CellStyle = .plain) {
      self.text = text
      self.style = style
    }
  }

  package var lines: [[Span]] = []

  package var width: Int { lines.reduce(0) { max($0, Self.columns($1)) } }
  package var height: Int { lines.count }

  static func columns(_ line: [Span]) -> Int { line.reduce(0) { $0 + CharacterWidth.columns($1.text) } }

  /// Draws the label from its top left corner, clipped to an area.
  func draw(on screen: inout Screen, at origin: (x: Int, y: Int), in area: CellArea) {
    for (row, line) in lines.enumerated() {
      var column = origin.x
      for span in line { column = screen.put(span.text, x: column, y: origin.y + row, span.style, in: area) }
    }
  }
}

struct PlacedLabel: Sendable {
  let label: Label
  private(set) var area: CellArea

  init(_ label: Label) {
    self.label = label
    area = CellArea(x: 0, y: 0, width: label.width, height: label.height)
  }

  mutating func move(to center: (x: Int, y: Int)) {
    let (width, height) = (area.width, area.height)
    area = CellArea(x: center.x - width / 2, y: center.y - height / 2, width: width, height: height)
  }

  func draw(on screen: inout Screen, in area: CellArea) {
    let origin = (self.area.columns.lowerBound, self.area.rows.lowerBound)
    label.draw(on: &screen, at: origin, in: area)
  }
}
