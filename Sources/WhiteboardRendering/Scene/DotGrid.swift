/// The number of dots that a cell is divided into.
struct DotGrid: Hashable, Sendable {
  /// The number of dots in a row of a cell.
  let across: Int
  /// The number of dots in a column of a cell.
  let down: Int

  /// Two by four dots, as in braille; a ``Viewport`` measures in these dots.
  static let fine = DotGrid(across: 2, down: 4)
  /// One by two dots: the halves of a cell.
  static let halves = DotGrid(across: 1, down: 2)

  /// The factor that converts a length in fine dots to dots of this grid.
  var factor: Double { Double(across) / Double(Self.fine.across) }
}

/// A position measured in dots, with the pen pressure.
struct DotPoint: Hashable, Sendable {
  /// The distance from the left edge.
  var x: Double
  /// The distance from the upper edge.
  var y: Double
  /// The pen pressure; 0 if it is unknown.
  var pressure: UInt8 = 0
}

/// A rectangle of dots.
struct DotArea: Sendable {
  let columns: Range<Int>
  let rows: Range<Int>

  /// Converts an area of cells to dots.
  init(_ cells: CellArea, _ grid: DotGrid) {
    let (across, down) = (grid.across, grid.down)
    columns = cells.columns.lowerBound * across..<cells.columns.upperBound * across
    rows = cells.rows.lowerBound * down..<cells.rows.upperBound * down
  }

  /// Returns the part of a line that is in the area or at most `margin` dots outside it.
  ///
  /// The result is a range of fractions of the line's length (Liang–Barsky), or nil if no part is.
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
