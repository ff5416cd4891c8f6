import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Keys and the mouse, which go to the prompt, an overlay, the text being typed, or the board.
extension BoardClient {
  /// Handles an input at a time on the client's clock.
  package mutating func handle(_ event: InputEvent, now: Duration) -> [Action] {
    self.now = now
    if case .key(let key, let modifiers) = event, isSuspending(key, modifiers) {
      return [.suspend]
    }
    if connection != nil {
      guard case .key(let key, let modifiers) = event else { return [] }
      if let answer = questions.answer(key) { return send(answer) }
      return ConnectionAttempt.action(key, modifiers).map { [$0] } ?? []
    }
    switch event {
    case .key(let key, let modifiers): return handle(key, modifiers)
    case .mouse(let event): return handle(event)
    case .paste(let text): return paste(text)
    case .focus(false):
      toolbox.pointer = nil
      return perform([presence.leave()])
    case .focus(true), .reply: return []
    }
  }

  /// Whether a key suspends the program, whatever is open; a letter does not while text is typed.
  private func isSuspending(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    keys.command(key, modifiers) == .suspend && modifiers.contains(.control)
  }

  // MARK: - Keys

  private mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    if let answer = removal.answer(key, modifiers, now: now) { return perform(answer) }
    if prompt.isOpen { return edit(key, modifiers) }
    if typing != nil { return type(key, modifiers) }
    if key == .escape, messages.isBoxed(in: layout) {
      // Escape closes the message together with the menu or panel below it.
      messages.notice = nil
      if overlay == nil { return [] }
    }
    if let overlay { return handle(key, modifiers, in: overlay) }
    if let answer = questions.answer(key) { return send(answer) }
    guard let command = keys.command(key, modifiers) else { return [] }
    // With the keyboard's pen, Space and Enter press and release.
    if toolbox.isKeyboardPen, command == .menu || command == .edit { return pressByKey() }
    return perform(command)
  }

  private mutating func perform(_ answer: RemovalState.Answer) -> [Action] {
    switch answer {
    case .proceed: return send(.continue)
    case .leave: return leave()
    case .redraw: return [.redraw]
    case .none: return []
    }
  }

  private mutating func pressByKey() -> [Action] {
    if toolbox.gesture != nil { return endGesture() }
    return press(toolbox.pointer ?? scene.viewport.center)
  }

  // MARK: - Overlays

  private mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    in overlay: Overlay
  ) -> [Action] {
    switch overlay {
    case .panel(let panel): return handle(key, modifiers, in: panel)
    case .menu(var menu):
      if menu.move(key, in: layout) {
        self.overlay = .menu(menu)
        return []
      }
      if key == .enter { return pick(menu.command) }
      let command = keys.command(key, modifiers)
      return pick([.menu, .selectNone, .interrupt].contains(command) ? nil : command)
    case .unsavedQuestion: return perform(SaveStatus.answer(key, modifiers))
    case .invitation:
      self.overlay = nil
      return []
    }
  }

  /// Scrolls or closes a panel.
  private mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    in panel: Panel
  ) -> [Action] {
    var panel = panel
    let command = keys.command(key, modifiers)
    if panel.content == .chat, command == .chat || key == .enter {
      prompt.open(.chat)
      return []
    }
    if modifiers.isEmpty, panel.scroll(key) {
      overlay = .panel(panel)
      return []
    }
    switch command {
    case .quit, .selectNone, .interrupt, .edit, .help, .readChat: overlay = nil
    case .redraw: return [.redraw]
    default: if key == .escape || key == .character("q") { overlay = nil }
    }
    return []
  }

  private mutating func perform(_ answer: SaveStatus.Answer) -> [Action] {
    switch answer {
    case .retry: return send(.save)
    case .saveElsewhere:
      overlay = nil
      prompt.open(.command, text: "save-as ")
      return []
    case .leave:
      overlay = nil
      return [.quit]
    case .stay:
      overlay = nil
      return []
    case .none: return []
    }
  }

  /// Closes the menu and performs a command.
  private mutating func pick(_ command: KeyMap.Command?) -> [Action] {
    overlay = nil
    return command.map { perform($0) } ?? []
  }

  // MARK: - Mouse

  private mutating func handle(_ event: MouseEvent) -> [Action] {
    let isOnBoard = layout.board.contains(x: event.x, y: event.y)
    let place = layout.place(atColumn: event.column, row: event.row, in: scene.viewport)
    if isOnBoard { toolbox.pointer = place }
    switch event.kind {
    case .press(let button):
      if let overlay { return press(event, in: overlay) }
      if messages.close(atX: event.x, y: event.y, in: layout, isTyping: prompt.isOpen) { return [] }
      return isOnBoard ? press(button, place, event) : pressOutside(button, event)
    case .drag:
      if let dots = toolbox.pan(toX: event.column, y: event.row) {
        pan(byDots: dots.x, dots.y)
      } else {
        drag(to: place, event.modifiers)
      }
      return []
    case .release: return endGesture()
    case .move: return []
    case .scroll(let dx, let dy):
      scroll(dx, dy, event.modifiers, at: place)
      return []
    }
  }

  /// Picks the clicked item of a menu, or closes the overlay; a panel ignores clicks.
  private mutating func press(_ event: MouseEvent, in overlay: Overlay) -> [Action] {
    if case .panel = overlay, layout.panel.contains(x: event.x, y: event.y) { return [] }
    guard case .menu(var menu) = overlay,
      let index = menu.item(atX: event.x, y: event.y, in: layout)
    else {
      self.overlay = nil
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
    // The release of the gesture before may be lost.
    let before = endGesture() + endTyping()
    switch button {
    case .right:
      let cell = Menu.Cell(x: event.x, y: event.y)
      guard let id = scene.object(at: place), !scene.selection.contains(id) else {
        openMenu(at: cell)
        return before
      }
      pendingMenu = cell
      return before + select([id])
    case .middle:
      toolbox.beginPan(x: event.column, y: event.row)
      return before
    case .left where toolbox.tool == .hand:
      toolbox.beginPan(x: event.column, y: event.row)
      return before
    case .left: return before + press(place, event.modifiers)
    }
  }

  /// A click outside the board chooses a tool or a color.
  private mutating func pressOutside(_ button: MouseEvent.Button, _ event: MouseEvent) -> [Action] {
    guard button == .left,
      let command = titleBar.toolButtons.command(atX: event.x, y: event.y)
    else { return [] }
    return endGesture() + endTyping() + perform(command)
  }

  private mutating func press(
    _ place: Point,
    _ modifiers: InputEvent.Modifiers = []
  ) -> [Action] {
    perform(toolbox.press(place, modifiers, on: scene, &requests, now: now))
  }

  mutating func drag(to place: Point, _ modifiers: InputEvent.Modifiers = []) {
    toolbox.drag(to: place, modifiers, on: scene)
    toolbox.previewStroke(on: &scene)
  }

  /// The wheel scrolls a panel by three rows and a menu by one item; on the board, it zooms with
  /// Ctrl and scrolls without.
  private mutating func scroll(
    _ dx: Int,
    _ dy: Int,
    _ modifiers: InputEvent.Modifiers,
    at place: Point
  ) {
    switch overlay {
    case .panel(var panel):
      panel.scroll(by: dy * 3)
      overlay = .panel(panel)
    case .menu(var menu):
      menu.leap(dy)
      overlay = .menu(menu)
    case .invitation, .unsavedQuestion: break
    case nil where modifiers.contains(.control): zoom(by: dy < 0 ? 1.25 : 0.8, around: place)
    case nil where modifiers.contains(.shift): pan(byDots: Double(dy * 8), 0)
    case nil: pan(byDots: Double(dx * 8), Double(dy * 12))
    }
  }
}
