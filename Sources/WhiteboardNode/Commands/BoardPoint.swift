/// A point in board units, finite and within the board.
package struct BoardPoint: Equatable, Sendable {
  /// To the right.
  package let x: Double
  /// Downwards.
  package let y: Double

  /// Makes a point where both numbers are finite and within the board, otherwise nil.
  package init?(x: Double, y: Double) {
    guard BoardPoint.admits(x), BoardPoint.admits(y) else { return nil }
    self.x = x
    self.y = y
  }

  /// Half the width and height of the board, in board units; a coordinate is at least minus this
  /// and less than this.
  package static let bound = 33_554_432.0

  /// How far from the original a copy lies where nothing else is said.
  static let duplicate = BoardPoint(unchecked: 20, 20)

  private init(unchecked x: Double, _ y: Double) {
    self.x = x
    self.y = y
  }

  /// Whether a number may be a coordinate.
  package static func admits(_ coordinate: Double) -> Bool {
    coordinate >= -bound && coordinate < bound
  }
}

/// The target of a move.
package enum Movement: Equatable, Sendable {
  /// To a place on the board.
  case to(BoardPoint)
  /// By a distance from where the object is.
  case by(BoardPoint)
}

/// The part of the board that one looks at.
package struct BoardView: Equatable, Sendable {
  /// The center.
  package let center: BoardPoint
  /// Board units.
  package let width: Int
  /// Board units.
  package let height: Int
}

/// The area that `find` searches.
package enum BoardArea: Equatable, Sendable {
  /// At a point.
  case point(BoardPoint)
  /// In a rectangle by two of its corners: what lies wholly inside, or all that it touches.
  case rectangle(BoardPoint, BoardPoint, isInside: Bool)
}

/// The target position of `order` in the stack.
package enum StackPlace: Equatable, Sendable {
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

  /// Reads a point that does not refer to an object; nil if the word is not one.
  init?(_ word: some StringProtocol) {
    switch word {
    case "front": self = .front
    case "back": self = .back
    case "forward": self = .forward
    case "backward": self = .backward
    default: return nil
    }
  }
}
