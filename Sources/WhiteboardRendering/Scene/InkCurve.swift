import Whiteboard

/// A stroke as a smooth line on a page.
///
/// At bends, it has curves between the midpoints of the segments; corners stay sharp.
package struct InkCurve: Hashable, Sendable {
  /// One segment of the line, which starts at the end of the previous one.
  package enum Piece: Hashable, Sendable {
    /// A straight line to a point.
    case line(to: Point)
    /// A quadratic curve with a control point and an end point.
    case curve(towards: Point, to: Point)

    /// The end of the segment.
    package var end: Point {
      switch self {
      case .line(let end), .curve(_, let end): end
      }
    }
  }

  /// The start of the line.
  package let start: Point
  /// The segments of the line; empty for a dot.
  package let pieces: [Piece]
  /// For each segment, the index of the point that it is drawn towards.
  package let targets: [Int]

  /// Creates the line through the points; nil if there are none.
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

  /// Returns the width of a line at a pen pressure, as a fraction of its full width.
  ///
  /// It is 1 if the pressure is 0, which means unknown.
  package static func breadth(atPressure pressure: UInt8) -> Double {
    pressure == 0 ? 1 : 0.3 + 0.7 * Double(pressure) / 255
  }

  private static func middle(_ one: Point, _ other: Point) -> Point {
    Point(x: (one.x + other.x) / 2, y: (one.y + other.y) / 2)
  }

  /// The maximum distance between successive points of a hand-drawn curve, in board units.
  ///
  /// It is about the diagonal of a cell, because a terminal reports the mouse position in cells.
  static let stretch = 18.0

  /// Returns whether a line bends at a point; otherwise it has a corner there.
  ///
  /// Pages and screens use the same rule, and therefore show the same corners. The arguments are the steps to and from
  /// the point, and ``InkCurve/stretch`` in the same unit.
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
    // Compare squares of cosines: there can be half a million points, and square roots are slow.
    let (square, whole) = (along * along, length * nextLength)
    guard whole > 0 else { return false }
    // The turn is less than 30°, or up to about 100° between points as close as those drawn by
    // hand.
    if along > 0, square > 0.75 * whole { return true }
    return (along > 0 || square < 0.04 * whole) && max(length, nextLength) <= stretch * stretch
  }
}

/// The remaining parts of a stroke, as lines with pen pressure.
extension ObjectSnapshot {
  /// One remaining line of a drawing.
  package struct InkLine: Hashable, Sendable {
    /// The points relative to the center, without scale and rotation; a single point is a dot.
    package let points: [Point]
    /// The pen pressure at each point; 0 if it is unknown.
    package let pressures: [UInt8]
  }

  /// The remaining lines of a drawing; empty for other objects.
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
