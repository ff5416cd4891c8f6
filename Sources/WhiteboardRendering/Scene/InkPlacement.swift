import Whiteboard

/// The transform from the points of a stroke to dots.
struct InkPlacement {
  private let x: (Double, Double, Double)
  private let y: (Double, Double, Double)

  init(_ item: BoardCanvas.Item, _ viewport: Viewport, _ grid: DotGrid) {
    let snapshot = item.snapshot
    let center = item.inkCenter ?? snapshot.centerPosition
    let rotation = snapshot.rotation
    let factor = snapshot.scale * viewport.scale * grid.factor
    let (cosine, sine) = (rotation.cosine * factor, rotation.sine * factor)
    let unit = 1.0 / 16
    if center == snapshot.centerPosition, snapshot.scale == 1, snapshot.angle == 0 {
      // Do not use the center of the stroke. It moves while the stroke grows, but the dots that are already drawn must
      // not move.
      let origin = viewport.dot(of: Point(x: 0, y: 0))
      x = (factor * unit, 0, origin.x * grid.factor)
      y = (0, factor * unit, origin.y * grid.factor)
      return
    }
    let origin = viewport.dot(of: snapshot.centerPosition)
    x = (cosine * unit, -sine * unit, origin.x * grid.factor - cosine * center.x + sine * center.y)
    y = (sine * unit, cosine * unit, origin.y * grid.factor - sine * center.x - cosine * center.y)
  }

  /// Returns the dots for the points of a stroke, in order.
  func path(_ points: [InkPoint]) -> Path { Path(placement: self, points: points.makeIterator()) }

  /// A sequence that converts points to dots.
  ///
  /// It is a concrete type for speed, because a board can have half a million points.
  struct Path: Sequence, IteratorProtocol {
    fileprivate let placement: InkPlacement
    fileprivate var points: IndexingIterator<[InkPoint]>

    @inline(__always) mutating func next() -> DotPoint? {
      guard let point = points.next() else { return nil }
      return placement.dot(point)
    }
  }

  @inline(__always) func dot(_ point: InkPoint) -> DotPoint {
    let (right, down) = (Double(point.x), Double(point.y))
    return DotPoint(x: x.0 * right + x.1 * down + x.2, y: y.0 * right + y.1 * down + y.2, pressure: point.pressure)
  }
}
