/// A finite point within the board, in board units.
///
/// The y axis points down.
public struct BoardPoint: Equatable, Sendable {
  /// The distance to the right of the origin, in board units.
  public let x: Double
  /// The distance below the origin, in board units.
  public let y: Double

  /// Creates a point; returns nil if a coordinate is not valid.
  ///
  /// - Parameters:
  ///   - x: The distance to the right of the origin, in board units.
  ///   - y: The distance below the origin, in board units.
  public init?(x: Double, y: Double) {
    guard BoardPoint.admits(x), BoardPoint.admits(y) else { return nil }
    self.x = x
    self.y = y
  }

  /// Half the width and height of the board, in board units.
  ///
  /// A coordinate is at least `-bound` and less than `bound`.
  public static let bound = 33_554_432.0

  /// The default distance between a copy and its original.
  public static let duplicate = BoardPoint(unchecked: 20, 20)

  private init(unchecked x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// Checks a coordinate.
  ///
  /// - Parameter coordinate: The number.
  /// - Returns: Whether the number is finite, at least `-bound`, and less than `bound`.
  public static func admits(_ coordinate: Double) -> Bool { coordinate >= -bound && coordinate < bound }
}

/// The target of a move.
public enum Movement: Equatable, Sendable {
  /// Moves the center to a point.
  case to(BoardPoint)
  /// Moves by a distance.
  case by(BoardPoint)
}

/// The part of the board that a user sees, for members that follow the user.
public struct BoardView: Equatable, Sendable {
  /// The center of the view.
  public let center: BoardPoint
  /// The width, in board units.
  public let width: Int
  /// The height, in board units.
  public let height: Int

  /// Creates a view.
  ///
  /// - Parameters:
  ///   - center: The center of the view.
  ///   - width: The width, in board units.
  ///   - height: The height, in board units.
  public init(center: BoardPoint, width: Int, height: Int) {
    self.center = center
    self.width = width
    self.height = height
  }
}

/// The area that `find` searches.
public enum BoardArea: Equatable, Sendable {
  /// The objects at a point.
  case point(BoardPoint)
  /// The objects that touch the rectangle with the given opposite corners. If `isInside` is true, only the objects that
  /// are wholly inside the rectangle.
  case rectangle(BoardPoint, BoardPoint, isInside: Bool)
}

/// The position in the stack to which `order` moves an object.
public enum StackPlace: Equatable, Sendable {
  /// In front of all objects.
  case front
  /// Behind all objects.
  case back
  /// One position toward the front.
  case forward
  /// One position toward the back.
  case backward
  /// Just in front of an object.
  case above(ObjectReference)
  /// Just behind an object.
  case below(ObjectReference)
}
