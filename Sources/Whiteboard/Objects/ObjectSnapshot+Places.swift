/// The position and extent of an object, for drawing and pointing.
extension ObjectSnapshot {
  /// How it is turned.
  package var rotation: Rotation { Rotation(steps: (try? FixedPoint.angleSteps(angle)) ?? 0) }

  /// The rectangle around its turned box.
  package var bounds: Rectangle { placement.bounds }

  /// Whether it shows at a place or at most so far away, as `Board.objects(at:tolerance:)` has it.
  package func isNear(_ place: Point, within tolerance: Double) -> Bool {
    let placement = placement
    guard placement.distance(to: place) <= tolerance else { return false }
    guard let visibleLines else { return true }
    let reach = tolerance / scale + (lineWidth ?? 0) / 2
    let own = placement.offset(of: place)
    return visibleLines.contains { line in
      // A line of one point is a dot.
      zip(line, line.dropFirst() + line.suffix(line.count == 1 ? 1 : 0)).contains {
        Segment(from: $0, to: $1).distance(to: own) <= reach
      }
    }
  }

  private var placement: Placement {
    Placement(center: centerPosition, size: size, scale: scale, rotation: rotation)
  }
}
