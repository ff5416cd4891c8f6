/// A point on the board, in board units.
///
/// The y axis points down.
public struct Point: Hashable, Sendable {
  /// The horizontal coordinate; it increases to the right.
  public var x: Double
  /// The vertical coordinate; it increases downward.
  public var y: Double

  /// Creates the point (`x`, `y`).
  public init(x: Double, y: Double) {
    self.x = x
    self.y = y
  }
}

/// A width and height in board units.
public struct Size: Hashable, Sendable {
  /// The horizontal extent.
  public var width: Double
  /// The vertical extent.
  public var height: Double

  /// Creates a size.
  public init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }
}

/// An angle.
///
/// A positive angle rotates clockwise, because the y axis points down.
public struct Angle: Hashable, Sendable {
  /// The angle in radians; a full turn is 2π.
  public let radians: Double

  /// The angle in degrees; a full turn is 360.
  public var degrees: Double { radians * 180 / .pi }

  /// Returns the angle of the given number of degrees, even if it exceeds a full turn.
  public static func degrees(_ degrees: Double) -> Angle { Angle(radians: degrees * .pi / 180) }

  /// Returns the angle of the given number of radians, even if it exceeds a full turn.
  public static func radians(_ radians: Double) -> Angle { Angle(radians: radians) }
}

/// Conversions to the fixed-point numbers of the protocol; values are rounded when they are written (BRD-12).
package enum FixedPoint {
  /// The number of steps per board unit for positions, sizes and line widths.
  package static let unit: Double = 64
  /// The number of steps per board unit for ink points.
  package static let ink: Double = 16
  /// The number of steps for a scale of 1.
  package static let scale: Double = 65_536
  /// The number of steps per full turn for angles.
  package static let turn: Double = 4096
  private static let fullTurn = 2 * Double.pi

  package static func coordinate(_ value: Double) throws(BoardError) -> Int32 { try quantized(value, unit, "position") }

  package static func inkCoordinate(_ value: Double) throws(BoardError) -> Int32 { try quantized(value, ink, "point") }

  private static func quantized(_ value: Double, _ steps: Double, _ name: String) throws(BoardError) -> Int32 {
    guard value >= -BoardLimits.coordinate, value < BoardLimits.coordinate,
      let fixed = Int32(exactly: (value * steps).rounded())
    else { throw .outOfRange(name) }
    return fixed
  }

  package static func position(_ point: Point) throws(BoardError) -> Value {
    .pair(try coordinate(point.x), try coordinate(point.y))
  }

  package static func size(_ size: Size) throws(BoardError) -> Value {
    guard size.width >= 0, size.height >= 0 else { throw .outOfRange("size") }
    return .pair(try coordinate(size.width), try coordinate(size.height))
  }

  package static func scale(_ scale: Double) throws(BoardError) -> Value {
    guard scale >= BoardLimits.leastScale, scale <= BoardLimits.greatestScale else { throw .outOfRange("scale") }
    return .unsigned(UInt64((scale * Self.scale).rounded()))
  }

  /// Returns the cell value of an angle, even if the angle exceeds a full turn.
  package static func angle(_ angle: Angle) throws(BoardError) -> Value { .unsigned(try angleSteps(angle.radians)) }

  /// Converts an angle in radians, which may exceed a full turn, to steps of 1/4096 turn.
  package static func angleSteps(_ radians: Double) throws(BoardError) -> UInt64 {
    guard radians.isFinite, radians.magnitude <= 1e6 else { throw .outOfRange("angle") }
    let steps = Int64((radians / fullTurn * turn).rounded())
    return UInt64(((steps % 4096) + 4096) % 4096)
  }

  package static func lineWidth(_ width: Double) throws(BoardError) -> Value {
    guard width > 0, width <= BoardLimits.lineWidth else { throw .outOfRange("lineWidth") }
    return .unsigned(UInt64(max(1, (width * unit).rounded())))
  }

  package static func opacity(_ opacity: Double) throws(BoardError) -> Value {
    guard opacity >= 0, opacity <= 1 else { throw .outOfRange("opacity") }
    return .unsigned(UInt64((opacity * 255).rounded()))
  }

  package static func textSize(_ size: Double) throws(BoardError) -> Value {
    guard size >= BoardLimits.leastTextSize, size <= BoardLimits.textSize else { throw .outOfRange("textSize") }
    return .unsigned(UInt64((size * unit).rounded()))
  }

  package static func radians(_ steps: UInt64) -> Double { Double(steps % 4096) / turn * fullTurn }

  package static func scale(of steps: UInt64) -> Double {
    min(max(Double(steps) / scale, BoardLimits.leastScale), BoardLimits.greatestScale)
  }
}
