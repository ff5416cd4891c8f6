import Whiteboard

/// A stroke as a smooth line on a page: curves from the middle of each stretch to that of the next, and
/// corners where somebody drew one.
package struct InkCurve: Hashable, Sendable {
  /// One segment of the line, which starts at the end of the previous one.
  package enum Piece: Hashable, Sendable {
    /// Straight to a point.
    case line(to: Point)
    /// Towards a point, which it does not reach, and to another: a quadratic curve.
    case curve(towards: Point, to: Point)

    /// The end of the curve.
    package var end: Point {
      switch self {
      case .line(let end), .curve(_, let end): end
      }
    }
  }

  /// The start of the curve.
  package let start: Point
  /// The pieces; a dot has none.
  package let pieces: [Piece]
  /// The index of the point that each piece is drawn towards.
  package let targets: [Int]

  /// The line through these points; nil if there are none.
  package init?(_ points: [Point]) {
    guard let first = points.first else { return nil }
    start = first
    var pieces: [Piece] = []
    var targets: [Int] = []
    // Whether the line has come to the middle of a stretch, where a curve begins.
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
      let isBend = Self.isBend(
        point.x - before.x,
        point.y - before.y,
        next.x - point.x,
        next.y - point.y,
        stretch: Self.stretch
      )
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

  /// How broad a line is where the pen was pressed so: all of its width at most, and where that is not
  /// known.
  package static func breadth(atPressure pressure: UInt8) -> Double {
    pressure == 0 ? 1 : 0.3 + 0.7 * Double(pressure) / 255
  }

  private static func middle(_ one: Point, _ other: Point) -> Point {
    Point(x: (one.x + other.x) / 2, y: (one.y + other.y) / 2)
  }

  /// The longest stretch that a hand draws between two points, in board units: what a terminal tells is
  /// a cell apart.
  static let stretch = 18.0

  /// Whether a line bends where two steps of it meet; otherwise it has a corner there.
  ///
  /// On a page and on a screen alike, so that a corner of the one is a corner of the other; `stretch` is
  /// ``InkCurve/stretch`` in the unit of the steps.
  @inline(__always)
  static func isBend(
    _ x: Double,
    _ y: Double,
    _ nextX: Double,
    _ nextY: Double,
    stretch: Double
  ) -> Bool {
    let (length, nextLength) = (x * x + y * y, nextX * nextX + nextY * nextY)
    let along = x * nextX + y * nextY
    // Squares of cosines: what is asked for each of a board's half a million points takes no roots.
    let (square, whole) = (along * along, length * nextLength)
    guard whole > 0 else { return false }
    // Less than a twelfth of a turn; or about a right angle, where points lie as close as a hand's do.
    if along > 0, square > 0.75 * whole { return true }
    return (along > 0 || square < 0.04 * whole) && max(length, nextLength) <= stretch * stretch
  }
}

/// The remaining parts of a stroke, as lines with pen pressure.
extension ObjectSnapshot {
  /// One remaining line of a drawing.
  package struct InkLine: Hashable, Sendable {
    /// The points relative to the centre, neither scaled nor turned; one point is a dot.
    package let points: [Point]
    /// How hard the pen was pressed at each, 0 where that is not known.
    package let pressures: [UInt8]
  }

  /// The lines that are left of a drawing; empty for what is none.
  package var inkLines: [InkLine] {
    guard let ink, let points, let spans = visibleSpans, let lines = visibleLines else { return [] }
    return zip(spans, lines).map { span, line in
      let first = span.lowerBound / StrokeSpans.steps
      return InkLine(
        points: line,
        pressures: line.indices.map { ink[min(first + $0, points.count - 1)].pressure }
      )
    }
  }
}
