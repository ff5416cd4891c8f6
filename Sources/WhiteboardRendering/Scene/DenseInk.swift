import Whiteboard

/// A rule that leaves out the parts of a stroke that are on top of much other ink of the same stroke.
///
/// A stroke can cross its own box tens of thousands of times, and would then stop a program that draws it. Such a
/// stroke looks the same without the parts that add nothing visible. Nearly all strokes are drawn completely.
enum DenseInk {
  /// The amount of ink above which parts are left out, as a multiple of the area that the ink covers.
  static let limit = 8.0
  /// The number of columns and rows into which the box of a stroke is divided.
  private static let divisions = 32
  /// The maximum number of points of a stroke that is always drawn completely.
  private static let simple = 1_024

  /// The minimum width of a line for this rule, because clients draw even thinner lines with at least one pixel.
  private static let leastWidth = 1.0

  /// Returns whether parts of a line are left out.
  static func isDense(_ points: [Point], width: Double) -> Bool {
    points.count > simple && InkGrid(points, width) != nil
  }

  /// Returns the parts of a line to draw, as ranges of the indexes of its points; nil for the whole line.
  ///
  /// A segment is left out if most of it is in parts of the box that have much ink already.
  ///
  /// - Complexity: O(*n*).
  static func parts(of points: [Point], width: Double) -> [ClosedRange<Int>]? {
    guard points.count > simple, let box = InkGrid(points, width) else { return nil }
    var grid = box
    var parts: [ClosedRange<Int>] = []
    var start = 0
    for index in 1..<points.count where !grid.add(from: points[index - 1], to: points[index]) {
      if start < index - 1 { parts.append(start...index - 1) }
      start = index
    }
    if start < points.count - 1 { parts.append(start...points.count - 1) }
    return parts
  }

  /// The amount of ink in each part of a box.
  private struct InkGrid {
    private let corner: Point
    /// The size of a part of the box.
    private let part: Size
    /// The length of a line that fills a part up to the limit.
    private let room: Double
    private var lengths: [Double]
    /// The indexes of the parts on a segment.
    private var places: [Int] = []

    /// Creates an empty grid for the box around a line; nil if the ink of the line is not dense.
    init?(_ points: [Point], _ width: Double) {
      let width = max(width, leastWidth)
      var (last, length) = (points[0], 0.0)
      var (left, right, top, bottom) = (last.x, last.x, last.y, last.y)
      for point in points {
        if point.x < left { left = point.x }
        if point.x > right { right = point.x }
        if point.y < top { top = point.y }
        if point.y > bottom { bottom = point.y }
        let (x, y) = (point.x - last.x, point.y - last.y)
        length += (x * x + y * y).squareRoot()
        last = point
      }
      let size = Size(width: right - left + width, height: bottom - top + width)
      guard length * width > limit * size.width * size.height else { return nil }
      let count = Double(divisions)
      corner = Point(x: left - width / 2, y: top - width / 2)
      part = Size(width: size.width / count, height: size.height / count)
      room = limit * part.width * part.height / width
      lengths = Array(repeating: 0, count: divisions * divisions)
    }

    /// Adds a segment, unless most of it is in parts that are full.
    ///
    /// - Returns: Whether the client draws the segment.
    mutating func add(from start: Point, to end: Point) -> Bool {
      let (dx, dy) = (end.x - start.x, end.y - start.y)
      let count = Int(max((dx / part.width).magnitude, (dy / part.height).magnitude)) + 1
      let (stepX, stepY) = (dx / part.width / Double(count), dy / part.height / Double(count))
      var x = (start.x - corner.x) / part.width + stepX / 2
      var y = (start.y - corner.y) / part.height + stepY / 2
      var full = 0
      places.removeAll(keepingCapacity: true)
      for _ in 0..<count {
        let place = min(max(Int(y), 0), divisions - 1) * divisions + min(max(Int(x), 0), divisions - 1)
        if lengths[place] > room { full += 1 }
        places.append(place)
        x += stepX
        y += stepY
      }
      guard 4 * full <= 3 * count else { return false }
      let length = (dx * dx + dy * dy).squareRoot() / Double(count)
      for place in places { lengths[place] += length }
      return true
    }
  }
}
