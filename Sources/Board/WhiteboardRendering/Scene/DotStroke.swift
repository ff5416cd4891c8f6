import Whiteboard

/// A pen that moves over dots and draws a stroke. A line always has the same dots, even if only a part of it is drawn.
/// Therefore a repainted area matches its surroundings.
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
  /// hand-drawn line. Corners and close points are drawn unchanged.
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

struct DotPen: Sendable {
  /// The width of the line in dots, for each pen pressure.
  let breadths: PenBreadth
  /// The pen's color, as returned by ``DotLayer/dot(_:)``.
  let color: UInt32
  var dashes = Dashes.none
}

struct PenBreadth: Sendable {
  /// The width on the board, in dots of a ``Viewport``.
  let dots: Double
  let style: DotStyle

  /// The maximum width of a line in dots.
  private static let limit = 256.0

  /// The width at a pen pressure; 0 means that the pressure is unknown.
  subscript(pressure: UInt8) -> Int { style.breadth(dots * InkCurve.breadth(atPressure: pressure), limit: Self.limit) }
}

/// The gaps that distinguish lines if there are no colors.
struct Dashes: Hashable, Sendable {
  /// The pattern, from the lowest bit: a set bit is a dot that is drawn.
  let bits: UInt32
  /// The number of bits in the pattern, which repeats.
  let count: Int
  /// The length of the line that one bit describes, in dots.
  var unit = 1

  static let none = Dashes(bits: 1, count: 1)

  /// Returns the gaps of a line style. A dash has fewer bits than its length, because the pen adds round ends.
  static func of(_ style: LineStyle, unit: Int) -> Dashes {
    switch style {
    case .solid: .none
    case .dashed: Dashes(bits: 0b111, count: 7, unit: unit)
    case .dotted: Dashes(bits: 0b1, count: 2, unit: unit)
    }
  }

  /// Returns whether the line is drawn at this distance from its start, in dots.
  func isDrawn(at distance: Double) -> Bool {
    let place = Int(min(distance, 1e9)) / unit % count
    return bits & (1 << UInt32(place)) != 0
  }
}

/// The tip of a pen: the dots of a disc.
struct Nib: Sendable {
  /// The diameter in dots.
  let breadth: Int
  /// The offset to add to a coordinate; truncating the sum gives the first dot of the nib. Points are often exactly
  /// between dots, because a mouse reports cells. The added quarter of a dot, or half a dot for a nib of even width,
  /// avoids a single protruding dot at the end of a round shape. The large constant makes every coordinate in view
  /// positive, so that truncation rounds down.
  let bias: Double
  /// The columns of each row, for a nib wider than two dots.
  let rows: [Range<Int>]

  static let origin = 1 << 31

  init(breadth: Int) {
    self.breadth = breadth
    bias = Double(Self.origin) - Double(breadth) / 2 + (breadth % 2 == 0 ? 0.5 : 0.75)
    guard breadth > 2 else {
      rows = []
      return
    }
    let middle = Double(breadth - 1) / 2
    let square = Double(breadth * breadth) / 4
    rows = (0..<breadth).map { row in
      let down = Double(row) - middle
      let reach = (square - down * down).squareRoot()
      return Int((middle - reach).rounded(.up))..<Int((middle + reach).rounded(.down)) + 1
    }
  }

  /// The distance between two imprints of the nib, short enough for smooth edges.
  var spacing: Double { max(1, Double(breadth) / 8) }
}

/// The characters that show the dots of a line.
package enum DotStyle: String, Hashable, Sendable, CaseIterable {
  /// Eight dots per cell, the finest style.
  case braille
  /// Two blocks per cell. Blocks are bolder than dots, and each block has one color.
  case half
  case ascii

  var grid: DotGrid { self == .half ? .halves : .fine }

  /// Returns the width of a line in dots of this style's grid; `dots` is its width in ``Viewport`` dots. Braille dots
  /// do not touch, so a line of one dot looks faint. Braille therefore widens thin lines to up to two dots. If the
  /// board is zoomed out, thin lines stay one dot wide, because wider lines would merge. ASCII draws lines below four
  /// dots as one dot, because characters can follow only the shape of thin lines.
  func breadth(_ dots: Double, limit: Double) -> Int {
    let wanted =
      switch self {
      case .braille: max(dots, min(1.6 * dots, 2))
      case .half: dots * grid.factor
      case .ascii: dots < 4 ? 1 : dots
      }
    return Int(min(max(wanted.rounded(), 1), limit))
  }

  func cell(_ dots: DotLayer, _ x: Int, _ y: Int, on background: CellColor) -> ScreenCell? {
    switch self {
    case .braille:
      guard let (mask, color) = dots.cell(x, y) else { return nil }
      return ScreenCell(.braille(mask), CellStyle(color, on: background))
    case .ascii:
      guard let (mask, color) = dots.cell(x, y) else { return nil }
      return ScreenCell(Glyph(DotSign.sign(mask)), CellStyle(color, on: background))
    case .half:
      switch dots.halves(x, y) {
      case (let upper?, let lower?):
        if upper == lower { return ScreenCell(Glyph("█"), CellStyle(upper, on: background)) }
        // If one half has the terminal's default text color, draw that half as the character. The default text color
        // cannot be used as a background color.
        return upper == .terminal
          ? ScreenCell(Glyph("▀"), CellStyle(upper, on: lower)) : ScreenCell(Glyph("▄"), CellStyle(lower, on: upper))
      case (let upper?, nil): return ScreenCell(Glyph("▀"), CellStyle(upper, on: background))
      case (nil, let lower?): return ScreenCell(Glyph("▄"), CellStyle(lower, on: background))
      case (nil, nil): return nil
      }
    }
  }
}

/// A namespace for selecting the ASCII character whose shape is most similar to the dots of a cell.
enum DotSign {
  static func sign(_ mask: UInt8) -> Unicode.Scalar { signs[Int(mask)] }

  private static let signs: [Unicode.Scalar] = (0..<256).map { choose(UInt8($0)) }

  private static func choose(_ mask: UInt8) -> Unicode.Scalar {
    let left = rows(mask, [0x01, 0x02, 0x04, 0x40])
    let right = rows(mask, [0x08, 0x10, 0x20, 0x80])
    guard let leftTop = left.first, let leftEnd = left.last, let rightTop = right.first, let rightEnd = right.last
    else { return upright(left + right) }
    if mask.nonzeroBitCount >= 7 { return "#" }
    let (top, end) = (min(leftTop, rightTop), max(leftEnd, rightEnd))
    if end == top { return top == 3 ? "_" : "-" }
    if end == top + 1 { return top == 0 ? "'" : top == 1 ? "-" : "." }
    let hasCorner = max(left.count, right.count) >= 3 && !Set(left).isDisjoint(with: right)
    if hasCorner { return mask.nonzeroBitCount >= 6 ? "#" : "+" }
    if rightTop <= leftTop, rightEnd <= leftEnd { return "/" }
    if leftTop <= rightTop, leftEnd <= rightEnd { return "\\" }
    return mask.nonzeroBitCount >= 6 ? "#" : "+"
  }

  /// Returns the character for dots in a single column, given their rows.
  private static func upright(_ rows: [Int]) -> Unicode.Scalar {
    guard let top = rows.first, let end = rows.last else { return " " }
    if end - top >= 2 || (top, end) == (1, 2) { return "|" }
    return end <= 1 ? "'" : "."
  }

  private static func rows(_ mask: UInt8, _ bits: [UInt8]) -> [Int] { bits.indices.filter { mask & bits[$0] != 0 } }
}
