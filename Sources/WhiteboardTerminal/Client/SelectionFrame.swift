import Whiteboard
import WhiteboardRendering

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The frame around what is selected, and the places by which it is scaled and turned.
struct SelectionFrame: Hashable, Sendable {
  /// What of it a person takes hold of.
  enum Handle: Hashable, Sendable {
    /// A corner scales.
    case corner
    /// The knob above the top turns.
    case knob
  }

  /// Clockwise from the top left of what is not turned.
  let corners: [Point]
  /// What is scaled and turned about.
  let center: Point
  /// Above the middle of the top.
  let knob: Point

  /// The frame of one object lies along its sides, that of several along the axes; nil around nothing.
  init?(_ snapshots: [ObjectSnapshot], scale: Double) {
    guard let first = snapshots.first else { return nil }
    if snapshots.count == 1 {
      let rotation = first.rotation
      let (width, height) = (first.size.width / 2, first.size.height / 2)
      corners = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1)].map { x, y in
        first.shown(
          Point(x: x * width, y: y * height),
          sine: rotation.sine,
          cosine: rotation.cosine
        )
      }
      center = first.centerPosition
    } else {
      let bounds = snapshots.dropFirst().reduce(first.bounds) { $0.union($1.bounds) }
      corners = [
        bounds.least, Point(x: bounds.greatest.x, y: bounds.least.y), bounds.greatest,
        Point(x: bounds.least.x, y: bounds.greatest.y),
      ]
      center = bounds.center
    }
    let top = Point(x: (corners[0].x + corners[1].x) / 2, y: (corners[0].y + corners[1].y) / 2)
    // Two cells from it, wherever up is.
    let (x, y) = (corners[0].x - corners[3].x, corners[0].y - corners[3].y)
    let height = (x * x + y * y).squareRoot()
    let reach = Double(2 * 4) / scale
    knob =
      height > 0
      ? Point(x: top.x + x / height * reach, y: top.y + y / height * reach)
      : Point(x: top.x, y: top.y - reach)
  }

  /// What is within a distance of a place.
  func handle(at place: Point, within reach: Double) -> Handle? {
    func isNear(_ other: Point) -> Bool {
      (place.x - other.x).magnitude <= reach && (place.y - other.y).magnitude <= 2 * reach
    }
    if isNear(knob) { return .knob }
    return corners.contains(where: isNear) ? .corner : nil
  }

  /// The frame elsewhere.
  func moved(by offset: Point) -> [Point] {
    corners.map { Point(x: $0.x + offset.x, y: $0.y + offset.y) }
  }

  /// The frame at another size, about its centre.
  func scaled(by factor: Double) -> [Point] {
    corners.map {
      Point(x: center.x + ($0.x - center.x) * factor, y: center.y + ($0.y - center.y) * factor)
    }
  }

  /// The frame turned about its centre.
  func turned(byDegrees degrees: Double) -> [Point] {
    let steps = (degrees / 360 * 4096).rounded()
    let turn = Rotation(steps: UInt64((Int64(steps) % 4096 + 4096) % 4096))
    return corners.map {
      let (x, y) = ($0.x - center.x, $0.y - center.y)
      return Point(
        x: center.x + x * turn.cosine - y * turn.sine,
        y: center.y + x * turn.sine + y * turn.cosine
      )
    }
  }

  /// How far the frame is turned, clockwise, when its knob is dragged to a place.
  func degrees(to place: Point) -> Double {
    func angle(_ place: Point) -> Double { atan2(place.y - center.y, place.x - center.x) }
    return (angle(place) - angle(knob)) * 180 / .pi
  }

  /// How much larger the frame is when a corner is dragged from one place to another.
  func factor(from: Point, to: Point) -> Double {
    let before = distance(from)
    return before > 0 ? min(max(distance(to) / before, 0.01), 100) : 1
  }

  private func distance(_ place: Point) -> Double {
    let (x, y) = (place.x - center.x, place.y - center.y)
    return (x * x + y * y).squareRoot()
  }
}
