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
  var pendingMenu: Menu.Cell?
  /// The request whose objects are selected when they exist: the last duplicate or paste.
  var requestToSelect: Int64?

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
  mutating func collectUpdates(hasReaders: Bool, now: Duration) -> [BoardEffect] {
    let strokes = sendStroke()
    let isLaser = toolbox.tool == .laser
    let pointer = presence.move(to: toolbox.pointer, isLaser: isLaser, now: now)
    let view = presence.show(scene.viewport, hasReaders: hasReaders, now: now)
    return strokes + [pointer, view].compactMap(\.self)
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
  mutating func scroll(_ dx: Int, _ dy: Int, _ modifiers: InputEvent.Modifiers, at place: Point) -> [BoardEffect] {
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

  // MARK: - Changes and answers

  /// Shows an object in its new state.
  mutating func showObject(_ snapshot: ObjectSnapshot, _ game: GameView?) -> [BoardEffect] {
    let (isSelected, isNewTurn) = scene.setObject(snapshot, game)
    var effects: [BoardEffect] = isNewTurn ? [.turnBegan] : []
    if isSelected, let cell = pendingMenu {
      pendingMenu = nil
      effects.append(.openMenu(at: cell))
    }
    previewStroke()
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
  ///   - ids: The objects that the command created or changed, if it accepts several.
  /// - Returns: The effects that follow the command.
  @discardableResult mutating func finish(_ request: Int64, created id: ObjectID?, all ids: [ObjectID]? = nil)
    -> [BoardEffect]
  {
    requests.finish(request)
    typing?.finish(request, created: id)
    settleTyping()
    if let id { nameStroke(id, begunBy: request) }
    previewStroke()
    guard requestToSelect == request else { return [] }
    requestToSelect = nil
    let new = (ids ?? id.map { [$0] } ?? []).map { ObjectReference.id($0) }
    // If there are too many objects for one command, the selection stays as it is.
    return (try? requests.request(.select(new))).map { [.command($0)] } ?? []
  }

  /// Handles the failure of a command.
  mutating func fail(_ request: Int64) {
    requests.finish(request)
    typing?.finish(request)
    pendingMenu = nil
    if requestToSelect == request { requestToSelect = nil }
    settleTyping()
  }
}
