import Whiteboard

/// What one takes hold of to scale or turn an object: the corners of its box, and a knob above it.
package struct SelectionHandles: Hashable, Sendable {
  /// What was taken hold of.
  package enum Handle: Hashable, Sendable {
    /// A corner, clockwise from the upper left one of the object as it is when it is not turned.
    case corner(Int)
    /// The knob that turns it.
    case knob
  }

  /// The places of the corners on the board, clockwise from the upper left.
  package let corners: [Point]
  /// The place of the knob on the board.
  package let knob: Point
  /// How far from a handle one still gets hold of it, in board units.
  private let reach: Double

  /// How far above the box the knob is, in dots: so that it has a cell of its own.
  private static let knobDistance = 6.0
  /// How far from a handle one still gets hold of it, in dots: about a cell.
  private static let reachInDots = 3.0

  /// The handles of an object as large as it is shown.
  package init(_ snapshot: ObjectSnapshot, _ viewport: Viewport) {
    let rotation = snapshot.rotation
    let (width, height) = (snapshot.size.width / 2, snapshot.size.height / 2)
    func shown(_ x: Double, _ y: Double) -> Point {
      snapshot.shown(Point(x: x, y: y), sine: rotation.sine, cosine: rotation.cosine)
    }
    corners = [
      shown(-width, -height), shown(width, -height), shown(width, height), shown(-width, height),
    ]
    let middle = shown(0, -height)
    let distance = Self.knobDistance / viewport.scale
    knob = Point(
      x: middle.x + rotation.sine * distance,
      y: middle.y - rotation.cosine * distance
    )
    reach = Self.reachInDots / viewport.scale
  }

  /// The place of a corner, clockwise from the upper left; those beyond come again.
  package func corner(_ index: Int) -> Point { corners[((index % 4) + 4) % 4] }

  /// The handle that is nearest to a place of the board; nil where none is near.
  package func hit(_ place: Point) -> Handle? {
    var (best, least) = (Handle?.none, reach * reach)
    for (handle, at) in [(Handle.knob, knob)] + corners.enumerated().map({ (.corner($0), $1) }) {
      let (dx, dy) = (place.x - at.x, place.y - at.y)
      let distance = dx * dx + dy * dy
      // A corner of a tiny object goes before those that come after it.
      if distance <= least, best == nil || distance < least { (best, least) = (handle, distance) }
    }
    return best
  }
}
