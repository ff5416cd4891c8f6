import Whiteboard

/// The pointer of a member, and the part of the board that the member views (SYN-30, SYN-34).
public struct Presence: Hashable, Sendable {
  /// The part of the board that a member views.
  public struct View: Hashable, Sendable {
    /// The width in board units.
    public let width: Int
    /// The height in board units.
    public let height: Int
    private let middle: InkPoint

    /// The center, rounded to 1/16 of a board unit.
    public var center: Point { middle.point }

    /// Creates a view.
    /// - Throws: `BoardError.outOfRange` if its center is outside the board, or its width or height is less than 1 or
    ///   more than `BoardLimits.viewExtent`.
    public init(center: Point, width: Int, height: Int) throws(BoardError) {
      let extents = 1...BoardLimits.viewExtent
      guard extents.contains(width), extents.contains(height) else { throw .outOfRange("view") }
      middle = try InkPoint(center)
      self.width = width
      self.height = height
    }
  }

  private let pointer: InkPoint?
  /// Whether the pointer is a laser, which other members show in a bright color and with a short trail.
  public let isLaser: Bool
  /// The visible part of the board; nil if it is unknown.
  public var view: View?

  /// The position of the pointer, rounded to 1/16 of a board unit; nil if the pointer is hidden.
  public var cursor: Point? { pointer?.point }

  /// Creates a presence.
  ///
  /// If there is no cursor, `isLaser` is ignored.
  /// - Throws: `BoardError.outOfRange` if the cursor is outside the board.
  public init(cursor: Point?, isLaser: Bool = false, view: View? = nil) throws(BoardError) {
    let pointer = try cursor.map { (place) throws(BoardError) in try InkPoint(place) }
    self.init(pointer: pointer, isLaser: isLaser, view: view)
  }

  /// Creates the presence of a member that shows neither a pointer nor a view.
  public init() { self.init(pointer: nil, isLaser: false, view: nil) }

  private init(pointer: InkPoint?, isLaser: Bool, view: View?) {
    self.pointer = pointer
    self.isLaser = isLaser && pointer != nil
    self.view = view
  }
}

// MARK: - Binary form (SYN-30, SYN-34)

extension Presence {
  private static let laserFlag: UInt8 = 1
  private static let viewFlag: UInt8 = 2
  private static let clockFlag: UInt8 = 4
  /// The greatest time of a wall clock, in milliseconds.
  static let latestWall = BoardLimits.time >> 16

  func write(to writer: inout ByteWriter, wall: UInt64?) {
    writer.byte(pointer == nil ? 0 : 1)
    pointer?.write(to: &writer)
    var flags: UInt8 = isLaser ? Self.laserFlag : 0
    if view != nil { flags |= Self.viewFlag }
    if wall != nil { flags |= Self.clockFlag }
    guard flags != 0 else { return }
    writer.byte(flags)
    view?.write(to: &writer)
    if let wall { writer.varint(min(wall, Self.latestWall)) }
  }

  static func read(_ reader: inout ByteReader) throws(CodecError) -> (presence: Presence, wall: UInt64?) {
    var pointer: InkPoint?
    switch try reader.byte() {
    case 0: break
    case 1: pointer = try InkPoint(place: &reader)
    default: throw .reserved("presence")
    }
    let flags = try reader.remaining == 0 ? 0 : reader.byte()
    let view = try flags & viewFlag == 0 ? nil : View(&reader)
    let wall = try flags & clockFlag == 0 ? nil : reader.varint(upTo: latestWall, "presence")
    // Ignore further bytes, because later versions may add fields and flags.
    let presence = Presence(pointer: pointer, isLaser: flags & laserFlag != 0, view: view)
    return (presence, wall)
  }
}

extension Presence.View {
  fileprivate func write(to writer: inout ByteWriter) {
    middle.write(to: &writer)
    writer.varint(UInt64(width))
    writer.varint(UInt64(height))
  }

  fileprivate init(_ reader: inout ByteReader) throws(CodecError) {
    middle = try InkPoint(place: &reader)
    width = try Self.extent(&reader)
    height = try Self.extent(&reader)
  }

  private static func extent(_ reader: inout ByteReader) throws(CodecError) -> Int {
    let extent = try reader.varint(upTo: UInt64(BoardLimits.viewExtent), "view")
    guard extent >= 1 else { throw .overLimit("view") }
    return Int(extent)
  }
}

extension InkPoint {
  fileprivate func write(to writer: inout ByteWriter) {
    writer.zigzag(Int64(x))
    writer.zigzag(Int64(y))
  }

  fileprivate init(place reader: inout ByteReader) throws(CodecError) {
    self.init(x: try Self.coordinate(&reader), y: try Self.coordinate(&reader))
  }

  private static func coordinate(_ reader: inout ByteReader) throws(CodecError) -> Int32 {
    guard let number = Int32(exactly: try reader.zigzag()) else { throw .overLimit("presence") }
    return number
  }
}
