import Whiteboard
import WhiteboardKit
import WhiteboardRendering

extension Workspace {
  // MARK: - Press

  mutating func press(_ button: MouseEvent.Button, _ event: MouseEvent, at place: Point, now: Duration) -> [BoardEffect]
  {
    // The release that ends the previous gesture may have been lost.
    let before = endEditing()
    switch button {
    case .right: return before + requestMenu(Menu.Cell(x: event.x, y: event.y), at: place)
    case .middle:
      toolbox.beginPan(x: event.column, y: event.row)
      return before
    case .left where toolbox.tool == .hand:
      toolbox.beginPan(x: event.column, y: event.row)
      return before
    case .left: return before + pressTool(at: place, event.modifiers, now: now)
    }
  }

  mutating func pressOrRelease(now: Duration) -> [BoardEffect] {
    toolbox.gesture == nil ? pressTool(at: target, now: now) : endGesture()
  }

  private mutating func pressTool(at place: Point, _ modifiers: InputEvent.Modifiers = [], now: Duration)
    -> [BoardEffect]
  {
    switch toolbox.tool {
    case .pen: return pressPen(at: place)
    case .line, .rectangle, .ellipse, .diamond, .note, .arrow:
      toolbox.gesture = .shape(toolbox.tool, from: place, to: place)
    case .text:
      guard let id = scene.object(at: place), let snapshot = scene.snapshot(id), snapshot.canBeTypedIn else {
        return [.typeText(at: place)]
      }
      return [.typeIn(snapshot)]
    case .eraser: toolbox.gesture = .erase([place])
    case .remover:
      toolbox.gesture = .remove([])
      dragTool(to: place)
    case .picker: return pickInk(at: place)
    case .select: return pressSelection(at: place, modifiers, now: now)
    case .hand, .laser: break
    }
    return []
  }

  private mutating func pickInk(at place: Point) -> [BoardEffect] {
    guard let id = scene.object(at: place), let snapshot = scene.snapshot(id) else {
      return [.message("there is no object here")]
    }
    // Black is the default color, which is shown in the text color of the terminal.
    toolbox.ink = snapshot.color.flatMap { $0 >> 8 == 0 ? nil : $0 >> 8 }
    toolbox.width = snapshot.lineWidth ?? toolbox.width
    toolbox.tool = snapshot.kind == .text ? .text : .pen
    return []
  }

  // MARK: - Drag

  mutating func drag(_ event: MouseEvent, to place: Point) -> [BoardEffect] {
    guard let dots = toolbox.pan(toX: event.column, y: event.row) else {
      dragTool(to: place, event.modifiers)
      previewStroke()
      return []
    }
    return moveView { $0.pan(byDots: dots.x, dots.y) }
  }

  mutating func movePen(by step: Point) -> [BoardEffect] {
    let place = Point(x: target.x + step.x, y: target.y + step.y)
    toolbox.pointer = place
    let isInView = scene.viewport.rectangle.contains(Rectangle(place, place))
    let moving = isInView ? [] : moveView { $0.center = place }
    dragTool(to: place)
    previewStroke()
    return moving
  }

  /// With Alt, a resize keeps the center fixed. With Ctrl, it scales line widths too. With Shift, a form keeps its
  /// proportions.
  mutating func dragTool(to place: Point, _ modifiers: InputEvent.Modifiers = []) {
    switch toolbox.gesture {
    case .stroke(var stroke):
      // Clear the property first, so that the points have one reference and are not copied.
      toolbox.gesture = nil
      stroke.append(place)
      toolbox.gesture = .stroke(stroke)
    case .shape(let tool, let from, _): toolbox.gesture = .shape(tool, from: from, to: place)
    case .erase(var path):
      toolbox.gesture = nil
      path.append(place)
      toolbox.gesture = .erase(path)
    case .remove(let ids):
      guard let id = scene.object(at: place), !ids.contains(id) else { break }
      toolbox.gesture = .remove(ids + [id])
    case .band(let from, _): toolbox.gesture = .band(from: from, to: place)
    case .move(let from, _): toolbox.gesture = .move(from: from, to: place)
    case .resize(var resize):
      resize.to = place
      resize.isCentered = modifiers.contains(.alt)
      resize.scalesLines = modifiers.contains(.control)
      resize.keepsProportions = modifiers.contains(.shift)
      toolbox.gesture = .resize(resize)
    case .rotate(let frame, _): toolbox.gesture = .rotate(frame, to: place)
    case .pan, nil: break
    }
  }

  // MARK: - Release

  mutating func endGesture() -> [BoardEffect] {
    defer { toolbox.gesture = nil }
    switch toolbox.gesture {
    case .stroke: return sendStroke() + requests.issue(.lift)
    case .shape(let tool, let from, let to):
      guard from != to || tool == .note else { return [] }
      if tool == .note { requestToEdit = requests.nextID }
      let pen = toolbox.pen
      // A note that is placed by a click must not cover another note, a photo or a game.
      let start = from == to ? scene.freePlace(for: DrawingForm.note.defaultSize, near: from) : from
      return draw { () throws(CommandError) in try tool.form(from: start, to: from == to ? start : to, pen) }
    case .erase(let path):
      // The eraser is as wide as a cell at any zoom.
      let radius = max(4, scene.tolerance).inHundredths
      return requests.issue { () throws(CommandError) in
        let points = try BoardPoint.rounding(path.prefix(Toolbox.erasePointLimit))
        return .erase(points: points, radius: radius)
      }
    case .remove(let ids): return ids.isEmpty ? [] : requests.issue(.delete(ids.map { .id($0) }))
    case .band(let from, let to): return select(scene.objects(inside: Rectangle(from, to)))
    case .move(let from, let to):
      let offset = scene.snapping(from: from, to: to, isSnapping: toolbox.isSnapping).offset
      guard offset.x != 0 || offset.y != 0, !scene.selection.isEmpty else { return [] }
      let selected = scene.selectedReferences
      return requests.issue { () throws(CommandError) in .move(selected, .by(try BoardPoint(rounding: offset))) }
    case .resize(let resize): return toolbox.transforms.resize(resize, scene, &requests)
    case .rotate(let frame, let to): return rotate(by: scene.degrees(frame, to: to, isSnapping: toolbox.isSnapping))
    case .pan, nil: return []
    }
  }

  /// Undoes a stroke, because the other members have already seen it; drops any other gesture.
  mutating func cancelGesture() -> [BoardEffect] {
    defer { toolbox.gesture = nil }
    guard case .stroke = toolbox.gesture else { return [] }
    return sendStroke() + requests.issue(.lift) + requests.issue(.undo)
  }

  mutating func endEditing() -> [BoardEffect] { endGesture() + endTyping() }

  /// Ends the gesture and the typing without any command.
  mutating func discardEditing() {
    endPresentation()
    typing = nil
    toolbox.gesture = nil
  }
}
