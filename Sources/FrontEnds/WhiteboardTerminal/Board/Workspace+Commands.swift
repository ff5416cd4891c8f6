import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// Commands that change the board, the tool or the view. Keys, the menu and the buttons run them.
extension Workspace {
  // MARK: - Tools

  mutating func choose(_ tool: Tool) -> [BoardEffect] {
    let effects = endGesture()
    toolbox.tool = tool
    return effects
  }

  mutating func chooseColor(_ index: Int) -> [BoardEffect] {
    toolbox.ink = Pens.colors[index].rgb
    let color = toolbox.color
    return scene.selection.isEmpty ? [] : changeSelection { .color($0, color) }
  }

  mutating func changeWidth(by step: Int) -> [BoardEffect] {
    toolbox.changeWidth(step)
    let width = toolbox.width.inHundredths
    return scene.selection.isEmpty ? [] : changeSelection { .width($0, width) }
  }

  mutating func toggleKeyboardPen() -> [BoardEffect] {
    toolbox.isKeyboardPen.toggle()
    guard toolbox.isKeyboardPen else {
      toolbox.pointer = nil
      return endGesture()
    }
    toolbox.pointer = target
    return []
  }

  mutating func toggleSnapping() -> [BoardEffect] {
    toolbox.isSnapping.toggle()
    return [.message(toolbox.isSnapping ? "snapping is on: moved objects snap to others" : "snapping is off")]
  }

  // MARK: - Selection

  mutating func changeSelection(_ command: ([ObjectReference]) -> Command) -> [BoardEffect] {
    guard !scene.selection.isEmpty else { return [.selectionRequired] }
    return requests.issue(command(scene.selectedReferences))
  }

  mutating func rotate(by degrees: Double) -> [BoardEffect] { toolbox.transforms.rotate(by: degrees, scene, &requests) }

  mutating func scale(byPercent percent: Double) -> [BoardEffect] {
    toolbox.transforms.scale(by: percent / 100, scene, &requests)
  }

  mutating func goToNeighbor(_ step: Int) -> [BoardEffect] { scene.neighbor(step).map { go(to: $0) } ?? [] }

  mutating func editSelection() -> [BoardEffect] {
    if let requestToDraw {
      // The object that the user drew last does not exist yet. Edit its text when it exists.
      requestToEdit = requestToDraw
      return []
    }
    if let latest, !scene.selection.contains(latest), let snapshot = scene.snapshot(latest) { return edit(snapshot) }
    guard scene.selection.count == 1, let snapshot = scene.onlySelected else {
      return [.message("select one text to edit it")]
    }
    return edit(snapshot)
  }

  private func edit(_ snapshot: ObjectSnapshot) -> [BoardEffect] {
    switch snapshot.kind {
    case _ where snapshot.canBeTypedIn: return [.typeIn(snapshot)]
    case .game: return [prompt(forMoveIn: snapshot.id)]
    default: return [.message("this object has no text")]
    }
  }

  // MARK: - Board

  /// Moves the keyboard pen, the selection or the view. `dx` and `dy` are -1, 0 or 1 step to the right and down. A wide
  /// step is larger.
  mutating func move(_ dx: Int, _ dy: Int, isWide: Bool) -> [BoardEffect] {
    let cell = scene.viewport.cellWidth
    let (right, down) = isWide ? (cell, cell * 2) : (cell / 2, cell / 2)
    let step = Point(x: Double(dx) * right, y: Double(dy) * down)
    if toolbox.isKeyboardPen { return movePen(by: step) }
    guard scene.selection.isEmpty else {
      let selected = scene.selectedReferences
      return requests.issue { () throws(CommandError) in .move(selected, .by(try BoardPoint(rounding: step))) }
    }
    let cells = isWide ? 16 : 4
    return moveView { $0.pan(byDots: Double(dx * cells * 2), Double(dy * cells * 4)) }
  }

  mutating func zoom(by factor: Double) -> [BoardEffect] {
    let place = target
    return moveView { $0.zoom(by: factor, around: place) }
  }

  mutating func pasteObjects() -> [BoardEffect] {
    let place = target
    requestToSelect = requests.nextID
    return requests.issue { () throws(CommandError) in .paste(at: try BoardPoint(rounding: place)) }
  }

  mutating func play(_ game: GameName) -> [BoardEffect] {
    if let id = scene.game(game) { return [prompt(forMoveIn: id)] }
    let place = scene.freePlace(for: scene.gameSize, near: scene.viewport.center)
    // Open the prompt immediately, so that the letters of a guess do not run commands. The prompt names the game by its
    // alias.
    let new = Prompt.newGame(requests.nextID)
    let beginning = draw { () throws(CommandError) in
      .game(game, at: try BoardPoint(rounding: place), opponent: nil, alias: new)
    }
    guard let new, case .command = beginning.first else { return beginning }
    let isInView = scene.viewport.rectangle.contains(Rectangle(place, place))
    return beginning + (isInView ? [] : moveView { $0.center = place }) + [
      .openPrompt(.move(.alias(new), isWordle: game == .wordle))
    ]
  }

  private func prompt(forMoveIn id: ObjectID) -> BoardEffect {
    .openPrompt(.move(.id(id), isWordle: scene.snapshot(id)?.game == Wordle.name))
  }
}

/// An action that a part of the client requests from ``BoardClient``.
enum BoardEffect: Equatable, Sendable {
  case command(CommandRequest)
  case message(String)
  case problem(String)
  /// Show that the command needs a selection, and how to select.
  case selectionRequired
  /// Show that it is the user's turn in a game of Connect Four.
  case turnBegan
  case chatReceived(author: UntrustedText, text: UntrustedText)
  /// Stop following a member, since the user moved the view.
  case viewMoved
  case stopFollowing
  case typeIn(ObjectSnapshot)
  case typeText(at: Point)
  case openPrompt(Prompt.Purpose)
  /// Open the menu beside a cell, or in the lower left corner if the cell is nil.
  case openMenu(at: Menu.Cell?)
  /// Store a drawing of another program, for the `paste` that follows.
  case drawingPasted(String)
  /// Ask whether to open the address of a link.
  case linkFollowed(String)
  /// Close the overlay in front of a question that the user must answer now.
  case questionReceived
  /// End all input, since the local member may no longer edit the board.
  case membershipEnded
}

extension PendingRequests {
  mutating func issue(_ command: () throws(CommandError) -> Command) -> [BoardEffect] {
    do throws(CommandError) { return [.command(try request(try command()))] } catch { return [.problem(error.message)] }
  }

  mutating func issue(_ command: Command) -> [BoardEffect] { issue { command } }
}
