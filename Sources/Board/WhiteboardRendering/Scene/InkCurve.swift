import Whiteboard

/// A stroke as a smooth line on a page, with curves between the midpoints of segments at bends; corners stay sharp.
package struct InkCurve: Hashable, Sendable {
  /// One segment of the line, which starts at the end of the previous segment.
  package enum Piece: Hashable, Sendable {
    case line(to: Point)
    case curve(towards: Point, to: Point)

    package var end: Point {
      switch self {
      case .line(let end), .curve(_, let end): end
      }
    }
  }

  package let start: Point
  /// The segments of the line; empty for a dot.
  package let pieces: [Piece]
  /// For each segment, the index of the point that it is drawn towards.
  package let targets: [Int]

  package init?(_ points: [Point]) {
    guard let first = points.first else { return nil }
    start = first
    var pieces: [Piece] = []
    var targets: [Int] = []
    // Whether the line has reached the middle of a segment, where a curve begins.
    var isBetween = false
    func append(_ piece: Piece, _ target: Int) {
      pieces.append(piece)
      targets.append(target)
    }
    for (index, point) in points.enumerated().dropFirst() {
      guard index + 1 < points.count else {
        append(.line(to: point), index)
        break
      }
      let next = points[index + 1]
      let before = points[index - 1]
      let isBend = InkTurn.isBend(at: index, of: points.count) { points[$0] }
      if isBend {
        if !isBetween { append(.line(to: Self.middle(before, point)), index) }
        append(.curve(towards: point, to: Self.middle(point, next)), index)
        isBetween = true
      } else {
        append(.line(to: point), index)
        isBetween = false
      }
    }
    self.pieces = pieces
    self.targets = targets
  }

  /// Returns the width of a line at a pen pressure, as a fraction of its full width. A pressure of 0 means unknown.
  package static func breadth(atPressure pressure: UInt8) -> Double {
    pressure == 0 ? 1 : 0.3 + 0.7 * Double(pressure) / 255
  }

  private static func middle(_ one: Point, _ other: Point) -> Point {
    Point(x: (one.x + other.x) / 2, y: (one.y + other.y) / 2)
  }
}

/// The kind of turn at a point of a line. Pages and screens use the same rule, and therefore show the same corners.
enum InkTurn: Hashable, Sendable {
  /// A slight turn, as in a curve drawn by hand.
  case bend
  case corner
  case step(isClockwise: Bool, isShort: Bool)

  /// The maximum distance between successive points of a hand-drawn curve, in board units. This distance is about the
  /// diagonal of a cell, because a terminal reports the mouse position in cells.
  static let stretch = 18.0
  /// The number of turns before and after a step that determine whether it is part of a staircase.
  static let window = 3

  /// Returns whether a line bends at a point; otherwise, the line has a corner there. If short steps alternate in
  /// direction, the line was drawn by hand in cells and is smoothed. A single step is a corner, and so are steps in the
  /// same direction, as in a small rectangle.
  @inline(__always) static func isBend(at index: Int, of count: Int, point: (Int) -> Point) -> Bool {
    switch InkTurn(at: index, point) {
    case .bend: true
    case .corner, .step(_, isShort: false): false
    case .step(let isClockwise, _): isStaircase(isClockwise, at: index, of: count, point)
    }
  }

  private static func isStaircase(_ isClockwise: Bool, at index: Int, of count: Int, _ point: (Int) -> Point) -> Bool {
    var hasOthers = false
    for direction in [-1, 1] {
      var last = isClockwise
      for distance in 1...window {
        let place = index + direction * distance
        guard place > 0, place < count - 1, case .step(let next, _) = InkTurn(at: place, point) else { break }
        if next == last { return false }
        (last, hasOthers) = (next, true)
      }
    }
    return hasOthers
  }

  @inline(__always) private init(at index: Int, _ point: (Int) -> Point) {
    let (before, here, after) = (point(index - 1), point(index), point(index + 1))
    let (x, y) = (here.x - before.x, here.y - before.y)
    let (nextX, nextY) = (after.x - here.x, after.y - here.y)
    let (length, nextLength) = (x * x + y * y, nextX * nextX + nextY * nextY)
    let along = x * nextX + y * nextY
    // Compare squares of cosines: there can be half a million points, and square roots are slow.
    let (square, whole) = (along * along, length * nextLength)
    let limit = Self.stretch * Self.stretch
    let isShort = max(length, nextLength) <= limit
    if along > 0, square > 0.75 * whole {
      // The turn is less than 30°.
      self = .bend
    } else if whole == 0 || along <= 0 && square >= 0.04 * whole {
      // The turn is more than about 100°.
      self = .corner
    } else if along > 0, square > 0.18 * whole, isShort, min(length, nextLength) <= limit / 4 {
      // The turn is less than about 65°, as in a small loop.
      self = .bend
    } else if Self.isAlongAxis(x, y) || Self.isAlongAxis(nextX, nextY) {
      self = .step(isClockwise: x * nextY > y * nextX, isShort: isShort)
    } else {
      self = .corner
    }
  }

  private static func isAlongAxis(_ x: Double, _ y: Double) -> Bool {
    min(x.magnitude, y.magnitude) <= 0.01 * max(x.magnitude, y.magnitude)
  }
}

/// The remaining parts of a stroke, as lines with pen pressure.
extension ObjectSnapshot {
  package struct InkLine: Hashable, Sendable {
    /// The points relative to the center, without scale and rotation; a single point is a dot.
    package let points: [Point]
    /// The pen pressure at each point; 0 if it is unknown.
    package let pressures: [UInt8]
  }

  /// Whether a drawing is shown completely: nothing was erased, and no part is left out of ``inkLines``.
  var isInkComplete: Bool {
    guard let points else { return true }
    guard erased?.ranges.isEmpty ?? true else { return false }
    return !DenseInk.isDense(points, width: lineWidth ?? ObjectDefaults.lineWidth)
  }

  /// The remaining lines of a drawing; empty for other objects. Parts of lines that would add nothing visible are left
  /// out (``DenseInk``).
  package var inkLines: [InkLine] {
    guard let ink, let points, let spans = visibleSpans, let lines = visibleLines else { return [] }
    return zip(spans, lines).flatMap { span, line -> [InkLine] in
      let first = span.lowerBound / StrokeSpans.steps
      func part(_ indices: some Sequence<Int>) -> InkLine {
        let indices = Array(indices)
        return InkLine(
          points: indices.map { line[$0] },
          pressures: indices.map { ink[min(first + $0, points.count - 1)].pressure }
        )
      }
      let parts = DenseInk.parts(of: line, width: lineWidth ?? ObjectDefaults.lineWidth)
      return parts?.map { part($0) } ?? [part(line.indices)]
    }
  }
}

/// A rule that leaves out the parts of a stroke that are on top of much other ink of the same stroke. A stroke can
/// cross its own box tens of thousands of times, and would then stop a program that draws it. Such a stroke looks the
/// same without the parts that add nothing visible. Nearly all strokes are drawn completely.
enum DenseInk {
  /// The amount of ink above which parts are left out, as a multiple of the area that the ink covers.
  static let limit = 8.0
  /// The number of columns and rows into which the box of a stroke is divided.
  private static let divisions = 32
  /// The maximum number of points of a stroke that is always drawn completely.
  private static let simple = 1_024

  /// The minimum width of a line for this rule, because clients draw even thinner lines with at least one pixel.
  private static let leastWidth = 1.0

  static func isDense(_ points: [Point], width: Double) -> Bool {
    points.count > simple && InkGrid(points, width) != nil
  }

  /// Returns the parts of a line to draw, as ranges of the indexes of its points; nil for the whole line. A segment is
  /// left out if most of it is in parts of the box that have much ink already. O(*n*).
  static func parts(of points: [Point], width: Double) -> [ClosedRange<Int>]? {
    guard points.count > simple, let box = InkGrid(points, width) else { return nil }
    var grid = box
    var parts: [ClosedRange<Int>] = []
    var start = 0
    for index in 1..<points.count where !grid.add(from: points[index - 1], to: points[index]) {
      if start < index - 1 { parts.append(start...index - 1) }
      start = index
    }
    if start < points.count - 1 { parts.append(start...points.count - 1) }
    return parts
  }

  private struct InkGrid {
    private let corner: Point
    private let part: Size
    /// The length of a line that fills a part up to the limit.
    private let room: Double
    private var lengths: [Double]
    private var places: [Int] = []

    init?(_ points: [Point], _ width: Double) {
      let width = max(width, leastWidth)
      var (last, length) = (points[0], 0.0)
      var (left, right, top, bottom) = (last.x, last.x, last.y, last.y)
      for point in points {
        if point.x < left { left = point.x }
        if point.x > right { right = point.x }
        if point.y < top { top = point.y }
        if point.y > bottom { bottom = point.y }
        let (x, y) = (point.x - last.x, point.y - last.y)
        length += (x * x + y * y).squareRoot()
        last = point
      }
      let size = Size(width: right - left + width, height: bottom - top + width)
      guard length * width > limit * size.width * size.height else { return nil }
      let count = Double(divisions)
      corner = Point(x: left - width / 2, y: top - width / 2)
      part = Size(width: size.width / count, height: size.height / count)
      room = limit * part.width * part.height / width
      lengths = Array(repeating: 0, count: divisions * divisions)
    }

    /// Adds a segment, unless most of it is in full parts of the box; returns whether to draw it.
    mutating func add(from start: Point, to end: Point) -> Bool {
      let (dx, dy) = (end.x - start.x, end.y - start.y)
      let count = Int(max((dx / part.width).magnitude, (dy / part.height).magnitude)) + 1
      let (stepX, stepY) = (dx / part.width / Double(count), dy / part.height / Double(count))
      var x = (start.x - corner.x) / part.width + stepX / 2
      var y = (start.y - corner.y) / part.height + stepY / 2
      var full = 0
      places.removeAll(keepingCapacity: true)
      for _ in 0..<count {
        let place = min(max(Int(y), 0), divisions - 1) * divisions + min(max(Int(x), 0), divisions - 1)
        if lengths[place] > room { full += 1 }
        places.append(place)
        x += stepX
        y += stepY
      }
      guard 4 * full <= 3 * count else { return false }
      let length = (dx * dx + dy * dy).squareRoot() / Double(count)
      for place in places { lengths[place] += length }
      return true
    }
  }
}
