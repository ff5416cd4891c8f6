import WhiteboardRendering

/// Lines in a frame in the middle of the screen.
struct Dialog {
  private let lines: [String]
  private let leastWidth: Int

  /// Creates a dialog whose text has at least this width.
  init(_ lines: [String], leastWidth: Int = 0) {
    self.lines = lines
    self.leastWidth = leastWidth
  }

  @discardableResult func draw(on screen: inout Screen, _ layout: ScreenLayout) -> CellArea {
    let shown = Self.wrapped(lines, columns: max(layout.columns - 6, 8))
    let widest = max(shown.map { CharacterWidth.columns($0) }.max() ?? 0, leastWidth)
    let width = min(widest + 4, layout.columns)
    let height = min(shown.count + 2, layout.rows)
    let area = CellArea(
      x: (layout.columns - width) / 2,
      y: max(0, (layout.rows - height) / 2),
      width: width,
      height: height
    )
    screen.fill(area, with: .init(.space, .bar))
    screen.frame(area, .bar, isASCII: layout.isASCII)
    let inner = area.inset(by: 1)
    for (row, line) in shown.prefix(inner.height).enumerated() {
      let y = inner.rows.lowerBound + row
      screen.put(line, x: inner.columns.lowerBound + 1, y: y, .bar, in: inner)
    }
    return inner
  }

  static func wrapped(_ lines: [String], columns: Int) -> [String] {
    lines.flatMap { TextLines.wrapped($0, columns: columns, limit: 100) }
  }
}
