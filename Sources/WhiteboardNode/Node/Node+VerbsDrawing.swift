import Whiteboard
import WhiteboardSync

extension Node {
  /// Draws a stroke, at once or over a time as a hand would.
  func draw(
    _ points: [BoardPoint],
    seconds: Double,
    _ alias: ObjectAlias?
  ) async throws(VerbError) -> ObjectID {
    guard seconds > 0, points.count > 1 else {
      let id = try onBoard { (board) throws(BoardError) in
        var ink: [InkPoint] = []
        for point in points { ink.append(try InkPoint(Point(point))) }
        return try board.createDrawing(ink)
      }
      made(id, alias)
      return id
    }
    guard let replica else { throw VerbError(.ending, "the board is closed") }
    // All of it is taken back at once.
    replica.board.beginStep("drawing")
    defer { replica.board.endStep() }
    do throws(BoardError) {
      let pace = StrokePace(count: points.count, seconds: seconds)
      let begin = clock.now
      let id = try replica.beginStroke(now: now)
      made(id, alias)
      carryOutActions()
      var drawn = 0
      while drawn < points.count {
        let due = ending == nil ? pace.due(after: clock.now - begin) : points.count
        if due > drawn {
          try replica.extendStroke(id, with: points[drawn..<due].map { Point($0) }, now: now)
          drawn = due
          carryOutActions()
        }
        guard drawn < points.count else { break }
        await room()
        try? await clock.sleep(for: StrokePace.frame)
      }
      try replica.endStroke(id, now: now)
      carryOutActions()
      return id
    } catch {
      carryOutActions()
      throw refusal(error)
    }
  }
}

extension Point {
  /// The same point, as the board has it.
  init(_ point: BoardPoint) {
    self.init(x: point.x, y: point.y)
  }
}
