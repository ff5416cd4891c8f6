import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Keys, and what they mean.
extension BoardClient {
  /// Handles a user input at a time since the start of the client, and returns the actions.
  package mutating func take(_ event: InputEvent, now: Duration) -> [Action] {
    self.now = now
    if case .key(let key, let modifiers) = event, isSuspending(key, modifiers) {
      return [.suspend]
    }
    if connecting != nil {
      guard case .key(let key, let modifiers) = event else { return [] }
      return answerInvitation(key) ?? takeWhileConnecting(key, modifiers)
    }
    switch event {
    case .key(let key, let modifiers): return take(key, modifiers)
    case .mouse(let event): return take(event)
    case .paste(let text): return paste(text)
    case .focus(false):
      pointer = nil
      toldPointer = nil
      return [.command(CommandRequest(.point(nil)))]
    case .focus(true), .reply: return []
    }
  }

  /// Sets the time of the events that follow.
  package mutating func advance(to now: Duration) { self.now = now }

  /// Whether a key suspends the program, whatever is open; a letter does not while text is typed.
  private func isSuspending(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    keys.command(key, modifiers) == .suspend && modifiers.contains(.control)
  }

  /// Time goes by: what was drawn since is handed on.
  package mutating func tick(now: Duration) -> [Action] {
    self.now = now
    passTime()
    if let asked = isQuitAsked, now - asked > .seconds(2) { isQuitAsked = nil }
    follow()
    if box == .unsaved, saveState?.wouldLoseWork == false, saveState != .saving {
      box = nil
      return [.quit]
    }
    return handOnStroke() + handOnPointer() + handOnView()
  }

  /// Answers the first question with `y`, `A` (always) or `n`; nil for another key, and where there is none.
  private mutating func answerInvitation(_ key: InputEvent.Key) -> [Action]? {
    guard case .character(let letter) = key else { return nil }
    guard let invitation = invitations.first else { return answerFileOffer(letter) }
    let answer: Command
    switch letter {
    case "y": answer = .accept(target: invitation.id)
    // The arrow tool has the small letter.
    case "A" where invitation.direction == .incoming:
      answer = .accept(target: invitation.id, isAlways: true)
    case "n": answer = .decline(target: invitation.id, reason: nil)
    default: return nil
    }
    invitations.removeFirst()
    return request(answer)
  }

  /// Answers the first offered file with `y` or `n`; nil for another key, and if there is none.
  private mutating func answerFileOffer(_ letter: Character) -> [Action]? {
    guard let offer = fileOffers.first, letter == "y" || letter == "n" else { return nil }
    fileOffers.removeFirst()
    return request(
      letter == "y"
        ? .accept(target: offer.transfer) : .decline(target: offer.transfer, reason: nil)
    )
  }

  private mutating func take(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    if let actions = takeInRemoval(key, modifiers) { return actions }
    if editor != nil { return edit(key, modifiers) }
    if typing != nil { return type(key, modifiers) }
    if key == .escape, isNoticeBoxed {
      // With a menu or a panel below it, Escape closes both.
      notice = nil
      if box == nil { return [] }
    }
    if box != nil { return take(inBox: key, modifiers) }
    if let answer = answerInvitation(key) { return answer }
    guard let command = keys.command(key, modifiers) else { return [] }
    // Both press and let go, where there is something to do it with.
    if isKeyboardPen, command == .menu || command == .edit { return pressByKey() }
    return carryOut(command)
  }

  // MARK: - Boxes

  private mutating func take(
    inBox key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    switch box {
    case .panel(let panel): return take(key, modifiers, in: panel)
    case .menu(let menu): return take(key, modifiers, in: menu)
    case .unsaved: return answer(key, modifiers)
    case .invite, nil: box = nil
    }
    return []
  }

  /// Keys go through the menu, or do at once what they do without it.
  private mutating func take(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    in menu: Menu
  ) -> [Action] {
    var menu = menu
    switch key {
    case .down, .tab: menu.step(1)
    case .up: menu.step(-1)
    case .right: menu.leap(layout(of: menu).rows)
    case .left: menu.leap(-layout(of: menu).rows)
    case .pageDown: menu.leap(layout(of: menu).count)
    case .pageUp: menu.leap(-layout(of: menu).count)
    case .home: menu.choose(0)
    case .end: menu.choose(menu.items.count - 1)
    case .enter: return pick(menu.command)
    default:
      let command = keys.command(key, modifiers)
      let isOnlyClosing = [.menu, .selectNone, .interrupt].contains(command)
      return pick(isOnlyClosing ? nil : command)
    }
    box = .menu(menu)
    return []
  }

  /// What was picked in the menu is done.
  mutating func pick(_ command: KeyMap.Command?) -> [Action] {
    box = nil
    return command.map { carryOut($0) } ?? []
  }

  mutating func openMenu(at cell: Menu.Cell?) {
    let snapshots = selectedSnapshots
    let items =
      snapshots.isEmpty
      ? Menu.ofBoard
      : Menu.ofSelection(
        hasText: snapshots.count == 1 && snapshots[0].kind == .text,
        hasGame: snapshots.count == 1 && snapshots[0].kind == .game
      )
    box = .menu(Menu(items, at: cell))
  }

  // MARK: - Commands

  mutating func carryOut(_ command: KeyMap.Command) -> [Action] {
    switch command {
    case .tool(let tool):
      // What is in the middle of being drawn is done.
      let actions = endGesture()
      self.tool = tool
      return actions
    case .color(let index):
      ink = Pens.colors[index].rgb
      let color = penColor
      return selection.isEmpty ? [] : onSelection { .color($0, color) }
    case .thinner: return widen(-1)
    case .broader: return widen(1)
    case .arrow(let dx, let dy, let isWide): return arrow(dx, dy, isWide)
    case .zoomIn: return zoom(1.25)
    case .zoomOut: return zoom(0.8)
    case .fit:
      if let bounds = canvas.bounds { see(bounds) }
      return []
    case .actualSize: return zoom(1 / canvas.viewport.zoom)
    case .follow:
      followNext()
      return []
    case .undo: return request(.undo)
    case .redo: return request(.redo)
    case .delete: return onSelection { .delete($0) }
    case .duplicate: return onSelection { .duplicate($0, by: .duplicate, alias: nil) }
    case .copy: return copy()
    case .paste:
      let place = pointer ?? canvas.viewport.center
      return request { () throws(CommandError) in .paste(at: try BoardPoint(rounding: place)) }
    case .group: return onSelection { .group($0, alias: nil) }
    case .ungroup: return ungroup()
    case .lock: return lock()
    case .raise: return onSelection { .order($0, .front) }
    case .lower: return onSelection { .order($0, .back) }
    case .turn(let degrees): return turned(by: degrees)
    case .scale(let percent): return scaled(by: percent / 100)
    case .next: return step(1)
    case .previous: return step(-1)
    case .selectAll: return select(inView)
    case .selectNone: return letGo()
    case .edit: return editSelection()
    case .keyboardPen:
      isKeyboardPen.toggle()
      pointer = isKeyboardPen ? pointer ?? canvas.viewport.center : nil
      return isKeyboardPen ? [] : endGesture()
    case .snap:
      isSnapping.toggle()
      say(isSnapping ? "what is moved snaps to what is there" : "nothing snaps")
      return []
    case .chat: return prompt(.chat, lead: "say: ")
    case .command: return prompt(.command, lead: ":")
    case .photo:
      return prompt(.photo(at: pointer ?? canvas.viewport.center), lead: "photo file: ")
    case .menu:
      openMenu(at: nil)
      return []
    case .help:
      openKeys()
      return []
    case .readChat:
      openChat()
      return []
    case .export: return prompt(.export, lead: "export to file: ")
    case .suspend: return [.suspend]
    case .invite:
      box = .invite
      return []
    case .panel:
      isPanelShown.toggle()
      layOut()
      return []
    case .saved:
      return sayWhetherSaved()
    case .redraw: return [.redraw]
    case .quit: return leave()
    case .interrupt: return interrupt()
    case .game: return play(.wordle)
    case .connectFour: return play(.connectFour)
    }
  }

  private mutating func prompt(_ purpose: Purpose, lead: String) -> [Action] {
    begin(purpose, lead: lead)
    return []
  }

  private mutating func interrupt() -> [Action] {
    if let asked = isQuitAsked, now - asked <= .seconds(2) { return leave() }
    isQuitAsked = now
    say("Ctrl+C again leaves the board" + (saveState == .saved ? "; it is saved" : ""))
    return endGesture()
  }

  private mutating func widen(_ step: Int) -> [Action] {
    let widths = Pens.widths
    let index = widths.firstIndex { $0 >= width } ?? widths.count - 1
    width = widths[min(max(index + step, 0), widths.count - 1)]
    let broad = width.inHundredths
    return selection.isEmpty ? [] : onSelection { .width($0, broad) }
  }

  mutating func onSelection(
    _ command: ([ObjectReference]) throws(CommandError) -> Command
  ) -> [Action] {
    guard !selection.isEmpty else {
      say("select something first: \(keys.key(for: .tool(.select)) ?? "select") and click, or Tab")
      return []
    }
    let selected = selected
    return request { () throws(CommandError) in try command(selected) }
  }

  private mutating func ungroup() -> [Action] {
    let groups = Set(selection.compactMap { canvas.item($0)?.snapshot.groups.last })
    guard !groups.isEmpty else {
      say("what is selected is in no group")
      return []
    }
    return groups.sorted().flatMap { request(.ungroup(ObjectReference($0))) }
  }

  private mutating func lock() -> [Action] {
    let isLocked = selection.contains { canvas.item($0)?.snapshot.isLocked == true }
    return onSelection { isLocked ? .unlock($0) : .lock($0) }
  }

  private mutating func copy() -> [Action] {
    guard selection.isEmpty else { return request(.copy(selected)) }
    say("copied: whiteboard-peer join '\(link)'")
    return [.clipboard(link)]
  }

  // MARK: - Arrows

  /// An arrow moves what is selected, the pen of the keyboard, or the view.
  private mutating func arrow(_ dx: Int, _ dy: Int, _ isWide: Bool) -> [Action] {
    let cell = canvas.viewport.cellWidth
    let (right, down) = isWide ? (cell, cell * 2) : (cell / 2, cell / 2)
    let step = Point(x: Double(dx) * right, y: Double(dy) * down)
    if isKeyboardPen {
      let from = pointer ?? canvas.viewport.center
      let to = Point(x: from.x + step.x, y: from.y + step.y)
      pointer = to
      keepInView(to)
      drag(to)
      return []
    }
    guard selection.isEmpty else {
      return onSelection { (selected) throws(CommandError) in
        .move(selected, .by(try BoardPoint(rounding: step)))
      }
    }
    let cells = isWide ? 16 : 4
    pan(byDots: Double(dx * cells * 2), Double(dy * cells * 4))
    return []
  }

  private mutating func zoom(_ factor: Double) -> [Action] {
    var viewport = canvas.viewport
    viewport.zoom(by: factor, around: pointer ?? viewport.center)
    look(viewport)
    return []
  }

  // MARK: - Selecting

  private var inView: [ObjectID] {
    let view = canvas.viewport.rectangle
    return canvas.objects.filter { id in
      canvas.item(id).map { view.touches($0.snapshot.bounds) } ?? false
    }
  }

  mutating func select(_ ids: [ObjectID]) -> [Action] {
    guard !ids.isEmpty else { return letGo() }
    return request(.select(ids.map { ObjectReference($0) }))
  }

  /// Goes to the next object by age, or the one before, wherever it is.
  private mutating func step(_ by: Int) -> [Action] {
    let ids = canvas.objects.sorted()
    guard !ids.isEmpty else { return [] }
    var index = by > 0 ? 0 : ids.count - 1
    if let last = selection.max(), let before = ids.firstIndex(of: last) {
      index = (before + by + ids.count) % ids.count
    }
    return go(to: ids[index])
  }

  /// Selects an object, and scrolls to it if it is out of view.
  mutating func go(to id: ObjectID) -> [Action] {
    if let bounds = canvas.item(id)?.snapshot.bounds,
      !canvas.viewport.rectangle.contains(bounds)
    {
      var viewport = canvas.viewport
      viewport.center = bounds.center
      look(viewport)
    }
    return select([id])
  }

  private mutating func letGo() -> [Action] {
    if gesture != nil { return cancelGesture() }
    isKeyboardPen = false
    followed = nil
    return selection.isEmpty ? [] : request(.deselect)
  }

  private mutating func editSelection() -> [Action] {
    guard selection.count == 1, let id = selection.first, let item = canvas.item(id) else {
      say("select one text to type in it")
      return []
    }
    switch item.snapshot.kind {
    case .text: return typeIn(item.snapshot)
    case .game: beginMove(in: id)
    default: say("this object has no text")
    }
    return []
  }

  private mutating func beginMove(in id: ObjectID) {
    let isWordle = canvas.item(id)?.snapshot.game == Wordle.name
    begin(.guess(id), lead: isWordle ? "guess: " : "column, 1 to 7: ")
  }

  /// Plays the game that is meant, or begins a new one: the selected game of any kind, else the one of
  /// this kind in which it is our turn, else the only one of this kind.
  private mutating func play(_ game: GameName) -> [Action] {
    let selected = selection.filter { canvas.item($0)?.snapshot.kind == .game }
    let open = canvas.objects.filter { canvas.item($0)?.snapshot.game == game.rawValue }
    let ours = open.filter { ourTurns.contains($0) }
    let only = ours.count == 1 ? ours.first : open.count == 1 ? open.first : nil
    if let id = selected.first ?? (selection.isEmpty ? only : nil) {
      beginMove(in: id)
      return []
    }
    let center = canvas.viewport.center
    return request { () throws(CommandError) in
      .game(game, at: try BoardPoint(rounding: center), opponent: nil, alias: nil)
    }
  }
}
