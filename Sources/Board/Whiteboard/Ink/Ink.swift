/// One point of a stroke, in 1/16 of a board unit.
public struct InkPoint: Hashable, Sendable {
  /// The horizontal coordinate, in 1/16 of a board unit.
  public let x: Int32
  /// The vertical coordinate, in 1/16 of a board unit.
  public let y: Int32
  /// The pressure of the pen; 0 if unknown.
  public let pressure: UInt8

  /// Creates a point from coordinates in 1/16 of a board unit.
  public init(x: Int32, y: Int32, pressure: UInt8 = 0) {
    self.x = x
    self.y = y
    self.pressure = pressure
  }

  /// Creates the ink point nearest to a position on the board.
  /// - Throws: `BoardError.outOfRange` if the position is outside the board.
  public init(_ point: Point, pressure: UInt8 = 0) throws(BoardError) {
    self.init(x: try FixedPoint.inkCoordinate(point.x), y: try FixedPoint.inkCoordinate(point.y), pressure: pressure)
  }

  /// The position of the point, in board units.
  public var point: Point { Point(x: Double(x) / FixedPoint.ink, y: Double(y) / FixedPoint.ink) }
}

/// The binary format of consecutive points of a stroke (BRD-15).
package enum InkCoding {
  private static let bound = Int64(BoardLimits.coordinate * FixedPoint.ink)

  /// Encodes points: the count and a pressure flag, then the difference of each point from the point before.
  package static func encode(_ points: some Collection<InkPoint>) -> [UInt8] {
    let hasPressure = points.contains { $0.pressure != 0 }
    var writer = ByteWriter()
    writer.varint(UInt64(points.count) << 1 | (hasPressure ? 1 : 0))
    var x: Int64 = 0
    var y: Int64 = 0
    var pressure: Int64 = 0
    for point in points {
      writer.zigzag(Int64(point.x) - x)
      writer.zigzag(Int64(point.y) - y)
      x = Int64(point.x)
      y = Int64(point.y)
      if hasPressure {
        writer.zigzag(Int64(point.pressure) - pressure)
        pressure = Int64(point.pressure)
      }
    }
    return writer.bytes
  }

  package static func decode(_ reader: inout ByteReader, upTo limit: Int) throws(CodecError) -> [InkPoint] {
    let head = try reader.varint(upTo: UInt64(limit) << 1 | 1, "points")
    let count = Int(head >> 1)
    guard count >= 1 else { throw .overLimit("points") }
    guard count * 2 <= reader.remaining else { throw .truncated }
    let hasPressure = head & 1 == 1
    var points: [InkPoint] = []
    points.reserveCapacity(count)
    var x: Int64 = 0
    var y: Int64 = 0
    var pressure: Int64 = 0
    for _ in 0..<count {
      x = try next(x, &reader, -bound..<bound, "point")
      y = try next(y, &reader, -bound..<bound, "point")
      if hasPressure { pressure = try next(pressure, &reader, 0..<256, "pressure") }
      points.append(InkPoint(x: Int32(x), y: Int32(y), pressure: UInt8(pressure)))
    }
    guard !hasPressure || points.contains(where: { $0.pressure != 0 }) else { throw .notCanonical("pressure") }
    return points
  }

  private static func next(_ last: Int64, _ reader: inout ByteReader, _ range: Range<Int64>, _ what: String)
    throws(CodecError) -> Int64
  {
    let (sum, overflow) = last.addingReportingOverflow(try reader.zigzag())
    guard !overflow, range.contains(sum) else { throw .overLimit(what) }
    return sum
  }

  package static func points(of value: Value) -> [InkPoint]? {
    guard case .bytes(let bytes) = value else { return nil }
    var reader = ByteReader(bytes)
    guard let points = try? decode(&reader, upTo: BoardLimits.pointsPerChunk), reader.remaining == 0 else { return nil }
    return points
  }
}

/// A set of parts of a stroke, in units of 1/16 of the distance between consecutive points (BRD-29). Point *i* is at 16
/// *i*. A span includes both its ends. The spans are sorted, do not touch, and are longer than zero. The union of two
/// sets contains everything that either set contains. Therefore members can erase the same stroke at the same time
/// without conflict.
package struct StrokeSpans: Hashable, Sendable {
  package static let steps = 16

  package private(set) var ranges: [ClosedRange<Int>] = []

  package init() {}

  /// Spans of length zero are ignored.
  package init(_ spans: some Sequence<ClosedRange<Int>>) {
    for span in spans.sorted(by: { $0.lowerBound < $1.lowerBound }) where span.lowerBound < span.upperBound {
      if let last = ranges.last, span.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, span.upperBound)
      } else {
        ranges.append(span)
      }
    }
  }

  package func union(_ other: StrokeSpans) -> StrokeSpans { StrokeSpans(ranges + other.ranges) }

  /// Returns the parts of a stroke of `count` points that are not in the set; `0...0` for a single point.
  package func rest(ofPoints count: Int) -> [ClosedRange<Int>] {
    guard count > 0 else { return [] }
    let end = (count - 1) * Self.steps
    var rest: [ClosedRange<Int>] = []
    var start: Int? = 0
    for range in ranges {
      guard let shown = start, range.lowerBound <= end else { break }
      if shown < range.lowerBound { rest.append(shown...range.lowerBound) }
      start = range.upperBound < end ? range.upperBound : nil
    }
    guard let start else { return rest }
    return rest + [start...end]
  }

  package func rest(of points: [Point]) -> [[Point]] {
    rest(ofPoints: points.count).map { span in
      var line = [Self.place(span.lowerBound, on: points)]
      var index = span.lowerBound / Self.steps + 1
      while index * Self.steps < span.upperBound {
        line.append(points[index])
        index += 1
      }
      if span.upperBound > span.lowerBound { line.append(Self.place(span.upperBound, on: points)) }
      return line
    }
  }

  private static func place(_ step: Int, on points: [Point]) -> Point {
    let (index, part) = step.quotientAndRemainder(dividingBy: steps)
    guard part > 0, index + 1 < points.count else { return points[index] }
    let share = Double(part) / Double(steps)
    let (from, to) = (points[index], points[index + 1])
    return Point(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share)
  }

  // MARK: - Coding of the cells

  /// The cell values that encode the spans, with at most `BoardLimits.erasureSpans` in each.
  package var values: [Value] {
    stride(from: 0, to: ranges.count, by: BoardLimits.erasureSpans).map { first in
      var writer = ByteWriter()
      var last: Int?
      for range in ranges[first..<min(ranges.count, first + BoardLimits.erasureSpans)] {
        writer.count(range.lowerBound - (last.map { $0 + 1 } ?? 0))
        writer.count(range.upperBound - range.lowerBound - 1)
        last = range.upperBound
      }
      return .bytes(writer.bytes)
    }
  }

  package static func decode(_ value: Value) -> [ClosedRange<Int>]? {
    guard case .bytes(let bytes) = value, !bytes.isEmpty else { return nil }
    var reader = ByteReader(bytes)
    let limit = UInt64(BoardLimits.erasureEnd)
    var spans: [ClosedRange<Int>] = []
    while reader.remaining > 0 {
      guard spans.count < BoardLimits.erasureSpans, let gap = try? reader.varint(upTo: limit, "gap"),
        let length = try? reader.varint(upTo: limit, "length")
      else { return nil }
      let start = (spans.last.map { $0.upperBound + 1 } ?? 0) + Int(gap)
      let end = start + Int(length) + 1
      guard end <= BoardLimits.erasureEnd else { return nil }
      spans.append(start...end)
    }
    return spans
  }
}
