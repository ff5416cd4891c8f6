import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The chosen tool, color and width, and the gesture in progress.
///
/// The toolbox turns presses, drags and releases of the mouse or the keyboard pen into commands.
struct Toolbox: Sendable {
  /// The tool that the next press uses.
  var tool = Tool.pen
  /// The color of the pen, `0xRRGGBB`; nil for the color of the terminal's text.
  var ink: UInt32?
  /// The width of the pen in board units.
  var width = 5.0
  /// Whether moved objects snap to others, and rotations to steps of 15°.
  var isSnapping = true
  /// Whether the keyboard pen is on: keys move it and press the tool.
  var isKeyboardPen = false
  /// The place on the board that the mouse or the keyboard pen points at.
  var pointer: Point?
  private(set) var gesture: Gesture?
  /// Scaling and rotation of the selection.
  var transforms = SelectionTransforms()
  private var lastClick: (place: Point, time: Duration)?

  /// The longest time between the clicks of a double click.
  private static let doubleClickTime = Duration.milliseconds(400)
  /// The maximum number of points in the path of an eraser.
  private static let erasePointLimit = 256

  /// The color of the pen, `0xRRGGBBAA`; nil for the default color.
  var color: UInt32? { ink.map { $0 << 8 | 0xFF } }

  /// The color and width of the pen.
  var pen: Pen { Pen(color: color, width: width.inHundredths) }

  /// Makes the pen one step thinner or wider.
  mutating func changeWidth(_ step: Int) {
    let widths = Pens.widths
    let index = widths.firstIndex { $0 >= width } ?? widths.count - 1
    width = widths[min(max(index + step, 0), widths.count - 1)]
  }

  // MARK: - Press, drag, release

  /// Presses the tool at a place.
  mutating func press(
    _ place: Point,
    _ modifiers: InputEvent.Modifiers = [],
    on scene: BoardScene,
    _ requests: inout PendingRequests,
    now: Duration
  ) -> [BoardEffect] {
    switch tool {
    case .pen: return beginStroke(place, &requests)
    case .line, .rectangle, .ellipse, .arrow: gesture = .shape(tool, from: place, to: place)
    case .text:
      guard let id = scene.object(at: place), let snapshot = scene.snapshot(id),
        snapshot.kind == .text
      else { return [.typeText(at: place)] }
      return [.typeIn(snapshot)]
    case .eraser: gesture = .erase([place])
    case .remover:
      gesture = .remove([])
      drag(to: place, on: scene)
    case .picker: return pickInk(at: place, on: scene)
    case .select: return pressSelection(place, modifiers, on: scene, &requests, now: now)
    case .hand, .laser: break
    }
    return []
  }

  /// Begins to move the board with the mouse, whose position is in cells.
  mutating func beginPan(x: Double, y: Double) { gesture = .pan(lastX: x, lastY: y) }

  /// Continues to move the board.
  ///
  /// - Returns: The distance to move the board, in dots; nil if the user is not moving the board.
  mutating func pan(toX x: Double, y: Double) -> (x: Double, y: Double)? {
    guard case .pan(let lastX, let lastY) = gesture else { return nil }
    gesture = .pan(lastX: x, lastY: y)
    return ((lastX - x) * 2, (lastY - y) * 4)
  }

  /// Continues the gesture at a place.
  ///
  /// With Alt, a resize leaves the center where it is; with Ctrl, it makes lines wider too.
  mutating func drag(
    to place: Point,
    _ modifiers: InputEvent.Modifiers = [],
    on scene: BoardScene
  ) {
    switch gesture {
    case .stroke(var stroke):
      // Clear the property first, so that the points have one reference and are not copied.
      gesture = nil
      stroke.append(place)
      gesture = .stroke(stroke)
    case .shape(let tool, let from, _): gesture = .shape(tool, from: from, to: place)
    case .erase(var path):
      gesture = nil
      path.append(place)
      gesture = .erase(path)
    case .remove(let ids):
      guard let id = scene.object(at: place), !ids.contains(id) else { break }
      gesture = .remove(ids + [id])
    case .band(let from, _): gesture = .band(from: from, to: place)
    case .move(let from, _): gesture = .move(from: from, to: place)
    case .resize(var resize):
      resize.to = place
      resize.isCentered = modifiers.contains(.alt)
      resize.scalesLines = modifiers.contains(.control)
      gesture = .resize(resize)
    case .rotate(let frame, _): gesture = .rotate(frame, to: place)
    case .pan, nil: break
    }
  }

  /// Ends the gesture, because the button was released or another action begins.
  mutating func endGesture(
    on scene: BoardScene,
    _ requests: inout PendingRequests
  ) -> [BoardEffect] {
    defer { gesture = nil }
    switch gesture {
    case .stroke: return continueStroke() + requests.send(.lift)
    case .shape(let tool, let from, let to):
      let pen = pen
      return requests.send { () throws(CommandError) in
        let points = try BoardPoint.rounding(tool.outline(from: from, to: to))
        return .stroke(points: points, pen: pen, seconds: 0, alias: nil)
      }
    case .erase(let path):
      // The eraser is as wide as a cell at any zoom.
      let radius = max(4, scene.tolerance).inHundredths
      return requests.send { () throws(CommandError) in
        let points = try BoardPoint.rounding(path.prefix(Self.erasePointLimit))
        return .erase(points: points, radius: radius)
      }
    case .remove(let ids):
      return ids.isEmpty ? [] : requests.send(.delete(ids.map { ObjectReference($0) }))
    case .band(let from, let to):
      return select(scene.objects(inside: Rectangle(from, to)), on: scene, &requests)
    case .move(let from, let to):
      let offset = scene.snapping(from: from, to: to, isSnapping: isSnapping).offset
      guard offset.x != 0 || offset.y != 0, !scene.selection.isEmpty else { return [] }
      return requests.send { () throws(CommandError) in
        .move(scene.selectedReferences, .by(try BoardPoint(rounding: offset)))
      }
    case .resize(let resize): return transforms.resize(resize, scene, &requests)
    case .rotate(let frame, let to):
      return transforms.rotate(by: degrees(frame, to, on: scene), scene, &requests)
    case .pan, nil: return []
    }
  }

  /// Cancels the gesture.
  ///
  /// A stroke is undone, because the other members have seen it already.
  mutating func cancelGesture(_ requests: inout PendingRequests) -> [BoardEffect] {
    defer { gesture = nil }
    guard case .stroke = gesture else { return [] }
    return continueStroke() + requests.send(.lift) + requests.send(.undo)
  }

  /// Discards the gesture without any command.
  mutating func discardGesture() { gesture = nil }

  /// Returns the rotation in degrees if the knob of a frame is dragged to a place; with snapping, in
  /// steps of 15°.
  func degrees(_ frame: SelectionFrame, _ place: Point, on scene: BoardScene) -> Double {
    let by = frame.degrees(to: place)
    guard isSnapping else { return by }
    // The angle of a single object becomes a multiple of 15°; several objects are rotated by a
    // multiple of 15°.
    let before = (scene.onlySelected?.angle ?? 0) * 180 / .pi
    return ((before + by) / 15).rounded() * 15 - before
  }

  // MARK: - Strokes

  private mutating func beginStroke(
    _ place: Point,
    _ requests: inout PendingRequests
  ) -> [BoardEffect] {
    gesture = .stroke(Gesture.Stroke(request: requests.nextID, at: place))
    let pen = pen
    return requests.send { () throws(CommandError) in
      .pen(points: [try BoardPoint(rounding: place)], pen: pen, alias: nil)
    }
  }

  /// Sends the points that were drawn since the last call.
  mutating func continueStroke() -> [BoardEffect] {
    guard case .stroke(var stroke)? = gesture else { return [] }
    defer { gesture = .stroke(stroke) }
    return stroke.continuation()
  }

  /// Stores the id of the object that a request created, if the request began the stroke.
  mutating func created(_ id: ObjectID, by request: Int64) {
    guard case .stroke(var stroke)? = gesture, stroke.request == request, stroke.id == nil else {
      return
    }
    stroke.id = id
    gesture = .stroke(stroke)
  }

  /// Shows all points of the stroke immediately, even those that are not on the board yet.
  func previewStroke(on scene: inout BoardScene) {
    guard case .stroke(let stroke)? = gesture, let id = stroke.id,
      let count = scene.snapshot(id)?.ink?.count, stroke.points.count > count
    else { return }
    let rest = stroke.points[count...].compactMap { try? InkPoint($0) }
    scene.canvas.preview(rest, from: count, of: id)
  }

  // MARK: - Picking

  /// Adopts the color and width of the object at a place, and chooses the tool that draws it.
  private mutating func pickInk(at place: Point, on scene: BoardScene) -> [BoardEffect] {
    guard let id = scene.object(at: place), let snapshot = scene.snapshot(id) else {
      return [.message("there is no object here")]
    }
    // Black is the default color, which is shown in the text color of the terminal.
    ink = snapshot.color.flatMap { $0 >> 8 == 0 ? nil : $0 >> 8 }
    width = snapshot.lineWidth ?? width
    tool = snapshot.kind == .text ? .text : .pen
    return []
  }

  /// Selects the object at a place, or grabs a handle or the selection itself.
  private mutating func pressSelection(
    _ place: Point,
    _ modifiers: InputEvent.Modifiers,
    on scene: BoardScene,
    _ requests: inout PendingRequests,
    now: Duration
  ) -> [BoardEffect] {
    if let frame = scene.selectionFrame, let handle = frame.handle(at: place) {
      switch handle {
      case .resize(let grip):
        gesture = .resize(.init(frame: frame, grip: grip, from: place, to: place))
        drag(to: place, modifiers, on: scene)
      case .knob: gesture = .rotate(frame, to: place)
      }
      return []
    }
    let isExtending = modifiers.contains(.control) || modifiers.contains(.alt)
    guard let id = scene.object(at: place) else {
      gesture = .band(from: place, to: place)
      return scene.selection.isEmpty || isExtending ? [] : requests.send(.deselect)
    }
    if isDoubleClick(at: place, tolerance: scene.tolerance, now: now),
      let snapshot = scene.snapshot(id),
      snapshot.kind == .text
    {
      return [.typeIn(snapshot)]
    }
    gesture = .move(from: place, to: place)
    if isExtending {
      return select(scene.selection.symmetricDifference([id]).sorted(), on: scene, &requests)
    }
    return scene.selection.contains(id) ? [] : select([id], on: scene, &requests)
  }

  private mutating func isDoubleClick(at place: Point, tolerance: Double, now: Duration) -> Bool {
    defer { lastClick = (place, now) }
    guard let (before, time) = lastClick, now - time < Self.doubleClickTime else { return false }
    return (before.x - place.x).magnitude < tolerance && (before.y - place.y).magnitude < tolerance
  }

  /// Selects exactly the given objects; ends the selection if there are none.
  mutating func select(
    _ ids: [ObjectID],
    on scene: BoardScene,
    _ requests: inout PendingRequests
  ) -> [BoardEffect] {
    guard ids.isEmpty else { return requests.send(.select(ids.map { ObjectReference($0) })) }
    return deselect(on: scene, &requests)
  }

  /// Cancels the gesture.
  ///
  /// If there is no gesture, turns off the keyboard pen and ends the selection.
  mutating func deselect(
    on scene: BoardScene,
    _ requests: inout PendingRequests
  ) -> [BoardEffect] {
    if gesture != nil { return cancelGesture(&requests) }
    isKeyboardPen = false
    return [.stopFollowing] + (scene.selection.isEmpty ? [] : requests.send(.deselect))
  }
}
