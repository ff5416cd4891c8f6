import Whiteboard
import WhiteboardSync

extension Node {
  /// Draws a stroke, at once or over a time as a hand would.
  func draw(
    _ points: [BoardPoint],
    _ pen: Pen,
    seconds: Double,
    _ alias: ObjectAlias?
  ) async throws(CommandError) -> ObjectID {
    guard seconds > 0, points.count > 1 else {
      let id = try onBoard { (board) throws(BoardError) in
        var ink: [InkPoint] = []
        for point in points { ink.append(try InkPoint(Point(point))) }
        return try board.createDrawing(ink, lineWidth: pen.width, color: pen.color)
      }
      made(id, alias)
      return id
    }
    guard let replica else { throw CommandError(.ending, "the board is closed") }
    // All of it is taken back at once.
    replica.board.beginStep("drawing")
    defer { replica.board.endStep() }
    do throws(BoardError) {
      let pace = StrokePace(count: points.count, seconds: seconds)
      let begin = clock.now
      let id = try replica.beginStroke(lineWidth: pen.width, color: pen.color, now: now)
      made(id, alias)
      performActions()
      var drawn = 0
      while drawn < points.count {
        let due = ending == nil ? pace.due(after: clock.now - begin) : points.count
        if due > drawn {
          try replica.extendStroke(id, with: points[drawn..<due].map { Point($0) }, now: now)
          drawn = due
          performActions()
        }
        guard drawn < points.count else { break }
        await runtime.room()
        try? await clock.sleep(for: StrokePace.frame)
      }
      try replica.endStroke(id, now: now)
      performActions()
      return id
    } catch {
      performActions()
      throw refusal(error)
    }
  }
}

/// The line that a person draws point by point.
extension Node {
  /// Draws on with the line in hand, or begins one.
  func drawOn(
    _ points: [BoardPoint],
    _ pen: Pen,
    _ alias: ObjectAlias?
  ) throws(CommandError) -> ObjectID {
    guard let replica else { throw CommandError(.ending, "the board is closed") }
    defer { performActions() }
    do throws(BoardError) {
      let id: ObjectID
      if let stroke = strokeInHand {
        id = stroke
      } else {
        // All of it is taken back at once.
        replica.board.beginStep("drawing")
        defer { if strokeInHand == nil { replica.board.endStep() } }
        id = try replica.beginStroke(lineWidth: pen.width, color: pen.color, now: now)
        strokeInHand = id
        made(id, alias)
      }
      try replica.extendStroke(id, with: points.map { Point($0) }, now: now)
      return id
    } catch {
      throw refusal(error)
    }
  }

  /// Ends the line in hand, where there is one.
  @discardableResult
  func lift() throws(CommandError) -> ObjectID? {
    guard let replica, let id = strokeInHand else { return nil }
    strokeInHand = nil
    defer {
      replica.board.endStep()
      performActions()
    }
    do throws(BoardError) {
      try replica.endStroke(id, now: now)
      return id
    } catch {
      throw refusal(error)
    }
  }

}

/// The presence of the local peer, as other members see it.
extension Node {
  /// Shows the others where we point.
  func point(at place: BoardPoint?, isLaser: Bool) throws(CommandError) {
    try showPresence { (shown) throws(BoardError) in
      try Presence(cursor: place.map { Point($0) }, isLaser: isLaser, view: shown.view)
    }
  }

  /// Tells the others which part of the board we look at.
  func look(at view: BoardView?) throws(CommandError) {
    try showPresence { (shown) throws(BoardError) in
      var shown = shown
      shown.view = try view.map { (view) throws(BoardError) in
        try Presence.View(center: Point(view.center), width: view.width, height: view.height)
      }
      return shown
    }
  }

  private func showPresence(
    _ change: (Presence) throws(BoardError) -> Presence
  ) throws(CommandError) {
    guard let replica else { throw CommandError(.ending, "the board is closed") }
    do throws(BoardError) {
      replica.show(try change(replica.shownPresence), now: now)
      performActions()
    } catch {
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
