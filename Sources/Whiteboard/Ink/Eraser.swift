/// An eraser that moves along a path over one stroke, in the stroke's own coordinates.
struct Eraser {
  private let points: [Point]
  private let path: [Segment]
  private let radius: Double

  init(_ path: [Point], radius: Double, over record: ObjectRecord) {
    let ink = record.points
    let middle = InkBounds(ink)?.center ?? Point(x: 0, y: 0)
    let placement = record.placement(points: ink)
    points = ink.map { Point(x: $0.point.x - middle.x, y: $0.point.y - middle.y) }
    let places = path.map(placement.offset)
    self.path = zip(places, places.dropFirst() + places.suffix(1)).map(Segment.init)
    self.radius = radius / placement.scale
  }

  /// The parts of the stroke under the eraser.
  ///
  /// Their ends are rounded to the nearest step, and each part is at least one step long.
  var spans: StrokeSpans {
    guard let around = path.map({ Rectangle($0.from, $0.to) }).reduced({ $0.union($1) }) else { return StrokeSpans() }
    let reach = around.widened(by: radius)
    guard points.count > 1 else {
      let isUnder = points.first.map { place in path.contains { $0.distance(to: place) <= radius } }
      return isUnder ?? false ? StrokeSpans([0...1]) : StrokeSpans()
    }
    var parts: [ClosedRange<Double>] = []
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() where Rectangle(from, to).touches(reach) {
      for stretch in path {
        guard let part = Segment(from: from, to: to).part(within: radius, of: stretch) else { continue }
        let first = Double(index)
        parts.append(first + part.lowerBound...first + part.upperBound)
      }
    }
    return StrokeSpans(joined(parts).map(span))
  }

  /// Merge parts that touch, because otherwise each of them would be rounded up to a whole step.
  private func joined(_ parts: [ClosedRange<Double>]) -> [ClosedRange<Double>] {
    parts.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, part in
      guard let last = joined.last, part.lowerBound <= last.upperBound else {
        joined.append(part)
        return
      }
      joined[joined.count - 1] = last.lowerBound...max(last.upperBound, part.upperBound)
    }
  }

  private func span(_ part: ClosedRange<Double>) -> ClosedRange<Int> {
    let steps = Double(StrokeSpans.steps)
    let start = Int((part.lowerBound * steps).rounded())
    let end = Int((part.upperBound * steps).rounded())
    guard start == end else { return start...end }
    let middle = Int((part.lowerBound + part.upperBound) / 2 * steps)
    let step = min(middle, (points.count - 1) * StrokeSpans.steps - 1)
    return step...step + 1
  }
}

extension Array {
  /// Combines all elements from left to right; nil if the array is empty.
  fileprivate func reduced(_ combine: (Element, Element) -> Element) -> Element? {
    guard let first else { return nil }
    return dropFirst().reduce(first, combine)
  }
}
