import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Keys, and what they mean.
extension BoardClient {
  /// A person did something, at a time since the client began; what is to be done for it.
  package mutating func take(_ event: InputEvent, now: Duration) -> [Action] {
    self.now = now
    switch event {
    case .key(let key, let modifiers): return take(key, modifiers)
    case .mouse(let event): return take(event)
    case .paste(let text): return paste(text)
    case .focus(false):
      pointer = nil
      return [.verb("point none")]
    case .focus(true), .reply: return []
    }
  }

  /// Time goes by: what was drawn since is handed on.
  package mutating func tick(now: Duration) -> [Action] {
    self.now = now
    if let notice, notice.until <= now { self.notice = nil }
    if let asked = isQuitAsked, now - asked > .seconds(2) { isQuitAsked = nil }
    return handOnStroke() + handOnPointer()
  }

  private mutating func take(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    if editor != nil { return type(key, modifiers) }
    if isHelpShown || isInviteShown {
      (isHelpShown, isInviteShown) = (false, false)
      return []
    }
    if let invitation = invitations.first, case .character(let letter) = key, "yn".contains(letter)
    {
      invitations.removeFirst()
      return [verb("\(letter == "y" ? "accept" : "decline") \(Self.quoted(invitation.id))")]
    }
    guard let command = KeyMap.command(key, modifiers) else { return [] }
    return carryOut(command)
  }

  // MARK: - Commands

  private mutating func carryOut(_ command: KeyMap.Command) -> [Action] {
    switch command {
    case .tool(let tool):
      self.tool = tool
      return []
    case .color(let index):
      color = index
      let wanted = colorText ?? "default"
      return selection.isEmpty ? [] : onSelection { "color \($0) \(wanted)" }
    case .thinner: return widen(-1)
    case .broader: return widen(1)
    case .pan(let dx, let dy): return arrow(dx, dy)
    case .zoomIn: return zoom(1.25)
    case .zoomOut: return zoom(0.8)
    case .fit:
      if let bounds = canvas.bounds {
        var viewport = canvas.viewport
        viewport.fit(bounds)
        canvas.show(viewport)
      }
      return []
    case .actualSize: return zoom(1 / canvas.viewport.zoom)
    case .undo: return [verb("undo")]
    case .redo: return [verb("redo")]
    case .delete: return onSelection { "delete \($0)" }
    case .duplicate: return onSelection { "duplicate \($0)" }
    case .group: return onSelection { "group \($0)" }
    case .ungroup: return ungroup()
    case .lock: return lock()
    case .raise: return onSelection { "order \($0) front" }
    case .lower: return onSelection { "order \($0) back" }
    case .turn(let degrees): return turn(degrees)
    case .scale(let percent): return scale(percent / 100)
    case .next: return step(1)
    case .previous: return step(-1)
    case .selectAll: return select(inView)
    case .selectNone: return letGo()
    case .edit: return edit()
    case .keyboardPen:
      isKeyboardPen.toggle()
      pointer = isKeyboardPen ? pointer ?? canvas.viewport.center : nil
      return isKeyboardPen ? [] : endGesture()
    case .penToggle: return isKeyboardPen ? togglePen() : []
    case .chat:
      begin(.chat, lead: "say: ")
      return []
    case .command:
      begin(.command, lead: ":")
      return []
    case .help:
      isHelpShown = true
      return []
    case .invite:
      isInviteShown = true
      return []
    case .panel:
      isPanelShown.toggle()
      layOut()
      return []
    case .saved:
      say("everything is saved as it happens")
      return []
    case .redraw: return [.redraw]
    case .quit: return [.quit]
    case .interrupt: return interrupt()
    case .game: return play()
    }
  }

  private mutating func interrupt() -> [Action] {
    if let asked = isQuitAsked, now - asked <= .seconds(2) { return [.quit] }
    isQuitAsked = now
    say("Ctrl+C again leaves the board; it is saved")
    return endGesture()
  }

  private mutating func widen(_ step: Int) -> [Action] {
    let widths = Pens.widths
    let index = widths.firstIndex { $0 >= width } ?? widths.count - 1
    width = widths[min(max(index + step, 0), widths.count - 1)]
    let broad = Self.text(width)
    return selection.isEmpty ? [] : onSelection { "width \($0) \(broad)" }
  }

  private mutating func onSelection(_ line: (String) -> String) -> [Action] {
    guard !selection.isEmpty else {
      say("select something first: v and click, or Tab")
      return []
    }
    return [verb(line(selectedIDs))]
  }

  private mutating func ungroup() -> [Action] {
    let groups = Set(selection.compactMap { canvas.item($0)?.snapshot.groups.last })
    guard !groups.isEmpty else {
      say("what is selected is in no group")
      return []
    }
    return groups.sorted().map { verb("ungroup \($0)") }
  }

  private mutating func lock() -> [Action] {
    let isLocked = selection.contains { canvas.item($0)?.snapshot.isLocked == true }
    return onSelection { "\(isLocked ? "unlock" : "lock") \($0)" }
  }

  /// An arrow moves what is selected, the pen of the keyboard, or the view.
  private mutating func arrow(_ dx: Int, _ dy: Int) -> [Action] {
    let dot = 1 / canvas.viewport.scale
    if isKeyboardPen {
      let from = pointer ?? canvas.viewport.center
      let to = Point(x: from.x + Double(dx) * dot, y: from.y + Double(dy) * dot)
      pointer = to
      if case .stroke = gesture { drawOn(to) }
      return []
    }
    guard selection.isEmpty else {
      let (x, y) = (Double(dx) * 2 * dot, Double(dy) * 2 * dot)
      return [verb("move \(selectedIDs) +\(Self.text(x)),\(Self.text(y))")]
    }
    var viewport = canvas.viewport
    viewport.pan(byDots: Double(dx * 8), Double(dy * 16))
    canvas.show(viewport)
    return []
  }

  private mutating func zoom(_ factor: Double) -> [Action] {
    var viewport = canvas.viewport
    viewport.zoom(by: factor, around: pointer ?? viewport.center)
    canvas.show(viewport)
    return []
  }

  private mutating func turn(_ degrees: Double) -> [Action] {
    guard selection.count == 1, let id = selection.first, let item = canvas.item(id) else {
      return onSelection { "rotate \($0) \(Self.text(degrees))" }
    }
    // One object's angle is set, several are turned.
    let before = item.snapshot.angle * 180 / .pi
    return [verb("rotate \(id) \(Self.text(before + degrees))")]
  }

  private mutating func scale(_ factor: Double) -> [Action] {
    guard selection.count == 1, let id = selection.first, let item = canvas.item(id) else {
      return onSelection { "scale \($0) \(Self.text(factor))" }
    }
    return [verb("scale \(id) \(Self.text(item.snapshot.scale * factor))")]
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
    return [verb("select \(ids.map(\.description).joined(separator: " "))")]
  }

  private mutating func step(_ by: Int) -> [Action] {
    let ids = inView.sorted()
    guard !ids.isEmpty else { return [] }
    guard let last = selection.max(), let index = ids.firstIndex(of: last) else {
      return select([by > 0 ? ids[0] : ids[ids.count - 1]])
    }
    return select([ids[(index + by + ids.count) % ids.count]])
  }

  private mutating func letGo() -> [Action] {
    if gesture != nil { return endGesture() }
    isKeyboardPen = false
    return selection.isEmpty ? [] : [verb("deselect")]
  }

  // MARK: - Words

  mutating func begin(_ purpose: Purpose, lead: String, text: String = "") {
    self.purpose = purpose
    editor = LineEditor(lead: lead, text: text, history: histories[lead] ?? [])
  }

  private mutating func edit() -> [Action] {
    guard selection.count == 1, let id = selection.first, let item = canvas.item(id) else {
      say("select one text to edit it")
      return []
    }
    switch item.snapshot.kind {
    case .text: begin(.edit(id), lead: "text: ", text: item.snapshot.text ?? "")
    case .game: begin(.guess(id), lead: "move: ")
    default: say("this has no words")
    }
    return []
  }

  private mutating func play() -> [Action] {
    let games = selection.filter { canvas.item($0)?.snapshot.kind == .game }
    if let id = games.first {
      begin(.guess(id), lead: "move: ")
      return []
    }
    let open = canvas.objects.filter { canvas.item($0)?.snapshot.kind == .game }
    if open.count == 1, selection.isEmpty {
      begin(.guess(open[0]), lead: "move: ")
      return []
    }
    return [verb("game wordle \(Self.text(canvas.viewport.center))")]
  }

  private mutating func paste(_ text: String) -> [Action] {
    if editor != nil {
      editor?.insert(text)
      return []
    }
    let words = String(text.prefix(10_000)).trimmed
    guard !words.isEmpty else { return [] }
    let at = pointer ?? canvas.viewport.center
    let isPhoto = ["png", "jpg", "jpeg"].contains { words.lowercased().hasSuffix("." + $0) }
    if isPhoto, words.hasPrefix("/"), !words.contains("\n") {
      return [verb("photo \(Self.text(at)) \(Self.quoted(words))")]
    }
    return [verb("text \(Self.text(at)) \(Self.quoted(words))")]
  }

  private mutating func type(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> [Action] {
    guard let outcome = editor?.take(key, modifiers) else { return [] }
    switch outcome {
    case .typing: return []
    case .complete:
      if purpose == .command { complete() }
      return []
    case .cancelled:
      editor = nil
      return []
    case .entered(let text):
      let lead = editor?.lead ?? ""
      editor = nil
      if !text.isEmpty, histories[lead]?.last != text { histories[lead, default: []].append(text) }
      return entered(text)
    }
  }

  private mutating func entered(_ text: String) -> [Action] {
    guard !text.isEmpty else { return [] }
    switch purpose {
    case .chat: return [verb("say \(Self.quoted(text))")]
    case .text(let place):
      let at = Self.text(place)
      return [verb("text \(at) \(Self.quoted(text))\(colorText.map { " color=\($0)" } ?? "")")]
    case .edit(let id): return [verb("edit \(id) \(Self.quoted(text))")]
    case .guess(let id): return [verb("play \(id) \(Self.quoted(text))")]
    case .command:
      switch text.trimmed {
      case "q", "quit": return [.quit]
      case "suspend": return [.suspend]
      default: return [verb(text)]
      }
    }
  }

  /// Completes the first word to a verb, and lists the verbs where there are several.
  private mutating func complete() {
    guard let word = editor?.word, editor?.text.contains(" ") == false else { return }
    let verbs = VerbName.allCases.map(\.rawValue).filter { $0.hasPrefix(word) }.sorted()
    guard let first = verbs.first, let last = verbs.last else { return }
    if verbs.count == 1 {
      editor?.replaceWord(by: first + " ")
      return
    }
    let common = zip(first, last).prefix { $0 == $1 }.map(\.0)
    editor?.replaceWord(by: String(common))
    say(verbs.prefix(12).joined(separator: "  "))
  }
}

extension String {
  /// It without blanks at its ends.
  var trimmed: String {
    let isBlank: (Character) -> Bool = { $0.isWhitespace }
    let rest = drop(while: isBlank)
    return String(rest.reversed().drop(while: isBlank).reversed())
  }
}
