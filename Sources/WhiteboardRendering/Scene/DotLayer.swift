/// Lines as dots, some in each cell.
///
/// A dot keeps its colour, so that a cell shows the colour of most of its dots, or a colour for each half.
struct DotLayer: Sendable {
  /// How many dots a cell has.
  let grid: DotGrid
  private let width: Int
  /// Row by row: a dot's colour, or zero.
  private var dots: [UInt32]

  /// A colour as a dot keeps it.
  static func dot(_ color: CellColor) -> UInt32 { color.rgb.map { 0xFF00_0000 | $0 } ?? 1 }

  private static func color(_ dot: UInt32) -> CellColor {
    dot == 1 ? .terminal : CellColor(rgb: dot)
  }

  init(columns: Int, rows: Int, grid: DotGrid) {
    self.grid = grid
    width = columns * grid.across
    dots = Array(repeating: 0, count: width * rows * grid.down)
  }

  /// Removes what is in an area of cells.
  mutating func clear(_ area: CellArea) {
    let (area, width) = (DotArea(area, grid), width)
    var dots = dots.mutableSpan
    for y in area.rows {
      for x in area.columns { dots[y * width + x] = 0 }
    }
  }

  /// Draws with a pen along a path, as far as it is in an area of dots.
  mutating func draw(_ path: some Sequence<DotPoint>, _ pen: DotPen, within area: DotArea) {
    var stroke = DotStroke(pen, width: width, within: area)
    var dots = dots.mutableSpan
    stroke.draw(path, on: &dots)
  }

  // MARK: - What cells show

  /// Which of a cell's dots are set, by Unicode's numbers of braille, and the colour of most of them;
  /// nil if none is.
  ///
  /// - Precondition: The grid is the fine one.
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
      // The same colour again counts the same, and does not win over itself.
      let count = (0..<8).count { self.dot(x, y, $0) == dot }
      if count > most { (best, most) = (dot, count) }
    }
    return best
  }

  private func dot(_ x: Int, _ y: Int, _ place: Int) -> UInt32 {
    dots[(y * 4 + place / 2) * width + x * 2 + place % 2]
  }

  /// The colours of a cell's upper and lower half.
  ///
  /// - Precondition: The grid is that of the halves.
  func halves(_ x: Int, _ y: Int) -> (upper: CellColor?, lower: CellColor?) {
    let (upper, lower) = (dots[2 * y * width + x], dots[(2 * y + 1) * width + x])
    return (upper == 0 ? nil : Self.color(upper), lower == 0 ? nil : Self.color(lower))
  }
}
