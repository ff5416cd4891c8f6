import Whiteboard

/// A stroke as a smooth line on a page: curves from the middle of each stretch to that of the next, and
/// corners where somebody drew one.
package struct InkCurve: Hashable, Sendable {
  /// One piece of the line, from where the one before it ends.
  package enum Piece: Hashable, Sendable {
    /// Straight to a point.
    case line(to: Point)
    /// Towards a point, which it does not reach, and to another: a quadratic curve.
    case curve(towards: Point, to: Point)

    /// Where it ends.
    package var end: Point {
      switch self {
      case .line(let end), .curve(_, let end): end
      }
    }
  }

  /// Where it begins.
  package let start: Point
  /// The pieces; a dot has none.
  package let pieces: [Piece]
  /// The index of the point that each piece is drawn towards.
  package let targets: [Int]

  /// The line through these points; nil where there are none.
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
      if Self.isBend(points[index - 1], point, next) {
        if !isBetween { append(.line(to: Self.middle(points[index - 1], point)), index) }
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
  private static let stretch = 18.0

  /// Whether the line bends at a point; otherwise it has a corner there.
  private static func isBend(_ before: Point, _ point: Point, _ after: Point) -> Bool {
    let (x, y) = (point.x - before.x, point.y - before.y)
    let (nextX, nextY) = (after.x - point.x, after.y - point.y)
    let length = (x * x + y * y).squareRoot()
    let nextLength = (nextX * nextX + nextY * nextY).squareRoot()
    guard length > 0, nextLength > 0 else { return false }
    let cosine = (x * nextX + y * nextY) / (length * nextLength)
    // Less than a twelfth of a turn; or about a right angle, where points lie as close as a hand's do.
    return cosine > 0.866 || (cosine > -0.2 && max(length, nextLength) <= stretch)
  }
}

/// What is left of a stroke, as lines with what pressed the pen.
extension ObjectSnapshot {
  /// One line that is left of a drawing.
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
