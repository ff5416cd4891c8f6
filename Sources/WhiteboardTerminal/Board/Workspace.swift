import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The board that the user edits: the visible objects, the tool, the text being typed, and the pending commands.
///
/// It handles input and changes of the board. It returns a ``BoardEffect`` for each command and for each change of
/// another part of the screen.
struct Workspace: Sendable {
  var scene: BoardScene
  var toolbox = Toolbox()
  /// The commands that the board has not answered.
  var requests = PendingRequests()
  /// The text object in which the user is typing.
  var typing: TextTyping?
  var presence = PresencePublisher()
  /// The cell at which a menu opens as soon as the clicked object is selected.
  private var pendingMenu: Menu.Cell?

  init(_ scene: BoardScene) { self.scene = scene }

  /// The position at which a key or a paste creates an object: the pointer, or the center of the view.
  var target: Point { toolbox.pointer ?? scene.viewport.center }

  // MARK: - Time

  /// Returns the commands that send the new points of the user's stroke, the position of the pointer, and the visible
  /// part of the board.
  ///
  /// - Parameters:
  ///   - hasReaders: Whether there are other members, which may follow the view.
  ///   - now: The time on the client's clock.
  /// - Returns: The commands for all changes since the last call.
  mutating func tick(hasReaders: Bool, now: Duration) -> [BoardEffect] {
    let strokes = toolbox.continueStroke()
    let isLaser = toolbox.tool == .laser
    let pointer = presence.move(to: toolbox.pointer, isLaser: isLaser, now: now)
    let view = presence.show(scene.viewport, hasReaders: hasReaders, now: now)
    return strokes + [pointer, view].compactMap(\.self)
  }

  // MARK: - Gestures

  /// Handles the press of a mouse button on the board.
  mutating func press(
    _ button: MouseEvent.Button,
    _ event: MouseEvent,
    at place: Point,
    now: Duration
  ) -> [BoardEffect] {
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
    case .left: return before + press(at: place, event.modifiers, now: now)
    }
  }

  /// Opens the menu for the clicked object, as soon as that object is selected.
  private mutating func requestMenu(_ cell: Menu.Cell, at place: Point) -> [BoardEffect] {
    guard let id = scene.object(at: place), !scene.selection.contains(id) else {
      return [.openMenu(at: cell)]
    }
    pendingMenu = cell
    return select([id])
  }

  /// Presses the tool.
  private mutating func press(
    at place: Point,
    _ modifiers: InputEvent.Modifiers = [],
    now: Duration
  ) -> [BoardEffect] {
    toolbox.press(place, modifiers, on: scene, &requests, now: now)
  }

  /// Presses the tool with the keyboard pen, or releases it.
  mutating func pressOrRelease(now: Duration) -> [BoardEffect] {
    toolbox.gesture == nil ? press(at: target, now: now) : endGesture()
  }

  /// Handles a movement of the mouse while a button is pressed.
  mutating func drag(_ event: MouseEvent, to place: Point) -> [BoardEffect] {
    guard let dots = toolbox.pan(toX: event.column, y: event.row) else {
      drag(to: place, event.modifiers)
      return []
    }
    return moveView { $0.pan(byDots: dots.x, dots.y) }
  }

  private mutating func drag(to place: Point, _ modifiers: InputEvent.Modifiers = []) {
    toolbox.drag(to: place, modifiers, on: scene)
    toolbox.previewStroke(on: &scene)
  }

  /// Moves the keyboard pen, which stays in view.
  mutating func movePen(by step: Point) -> [BoardEffect] {
    let place = Point(x: target.x + step.x, y: target.y + step.y)
    toolbox.pointer = place
    let isInView = scene.viewport.rectangle.contains(Rectangle(place, place))
    let moving = isInView ? [] : moveView { $0.center = place }
    drag(to: place)
    return moving
  }

  /// Ends the gesture, since the button was released or the user did something else.
  mutating func endGesture() -> [BoardEffect] { toolbox.endGesture(on: scene, &requests) }

  /// Ends the gesture and the typing.
  mutating func endEditing() -> [BoardEffect] { endGesture() + endTyping() }

  /// Ends the gesture and the typing without any command.
  mutating func discardEditing() {
    typing = nil
    toolbox.discardGesture()
  }

  // MARK: - View

  /// Moves the visible part of the board at the user's request.
  mutating func moveView(_ change: (inout Viewport) -> Void) -> [BoardEffect] {
    var viewport = scene.viewport
    change(&viewport)
    scene.canvas.show(viewport)
    return [.viewMoved]
  }

  /// Shows all objects.
  mutating func showEverything() -> [BoardEffect] {
    guard let bounds = scene.canvas.bounds else { return [] }
    return moveView { $0.fit(bounds) }
  }

  /// Zooms with Ctrl, and scrolls without it.
  mutating func scroll(
    _ dx: Int,
    _ dy: Int,
    _ modifiers: InputEvent.Modifiers,
    at place: Point
  ) -> [BoardEffect] {
    moveView {
      if modifiers.contains(.control) {
        $0.zoom(by: dy < 0 ? 1.25 : 0.8, around: place)
      } else if modifiers.contains(.shift) {
        $0.pan(byDots: Double(dy * 8), 0)
      } else {
        $0.pan(byDots: Double(dx * 8), Double(dy * 12))
      }
    }
  }

  // MARK: - Selection

  /// Selects exactly the given objects; ends the selection if there are none.
  mutating func select(_ ids: [ObjectID]) -> [BoardEffect] {
    toolbox.select(ids, on: scene, &requests)
  }

  /// Cancels the gesture.
  ///
  /// If there is no gesture, turns off the keyboard pen and ends the selection.
  mutating func deselect() -> [BoardEffect] { toolbox.deselect(on: scene, &requests) }

  /// Selects an object, and shows it if it is out of view.
  mutating func go(to id: ObjectID) -> [BoardEffect] {
    var effects: [BoardEffect] = []
    if let bounds = scene.snapshot(id)?.bounds, !scene.viewport.rectangle.contains(bounds) {
      effects = moveView { $0.center = bounds.center }
    }
    return effects + select([id])
  }

  /// Returns the menu for the selection, or for the board if nothing is selected.
  func menu(at cell: Menu.Cell?) -> Menu {
    let snapshots = scene.selectedSnapshots
    let only = snapshots.count == 1 ? snapshots[0].kind : nil
    let items =
      snapshots.isEmpty
      ? Menu.ofBoard : Menu.ofSelection(hasText: only == .text, hasGame: only == .game)
    return Menu(items, at: cell)
  }

  // MARK: - Changes and answers

  /// Shows an object in its new state.
  mutating func show(_ snapshot: ObjectSnapshot, _ game: GameView?) -> [BoardEffect] {
    let (isSelected, isNewTurn) = scene.show(snapshot, game)
    var effects: [BoardEffect] = isNewTurn ? [.turnBegan] : []
    if isSelected, let cell = pendingMenu {
      pendingMenu = nil
      effects.append(.openMenu(at: cell))
    }
    toolbox.previewStroke(on: &scene)
    return effects
  }

  /// Removes a deleted object.
  mutating func remove(_ id: ObjectID) -> [BoardEffect] {
    scene.remove(id)
    guard typing?.id == id else { return [] }
    typing = nil
    return [.message("the text was deleted")]
  }

  /// Handles the success of a command.
  ///
  /// - Parameters:
  ///   - request: The request id of the command.
  ///   - id: The object that the command created, if any.
  mutating func finish(_ request: Int64, created id: ObjectID?) {
    requests.finish(request)
    typing?.finish(request, created: id)
    settleTyping()
    if let id { toolbox.created(id, by: request) }
    toolbox.previewStroke(on: &scene)
  }

  /// Handles the failure of a command.
  mutating func fail(_ request: Int64) {
    requests.finish(request)
    typing?.finish(request)
    pendingMenu = nil
    settleTyping()
  }
}
