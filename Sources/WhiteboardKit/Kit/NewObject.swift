import Whiteboard

/// An object to add to a board with ``SharedBoard/add(_:)``.
///
/// Positions are the centers of objects, in board units.
public enum NewObject: Hashable, Sendable {
  /// A text object with at most 8 KiB of UTF-8, and a color as `0xRRGGBBAA`.
  case text(String, at: Point, color: UInt32? = nil)
  /// A stroke through one or more points, with a color as `0xRRGGBBAA` and a width in board units.
  case stroke([Point], color: UInt32? = nil, width: Double = 5)
  /// A photo, given by the path of a JPEG, PNG, GIF or WebP file.
  case photo(file: String, at: Point)
  /// A game of Wordle for all members.
  case wordle(at: Point)
  /// A game of Connect Four against a member. If the member is nil, the first member that makes a move is the opponent.
  case connectFour(at: Point, opponent: SharedBoard.Member? = nil)

  /// Returns the command that adds the object; throws ``CommandError`` with `badArgument` if a point is outside the
  /// board.
  func command() throws(CommandError) -> Command {
    switch self {
    case .text(let words, let place, let color):
      .text(at: try BoardPoint(place), words: words, color: color, alias: nil)
    case .stroke(let points, let color, let width):
      .stroke(
        points: try points.map { (point) throws(CommandError) in try BoardPoint(point) },
        pen: Pen(color: color, width: width),
        seconds: 0,
        alias: nil
      )
    case .photo(let file, let place): .photo(at: try BoardPoint(place), file: file, alias: nil)
    case .wordle(let place): .game(.wordle, at: try BoardPoint(place), opponent: nil, alias: nil)
    case .connectFour(let place, let opponent):
      .game(.connectFour, at: try BoardPoint(place), opponent: opponent?.id.text, alias: nil)
    }
  }
}

extension BoardPoint {
  fileprivate init(_ point: Point) throws(CommandError) {
    guard let valid = BoardPoint(x: point.x, y: point.y) else {
      throw CommandError(
        .badArgument,
        "the point \(point.x),\(point.y) is outside the board, whose coordinates go from -33554432 to 33554431"
      )
    }
    self = valid
  }
}
