/// How many dots a cell is drawn with.
struct DotGrid: Hashable, Sendable {
  /// Dots across.
  let across: Int
  /// Dots down.
  let down: Int

  /// Two by four: those that braille shows, and those in which a ``Viewport`` counts.
  static let fine = DotGrid(across: 2, down: 4)
  /// One by two: the halves of a cell.
  static let halves = DotGrid(across: 1, down: 2)

  /// How many of these dots lie along one of the fine ones.
  var factor: Double { Double(across) / Double(Self.fine.across) }
}

/// A place among dots, with how hard a pen was pressed there.
struct DotPoint: Hashable, Sendable {
  /// To the right, from the left edge.
  var x: Double
  /// Down, from the upper edge.
  var y: Double
  /// 0 where that is not known.
  var pressure: UInt8 = 0
}

/// A rectangle of dots.
struct DotArea: Sendable {
  let columns: Range<Int>
  let rows: Range<Int>

  /// The dots of an area of cells.
  init(_ cells: CellArea, _ grid: DotGrid) {
    let (across, down) = (grid.across, grid.down)
    columns = cells.columns.lowerBound * across..<cells.columns.upperBound * across
    rows = cells.rows.lowerBound * down..<cells.rows.upperBound * down
  }

  /// The part of a line that is in it or at most so many dots beside it, as shares of its length
  /// (Liang and Barsky), or nil.
  func shares(
    from start: DotPoint,
    to end: DotPoint,
    margin: Int
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
    guard cut(-dx, start.x - Double(columns.lowerBound - margin)),
      cut(dx, Double(columns.upperBound + margin) - start.x),
      cut(-dy, start.y - Double(rows.lowerBound - margin)),
      cut(dy, Double(rows.upperBound + margin) - start.y)
    else { return nil }
    return (first, last)
  }
}
