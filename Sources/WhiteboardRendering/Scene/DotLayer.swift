/// Lines as dots, two across and four down in each cell: what braille shows.
///
/// A dot keeps its colour, so that a cell shows the colour of most of its dots, and other ways of showing
/// can be made from the same dots.
struct DotLayer: Sendable {
  /// Dots across in a cell.
  static let across = 2
  /// Dots down in a cell.
  static let down = 4

  let width: Int
  let height: Int
  /// Row by row: a dot's colour, or zero.
  private var dots: [UInt32]

  /// A colour as a dot keeps it.
  static func dot(_ color: CellColor) -> UInt32 { color.rgb.map { 0xFF00_0000 | $0 } ?? 1 }

  private static func color(_ dot: UInt32) -> CellColor {
    dot == 1 ? .terminal : CellColor(rgb: dot)
  }

  init(columns: Int, rows: Int) {
    width = columns * Self.across
    height = rows * Self.down
    dots = Array(repeating: 0, count: width * height)
  }

  /// Removes what is in an area of cells.
  mutating func clear(_ area: CellArea) {
    let columns = area.columns.lowerBound * Self.across..<area.columns.upperBound * Self.across
    for y in area.rows.lowerBound * Self.down..<area.rows.upperBound * Self.down {
      for x in columns { dots[y * width + x] = 0 }
    }
  }

  /// Which of a cell's dots are set, by Unicode's numbers of braille, and the colour of most of them.
  func cell(_ x: Int, _ y: Int) -> (mask: UInt8, color: CellColor)? {
    var mask: UInt8 = 0
    var first: UInt32 = 0
    var isMixed = false
    var index = y * Self.down * width + x * Self.across
    for row in 0..<Self.down {
      for column in 0..<Self.across {
        let dot = dots[index + column]
        guard dot != 0 else { continue }
        mask |= Self.bits[row * Self.across + column]
        if first == 0 { first = dot } else if first != dot { isMixed = true }
      }
      index += width
    }
    guard mask != 0 else { return nil }
    return (mask, Self.color(isMixed ? commonest(x, y) : first))
  }

  private func commonest(_ x: Int, _ y: Int) -> UInt32 {
    var counts: [(color: UInt32, count: Int)] = []
    for row in 0..<Self.down {
      for column in 0..<Self.across {
        let dot = dots[(y * Self.down + row) * width + x * Self.across + column]
        guard dot != 0 else { continue }
        if let index = counts.firstIndex(where: { $0.color == dot }) {
          counts[index].count += 1
        } else {
          counts.append((dot, 1))
        }
      }
    }
    return counts.max { $0.count < $1.count }?.color ?? 0
  }

  /// The bits of a cell's dots, row by row.
  private static let bits: [UInt8] = [0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80]

  /// The colour of most dots of the upper or lower half of a cell.
  func half(_ x: Int, _ y: Int, isUpper: Bool) -> CellColor? {
    let first = y * Self.down + (isUpper ? 0 : Self.down / 2)
    for row in first..<first + Self.down / 2 {
      for column in 0..<Self.across {
        let dot = dots[row * width + x * Self.across + column]
        if dot != 0 { return Self.color(dot) }
      }
    }
    return nil
  }

  // MARK: - Drawing

  /// Draws a line of a width in dots from dot to dot, as far as it is in an area of dots; `color` is
  /// what ``dot(_:)`` made of one.
  mutating func line(
    from start: (x: Double, y: Double),
    to end: (x: Double, y: Double),
    width thickness: Int,
    _ color: UInt32,
    within area: DotArea
  ) {
    // Wide lines show a little beside their middle.
    let margin = Double(thickness)
    let isInside = area.holds(start, margin) && area.holds(end, margin)
    if isInside, thickness == 1, (end.x - start.x).magnitude < 1, (end.y - start.y).magnitude < 1 {
      // Most segments of a stroke are as short as that.
      dots[Int(start.y) * width + Int(start.x)] = color
      if start.x != end.x || start.y != end.y { dots[Int(end.y) * width + Int(end.x)] = color }
      return
    }
    guard let (first, last) = isInside ? (0, 1) : area.widened(by: thickness).shares(start, end)
    else { return }
    let (stepX, stepY) = (end.x - start.x, end.y - start.y)
    let isFlat = stepX.magnitude >= stepY.magnitude
    let count = (isFlat ? stepX : stepY).magnitude.rounded(.up)
    let before = (thickness - 1) / 2
    if count < 1 {
      square(Int(start.x.rounded(.down)), Int(start.y.rounded(.down)), thickness, color, area)
      return
    }
    // The dots are those of the whole line, whatever part of it is drawn.
    let (dx, dy) = (stepX / count, stepY / count)
    let from = Int((first * count).rounded(.down))
    let to = Int((last * count).rounded(.up))
    for step in from...to {
      let column = Int((start.x + Double(step) * dx).rounded(.down))
      let row = Int((start.y + Double(step) * dy).rounded(.down))
      if thickness == 1 {
        if isInside || area.contains(column, row) { dots[row * width + column] = color }
      } else if isFlat {
        let rows = area.rows.clamped(to: row - before..<row - before + thickness)
        if area.columns.contains(column) {
          for row in rows { dots[row * width + column] = color }
        }
      } else {
        let columns = area.columns.clamped(to: column - before..<column - before + thickness)
        if area.rows.contains(row) {
          for column in columns { dots[row * width + column] = color }
        }
      }
    }
    // Broad lines have ends and joints without notches.
    if thickness > 2 {
      if first == 0 { disc(start, thickness, color, area) }
      if last == 1 { disc(end, thickness, color, area) }
    }
  }

  private mutating func square(
    _ x: Int,
    _ y: Int,
    _ side: Int,
    _ color: UInt32,
    _ area: DotArea
  ) {
    let before = (side - 1) / 2
    for row in area.rows.clamped(to: y - before..<y - before + side) {
      for column in area.columns.clamped(to: x - before..<x - before + side) {
        dots[row * width + column] = color
      }
    }
  }

  private mutating func disc(
    _ center: (x: Double, y: Double),
    _ diameter: Int,
    _ color: UInt32,
    _ area: DotArea
  ) {
    let radius = Double(diameter) / 2
    let reach = diameter / 2 + 1
    let (x, y) = (Int(center.x.rounded(.down)), Int(center.y.rounded(.down)))
    for row in area.rows.clamped(to: y - reach..<y + reach + 1) {
      let down = Double(row) + 0.5 - center.y
      for column in area.columns.clamped(to: x - reach..<x + reach + 1) {
        let right = Double(column) + 0.5 - center.x
        if right * right + down * down <= radius * radius { dots[row * width + column] = color }
      }
    }
  }
}

/// A rectangle of dots.
struct DotArea: Sendable {
  let columns: Range<Int>
  let rows: Range<Int>
  private let x: (least: Double, end: Double)
  private let y: (least: Double, end: Double)

  init(columns: Range<Int>, rows: Range<Int>) {
    self.columns = columns
    self.rows = rows
    x = (Double(columns.lowerBound), Double(columns.upperBound))
    y = (Double(rows.lowerBound), Double(rows.upperBound))
  }

  /// The dots of an area of cells.
  init(_ cells: CellArea) {
    self.init(
      columns: cells.columns.lowerBound * DotLayer.across..<cells.columns.upperBound
        * DotLayer.across,
      rows: cells.rows.lowerBound * DotLayer.down..<cells.rows.upperBound * DotLayer.down
    )
  }

  func contains(_ x: Int, _ y: Int) -> Bool { columns.contains(x) && rows.contains(y) }

  /// Whether a place is so many dots inside.
  @inline(__always)
  func holds(_ place: (x: Double, y: Double), _ margin: Double) -> Bool {
    place.x >= x.least + margin && place.x < x.end - margin && place.y >= y.least + margin
      && place.y < y.end - margin
  }

  func widened(by count: Int) -> DotArea {
    DotArea(
      columns: columns.lowerBound - count..<columns.upperBound + count,
      rows: rows.lowerBound - count..<rows.upperBound + count
    )
  }

  /// The part of a line that is in it, as shares of its length (Liang and Barsky), or nil.
  func shares(
    _ start: (x: Double, y: Double),
    _ end: (x: Double, y: Double)
  ) -> (first: Double, last: Double)? {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    guard dx.isFinite, dy.isFinite else { return nil }
    var (first, last) = (0.0, 1.0)
    func cut(_ slope: Double, _ room: Double) -> Bool {
      if slope == 0 { return room >= 0 }
      let share = room / slope
      if slope < 0 { first = max(first, share) } else { last = min(last, share) }
      return first <= last
    }
    guard cut(-dx, start.x - Double(columns.lowerBound)),
      cut(dx, Double(columns.upperBound) - start.x),
      cut(-dy, start.y - Double(rows.lowerBound)), cut(dy, Double(rows.upperBound) - start.y)
    else { return nil }
    return (first, last)
  }
}
