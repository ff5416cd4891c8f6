import Whiteboard
import WhiteboardKit

/// The selection of objects by the user.
extension Workspace {
  /// Selects exactly the given objects; clears the selection if there are none.
  mutating func select(_ ids: [ObjectID]) -> [BoardEffect] {
    requestToSelect = nil
    guard ids.isEmpty else { return requests.issue(.select(ids.map { .id($0) })) }
    return deselect()
  }

  /// Cancels the gesture.
  ///
  /// If there is no gesture, turns off the keyboard pen and clears the selection.
  mutating func deselect() -> [BoardEffect] {
    requestToSelect = nil
    if toolbox.gesture != nil { return cancelGesture() }
    toolbox.isKeyboardPen = false
    return [.stopFollowing] + (scene.selection.isEmpty ? [] : requests.issue(.deselect))
  }

  /// Selects the object at a point, or grabs a handle or the selection itself.
  mutating func pressSelection(at place: Point, _ modifiers: InputEvent.Modifiers, now: Duration) -> [BoardEffect] {
    requestToSelect = nil
    if let frame = scene.selectionFrame, let handle = frame.handle(at: place) {
      switch handle {
      case .resize(let grip):
        toolbox.gesture = .resize(.init(frame: frame, grip: grip, from: place, to: place))
        dragTool(to: place, modifiers)
      case .knob: toolbox.gesture = .rotate(frame, to: place)
      }
      return []
    }
    let isExtending = modifiers.contains(.control) || modifiers.contains(.alt)
    guard let id = scene.object(at: place) else {
      toolbox.gesture = .band(from: place, to: place)
      return scene.selection.isEmpty || isExtending ? [] : requests.issue(.deselect)
    }
    if toolbox.isDoubleClick(at: place, tolerance: scene.tolerance, now: now), let snapshot = scene.snapshot(id),
      snapshot.kind == .text
    {
      return [.typeIn(snapshot)]
    }
    toolbox.gesture = .move(from: place, to: place)
    if isExtending { return select(scene.selection.symmetricDifference([id]).sorted()) }
    return scene.selection.contains(id) ? [] : select([id])
  }

  /// Selects an object, and shows it if it is out of view.
  mutating func go(to id: ObjectID) -> [BoardEffect] {
    var effects: [BoardEffect] = []
    if let bounds = scene.snapshot(id)?.bounds, !scene.viewport.rectangle.contains(bounds) {
      effects = moveView { $0.center = bounds.center }
    }
    return effects + select([id])
  }

  /// Opens the menu for the clicked object, as soon as that object is selected.
  mutating func requestMenu(_ cell: Menu.Cell, at place: Point) -> [BoardEffect] {
    guard let id = scene.object(at: place), !scene.selection.contains(id) else { return [.openMenu(at: cell)] }
    pendingMenu = cell
    return select([id])
  }

  /// Returns the menu for the selection, or for the board if nothing is selected.
  func menu(at cell: Menu.Cell?) -> Menu {
    let snapshots = scene.selectedSnapshots
    let only = snapshots.count == 1 ? snapshots[0].kind : nil
    let items = snapshots.isEmpty ? Menu.ofBoard : Menu.ofSelection(hasText: only == .text, hasGame: only == .game)
    return Menu(items, at: cell)
  }
}
