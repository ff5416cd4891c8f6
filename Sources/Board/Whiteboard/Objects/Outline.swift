/// The outline of a form, in the object's own board units relative to its center (BRD-51).
public struct Outline: Hashable, Sendable {
  /// One piece of an outline.
  public enum Piece: Hashable, Sendable {
    case line(to: Point)
    /// A cubic Bézier curve with two control points.
    case curve(Point, Point, to: Point)

    /// The end of the piece.
    public var end: Point {
      switch self {
      case .line(let end), .curve(_, _, let end): end
      }
    }
  }

  /// The first point.
  public let start: Point
  /// The pieces; each piece begins where the previous piece ends.
  public let pieces: [Piece]
  /// Whether the outline encloses an area that is filled.
  public let isClosed: Bool

  /// The distance of the control points of a quarter of an ellipse from its ends, relative to the radius.
  private static let quarter = 0.5522847498307936
  /// The greatest radius of round corners, in board units.
  private static let cornerRadius = 32.0

  private init(_ start: Point, _ pieces: [Piece], isClosed: Bool) {
    self.start = start
    self.pieces = pieces
    self.isClosed = isClosed
  }

  private init(corners: [Point]) {
    self.init(corners[0], (corners[1...] + corners[...0]).map { .line(to: $0) }, isClosed: true)
  }

  /// Creates the outline of a form without points.
  package init(_ form: DrawingForm, _ size: Size) {
    let (x, y) = (size.width / 2, size.height / 2)
    switch form {
    case .ellipse: self.init(roundedBox: x, y, radius: (x, y))
    case .roundedRectangle:
      let radius = min(Self.cornerRadius, min(x, y) / 2)
      self.init(roundedBox: x, y, radius: (radius, radius))
    case .diamond: self.init(corners: [Point(x: 0, y: -y), Point(x: x, y: 0), Point(x: 0, y: y), Point(x: -x, y: 0)])
    default: self.init(corners: Rectangle(Point(x: -x, y: -y), Point(x: x, y: y)).corners)
    }
  }

  /// Creates a box with half the width `x` and half the height `y`. Each corner is a quarter of an ellipse with the
  /// given radii.
  private init(roundedBox x: Double, _ y: Double, radius: (x: Double, y: Double)) {
    let (u, v) = (x - radius.x, y - radius.y)
    let (a, b) = (u + radius.x * Self.quarter, v + radius.y * Self.quarter)
    func point(_ x: Double, _ y: Double) -> Point { Point(x: x, y: y) }
    var pieces: [Piece] = []
    func side(to end: Point, from start: Point) { if end != start { pieces.append(.line(to: end)) } }
    side(to: point(u, -y), from: point(-u, -y))
    pieces.append(.curve(point(a, -y), point(x, -b), to: point(x, -v)))
    side(to: point(x, v), from: point(x, -v))
    pieces.append(.curve(point(x, b), point(a, y), to: point(u, y)))
    side(to: point(-u, y), from: point(u, y))
    pieces.append(.curve(point(-a, y), point(-x, b), to: point(-x, v)))
    side(to: point(-x, -v), from: point(-x, v))
    pieces.append(.curve(point(-x, -b), point(-a, -y), to: point(-u, -y)))
    self.init(point(-u, -y), pieces, isClosed: true)
  }

  /// Creates the line through points; nil if there are none. A curve is a Catmull-Rom spline: the tangent at each point
  /// is parallel to the line between its neighbors.
  package init?(through points: [Point], isCurved: Bool) {
    guard let first = points.first, let last = points.last else { return nil }
    let isClosed = points.count > 2 && first == last
    guard isCurved, points.count > 2 else {
      self.init(first, points.dropFirst().map { .line(to: $0) }, isClosed: isClosed)
      return
    }
    var pieces: [Piece] = []
    for index in 1..<points.count {
      let (from, to) = (points[index - 1], points[index])
      let before = index > 1 ? points[index - 2] : isClosed ? points[points.count - 2] : from
      let after = index + 1 < points.count ? points[index + 1] : isClosed ? points[1] : to
      pieces.append(.curve(from + (to - before) * (1.0 / 6), to - (after - from) * (1.0 / 6), to: to))
    }
    self.init(first, pieces, isClosed: isClosed)
  }

  /// The smallest upright rectangle around all points, including control points.
  package var box: Rectangle {
    pieces.reduce(Rectangle(start, start)) { box, piece in
      switch piece {
      case .line(let end): box.union(Rectangle(end, end))
      case .curve(let first, let second, let end): box.union(Rectangle(first, second)).union(Rectangle(end, end))
      }
    }
  }

  func moved(by offset: Point) -> Outline {
    let pieces = pieces.map { piece -> Piece in
      switch piece {
      case .line(let end): .line(to: end + offset)
      case .curve(let first, let second, let end): .curve(first + offset, second + offset, to: end + offset)
      }
    }
    return Outline(start + offset, pieces, isClosed: isClosed)
  }

  /// `steps` is the number of straight lines for each curve.
  package func points(steps: Int = 16) -> [Point] {
    var points = [start]
    for piece in pieces {
      if case .curve(let first, let second, let end) = piece, let from = points.last {
        for step in 1..<steps {
          let (t, u) = (Double(step) / Double(steps), 1 - Double(step) / Double(steps))
          points.append(from * (u * u * u) + first * (3 * u * u * t) + second * (3 * u * t * t) + end * (t * t * t))
        }
      }
      points.append(piece.end)
    }
    return points
  }

  private static func mark(_ end: LineEnd, at tip: Point, from before: Point, room: Double, lineWidth: Double)
    -> Outline?
  {
    let way = tip - before
    let length = (way.x * way.x + way.y * way.y).squareRoot()
    guard end != .none, length > 0 else { return nil }
    let reach = min(8 + 4 * lineWidth, room)
    let back = way * (reach / length)
    let side = Point(x: -back.y / 2, y: back.x / 2)
    switch end {
    case .none: return nil
    case .arrow: return Outline(tip - back + side, [.line(to: tip), .line(to: tip - back - side)], isClosed: false)
    case .triangle: return Outline(corners: [tip, tip - back + side, tip - back - side])
    case .bar: return Outline(tip + side, [.line(to: tip - side)], isClosed: false)
    case .dot: return Outline(roundedBox: reach / 4, reach / 4, radius: (reach / 4, reach / 4)).moved(by: tip)
    }
  }

  func marks(_ style: ObjectStyle, lineWidth: Double) -> [Outline] {
    guard let last = pieces.last else { return [] }
    let before = pieces.count > 1 ? pieces[pieces.count - 2].end : start
    func distance(_ one: Point, _ other: Point) -> Double {
      let way = one - other
      return (way.x * way.x + way.y * way.y).squareRoot() / 2
    }
    var (beforeLast, afterFirst) = (before, pieces[0].end)
    if case .curve(_, let control, let end) = last, control != end { beforeLast = control }
    if case .curve(let control, _, _) = pieces[0], control != start { afterFirst = control }
    return [
      Self.mark(
        style.start,
        at: start,
        from: afterFirst,
        room: distance(start, pieces[0].end),
        lineWidth: lineWidth
      ), Self.mark(style.end, at: last.end, from: beforeLast, room: distance(last.end, before), lineWidth: lineWidth),
    ].compactMap { $0 }
  }

  /// Returns the line, shortened to the middle of the triangles at its ends. Otherwise, the round ends of the line
  /// would extend beyond the tips of the triangles.
  package func shortened(_ style: ObjectStyle, marks: [Outline]) -> Outline {
    func middle(_ triangle: Outline) -> Point {
      triangle.start * 0.5 + (triangle.pieces[0].end + triangle.pieces[1].end) * 0.25
    }
    var (start, pieces) = (start, pieces)
    if style.start == .triangle, let mark = marks.first, mark.start == start { start = middle(mark) }
    if style.end == .triangle, let mark = marks.last, mark.start == pieces.last?.end, let last = pieces.popLast() {
      switch last {
      case .line: pieces.append(.line(to: middle(mark)))
      case .curve(let first, let second, _): pieces.append(.curve(first, second, to: middle(mark)))
      }
    }
    return Outline(start, pieces, isClosed: isClosed)
  }

  /// Returns whether a point is inside the closed outline, by the even-odd rule.
  func contains(_ place: Point) -> Bool {
    let points = points()
    var isInside = false
    for (from, to) in zip(points, points.dropFirst()) where (from.y > place.y) != (to.y > place.y) {
      if place.x < from.x + (to.x - from.x) * (place.y - from.y) / (to.y - from.y) { isInside.toggle() }
    }
    return isInside
  }
}
