import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// The commands of keys, the menu and the buttons.
extension BoardClient {
  mutating func perform(_ command: KeyMap.Command) -> [Action] {
    switch command {
    case .tool(let tool):
      let actions = endGesture()
      toolbox.tool = tool
      return actions
    case .color(let index):
      toolbox.ink = Pens.colors[index].rgb
      let color = toolbox.color
      return scene.selection.isEmpty ? [] : onSelection { .color($0, color) }
    case .thinner: return changeWidth(-1)
    case .broader: return changeWidth(1)
    case .arrow(let dx, let dy, let isWide): return arrow(dx, dy, isWide)
    case .zoomIn: return zoom(by: 1.25)
    case .zoomOut: return zoom(by: 0.8)
    case .actualSize: return zoom(by: 1 / scene.viewport.zoom)
    case .undo: return send(.undo)
    case .redo: return send(.redo)
    case .delete: return onSelection { .delete($0) }
    case .duplicate: return onSelection { .duplicate($0, by: .duplicate, alias: nil) }
    case .copy: return copy()
    case .paste:
      let place = toolbox.pointer ?? scene.viewport.center
      return send { () throws(CommandError) in .paste(at: try BoardPoint(rounding: place)) }
    case .group: return onSelection { .group($0, alias: nil) }
    case .ungroup: return ungroup()
    case .lock:
      let isLocked = scene.selectedSnapshots.contains { $0.isLocked }
      return onSelection { isLocked ? .unlock($0) : .lock($0) }
    case .raise: return onSelection { .order($0, .front) }
    case .lower: return onSelection { .order($0, .back) }
    case .turn(let degrees):
      return perform(toolbox.transforms.rotate(by: degrees, scene, &requests))
    case .scale(let percent):
      return perform(toolbox.transforms.scale(by: percent / 100, scene, &requests))
    case .next: return scene.neighbor(1).map { go(to: $0) } ?? []
    case .previous: return scene.neighbor(-1).map { go(to: $0) } ?? []
    case .selectAll: return select(scene.objectsInView)
    case .selectNone: return perform(toolbox.deselect(on: scene, &requests))
    case .edit: return editSelection()
    case .keyboardPen:
      toolbox.isKeyboardPen.toggle()
      toolbox.pointer = toolbox.isKeyboardPen ? toolbox.pointer ?? scene.viewport.center : nil
      return toolbox.isKeyboardPen ? [] : endGesture()
    case .saved:
      guard let message = saveStatus.message else { return send(.save) }
      say(message)
    case .game: return play(.wordle)
    case .connectFour: return play(.connectFour)
    case .interrupt: return interrupt()
    case .quit: return leave()
    case .redraw: return [.redraw]
    case .suspend: return [.suspend]
    case .fit: showEverything()
    case .follow: followNext()
    case .snap:
      toolbox.isSnapping.toggle()
      say(toolbox.isSnapping ? "moved objects snap to others" : "snapping is off")
    case .chat: prompt.open(.chat)
    case .command: prompt.open(.command)
    case .photo: prompt.open(.photo(at: toolbox.pointer ?? scene.viewport.center))
    case .export: prompt.open(.export)
    case .menu: openMenu(at: nil)
    case .help: open(Panel("Keys", .keys))
    case .readChat: openChat()
    case .invite: overlay = .invitation
    case .panel:
      layout.isSidePanelWanted.toggle()
      fitBoard()
    }
    return []
  }

  private mutating func onSelection(_ command: ([ObjectReference]) -> Command) -> [Action] {
    guard !scene.selection.isEmpty else { return perform([.selectionRequired]) }
    return send(command(scene.selectedReferences))
  }

  private mutating func changeWidth(_ step: Int) -> [Action] {
    toolbox.changeWidth(step)
    let width = toolbox.width.inHundredths
    return scene.selection.isEmpty ? [] : onSelection { .width($0, width) }
  }

  private mutating func zoom(by factor: Double) -> [Action] {
    zoom(by: factor, around: toolbox.pointer ?? scene.viewport.center)
    return []
  }

  private mutating func copy() -> [Action] {
    guard scene.selection.isEmpty else { return send(.copy(scene.selectedReferences)) }
    say("copied: whiteboard-peer join '\(board.link)'")
    return [.clipboard(board.link)]
  }

  private mutating func ungroup() -> [Action] {
    let groups = Set(scene.selectedSnapshots.compactMap { $0.groups.last })
    guard !groups.isEmpty else {
      say("the selection contains no group")
      return []
    }
    return groups.sorted().flatMap { send(.ungroup(ObjectReference($0))) }
  }

  /// Moves the keyboard's pen, the selection, or the view.
  private mutating func arrow(_ dx: Int, _ dy: Int, _ isWide: Bool) -> [Action] {
    let cell = scene.viewport.cellWidth
    let (right, down) = isWide ? (cell, cell * 2) : (cell / 2, cell / 2)
    let step = Point(x: Double(dx) * right, y: Double(dy) * down)
    if toolbox.isKeyboardPen {
      let from = toolbox.pointer ?? scene.viewport.center
      let to = Point(x: from.x + step.x, y: from.y + step.y)
      toolbox.pointer = to
      if !scene.viewport.rectangle.contains(Rectangle(to, to)) { center(on: to) }
      drag(to: to)
      return []
    }
    guard scene.selection.isEmpty else {
      let selected = scene.selectedReferences
      return send { () throws(CommandError) in
        .move(selected, .by(try BoardPoint(rounding: step)))
      }
    }
    let cells = isWide ? 16 : 4
    pan(byDots: Double(dx * cells * 2), Double(dy * cells * 4))
    return []
  }

  /// Follows the next member, and stops following after the last one.
  private mutating func followNext() {
    if members.isEmpty {
      say("there is no other member to follow")
    } else if let next = members.nextToFollow {
      follow(next)
    } else {
      show(scene.viewport)
    }
  }

  private mutating func editSelection() -> [Action] {
    guard scene.selection.count == 1, let snapshot = scene.onlySelected else {
      say("select one text to edit it")
      return []
    }
    switch snapshot.kind {
    case .text: return perform([.typeIn(snapshot)])
    case .game: beginMove(in: snapshot.id)
    default: say("this object has no text")
    }
    return []
  }

  /// Asks for a move in the game that the key means, or begins a new game.
  private mutating func play(_ game: GameName) -> [Action] {
    if let id = scene.game(game) {
      beginMove(in: id)
      return []
    }
    let center = scene.viewport.center
    return send { () throws(CommandError) in
      .game(game, at: try BoardPoint(rounding: center), opponent: nil, alias: nil)
    }
  }

  private mutating func beginMove(in id: ObjectID) {
    prompt.open(.move(id, isWordle: scene.snapshot(id)?.game == Wordle.name))
  }

  // MARK: - Overlays

  mutating func openMenu(at cell: Menu.Cell?) {
    let snapshots = scene.selectedSnapshots
    let only = snapshots.count == 1 ? snapshots[0].kind : nil
    let items =
      snapshots.isEmpty
      ? Menu.ofBoard : Menu.ofSelection(hasText: only == .text, hasGame: only == .game)
    overlay = .menu(Menu(items, at: cell))
  }

  mutating func open(_ panel: Panel) {
    messages.notice = nil
    overlay = .panel(panel)
  }

  /// Shows the chat, the last line first.
  mutating func openChat() {
    chat.unreadCount = 0
    open(Panel("Chat", .chat))
  }

  /// Whether the chat is open in a panel.
  var isChatOpen: Bool {
    if case .panel(let panel) = overlay { panel.content == .chat } else { false }
  }
}
