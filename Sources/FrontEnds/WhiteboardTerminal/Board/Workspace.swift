import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The board that the user edits: the visible objects, the tool, the text being typed, and the pending commands. It
/// handles input and changes of the board. It returns a ``BoardEffect`` for each command and for each change of another
/// part of the screen.
struct Workspace: Sendable {
  var scene: BoardScene
  var toolbox = Toolbox()
  var requests = PendingRequests()
  var typing: TextTyping?
  var presence = PresencePublisher()
  /// The cell at which a menu opens as soon as the clicked object is selected.
  var pendingMenu: Menu.Cell?
  /// The request whose objects are selected as soon as they exist: the last duplicate or paste.
  var requestToSelect: Int64?
  /// The request that adds the last note. As soon as the note exists, the user types in it.
  var requestToEdit: Int64?
  private var idToEdit: ObjectID?
  /// The request for the object that the user drew last; nil once the board has the object.
  var requestToDraw: Int64?
  /// The object that the user drew, selected or typed in last, which Enter edits.
  private(set) var latest: ObjectID?
  var presentation: Presentation?
  /// The object that the last search found.
  var found: ObjectID?

  init(_ scene: BoardScene) { self.scene = scene }

  /// The position at which a key or a paste creates an object: the pointer, or the center of the view.
  var target: Point { toolbox.pointer ?? scene.viewport.center }

  // MARK: - Time

  /// Returns the commands that send the new points of the stroke, the pointer and the visible part of the board, if
  /// they changed.
  mutating func collectUpdates(hasReaders: Bool, now: Duration) -> [BoardEffect] {
    let strokes = sendStroke(at: now)
    let isLaser = toolbox.tool == .laser
    let pointer = presence.move(to: toolbox.pointer, isLaser: isLaser, now: now)
    let view = presence.show(scene.viewport, hasReaders: hasReaders, now: now)
    return strokes + [pointer, view].compactMap(\.self)
  }

  // MARK: - View

  mutating func moveView(_ change: (inout Viewport) -> Void) -> [BoardEffect] {
    var viewport = scene.viewport
    change(&viewport)
    scene.canvas.show(viewport)
    return [.viewMoved]
  }

  mutating func showEverything() -> [BoardEffect] {
    guard let bounds = scene.canvas.bounds else { return [] }
    return moveView { $0.fit(bounds) }
  }

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

  mutating func showObject(_ snapshot: ObjectSnapshot) -> [BoardEffect] {
    let wasSelected = scene.selection.contains(snapshot.id)
    let isSelected = scene.setObject(snapshot)
    if isSelected, !wasSelected { touch(snapshot.id) }
    previewStroke()
    if idToEdit == snapshot.id { edit(snapshot) }
    if presentation?.frame == snapshot.id { refreshPresentation() }
    guard isSelected, let cell = pendingMenu else { return [] }
    pendingMenu = nil
    return [.openMenu(at: cell)]
  }

  mutating func showSelection(of id: ObjectID, by member: MemberID?) -> [BoardEffect] {
    guard var snapshot = scene.snapshot(id) else { return [] }
    snapshot.selectedBy = member
    return showObject(snapshot)
  }

  mutating func remove(_ id: ObjectID) -> [BoardEffect] {
    scene.remove(id)
    if presentation?.frame == id { refreshPresentation() }
    guard typing?.id == id else { return [] }
    typing = nil
    return [.message("the text was deleted")]
  }

  /// Handles the result of a command: the objects that it created or changed, which the board might not have stored
  /// yet.
  mutating func receive(_ outcome: CommandOutcome, of request: Int64) -> [BoardEffect] {
    if let id = outcome.id {
      typing?.created(id, by: request)
      nameStroke(id, begunBy: request)
      if requestToDraw == request { touch(id) }
      if requestToEdit == request {
        (requestToEdit, idToEdit) = (nil, id)
        scene.snapshot(id).map { edit($0) }
      }
    }
    previewStroke()
    guard requestToSelect == request else { return [] }
    requestToSelect = nil
    let new = (outcome.ids ?? outcome.id.map { [$0] } ?? []).map { ObjectReference.id($0) }
    // If there are too many objects for one command, the selection stays as it is.
    return (try? requests.request(.select(new))).map { [.command($0)] } ?? []
  }

  private mutating func edit(_ snapshot: ObjectSnapshot) {
    idToEdit = nil
    if typing == nil, toolbox.gesture == nil, snapshot.canBeTypedIn { typing = TextTyping(snapshot) }
  }

  /// Returns the command that adds what the user draws, types or pastes.
  mutating func draw(_ command: () throws(CommandError) -> Command) -> [BoardEffect] {
    let request = requests.nextID
    let effects = requests.issue(command)
    if case .command = effects.first { requestToDraw = request }
    return effects
  }

  mutating func touch(_ id: ObjectID) { (requestToDraw, latest) = (nil, id) }

  /// Handles the answer to a command that succeeded.
  mutating func finish(_ request: Int64) {
    requests.finish(request)
    typing?.finish(request)
    settleTyping()
  }

  mutating func fail(_ request: Int64) {
    requests.finish(request)
    typing?.finish(request)
    pendingMenu = nil
    if requestToSelect == request { requestToSelect = nil }
    if requestToDraw == request { requestToDraw = nil }
    if requestToEdit == request { requestToEdit = nil }
    settleTyping()
  }
}

extension Workspace {
  mutating func pressPen(at place: Point) -> [BoardEffect] {
    toolbox.gesture = .stroke(Gesture.Stroke(request: requests.nextID, at: place))
    let pen = toolbox.pen
    return draw { () throws(CommandError) in
      .pen(points: [try BoardPoint(rounding: place)], pen: pen, alias: nil)
    }
  }

  /// Returns the commands with the new points of the stroke. If a time is given, the points may have to wait for a
  /// later call.
  mutating func sendStroke(at now: Duration? = nil) -> [BoardEffect] {
    guard case .stroke(var stroke)? = toolbox.gesture else { return [] }
    defer { toolbox.gesture = .stroke(stroke) }
    return stroke.continuation(at: now)
  }

  var hasUnsentPoints: Bool {
    guard case .stroke(let stroke)? = toolbox.gesture else { return false }
    return stroke.hasUnsentPoints
  }

  mutating func nameStroke(_ id: ObjectID, begunBy request: Int64) {
    guard case .stroke(var stroke)? = toolbox.gesture, stroke.request == request, stroke.id == nil else { return }
    stroke.id = id
    toolbox.gesture = .stroke(stroke)
  }

  /// Shows all points of the stroke immediately, even those that are not on the board yet.
  mutating func previewStroke() {
    guard case .stroke(let stroke)? = toolbox.gesture, let id = stroke.id, let count = scene.snapshot(id)?.ink?.count,
      stroke.points.count > count
    else { return }
    let rest = stroke.points[count...].compactMap { try? InkPoint($0) }
    scene.canvas.preview(rest, from: count, of: id)
  }
}

/// The local pointer and view, as sent to the other members at most thirty times a second.
struct PresencePublisher: Sendable {
  private var lastSent = Duration.zero
  private var sentPointer: Point?
  private var sentView: Viewport?

  private static let interval = Duration.milliseconds(33)

  mutating func move(to pointer: Point?, isLaser: Bool, now: Duration) -> BoardEffect? {
    guard let pointer, pointer != sentPointer, now - lastSent >= Self.interval else { return nil }
    lastSent = now
    sentPointer = pointer
    guard let place = try? BoardPoint(rounding: pointer) else { return nil }
    return .command(CommandRequest(.point(place, isLaser: isLaser)))
  }

  mutating func hidePointer() -> BoardEffect? {
    guard sentPointer != nil else { return nil }
    return leave()
  }

  mutating func leave() -> BoardEffect {
    sentPointer = nil
    return .command(CommandRequest(.point(nil)))
  }

  /// Returns the command that sends the view, so that others can follow it; nil if no command is needed now.
  mutating func show(_ viewport: Viewport, hasReaders: Bool, now: Duration) -> BoardEffect? {
    guard viewport != sentView, hasReaders, now - lastSent >= Self.interval else { return nil }
    lastSent = now
    sentView = viewport
    let part = viewport.rectangle
    let (width, height) = (part.greatest.x - part.least.x, part.greatest.y - part.least.y)
    guard let center = try? BoardPoint(rounding: part.center) else { return nil }
    let view = BoardView(center: center, width: Self.whole(width), height: Self.whole(height))
    return .command(CommandRequest(.view(view)))
  }

  private static func whole(_ value: Double) -> Int {
    Int(min(max(value.rounded(.up), 1), Double(BoardLimits.viewExtent)))
  }
}

extension Workspace {
  mutating func select(_ ids: [ObjectID]) -> [BoardEffect] {
    requestToSelect = nil
    guard ids.isEmpty else { return requests.issue(.select(ids.map { .id($0) })) }
    return deselect()
  }

  /// Cancels the gesture. If there is no gesture, turns off the keyboard pen and clears the selection.
  mutating func deselect() -> [BoardEffect] {
    requestToSelect = nil
    if toolbox.gesture != nil { return cancelGesture() }
    toolbox.isKeyboardPen = false
    return [.stopFollowing] + (scene.selection.isEmpty ? [] : requests.issue(.deselect))
  }

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
      snapshot.canBeTypedIn
    {
      return [.typeIn(snapshot)]
    }
    toolbox.gesture = .move(from: place, to: place)
    if isExtending { return select(scene.selection.symmetricDifference([id]).sorted()) }
    return scene.selection.contains(id) ? [] : select([id])
  }

  /// Selects an object, and shows it in the center if it is out of view.
  mutating func go(to id: ObjectID, isCentered: Bool = false) -> [BoardEffect] {
    var effects: [BoardEffect] = []
    found = id
    if let bounds = scene.snapshot(id)?.bounds, isCentered || !scene.viewport.rectangle.contains(bounds) {
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
    let only = snapshots.count == 1 ? snapshots[0] : nil
    let items =
      snapshots.isEmpty
      ? Menu.ofBoard
      : Menu.ofSelection(
        hasText: only?.canBeTypedIn == true,
        hasGame: only?.kind == .game,
        hasLink: only?.link != nil,
        isArrangeable: snapshots.count > 1
      )
    return Menu(items, at: cell)
  }
}
