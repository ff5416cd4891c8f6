import Whiteboard
import WhiteboardKit

extension BoardPoint {
  /// Creates a point with coordinates rounded to hundredths of a board unit; throws if the point is outside the board.
  init(rounding place: Point) throws(CommandError) {
    guard let point = BoardPoint(x: place.x.inHundredths, y: place.y.inHundredths) else {
      throw CommandError(.badArgument, "this place is outside the board")
    }
    self = point
  }

  /// Returns the rounded points of a path; throws if a point is outside the board.
  static func rounding(_ places: some Sequence<Point>) throws(CommandError) -> [BoardPoint] {
    var points: [BoardPoint] = []
    for place in places { points.append(try BoardPoint(rounding: place)) }
    return points
  }
}

extension Double {
  /// The value rounded to hundredths, as the screen shows it.
  var inHundredths: Double {
    guard isFinite else { return 0 }
    // Adding zero turns -0 into 0.
    return (Swift.min(Swift.max(self, -1e12), 1e12) * 100).rounded() / 100 + 0
  }
}
