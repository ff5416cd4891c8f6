/// A place on the board, in board units with y down.
public struct Point: Hashable, Sendable {
  /// To the right.
  public var x: Double
  /// Down.
  public var y: Double

  /// The point (`x`, `y`).
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// An extent in board units.
public struct Size: Hashable, Sendable {
  /// Along x.
  public var width: Double
  /// Along y.
  public var height: Double

  /// The extent `width` by `height`.
  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }
}

/// Values in the fixed point of the wire, quantised where they are made (BRD-12).
package enum FixedPoint {
  /// Steps in a board unit of a position, a size or a line width.
  package static let unit: Double = 64
  /// Steps in a board unit of an ink point.
  package static let ink: Double = 16
  /// Steps in a scale of one.
  package static let scale: Double = 65_536
  /// Steps in a turn.
  package static let turn: Double = 4096
  private static let fullTurn = 2 * Double.pi

  /// A coordinate in 1/64 unit.
  package static func coordinate(_ value: Double) throws(BoardError) -> Int32 {
    try quantise(value, unit, "position")
  }

  /// A coordinate in 1/16 unit.
  package static func inkCoordinate(_ value: Double) throws(BoardError) -> Int32 {
    try quantise(value, ink, "point")
  }

  private static func quantise(
    _ value: Double,
    _ steps: Double,
    _ what: String
  ) throws(BoardError) -> Int32 {
    guard value >= -BoardLimits.coordinate, value < BoardLimits.coordinate,
      let fixed = Int32(exactly: (value * steps).rounded())
    else { throw .outOfRange(what) }
    return fixed
  }

  /// A position as a value.
  package static func position(_ point: Point) throws(BoardError) -> Value {
    .pair(try coordinate(point.x), try coordinate(point.y))
  }

  /// A size as a value.
  package static func size(_ size: Size) throws(BoardError) -> Value {
    guard size.width >= 0, size.height >= 0 else { throw .outOfRange("size") }
    return .pair(try coordinate(size.width), try coordinate(size.height))
  }

  /// A scale as a value.
  package static func scale(_ scale: Double) throws(BoardError) -> Value {
    guard scale >= BoardLimits.leastScale, scale <= BoardLimits.greatestScale else {
      throw .outOfRange("scale")
    }
    return .unsigned(UInt64((scale * Self.scale).rounded()))
  }

  /// An angle in radians, of any number of turns, as a value.
  package static func angle(_ radians: Double) throws(BoardError) -> Value {
    .unsigned(try angleSteps(radians))
  }

  /// An angle in radians, of any number of turns, in steps of 1/4096 turn.
  package static func angleSteps(_ radians: Double) throws(BoardError) -> UInt64 {
    guard radians.isFinite, radians.magnitude <= 1e6 else { throw .outOfRange("angle") }
    let steps = Int64((radians / fullTurn * turn).rounded())
    return UInt64(((steps % 4096) + 4096) % 4096)
  }

  /// A line width as a value.
  package static func lineWidth(_ width: Double) throws(BoardError) -> Value {
    guard width > 0, width <= BoardLimits.lineWidth else { throw .outOfRange("lineWidth") }
    return .unsigned(UInt64(max(1, (width * unit).rounded())))
  }

  /// The radians of an angle's steps.
  package static func radians(_ steps: UInt64) -> Double {
    Double(steps % 4096) / turn * fullTurn
  }

  /// The scale of its steps, kept within its limits.
  package static func scale(of steps: UInt64) -> Double {
    min(max(Double(steps) / scale, BoardLimits.leastScale), BoardLimits.greatestScale)
  }
}
