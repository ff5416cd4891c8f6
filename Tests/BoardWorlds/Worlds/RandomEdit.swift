import PeerTestKit
import Whiteboard

/// What a person may do to a board, at random, of every kind.
enum RandomEdit {
  /// What came of it.
  enum Outcome {
    case done
    case undone
    /// The board said no, which is no failure.
    case refused
  }

  static func act(on board: Board, _ random: inout SeededGenerator) -> Outcome {
    do throws(BoardError) {
      return try attempt(board, &random)
    } catch {
      return .refused
    }
  }

  static func point(_ random: inout SeededGenerator) -> Point {
    Point(x: Double(random.below(4000)) / 3 - 600, y: Double(random.below(4000)) / 7)
  }

  private static func attempt(
    _ board: Board,
    _ random: inout SeededGenerator
  ) throws(BoardError) -> Outcome {
    let ids = board.state.records.keys.sorted()
    let place = point(&random)
    guard !ids.isEmpty, !random.chance(12) else {
      try create(on: board, at: place, &random)
      return .done
    }
    let id = ids[random.below(ids.count)]
    switch random.below(13) {
    case 0: try board.delete(id)
    case 1: try board.purge(id)
    case 2: try board.object(id)?.changeScale(to: Double(1 + random.below(50)) / 10)
    case 3: try board.object(id)?.changeAngle(to: Double(random.below(700)) / 100)
    case 4: try board.object(id)?.select(by: board.member)
    case 5: try board.object(id)?.deselect()
    case 6, 7: try type(into: id, of: board, &random)
    case 8:
      // Many objects move in one gesture.
      try board.gesture { () throws(BoardError) in
        for id in ids.prefix(5) { try board.object(id)?.changePosition(to: place) }
      }
    default: try board.object(id)?.changePosition(to: place)
    }
    return .done
  }

  private static func create(
    on board: Board,
    at place: Point,
    _ random: inout SeededGenerator
  ) throws(BoardError) {
    switch random.below(4) {
    case 0:
      let first = try InkPoint(place)
      try board.createDrawing([first, InkPoint(x: first.x + 5, y: first.y - 9)])
    case 1: try board.say("line \(random.below(100))", as: "Anna")
    default: try board.createText(["", "a", "héllo", "x🙂y"][random.below(4)], at: place)
    }
  }

  private static func type(
    into id: ObjectID,
    of board: Board,
    _ random: inout SeededGenerator
  ) throws(BoardError) {
    guard let text = board.snapshot(id)?.text else { return }
    let count = text.unicodeScalars.count
    let start = random.below(count + 1)
    let end = start + random.below(min(3, count - start) + 1)
    try board.editText(id, replacing: start..<end, with: ["", "q", "rst"][random.below(3)])
  }
}
