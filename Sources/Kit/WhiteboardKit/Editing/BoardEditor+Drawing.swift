import Whiteboard
import WhiteboardSync

extension BoardEditor {
  nonisolated(nonsending) func draw(_ points: [BoardPoint], _ pen: Pen, seconds: Double, _ alias: ObjectAlias?)
    async throws(CommandError) -> CommandOutcome
  {
    guard seconds > 0, points.count > 1 else {
      let id = try edit { (board) throws(BoardError) in
        var ink: [InkPoint] = []
        for point in points { ink.append(try InkPoint(Point(point))) }
        return try board.createDrawing(ink, lineWidth: pen.width, color: pen.color)
      }
      name(id, alias)
      return CommandOutcome(id: id)
    }
    // The whole stroke is one undo step.
    board.beginStep("drawing")
    defer { board.endStep() }
    do throws(BoardError) {
      let pace = StrokePace(count: points.count, seconds: seconds)
      let begin = runtime.clock.now
      var drawn = pace.due(after: .zero)
      let first = points[..<drawn].map { Point($0) }
      let (id, actions) = try replica.beginStroke(lineWidth: pen.width, color: pen.color, with: first, now: runtime.now)
      name(id, alias)
      active?.perform(actions)
      while runtime.ending == nil, case let due = pace.due(after: runtime.clock.now - begin), due < points.count {
        if due > drawn {
          let points = points[drawn..<due].map { Point($0) }
          try extend(id, with: points)
          drawn = due
        }
        await runtime.room()
        let frame = runtime.clock.now + .milliseconds(replica.strokeInterval)
        try? await runtime.clock.sleep(until: min(frame, begin + .seconds(seconds)))
      }
      active?.perform(try replica.endStroke(id, with: points[drawn...].map { Point($0) }, now: runtime.now))
      return CommandOutcome(id: id)
    } catch { throw refusal(error) }
  }

  private func extend(_ stroke: ObjectID, with points: [Point]) throws(BoardError) {
    active?.perform(try replica.extendStroke(stroke, with: points, now: runtime.now))
    runtime.call { board in
      if let replica = board.replica { board.broadcasts.strokeExtended(stroke, replica) }
    }
  }

  // MARK: - Point by point

  /// Extends or begins a stroke; all calls until ``liftPen()`` are one undo step.
  func drawWithPen(_ points: [BoardPoint], _ pen: Pen, _ alias: ObjectAlias?) throws(CommandError) -> CommandOutcome {
    try check(alias)
    do throws(BoardError) {
      let points = points.map { Point($0) }
      if let stroke {
        try extend(stroke, with: points)
        return CommandOutcome(id: stroke)
      }
      board.beginStep("drawing")
      defer { if stroke == nil { board.endStep() } }
      let begun = try replica.beginStroke(lineWidth: pen.width, color: pen.color, with: points, now: runtime.now)
      stroke = begun.id
      name(begun.id, alias)
      active?.perform(begun.actions)
      return CommandOutcome(id: begun.id)
    } catch { throw refusal(error) }
  }

  @discardableResult func liftPen() throws(CommandError) -> CommandOutcome {
    guard let id = stroke.take() else { return CommandOutcome() }
    defer { board.endStep() }
    do throws(BoardError) {
      active?.perform(try replica.endStroke(id, now: runtime.now))
      return CommandOutcome(id: id)
    } catch { throw refusal(error) }
  }

  // MARK: - Presence

  func point(at place: BoardPoint?, isLaser: Bool) throws(CommandError) {
    try showPresence { (shown) throws(BoardError) in
      try Presence(cursor: place.map { Point($0) }, isLaser: isLaser, view: shown.view)
    }
  }

  func show(_ view: BoardView?) throws(CommandError) {
    try showPresence { (shown) throws(BoardError) in
      var shown = shown
      shown.view = try view.map { (view) throws(BoardError) in
        try Presence.View(center: Point(view.center), width: view.width, height: view.height)
      }
      return shown
    }
  }

  private func showPresence(_ change: (Presence) throws(BoardError) -> Presence) throws(CommandError) {
    do throws(BoardError) { active?.perform(replica.show(try change(replica.shownPresence), now: runtime.now)) } catch {
      throw refusal(error)
    }
    let presence = replica.shownPresence
    runtime.call { $0.broadcasts.presenceChanged(presence) }
  }
}

extension Point {
  package init(_ point: BoardPoint) { self.init(x: point.x, y: point.y) }
}

struct StrokePace: Sendable {
  let count: Int
  /// The duration of the stroke, in seconds; the last point is due at the end.
  let seconds: Double

  func due(after elapsed: Duration) -> Int {
    guard count > 1, seconds > 0 else { return count }
    let share = min(max(elapsed / .seconds(1) / seconds, 0), 1)
    return share >= 1 ? count : 1 + Int(Double(count - 1) * share)
  }
}
