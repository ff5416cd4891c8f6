import Whiteboard

/// The position of a moved object when it snaps to the edges and centers of other objects.
struct Snapping: Hashable, Sendable {
  /// The movement of the object.
  let offset: Point
  /// The vertical line to which the object snaps, if any.
  let x: Double?
  /// The horizontal line to which the object snaps, if any.
  let y: Double?

  /// Moves a box by an offset and snaps it to the edges and centers of other boxes.
  ///
  /// If no box is within reach, the center of the box snaps to the board's grid.
  init(_ box: Rectangle, by offset: Point, to others: [Rectangle], grid: Double?, reach: Double) {
    let horizontal = Self.nearest(
      [box.least.x, box.center.x, box.greatest.x].map { $0 + offset.x },
      others.flatMap { [$0.least.x, $0.center.x, $0.greatest.x] },
      grid: grid.map { (box.center.x + offset.x, $0) },
      reach
    )
    let vertical = Self.nearest(
      [box.least.y, box.center.y, box.greatest.y].map { $0 + offset.y },
      others.flatMap { [$0.least.y, $0.center.y, $0.greatest.y] },
      grid: grid.map { (box.center.y + offset.y, $0) },
      reach * 2
    )
    self.offset = Point(x: offset.x + (horizontal?.by ?? 0), y: offset.y + (vertical?.by ?? 0))
    (x, y) = (horizontal?.line, vertical?.line)
  }

  private static func nearest(
    _ own: [Double],
    _ lines: [Double],
    grid: (middle: Double, distance: Double)?,
    _ reach: Double
  ) -> (by: Double, line: Double)? {
    var best: (by: Double, line: Double)?
    func consider(_ place: Double, _ line: Double) {
      let by = line - place
      guard by.magnitude <= reach, by.magnitude < best?.by.magnitude ?? .infinity else { return }
      best = (by, line)
    }
    for line in lines { for place in own { consider(place, line) } }
    if best == nil, let grid, grid.distance > 0 {
      consider(grid.middle, (grid.middle / grid.distance).rounded() * grid.distance)
    }
    return best
  }
}
