/// The position and extent of an object, for drawing and pointing.
extension ObjectSnapshot {
  /// The rotation of the object.
  package var rotation: Rotation { Rotation(steps: (try? FixedPoint.angleSteps(angle)) ?? 0) }

  /// The bounding rectangle of the rotated box.
  package var bounds: Rectangle { placement.bounds }

  /// Returns whether the object covers a point or is at most `tolerance` away from it, as in
  /// `BoardReplica.objects(at:tolerance:)`.
  package func isNear(_ place: Point, within tolerance: Double) -> Bool {
    let placement = placement
    guard placement.distance(to: place) <= tolerance else { return false }
    guard let visibleLines else { return true }
    let reach = tolerance / scale + (lineWidth ?? 0) / 2
    let own = placement.offset(of: place)
    return visibleLines.contains { line in
      // A line of one point is drawn as a dot.
      zip(line, line.dropFirst() + line.suffix(line.count == 1 ? 1 : 0)).contains {
        Segment(from: $0, to: $1).distance(to: own) <= reach
      }
    }
  }

  private var placement: Placement { Placement(center: centerPosition, size: size, scale: scale, rotation: rotation) }
}
