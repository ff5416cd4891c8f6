import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// The mouse, and the pen of the keyboard.
extension BoardClient {
  mutating func take(_ event: MouseEvent) -> [Action] {
    let isOnBoard = boardArea.contains(x: event.x, y: event.y)
    let place = place(event.column, event.row)
    if isOnBoard { pointer = place }
    switch event.kind {
    case .press(let button):
      if box != nil { return press(inBox: event) }
      if closeNotice(at: event.x, event.y) { return [] }
      guard isOnBoard else { return pressOutside(button, event) }
      return press(button, place, event)
    case .drag:
      if case .pan(let x, let y) = gesture {
        pan(byDots: (x - event.column) * 2, (y - event.row) * 4)
        gesture = .pan(lastX: event.column, lastY: event.row)
      } else {
        drag(place, event.modifiers)
      }
      return []
    case .release: return endGesture()
    case .move: return []
    case .scroll(let dx, let dy):
      guard box == nil else {
        scrollBox(by: dy)
        return []
      }
      return scroll(dx, dy, event, place)
    }
  }

  /// The wheel scrolls a panel by three rows, and goes through the menu item by item.
  private mutating func scrollBox(by steps: Int) {
    switch box {
    case .panel: scrollPanel(by: steps * 3)
    case .menu(var menu):
      menu.leap(steps)
      box = .menu(menu)
    default: break
    }
  }

  /// In the menu a click picks, and in a panel it does nothing; elsewhere it takes the box away.
  private mutating func press(inBox event: MouseEvent) -> [Action] {
    if case .panel = box, isInPanel(x: event.x, y: event.y) { return [] }
    guard case .menu(var menu) = box, let index = menuRow(at: event.x, event.y) else {
      box = nil
      return []
    }
    menu.choose(index)
    return pick(menu.command)
  }

  private mutating func press(
    _ button: MouseEvent.Button,
    _ place: Point,
    _ event: MouseEvent
  ) -> [Action] {
    // What was not finished, for its release was lost, is finished first.
    let before = endGesture() + endTyping()
    switch button {
    case .right:
      let cell = Menu.Cell(x: event.x, y: event.y)
      guard let id = object(at: place), !selection.contains(id) else {
        openMenu(at: cell)
        return before
      }
      menuCell = cell
      return before + select([id])
    case .middle:
      gesture = .pan(lastX: event.column, lastY: event.row)
      return before
    case .left where tool == .hand:
      gesture = .pan(lastX: event.column, lastY: event.row)
      return before
    case .left:
      return before + press(place, event.modifiers)
    }
  }

  /// The tool is put down at a place, by the mouse or by the keyboard.
  private mutating func press(
    _ place: Point,
    _ modifiers: InputEvent.Modifiers = []
  ) -> [Action] {
    switch tool {
    case .pen: return beginStroke(place)
    case .line, .rectangle, .ellipse, .arrow: gesture = .shape(tool, from: place, to: place)
    case .text: return typeText(at: place)
    case .eraser: gesture = .erase([place])
    case .remover:
      gesture = .remove([])
      drag(place)
    case .picker: pickInk(at: place)
    case .select: return pick(place, modifiers)
    case .hand, .laser: break
    }
    return []
  }

  /// What is in the middle of being done goes on at a place.
  ///
  /// With Alt a resize keeps the center where it is; with Ctrl it makes lines wider too.
  mutating func drag(_ place: Point, _ modifiers: InputEvent.Modifiers = []) {
    switch gesture {
    case .stroke: drawOn(place)
    case .shape(let tool, let from, _): gesture = .shape(tool, from: from, to: place)
    case .erase(let path): gesture = .erase(path + [place])
    case .remove(let ids):
      guard let id = object(at: place), !ids.contains(id) else { break }
      gesture = .remove(ids + [id])
    case .band(let from, _): gesture = .band(from: from, to: place)
    case .drag(let from, _): gesture = .drag(from: from, to: place)
    case .resize(var resize):
      resize.to = place
      resize.isCentered = modifiers.contains(.alt)
      resize.scalesLines = modifiers.contains(.control)
      gesture = .resize(resize)
    case .turn(let frame, _): gesture = .turn(frame, to: place)
    case .pan, nil: break
    }
  }

  /// The key that presses and lets go.
  mutating func pressByKey() -> [Action] {
    if gesture != nil { return endGesture() }
    return press(pointer ?? canvas.viewport.center)
  }

  private mutating func scroll(
    _ dx: Int,
    _ dy: Int,
    _ event: MouseEvent,
    _ place: Point
  ) -> [Action] {
    if event.modifiers.contains(.control) {
      var viewport = canvas.viewport
      viewport.zoom(by: dy < 0 ? 1.25 : 0.8, around: place)
      look(viewport)
    } else if event.modifiers.contains(.shift) {
      pan(byDots: Double(dy * 8), 0)
    } else {
      pan(byDots: Double(dx * 8), Double(dy * 12))
    }
    return []
  }

  // MARK: - Gestures

  /// What is being done is done: the button is up, or the person turned to something else.
  mutating func endGesture() -> [Action] {
    defer { gesture = nil }
    switch gesture {
    case .stroke: return handOnStroke(isLast: true)
    case .shape(let tool, let from, let to): return draw(tool, from, to)
    case .erase(let path):
      let radius = eraserRadius.inHundredths
      return request { () throws(CommandError) in
        .erase(points: try Self.boardPoints(path.prefix(256)), radius: radius)
      }
    case .remove(let ids):
      guard !ids.isEmpty else { return [] }
      return request(.delete(ids.map { ObjectReference($0) }))
    case .band(let from, let to): return select(inside: Rectangle(from, to))
    case .drag(let from, let to):
      let offset = moving(from, to).offset
      guard offset.x != 0 || offset.y != 0, !selection.isEmpty else { return [] }
      return onSelection { (selected) throws(CommandError) in
        .move(selected, .by(try BoardPoint(rounding: offset)))
      }
    case .resize(let resize): return resized(resize)
    case .turn(let frame, let to): return turned(by: degrees(frame, to))
    case .pan, nil: return []
    }
  }

  /// What is being done is not to be.
  mutating func cancelGesture() -> [Action] {
    defer { gesture = nil }
    guard case .stroke = gesture else { return [] }
    return handOnStroke(isLast: true) + request(.undo)
  }

  /// An eraser is as broad as a cell, however large the board is shown.
  private var eraserRadius: Double { max(4, reach) }

  private mutating func beginStroke(_ place: Point) -> [Action] {
    sentPoints = 1
    gesture = .stroke(mark: requests.nextID, id: nil, points: [place])
    let pen = pen
    return request { () throws(CommandError) in
      .pen(points: [try BoardPoint(rounding: place)], pen: pen, alias: nil)
    }
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
      sentPoints += next.count
      do throws(CommandError) {
        let points = try Self.boardPoints(next)
        actions.append(.command(CommandRequest(.pen(points: points, alias: nil))))
      } catch {
        complain(error.message)
      }
    }
    if isLast { actions += request(.lift) }
    return actions
  }

  /// Tells others where we point, not more often than they can see.
  mutating func handOnPointer() -> [Action] {
    guard let pointer, pointer != toldPointer, now - lastPointed >= .milliseconds(33) else {
      return []
    }
    lastPointed = now
    toldPointer = pointer
    guard let place = try? BoardPoint(rounding: pointer) else { return [] }
    return [.command(CommandRequest(.point(place, isLaser: tool == .laser)))]
  }

  /// Tells others what we see, so that they can follow us; nobody is told while nobody is there.
  mutating func handOnView() -> [Action] {
    let viewport = canvas.viewport
    guard viewport != toldView, !people.isEmpty, now - lastPointed >= .milliseconds(33) else {
      return []
    }
    lastPointed = now
    toldView = viewport
    let part = viewport.rectangle
    let (width, height) = (part.greatest.x - part.least.x, part.greatest.y - part.least.y)
    guard let center = try? BoardPoint(rounding: part.center) else { return [] }
    let view = BoardView(center: center, width: Self.whole(width), height: Self.whole(height))
    return [.command(CommandRequest(.view(view)))]
  }

  private static func whole(_ value: Double) -> Int {
    Int(min(max(value.rounded(.up), 1), Double(BoardLimits.viewExtent)))
  }

  // MARK: - Shapes

  /// Draws a shape.
  private mutating func draw(_ tool: Tool, _ from: Point, _ to: Point) -> [Action] {
    let pen = pen
    return request { () throws(CommandError) in
      let points = try Self.boardPoints(Self.points(tool, from, to))
      return .stroke(points: points, pen: pen, seconds: 0, alias: nil)
    }
  }

  private static func boardPoints(
    _ places: some Sequence<Point>
  ) throws(CommandError) -> [BoardPoint] {
    var points: [BoardPoint] = []
    for place in places { points.append(try BoardPoint(rounding: place)) }
    return points
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

}
