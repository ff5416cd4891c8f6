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
  /// - Throws: `BoardError.outOfRange` if the place is outside the board.
  public init(_ point: Point, pressure: UInt8 = 0) throws(BoardError) {
    self.init(x: try FixedPoint.inkCoordinate(point.x), y: try FixedPoint.inkCoordinate(point.y), pressure: pressure)
  }

  /// The position of the point, in board units.
  public var point: Point { Point(x: Double(x) / FixedPoint.ink, y: Double(y) / FixedPoint.ink) }
}

/// The binary format of consecutive points of a stroke (BRD-15).
package enum InkCoding {
  private static let bound = Int64(BoardLimits.coordinate * FixedPoint.ink)

  /// Encodes points: the count and a pressure flag, then the difference of each point from the one before.
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

  /// Decodes at most `limit` points.
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
