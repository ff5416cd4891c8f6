/// Arithmetic on z indexes, which order the objects in the stack (BRD-13, BRD-34). Z indexes are compared byte by byte,
/// and a prefix comes before a longer z index. Objects with a greater z index are in front. There is room between any
/// two different z indexes, unless one of them ends in zero bytes. Z indexes that this program writes end with a jitter
/// byte that is never zero. The jitter byte makes it unlikely that two replicas write equal z indexes at the same
/// place.
package enum ZIndex {
  /// The maximum number of bytes in a z index that this program writes (BRD-34).
  package static let longest = 32
  /// The maximum number of 0xFF bytes at the start of a z index that can still get a neighbor in front. The same number
  /// of zero bytes is the limit for a neighbor behind (BRD-34).
  private static let mostEqual = 8
  private static let first: UInt32 = 0x8000_0000

  /// Returns whether new objects can be placed in front of a z index. No object can be placed in front of a z index
  /// that starts with too many 0xFF bytes, because only a long z index could be greater.
  package static func isFollowed(_ place: [UInt8]) -> Bool {
    place.count <= BoardLimits.zIndexBytes && leading(0xFF, of: place) <= mostEqual
  }

  /// Returns a z index in front of `top` that ends with `jitter`; ``isFollowed(_:)`` must be true for `top`.
  package static func above(_ top: [UInt8]?, jitter: UInt8) -> [UInt8] {
    guard let top else { return counted(first, jitter: jitter) }
    // Increment the number in the four bytes after the leading 0xFF bytes. The first byte of the number is less than
    // 0xFF, so the sum does not overflow. The jitter byte, which is never zero, leaves room for z indexes in between.
    let equal = leading(0xFF, of: top)
    return Array(top[..<equal]) + counted(number(in: top, at: equal) + 1, jitter: jitter)
  }

  /// Returns a z index behind `bottom`; nil if there is no short z index.
  package static func below(_ bottom: [UInt8]?, jitter: UInt8) -> [UInt8]? {
    guard let bottom else { return counted(first, jitter: jitter) }
    let equal = leading(0, of: bottom)
    guard equal < bottom.count, equal <= mostEqual else { return nil }
    return Array(bottom[..<equal]) + counted(number(in: bottom, at: equal) - 1, jitter: jitter)
  }

  /// Returns a z index between two others; nil if there is none with at most ``longest`` bytes.
  package static func between(_ lower: [UInt8]?, _ upper: [UInt8]?, jitter: UInt8) -> [UInt8]? {
    let lower = lower ?? []
    var upper = upper
    if let upper, !isBehind(lower, upper) { return nil }
    var result: [UInt8] = []
    while result.count < longest - 1 {
      let index = result.count
      let low = index < lower.count ? Int(lower[index]) : 0
      var high = 256
      if let bound = upper {
        // The upper z index has no more bytes, so nothing fits between the two.
        guard index < bound.count else { return nil }
        high = Int(bound[index])
      }
      if high - low > 1 { return result + [UInt8(low + (high - low) / 2), max(1, jitter)] }
      result.append(UInt8(low))
      if high > low { upper = nil }
    }
    return nil
  }

  /// Returns `count` z indexes between two others, ascending and evenly spread; nil if they do not fit.
  package static func spread(_ count: Int, between lower: [UInt8]?, and upper: [UInt8]?, jitter: UInt8) -> [[UInt8]]? {
    guard count > 0 else { return [] }
    guard lower != nil || upper != nil else {
      return (0..<UInt32(count)).map { counted(0x8000_0000 + $0, jitter: jitter) }
    }
    var places: [[UInt8]] = []
    guard let lower, let upper else {
      for _ in 0..<count {
        if let lower {
          let last = places.last ?? lower
          guard isFollowed(last) else { return nil }
          places.append(above(last, jitter: jitter))
        } else {
          guard let next = below(places.last ?? upper, jitter: jitter) else { return nil }
          places.append(next)
        }
      }
      // Avoid the `reversed()` that returns an array of arrays: its compiled code differs from build to build.
      return lower == nil ? Array(places.reversed() as ReversedCollection) : places
    }
    // Choose the middle z index first, so that the z indexes stay short.
    let before = (count - 1) / 2
    guard let middle = between(lower, upper, jitter: jitter),
      let behind = spread(before, between: lower, and: middle, jitter: jitter),
      let inFront = spread(count - 1 - before, between: middle, and: upper, jitter: jitter)
    else { return nil }
    return behind + [middle] + inFront
  }

  package static func isBehind(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool { lhs.lexicographicallyPrecedes(rhs) }

  private static func leading(_ byte: UInt8, of place: [UInt8]) -> Int { place.prefix { $0 == byte }.count }

  private static func number(in place: [UInt8], at offset: Int) -> UInt32 {
    (offset..<offset + 4).reduce(0) { ($0 << 8) | ($1 < place.count ? UInt32(place[$1]) : 0) }
  }

  private static func counted(_ counter: UInt32, jitter: UInt8) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) } + [max(1, jitter)]
  }
}

/// The way in which a rectangle selects objects.
public enum RectangleMode: Hashable, Sendable {
  case touching
  case inside
}

/// A stroke covers its line, with the line's width and without erased parts. A form covers its line and, if it has a
/// fill or a label, its area. Every other object covers its rotated and scaled box.
extension ObjectRecord {
  func covers(_ place: Point, within tolerance: Double) -> Bool {
    let (ink, form) = (ink, form)
    let placement = placement(points: ink)
    let outline = outline(placement.size)
    if form?.hasLabelOutside == true,
      let label = TextLayout(text, style, form, placement.size, outline, lineWidth: lineWidth),
      label.box.distance(to: placement.offset(of: place)) <= tolerance / placement.scale
    {
      return true
    }
    guard placement.distance(to: place) <= tolerance + margin else { return false }
    if let outline {
      return outline.covers(
        placement.offset(of: place),
        lineWidth: lineWidth,
        tolerance: tolerance / placement.scale,
        isSolid: style.fill != nil || form != .frame && !text.isEmpty
      )
    }
    guard let ink else { return true }
    let reach = lineWidth / 2 * placement.scale + tolerance
    return shownLines(ink, placement).contains { $0.distance(to: place) <= reach }
  }

  /// The distance by which the line of a form extends beyond its box, in board units.
  private var margin: Double { form?.hasPoints == false ? lineWidth / 2 * scale : 0 }

  func isSelected(by rectangle: Rectangle, mode: RectangleMode) -> Bool {
    let ink = ink
    let placement = placement(points: ink)
    guard placement.bounds.touches(rectangle) else { return false }
    let lines: [Segment]
    if let outline = outline(placement.size), mode == .touching {
      if outline.isClosed { return placement.touches(rectangle) }
      lines = Segment.lines(outline.points().map(placement.shown))
    } else if let ink {
      lines = shownLines(ink, placement)
    } else {
      return mode == .inside ? rectangle.contains(placement.bounds) : placement.touches(rectangle)
    }
    let reach = lineWidth / 2 * placement.scale
    switch mode {
    case .touching: return lines.contains { $0.distance(to: rectangle) <= reach }
    case .inside:
      return !lines.isEmpty && lines.allSatisfy { rectangle.contains(Rectangle($0.from, $0.to).widened(by: reach)) }
    }
  }

  var bounds: Rectangle { placement(points: ink).bounds }

  /// `points` are the points of ink.
  func placement(points: [InkPoint]?) -> Placement {
    let frame = frame(points: points)
    return Placement(
      center: frame.center,
      size: shownSize(of: frame.size),
      scale: scale,
      rotation: Rotation(steps: angleSteps)
    )
  }

  /// Returns the size at which an object of this size is shown, before scaling (BRD-53).
  func shownSize(of size: Size) -> Size {
    let form = form
    guard kind == .text && !isAutoWidth || form?.hasLabelOutside == false else { return size }
    return TextLayout(text, style, form, size, nil)?.shownSize(form, size) ?? size
  }

  private func shownLines(_ ink: [InkPoint], _ placement: Placement) -> [Segment] {
    guard let middle = InkBounds(ink)?.center else { return [] }
    let places = ink.map { placement.shown(Point(x: $0.point.x - middle.x, y: $0.point.y - middle.y)) }
    return erased.rest(of: places).flatMap(Segment.lines)
  }
}

extension Outline {
  /// `place` is relative to the center.
  func covers(_ place: Point, lineWidth: Double, tolerance: Double, isSolid: Bool) -> Bool {
    if isClosed, isSolid, contains(place) { return true }
    return Segment.lines(points()).contains { $0.distance(to: place) <= lineWidth / 2 + tolerance }
  }
}

extension Segment {
  /// A single point becomes a segment of length zero.
  static func lines(_ points: [Point]) -> [Segment] {
    points.count == 1 ? [Segment(from: points[0], to: points[0])] : zip(points, points.dropFirst()).map(Segment.init)
  }
}
