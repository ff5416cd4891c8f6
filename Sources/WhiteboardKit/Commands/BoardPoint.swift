/// A point in board units, finite and within the board.
public struct BoardPoint: Equatable, Sendable {
  /// The distance to the right of the origin.
  public let x: Double
  /// The distance below the origin.
  public let y: Double

  /// Creates a point; nil if a number is not finite or is outside the board.
  public init?(x: Double, y: Double) {
    guard BoardPoint.admits(x), BoardPoint.admits(y) else { return nil }
    self.x = x
    self.y = y
  }

  /// Half the width and height of the board, in board units.
  ///
  /// A coordinate is at least `-bound` and less than `bound`.
  public static let bound = 33_554_432.0

  /// The default distance of a copy from its original.
  public static let duplicate = BoardPoint(unchecked: 20, 20)

  private init(unchecked x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// Whether a number is a valid coordinate.
  public static func admits(_ coordinate: Double) -> Bool {
    coordinate >= -bound && coordinate < bound
  }
}

/// The target of a move.
public enum Movement: Equatable, Sendable {
  /// To a point.
  case to(BoardPoint)
  /// By a distance.
  case by(BoardPoint)
}

/// The part of the board that a user sees.
public struct BoardView: Equatable, Sendable {
  /// The center.
  public let center: BoardPoint
  /// The width in board units.
  public let width: Int
  /// The height in board units.
  public let height: Int

  /// Creates a view.
  public init(center: BoardPoint, width: Int, height: Int) {
    self.center = center
    self.width = width
    self.height = height
  }
}

/// The area that `find` searches.
public enum BoardArea: Equatable, Sendable {
  /// A point.
  case point(BoardPoint)
  /// A rectangle with two opposite corners: the objects wholly inside, or all objects that touch it.
  case rectangle(BoardPoint, BoardPoint, isInside: Bool)
}

/// The target position of `order` in the stack.
public enum StackPlace: Equatable, Sendable {
  /// In front of all.
  case front
  /// Behind all.
  case back
  /// One to the front.
  case forward
  /// One to the back.
  case backward
  /// Just in front of an object.
  case above(ObjectReference)
  /// Just behind an object.
  case below(ObjectReference)
}
