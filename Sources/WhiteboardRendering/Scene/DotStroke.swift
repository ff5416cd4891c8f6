/// A pen that moves over dots and draws a stroke.
///
/// A line always has the same dots, even if only a part of it is drawn. Therefore a repainted area matches its
/// surroundings.
struct DotStroke {
  private let pen: DotPen
  private let width: Int
  private let area: DotArea
  private let hasDashes: Bool
  private var nib: Nib
  private var pressure: UInt8 = 0
  /// The number of points, steps and dots so far.
  private(set) var work = 0
  private var place = DotPoint(x: 0, y: 0)
  /// The distance that the pen has moved, in dots.
  private var travelled = 0.0
  /// The column of the nib's first dot at its last imprint; `row` is the row of that dot.
  private var column = Int.min
  private var row = Int.min

  init(_ pen: DotPen, width: Int, within area: DotArea) {
    self.pen = pen
    self.width = width
    self.area = area
    hasDashes = pen.dashes != .none
    nib = Nib(breadth: pen.breadths[0])
  }

  /// The minimum length of the segments that a curve can join, in dots.
  private static let longSegment = 3.0

  /// If long segments meet at a bend (``InkCurve``), they are joined by a curve between their midpoints, as in a fast
  /// hand-drawn line.
  ///
  /// Corners and close points are drawn unchanged.
  mutating func draw(_ path: some Sequence<DotPoint>, isBend: (Int) -> Bool, on dots: inout MutableSpan<UInt32>) {
    var points = path.makeIterator()
    guard var here = points.next() else { return }
    begin(here, on: &dots)
    var before = here
    var length = 0.0
    var index = 0
    while let next = points.next() {
      defer { index &+= 1 }
      work &+= 1
      let (dx, dy) = (next.x - here.x, next.y - here.y)
      let nextLength = max(dx.magnitude, dy.magnitude)
      if length < 1 {
        // Most segments are shorter than one dot, so handle this case first.
        step(to: here, length, on: &dots)
      } else if length >= Self.longSegment, nextLength >= Self.longSegment, isBend(index) {
        line(to: Self.middle(before, here), on: &dots)
        curve(around: here, to: Self.middle(here, next), on: &dots)
      } else {
        line(to: here, on: &dots)
      }
      (before, here, length) = (here, next, nextLength)
    }
    line(to: here, on: &dots)
  }

  private static func middle(_ one: DotPoint, _ other: DotPoint) -> DotPoint {
    DotPoint(x: (one.x + other.x) / 2, y: (one.y + other.y) / 2, pressure: other.pressure)
  }

  private mutating func begin(_ point: DotPoint, on dots: inout MutableSpan<UInt32>) {
    place = point
    press(harder: point.pressure)
    press(point.x, point.y, on: &dots)
  }

  private mutating func press(harder next: UInt8) {
    guard next != pressure else { return }
    pressure = next
    let breadth = pen.breadths[next]
    guard breadth != nib.breadth else { return }
    nib = Nib(breadth: breadth)
    column = .min
  }

  // MARK: - Curves and lines

  /// Draws a quadratic curve from the current position to `end`, with `corner` as the control point.
  private mutating func curve(around corner: DotPoint, to end: DotPoint, on dots: inout MutableSpan<UInt32>) {
    let start = place
    let length = max((end.x - start.x).magnitude, (end.y - start.y).magnitude)
    let count = Int(min(max(length / 2, 2), 32))
    for step in 1...count {
      let share = Double(step) / Double(count)
      let (first, both, last) = ((1 - share) * (1 - share), 2 * share * (1 - share), share * share)
      line(
        to: DotPoint(
          x: first * start.x + both * corner.x + last * end.x,
          y: first * start.y + both * corner.y + last * end.y,
          pressure: end.pressure
        ),
        on: &dots
      )
    }
  }

  /// Moves to a position less than one dot away.
  @inline(__always) private mutating func step(to end: DotPoint, _ length: Double, on dots: inout MutableSpan<UInt32>) {
    if end.pressure != pressure { press(harder: end.pressure) }
    travelled += length
    place = end
    press(end.x, end.y, on: &dots)
  }

  private mutating func line(to end: DotPoint, on dots: inout MutableSpan<UInt32>) {
    let length = max((end.x - place.x).magnitude, (end.y - place.y).magnitude)
    guard length >= 1 else { return step(to: end, length, on: &dots) }
    if end.pressure != pressure { press(harder: end.pressure) }
    longLine(to: end, length, on: &dots)
  }

  private mutating func longLine(to end: DotPoint, _ length: Double, on dots: inout MutableSpan<UInt32>) {
    let (start, begun) = (place, travelled)
    place = end
    travelled += length
    guard let (first, last) = area.shares(from: start, to: end, margin: nib.breadth + 1) else { return }
    let count = (length / nib.spacing).rounded(.up)
    let (dx, dy) = ((end.x - start.x) / count, (end.y - start.y) / count)
    let from = Int((first * count).rounded(.down))
    let to = Int((last * count).rounded(.up))
    work &+= max(to - from, 0)
    for step in from...max(from, to) {
      if hasDashes { travelled = begun + Double(step) * length / count }
      press(start.x + Double(step) * dx, start.y + Double(step) * dy, on: &dots)
    }
    travelled = begun + length
  }

  // MARK: - Dots

  @inline(__always) private mutating func press(_ x: Double, _ y: Double, on dots: inout MutableSpan<UInt32>) {
    let column = Int(x + nib.bias) &- Nib.origin
    let row = Int(y + nib.bias) &- Nib.origin
    guard column != self.column || row != self.row else { return }
    (self.column, self.row) = (column, row)
    if hasDashes, !pen.dashes.isDrawn(at: travelled) { return }
    let isInside =
      column >= area.columns.lowerBound && column &+ nib.breadth <= area.columns.upperBound
      && row >= area.rows.lowerBound && row &+ nib.breadth <= area.rows.upperBound
    guard isInside, nib.breadth <= 2 else {
      work &+= nib.breadth * nib.breadth
      return pressWhole(column, row, isInside: isInside, on: &dots)
    }
    let index = row &* width &+ column
    dots[index] = pen.color
    guard nib.breadth == 2 else { return }
    dots[index &+ 1] = pen.color
    dots[index &+ width] = pen.color
    dots[index &+ width &+ 1] = pen.color
  }

  /// Draws the part of the nib that is in the area.
  private func pressWhole(_ column: Int, _ row: Int, isInside: Bool, on dots: inout MutableSpan<UInt32>) {
    let breadth = nib.breadth
    guard
      isInside
        || column < area.columns.upperBound && column + breadth > area.columns.lowerBound && row < area.rows.upperBound
          && row + breadth > area.rows.lowerBound
    else { return }
    for line in 0..<breadth where isInside || area.rows.contains(row + line) {
      let reach = breadth > 2 ? nib.rows[line] : 0..<breadth
      var columns = column + reach.lowerBound..<column + reach.upperBound
      if !isInside { columns = columns.clamped(to: area.columns) }
      for column in columns { dots[(row + line) * width + column] = pen.color }
    }
  }
}
