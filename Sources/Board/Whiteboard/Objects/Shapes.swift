/// A rectangle on the board with horizontal and vertical sides.
public struct Rectangle: Hashable, Sendable {
  /// The corner with the smallest x and y.
  public let least: Point
  /// The corner with the largest x and y.
  public let greatest: Point

  /// Creates the rectangle between two opposite corners, given in any order.
  public init(_ corner: Point, _ opposite: Point) {
    least = Point(x: min(corner.x, opposite.x), y: min(corner.y, opposite.y))
    greatest = Point(x: max(corner.x, opposite.x), y: max(corner.y, opposite.y))
  }

  /// The center of the rectangle.
  public var center: Point { Point(x: (least.x + greatest.x) / 2, y: (least.y + greatest.y) / 2) }

  /// Returns the smallest rectangle that contains both rectangles.
  public func union(_ other: Rectangle) -> Rectangle {
    Rectangle(
      Point(x: min(least.x, other.least.x), y: min(least.y, other.least.y)),
      Point(x: max(greatest.x, other.greatest.x), y: max(greatest.y, other.greatest.y))
    )
  }

  /// Returns whether the rectangles have a point in common, including their edges.
  public func touches(_ other: Rectangle) -> Bool {
    least.x <= other.greatest.x && other.least.x <= greatest.x && least.y <= other.greatest.y
      && other.least.y <= greatest.y
  }

  /// Returns whether `other` lies completely inside this rectangle, including its edges.
  public func contains(_ other: Rectangle) -> Bool {
    least.x <= other.least.x && other.greatest.x <= greatest.x && least.y <= other.least.y
      && other.greatest.y <= greatest.y
  }

  package var corners: [Point] {
    [least, Point(x: greatest.x, y: least.y), greatest, Point(x: least.x, y: greatest.y)]
  }

  func widened(by margin: Double) -> Rectangle {
    Rectangle(Point(x: least.x - margin, y: least.y - margin), Point(x: greatest.x + margin, y: greatest.y + margin))
  }

  func distance(to place: Point) -> Double {
    let x = max(least.x - place.x, place.x - greatest.x, 0)
    let y = max(least.y - place.y, place.y - greatest.y, 0)
    return (x * x + y * y).squareRoot()
  }

  var isFinite: Bool { least.isFinite && greatest.isFinite }
}

extension Point {
  var isFinite: Bool { x.isFinite && y.isFinite }

  package static func + (lhs: Point, rhs: Point) -> Point { Point(x: lhs.x + rhs.x, y: lhs.y + rhs.y) }
  package static func - (lhs: Point, rhs: Point) -> Point { Point(x: lhs.x - rhs.x, y: lhs.y - rhs.y) }
  static func * (lhs: Point, factor: Double) -> Point { Point(x: lhs.x * factor, y: lhs.y * factor) }
}

/// A rotation clockwise (y points down), in steps of 1/4096 turn. The sine and cosine are computed with basic
/// arithmetic only, so that every machine gets the same bits.
package struct Rotation: Hashable, Sendable {
  package let sine: Double
  package let cosine: Double

  package init(steps: UInt64) {
    let step = steps % 4096
    // Within an eighth of a turn, the series converges after few terms.
    let inQuarter = step % 1024
    let isMirrored = inQuarter > 512
    let angle = FixedPoint.radians(isMirrored ? 1024 - inQuarter : inQuarter)
    let (near, far) = (Self.series(angle, from: 1), Self.series(angle, from: 0))
    let (sine, cosine) = isMirrored ? (far, near) : (near, far)
    switch step / 1024 {
    case 0: (self.sine, self.cosine) = (sine, cosine)
    case 1: (self.sine, self.cosine) = (cosine, -sine)
    case 2: (self.sine, self.cosine) = (-sine, -cosine)
    default: (self.sine, self.cosine) = (-cosine, sine)
    }
  }

  /// Returns the sum of the Taylor series of the cosine (`first` = 0) or sine (`first` = 1).
  private static func series(_ angle: Double, from first: Int) -> Double {
    var term = first == 1 ? angle : 1
    var sum = term
    var order = Double(first)
    for _ in 0..<10 {
      term *= -angle * angle / ((order + 1) * (order + 2))
      order += 2
      sum += term
    }
    return sum
  }

  func turned(_ offset: Point) -> Point {
    Point(x: offset.x * cosine - offset.y * sine, y: offset.x * sine + offset.y * cosine)
  }

  func turnedBack(_ offset: Point) -> Point {
    Point(x: offset.x * cosine + offset.y * sine, y: offset.y * cosine - offset.x * sine)
  }
}

struct Placement {
  let center: Point
  let size: Size
  let scale: Double
  let rotation: Rotation
  private let halfWidth: Double
  private let halfHeight: Double

  init(center: Point, size: Size, scale: Double, rotation: Rotation) {
    self.center = center
    self.size = size
    self.scale = scale
    self.rotation = rotation
    halfWidth = size.width * scale / 2
    halfHeight = size.height * scale / 2
  }

  /// Returns the position on the board of a point, given its offset from the center before scaling and rotation.
  func shown(_ offset: Point) -> Point {
    let turned = rotation.turned(offset)
    return Point(x: center.x + scale * turned.x, y: center.y + scale * turned.y)
  }

  /// The inverse of ``shown(_:)``.
  func offset(of place: Point) -> Point {
    let turned = upright(place)
    return Point(x: turned.x / scale, y: turned.y / scale)
  }

  private func upright(_ place: Point) -> Point {
    rotation.turnedBack(Point(x: place.x - center.x, y: place.y - center.y))
  }

  var bounds: Rectangle {
    let x = rotation.cosine.magnitude * halfWidth + rotation.sine.magnitude * halfHeight
    let y = rotation.sine.magnitude * halfWidth + rotation.cosine.magnitude * halfHeight
    return Rectangle(Point(x: center.x - x, y: center.y - y), Point(x: center.x + x, y: center.y + y))
  }

  /// Returns the distance of a point from the box; zero inside the box.
  func distance(to place: Point) -> Double {
    Rectangle(Point(x: -halfWidth, y: -halfHeight), Point(x: halfWidth, y: halfHeight)).distance(to: upright(place))
  }

  /// Returns whether the box and a rectangle have a point in common, by the separating axis theorem.
  func touches(_ rectangle: Rectangle) -> Bool {
    guard bounds.touches(rectangle) else { return false }
    let middle = upright(rectangle.center)
    let width = (rectangle.greatest.x - rectangle.least.x) / 2
    let height = (rectangle.greatest.y - rectangle.least.y) / 2
    let (sine, cosine) = (rotation.sine.magnitude, rotation.cosine.magnitude)
    return middle.x.magnitude <= halfWidth + cosine * width + sine * height
      && middle.y.magnitude <= halfHeight + sine * width + cosine * height
  }
}

struct Segment {
  let from: Point
  let to: Point

  private var step: Point { Point(x: to.x - from.x, y: to.y - from.y) }

  func place(_ share: Double) -> Point { Point(x: from.x + step.x * share, y: from.y + step.y * share) }

  func distance(to place: Point) -> Double {
    let step = step
    let square = step.x * step.x + step.y * step.y
    let along = (place.x - from.x) * step.x + (place.y - from.y) * step.y
    let nearest = self.place(square > 0 ? min(max(along / square, 0), 1) : 0)
    let (x, y) = (place.x - nearest.x, place.y - nearest.y)
    return (x * x + y * y).squareRoot()
  }

  /// Returns the part of a segment in which one coordinate is within `bounds`. 0 stands for the start of the segment
  /// and 1 for its end.
  private static func part(_ start: Double, _ slope: Double, within bounds: ClosedRange<Double>) -> ClosedRange<Double>?
  {
    guard slope != 0 else { return bounds.contains(start) ? 0...1 : nil }
    let ends = [(bounds.lowerBound - start) / slope, (bounds.upperBound - start) / slope]
    let (low, high) = (max(0, min(ends[0], ends[1])), min(1, max(ends[0], ends[1])))
    return low <= high ? low...high : nil
  }

  func distance(to rectangle: Rectangle) -> Double {
    let x = Self.part(from.x, step.x, within: rectangle.least.x...rectangle.greatest.x)
    let y = Self.part(from.y, step.y, within: rectangle.least.y...rectangle.greatest.y)
    if let x, let y, x.overlaps(y) { return 0 }
    return min(
      rectangle.distance(to: from),
      rectangle.distance(to: to),
      rectangle.corners.reduce(.infinity) { min($0, distance(to: $1)) }
    )
  }

  /// Returns the part of this segment within `radius` of `other`. 0 stands for the start of this segment and 1 for its
  /// end. The area within `radius` of a segment is a disc at each end and a band between them. The area is convex, so
  /// the parts of this segment inside the three shapes form one part.
  func part(within radius: Double, of other: Segment) -> ClosedRange<Double>? {
    var parts = [part(within: radius, of: other.from), part(within: radius, of: other.to)]
    let axis = other.step
    let length = (axis.x * axis.x + axis.y * axis.y).squareRoot()
    if length > 0 {
      let unit = Point(x: axis.x / length, y: axis.y / length)
      let offset = Point(x: from.x - other.from.x, y: from.y - other.from.y)
      let step = step
      let along = Self.part(
        offset.x * unit.x + offset.y * unit.y,
        step.x * unit.x + step.y * unit.y,
        within: 0...length
      )
      let across = Self.part(
        offset.x * unit.y - offset.y * unit.x,
        step.x * unit.y - step.y * unit.x,
        within: -radius...radius
      )
      if let along, let across, along.overlaps(across) { parts.append(along.clamped(to: across)) }
    }
    return parts.compactMap { $0 }.reduce(nil) { whole, part in
      guard let whole else { return part }
      return min(whole.lowerBound, part.lowerBound)...max(whole.upperBound, part.upperBound)
    }
  }

  private func part(within radius: Double, of center: Point) -> ClosedRange<Double>? {
    let offset = Point(x: from.x - center.x, y: from.y - center.y)
    let step = step
    let square = step.x * step.x + step.y * step.y
    let constant = offset.x * offset.x + offset.y * offset.y - radius * radius
    guard square > 0 else { return constant <= 0 ? 0...1 : nil }
    let half = offset.x * step.x + offset.y * step.y
    let discriminant = half * half - square * constant
    guard discriminant >= 0 else { return nil }
    let root = discriminant.squareRoot()
    let (low, high) = (max(0, (-half - root) / square), min(1, (-half + root) / square))
    return low <= high ? low...high : nil
  }
}
