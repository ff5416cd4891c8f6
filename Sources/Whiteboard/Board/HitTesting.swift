/// The way in which a rectangle selects objects.
public enum RectangleMode: Hashable, Sendable {
  /// Selects objects that share a point with the rectangle.
  case touching
  /// Selects objects that lie completely inside the rectangle.
  case inside
}

/// A stroke covers its line, with the line's width and without erased parts.
///
/// Every other object covers its rotated and scaled box.
extension ObjectRecord {
  /// Returns whether any point that the object covers is at most `tolerance` away from `place`.
  func covers(_ place: Point, within tolerance: Double) -> Bool {
    let ink = kind == .drawing ? points : nil
    let placement = placement(points: ink)
    guard placement.distance(to: place) <= tolerance else { return false }
    guard let ink else { return true }
    let reach = lineWidth / 2 * placement.scale + tolerance
    return shownLines(ink, placement).contains { $0.distance(to: place) <= reach }
  }

  func isSelected(by rectangle: Rectangle, mode: RectangleMode) -> Bool {
    let ink = kind == .drawing ? points : nil
    let placement = placement(points: ink)
    guard placement.bounds.touches(rectangle) else { return false }
    guard let ink else { return mode == .inside ? rectangle.contains(placement.bounds) : placement.touches(rectangle) }
    let reach = lineWidth / 2 * placement.scale
    let lines = shownLines(ink, placement)
    switch mode {
    case .touching: return lines.contains { $0.distance(to: rectangle) <= reach }
    case .inside:
      return !lines.isEmpty && lines.allSatisfy { rectangle.contains(Rectangle($0.from, $0.to).widened(by: reach)) }
    }
  }

  /// The smallest upright rectangle around the object's box.
  var bounds: Rectangle { placement(points: kind == .drawing ? points : nil).bounds }

  /// Returns the position, size and rotation at which the object is shown.
  ///
  /// `points` are the points of a drawing.
  func placement(points: [InkPoint]?) -> Placement {
    let frame = frame(points: points)
    return Placement(center: frame.center, size: frame.size, scale: scale, rotation: Rotation(steps: angleSteps))
  }

  /// Returns the visible pieces of a stroke, in board coordinates.
  ///
  /// A single point is a segment of length zero.
  private func shownLines(_ ink: [InkPoint], _ placement: Placement) -> [Segment] {
    guard let middle = InkBounds(ink)?.center else { return [] }
    let places = ink.map { placement.shown(Point(x: $0.point.x - middle.x, y: $0.point.y - middle.y)) }
    return erased.rest(of: places).flatMap { line in
      line.count == 1 ? [Segment(from: line[0], to: line[0])] : zip(line, line.dropFirst()).map(Segment.init)
    }
  }
}
