/// The way in which a rectangle selects objects.
public enum RectangleMode: Hashable, Sendable {
  /// Selects objects that share a point with the rectangle.
  case touching
  /// Selects objects that lie completely inside the rectangle.
  case inside
}

/// Finding objects by place.
///
/// Groups and locks are ignored.
///
/// A stroke covers its line, with the line's width and without erased parts. Every other object
/// covers its rotated and scaled box.
extension Board {
  /// Returns the objects at a place or at most `tolerance` away from it, from front to back.
  /// - Complexity: O(*n* log *n*) in the objects of the board, plus the points of nearby strokes.
  public func objects(at place: Point, tolerance: Double = 0) -> [ObjectID] {
    guard place.isFinite, tolerance >= 0 else { return [] }
    return objectIDs.reversed().filter { id in
      guard let record = state.record(id) else { return false }
      let ink = record.kind == .drawing ? record.points : nil
      let placement = record.placement(points: ink)
      guard placement.distance(to: place) <= tolerance else { return false }
      guard let ink else { return true }
      let reach = record.lineWidth / 2 * placement.scale + tolerance
      return record.shownLines(ink, placement).contains { $0.distance(to: place) <= reach }
    }
  }

  /// Returns the objects that touch a rectangle or lie inside it, from front to back.
  /// - Complexity: The same as `objects(at:tolerance:)`.
  public func objects(in rectangle: Rectangle, mode: RectangleMode) -> [ObjectID] {
    guard rectangle.isFinite else { return [] }
    return objectIDs.reversed().filter { id in
      guard let record = state.record(id) else { return false }
      let ink = record.kind == .drawing ? record.points : nil
      let placement = record.placement(points: ink)
      guard placement.bounds.touches(rectangle) else { return false }
      guard let ink else {
        return mode == .inside
          ? rectangle.contains(placement.bounds) : placement.touches(rectangle)
      }
      let reach = record.lineWidth / 2 * placement.scale
      let lines = record.shownLines(ink, placement)
      switch mode {
      case .touching: return lines.contains { $0.distance(to: rectangle) <= reach }
      case .inside:
        return !lines.isEmpty
          && lines.allSatisfy {
            rectangle.contains(Rectangle($0.from, $0.to).widened(by: reach))
          }
      }
    }
  }

  /// Returns the rectangle around objects and around all objects of groups; nil if none of them is
  /// shown.
  public func bounds(of ids: [ObjectID]) -> Rectangle? {
    let targets = (try? targets(ids.filter { state.isShown($0) || state.isGroup($0) })) ?? []
    return targets.reduce(nil) { (whole: Rectangle?, id) in
      guard let record = state.record(id) else { return whole }
      let bounds = record.placement(points: record.kind == .drawing ? record.points : nil).bounds
      return whole?.union(bounds) ?? bounds
    }
  }
}

extension ObjectRecord {
  /// Returns the place, size and rotation at which the object is shown.
  ///
  /// `points` are the points of a drawing.
  func placement(points: [InkPoint]?) -> Placement {
    let frame = frame(points: points)
    return Placement(
      center: frame.center,
      size: frame.size,
      scale: scale,
      rotation: Rotation(steps: angleSteps)
    )
  }

  /// Returns the visible pieces of a stroke, in board coordinates.
  ///
  /// A single point is a segment of length zero.
  fileprivate func shownLines(_ ink: [InkPoint], _ placement: Placement) -> [Segment] {
    guard let middle = InkBounds(ink)?.center else { return [] }
    let places = ink.map {
      placement.shown(Point(x: $0.point.x - middle.x, y: $0.point.y - middle.y))
    }
    return erased.rest(of: places).flatMap { line in
      line.count == 1
        ? [Segment(from: line[0], to: line[0])]
        : zip(line, line.dropFirst()).map(Segment.init)
    }
  }
}
