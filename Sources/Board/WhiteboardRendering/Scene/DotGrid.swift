/// The number of dots that a cell is divided into.
struct DotGrid: Hashable, Sendable {
  let across: Int
  let down: Int

  /// Two by four dots, as in braille; a ``Viewport`` measures in these dots.
  static let fine = DotGrid(across: 2, down: 4)
  /// One by two dots: the halves of a cell.
  static let halves = DotGrid(across: 1, down: 2)

  /// The factor that converts a length in fine dots to dots of this grid.
  var factor: Double { Double(across) / Double(Self.fine.across) }
}

struct DotPoint: Hashable, Sendable {
  var x: Double
  var y: Double
  /// The pen pressure; 0 if it is unknown.
  var pressure: UInt8 = 0
}

struct DotArea: Sendable {
  let columns: Range<Int>
  let rows: Range<Int>

  init(_ cells: CellArea, _ grid: DotGrid) {
    let (across, down) = (grid.across, grid.down)
    columns = cells.columns.lowerBound * across..<cells.columns.upperBound * across
    rows = cells.rows.lowerBound * down..<cells.rows.upperBound * down
  }

  /// Returns the part of a line that is in the area or at most `margin` dots outside it. The result is a range of
  /// fractions of the line's length (Liang–Barsky), or nil if there is no such part.
  func shares(from start: DotPoint, to end: DotPoint, margin: Int) -> (first: Double, last: Double)? {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    guard dx.isFinite, dy.isFinite else { return nil }
    var (first, last) = (0.0, 1.0)
    func cut(_ slope: Double, _ room: Double) -> Bool {
      if slope == 0 { return room >= 0 }
      let share = room / slope
      if slope < 0 { first = max(first, share) } else { last = min(last, share) }
      return first <= last
    }
    guard cut(-dx, start.x - Double(columns.lowerBound - margin)),
      cut(dx, Double(columns.upperBound + margin) - start.x), cut(-dy, start.y - Double(rows.lowerBound - margin)),
      cut(dy, Double(rows.upperBound + margin) - start.y)
    else { return nil }
    return (first, last)
  }
}

/// A layer with the dots of lines. Each dot has its own color. A cell shows the most frequent color of its dots, or a
/// color for each half.
struct DotLayer: Sendable {
  let grid: DotGrid
  private let width: Int
  /// The dots, row by row: the color of a dot, or 0 if it is not set.
  private var dots: [UInt32]

  static func dot(_ color: CellColor) -> UInt32 { color.rgb.map { 0xFF00_0000 | $0 } ?? 1 }

  private static func color(_ dot: UInt32) -> CellColor { dot == 1 ? .terminal : CellColor(rgb: dot) }

  init(columns: Int, rows: Int, grid: DotGrid) {
    self.grid = grid
    width = columns * grid.across
    dots = Array(repeating: 0, count: width * rows * grid.down)
  }

  mutating func clear(_ area: CellArea) {
    let (area, width) = (DotArea(area, grid), width)
    var dots = dots.mutableSpan
    for y in area.rows { for x in area.columns { dots[y * width + x] = 0 } }
  }

  /// The layers must have the same size.
  mutating func copy(_ area: CellArea, of other: DotLayer) {
    let (area, width) = (DotArea(area, grid), width)
    let source = other.dots.span
    var dots = dots.mutableSpan
    for y in area.rows { for x in area.columns { dots[y * width + x] = source[y * width + x] } }
  }

  /// Draws along a path with a pen, clipped to an area of dots; returns the work, in dots. `isBend` returns whether the
  /// line bends at the point with an index (``InkTurn``).
  mutating func draw(_ path: some Sequence<DotPoint>, isBend: (Int) -> Bool, _ pen: DotPen, within area: DotArea) -> Int
  {
    var stroke = DotStroke(pen, width: width, within: area)
    var dots = dots.mutableSpan
    stroke.draw(path, isBend: isBend, on: &dots)
    return stroke.work
  }

  mutating func fill(_ polygon: DotPolygon, _ color: UInt32, within area: DotArea) {
    var polygon = polygon
    var spans: [Range<Int>] = []
    for row in area.rows {
      spans.removeAll(keepingCapacity: true)
      polygon.addSpans(atRow: Double(row) + 0.5, within: area.columns, to: &spans)
      for span in spans { for column in span { dots[row * width + column] = color } }
    }
  }

  // MARK: - Cells

  /// Returns the dots of a cell as a braille mask, and their most frequent color; nil if no dot is set. The grid must
  /// be ``DotGrid/fine``.
  func cell(_ x: Int, _ y: Int) -> (mask: UInt8, color: CellColor)? {
    var mask: UInt8 = 0
    var first: UInt32 = 0
    var isMixed = false
    var index = y * DotGrid.fine.down * width + x * DotGrid.fine.across
    for row in 0..<UInt8(DotGrid.fine.down) {
      let (left, right) = (dots[index], dots[index + 1])
      if left | right != 0 {
        if left != 0 {
          mask |= row < 3 ? 1 << row : 0x40
          if first == 0 { first = left } else if first != left { isMixed = true }
        }
        if right != 0 {
          mask |= row < 3 ? 8 << row : 0x80
          if first == 0 { first = right } else if first != right { isMixed = true }
        }
      }
      index += width
    }
    guard mask != 0 else { return nil }
    return (mask, Self.color(isMixed ? commonest(x, y) : first))
  }

  private func commonest(_ x: Int, _ y: Int) -> UInt32 {
    var (best, most) = (UInt32(0), 0)
    for place in 0..<8 {
      let dot = self.dot(x, y, place)
      guard dot != 0, dot != best else { continue }
      // If a color occurs again, its count is the same, so it does not replace the best color.
      let count = (0..<8).count { self.dot(x, y, $0) == dot }
      if count > most { (best, most) = (dot, count) }
    }
    return best
  }

  private func dot(_ x: Int, _ y: Int, _ place: Int) -> UInt32 { dots[(y * 4 + place / 2) * width + x * 2 + place % 2] }

  /// Returns the colors of a cell's upper and lower half; the grid must be ``DotGrid/halves``.
  func halves(_ x: Int, _ y: Int) -> (upper: CellColor?, lower: CellColor?) {
    let (upper, lower) = (dots[2 * y * width + x], dots[(2 * y + 1) * width + x])
    return (upper == 0 ? nil : Self.color(upper), lower == 0 ? nil : Self.color(lower))
  }
}
