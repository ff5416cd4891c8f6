import Whiteboard
import WhiteboardRendering

/// The mouse, and the pen of the keyboard.
extension BoardClient {
  mutating func take(_ event: MouseEvent) -> [Action] {
    let isOnBoard = boardArea.contains(x: event.x, y: event.y)
    let place = place(event.x, event.y)
    if isOnBoard { pointer = place }
    switch event.kind {
    case .press(let button):
      guard isOnBoard else { return [] }
      if isHelpShown || isInviteShown {
        (isHelpShown, isInviteShown) = (false, false)
        return []
      }
      return press(button, place, event)
    case .drag: return drag(place, event)
    case .release: return endGesture()
    case .move: return []
    case .scroll(let dx, let dy): return scroll(dx, dy, event, place)
    }
  }

  private mutating func press(
    _ button: MouseEvent.Button,
    _ place: Point,
    _ event: MouseEvent
  ) -> [Action] {
    // What was not finished, for its release was lost, is finished first.
    let before = endGesture()
    if button == .middle || tool == .hand {
      gesture = .pan(lastX: event.x, lastY: event.y)
      return before
    }
    guard button == .left else { return before }
    switch tool {
    case .pen: return before + [beginStroke(place)]
    case .line, .rectangle, .ellipse, .arrow: gesture = .shape(tool, from: place, to: place)
    case .text: begin(.text(at: place), lead: "text: ")
    case .eraser: gesture = .erase([place])
    case .select: return before + pick(place, event)
    case .hand, .laser: break
    }
    return before
  }

  private mutating func drag(_ place: Point, _ event: MouseEvent) -> [Action] {
    switch gesture {
    case .stroke: drawOn(place)
    case .shape(let tool, let from, _): gesture = .shape(tool, from: from, to: place)
    case .pan(let x, let y):
      var viewport = canvas.viewport
      viewport.pan(byDots: Double((x - event.x) * 2), Double((y - event.y) * 4))
      canvas.show(viewport)
      gesture = .pan(lastX: event.x, lastY: event.y)
    case .erase(let path): gesture = .erase(path + [place])
    case .band(let from, _): gesture = .band(from: from, to: place)
    case .drag(let from, _): gesture = .drag(from: from, to: place)
    case nil: break
    }
    return []
  }

  private mutating func scroll(
    _ dx: Int,
    _ dy: Int,
    _ event: MouseEvent,
    _ place: Point
  ) -> [Action] {
    var viewport = canvas.viewport
    if event.modifiers.contains(.control) {
      viewport.zoom(by: dy < 0 ? 1.25 : 0.8, around: place)
    } else if event.modifiers.contains(.shift) {
      viewport.pan(byDots: Double(dy * 8), 0)
    } else {
      viewport.pan(byDots: Double(dx * 8), Double(dy * 12))
    }
    canvas.show(viewport)
    return []
  }

  // MARK: - Gestures

  /// What is being done is done: the button is up, or the person turned to something else.
  mutating func endGesture() -> [Action] {
    defer { gesture = nil }
    switch gesture {
    case .stroke: return handOnStroke(isLast: true)
    case .shape(let tool, let from, let to): return [verb(Self.shape(tool, from, to) + penOptions)]
    case .erase(let path):
      let points = path.prefix(256).map { Self.text($0) }.joined(separator: " ")
      return [verb("erase \(points) radius=\(Self.text(eraserRadius))")]
    case .band(let from, let to): return select(inside: Rectangle(from, to))
    case .drag(let from, let to):
      let (x, y) = (to.x - from.x, to.y - from.y)
      guard x != 0 || y != 0, !selection.isEmpty else { return [] }
      return [verb("move \(selectedIDs) +\(Self.text(x)),\(Self.text(y))")]
    case .pan, nil: return []
    }
  }

  /// An eraser is as broad as a cell, however large the board is shown.
  private var eraserRadius: Double { max(4, 2 / canvas.viewport.scale) }

  private mutating func beginStroke(_ place: Point) -> Action {
    sentPoints = 1
    gesture = .stroke(mark: nextMark, id: nil, points: [place])
    return verb("pen \(Self.text(place))\(penOptions)")
  }

  /// Puts the pen of the keyboard down, or lifts it.
  mutating func togglePen() -> [Action] {
    if gesture != nil { return endGesture() }
    return [beginStroke(pointer ?? canvas.viewport.center)]
  }

  mutating func drawOn(_ place: Point) {
    guard case .stroke(let mark, let id, var points)? = gesture, points.last != place else {
      return
    }
    points.append(place)
    gesture = .stroke(mark: mark, id: id, points: points)
    showOwnStroke()
  }

  /// Hands on what was drawn since the last time; at the end the pen is lifted.
  mutating func handOnStroke(isLast: Bool = false) -> [Action] {
    guard case .stroke(_, _, let points)? = gesture else { return [] }
    var actions: [Action] = []
    while sentPoints < points.count {
      let next = points[sentPoints...].prefix(64)
      actions.append(.verb("pen " + next.map { Self.text($0) }.joined(separator: " ")))
      sentPoints += next.count
    }
    if isLast { actions.append(verb("lift")) }
    return actions
  }

  /// Tells others where we point, not more often than they can see.
  mutating func handOnPointer() -> [Action] {
    guard let pointer, pointer != toldPointer, now - lastPointed >= .milliseconds(33) else {
      return []
    }
    lastPointed = now
    toldPointer = pointer
    return [.verb("point \(Self.text(pointer))")]
  }

  // MARK: - Shapes

  /// The verb that draws a shape.
  static func shape(_ tool: Tool, _ from: Point, _ to: Point) -> String {
    "stroke " + points(tool, from, to).map { text($0) }.joined(separator: " ")
  }

  static func points(_ tool: Tool, _ from: Point, _ to: Point) -> [Point] {
    switch tool {
    case .rectangle:
      return [from, Point(x: to.x, y: from.y), to, Point(x: from.x, y: to.y), from]
    case .ellipse:
      let center = Point(x: (from.x + to.x) / 2, y: (from.y + to.y) / 2)
      let (width, height) = ((to.x - from.x) / 2, (to.y - from.y) / 2)
      return (0...64).map { step in
        let turn = Rotation(steps: UInt64(step * 64))
        return Point(x: center.x + width * turn.cosine, y: center.y + height * turn.sine)
      }
    case .arrow:
      let (x, y) = (to.x - from.x, to.y - from.y)
      let length = (x * x + y * y).squareRoot()
      guard length > 0 else { return [from, to] }
      let reach = min(length * 0.4, 24)
      let (ux, uy) = (x / length * reach, y / length * reach)
      let left = Point(x: to.x - ux - uy * 0.5, y: to.y - uy + ux * 0.5)
      let right = Point(x: to.x - ux + uy * 0.5, y: to.y - uy - ux * 0.5)
      return [from, to, left, to, right]
    default: return [from, to]
    }
  }

  // MARK: - Picking

  private mutating func pick(_ place: Point, _ event: MouseEvent) -> [Action] {
    guard let id = object(at: place) else {
      gesture = .band(from: place, to: place)
      return selection.isEmpty ? [] : [verb("deselect")]
    }
    gesture = .drag(from: place, to: place)
    if event.modifiers.contains(.control) || event.modifiers.contains(.alt) {
      let ids = selection.symmetricDifference([id])
      return select(ids.sorted())
    }
    return selection.contains(id) ? [] : select([id])
  }

  /// The frontmost object at a place, with a cell's tolerance.
  func object(at place: Point) -> ObjectID? {
    let tolerance = 2 / canvas.viewport.scale
    return canvas.objects.last { id in
      guard let snapshot = canvas.item(id)?.snapshot else { return false }
      return snapshot.isNear(place, within: tolerance)
    }
  }

  private mutating func select(inside band: Rectangle) -> [Action] {
    select(
      canvas.objects.filter { id in
        canvas.item(id).map { band.contains($0.snapshot.bounds) } ?? false
      }
    )
  }
}
