import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// Input from the keyboard and the mouse. It goes to the prompt, an overlay, the text being typed, or the board.
extension BoardClient {
  package mutating func handleInput(_ event: InputEvent, now: Duration) -> [Action] {
    self.now = now
    if case .key(let key, let modifiers) = event, isSuspending(key, modifiers) { return [.suspend] }
    if session.connection != nil {
      guard case .key(let key, let modifiers) = event else { return [] }
      if let answer = session.questions.answer(key) { return send(answer) }
      return ConnectionAttempt.action(key, modifiers).map { [$0] } ?? []
    }
    if case .key = event { isViewFree = false }
    if case .mouse = event { isViewFree = false }
    switch event {
    case .key(let key, let modifiers): return handleKey(key, modifiers)
    case .mouse(let event): return handleMouse(event)
    case .paste(let text):
      if prompt.isOpen {
        prompt.insert(text)
        return []
      }
      guard overlay == nil else {
        // Fast typing can look like a paste. If something covers the board, treat the text as keys.
        var actions: [Action] = []
        for letter in text.prefix(Self.typedAtOnce) where overlay != nil {
          actions += handleKey(.character(letter), [])
        }
        return actions
      }
      return apply(workspace.paste(text))
    case .focus(false):
      workspace.toolbox.pointer = nil
      return apply([workspace.presence.leave()])
    case .focus(true), .reply: return []
    }
  }

  /// Returns whether a key suspends the program even while the user types text, or the prompt or an overlay is open. A
  /// key without Ctrl does not, because the user may type it as text.
  private func isSuspending(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    keys.command(key, modifiers) == .suspend && modifiers.contains(.control)
  }

  /// The number of letters of a paste that a menu or panel receives as keys.
  private static let typedAtOnce = 40

  var receivesText: Bool { prompt.isOpen || workspace.typing != nil }

  func opensText(_ event: InputEvent) -> Bool {
    guard case .key(let key, let modifiers) = event, overlay == nil || isChatOpen else { return false }
    return switch keys.command(key, modifiers) {
    case .chat, .command, .photo, .export, .game, .connectFour, .find: true
    default: false
    }
  }

  // MARK: - Keys

  private mutating func handleKey(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    if !prompt.isOpen { messages.keyPressed() }
    if let answer = session.removal.answer(key, modifiers, now: now) { return perform(answer) }
    if prompt.isOpen { return edit(key, modifiers) }
    if workspace.typing != nil { return apply(workspace.type(key, modifiers)) }
    if key == .escape, messages.isBoxed(in: layout) {
      // Escape closes the message together with the menu or panel below it.
      messages.notice = nil
      if overlay == nil { return [] }
    }
    if var covering = overlay {
      let outcome = covering.handle(key, modifiers, keys, in: layout)
      overlay = covering
      return perform(outcome)
    }
    if let answer = session.questions.answer(key) { return send(answer) }
    if let effects = workspace.present(key, modifiers) { return apply(effects) }
    guard let command = keys.command(key, modifiers) else { return [] }
    // With the keyboard pen, Space and Enter press and release the pen.
    if workspace.toolbox.isKeyboardPen, command == .menu || command == .edit {
      return apply(workspace.pressOrRelease(now: now))
    }
    return perform(command)
  }

  private mutating func edit(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    let (members, scene) = (session.members, workspace.scene)
    let outcome = prompt.handle(
      key,
      modifiers,
      Prompt.Names(members: members.all.values.map(\.name.displayed), objects: scene.canvas.objects)
    )
    return perform(outcome)
  }

  private mutating func perform(_ answer: RemovalState.Answer) -> [Action] {
    switch answer {
    case .proceed: return send(.continue)
    case .leave: return leave()
    case .redraw: return [.redraw]
    case .none: return []
    }
  }

  // MARK: - Overlays

  private mutating func perform(_ outcome: Overlay.Outcome) -> [Action] {
    switch outcome {
    case .none: return []
    case .close:
      overlay = nil
      return []
    case .perform(let command):
      overlay = nil
      return perform(command)
    case .clearBoard:
      overlay = nil
      return send(.clearBoard)
    case .openLink(let link):
      overlay = nil
      return [.open(link)]
    case .copyLink(let link):
      overlay = nil
      return linkCopied(link, isWanted: true)
    case .writeChat:
      prompt.open(.chat)
      return []
    case .redraw: return [.redraw]
    case .answered(let answer): return perform(answer)
    }
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

  // MARK: - Mouse

  private mutating func handleMouse(_ event: MouseEvent) -> [Action] {
    let isOnBoard = layout.board.contains(x: event.x, y: event.y)
    let place = layout.place(atColumn: event.column, row: event.row, in: workspace.scene.viewport)
    if isOnBoard { workspace.toolbox.pointer = place }
    switch event.kind {
    case .press(let button):
      if let overlay { return perform(overlay.press(atX: event.x, y: event.y, in: layout)) }
      if messages.close(atX: event.x, y: event.y, in: layout, isTyping: prompt.isOpen) { return [] }
      return isOnBoard ? apply(workspace.press(button, event, at: place, now: now)) : pressOutside(button, event)
    case .drag: return apply(workspace.drag(event, to: place))
    case .release: return apply(workspace.endGesture())
    case .move: return []
    case .scroll(let dx, let dy):
      guard overlay == nil else {
        overlay?.scroll(dy)
        return []
      }
      return apply(workspace.scroll(dx, dy, event.modifiers, at: place))
    }
  }

  private mutating func pressOutside(_ button: MouseEvent.Button, _ event: MouseEvent) -> [Action] {
    guard button == .left, let command = titleBar.toolButtons.command(atX: event.x, y: event.y) else { return [] }
    return apply(workspace.endEditing()) + perform(command)
  }
}
