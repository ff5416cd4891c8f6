import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardRendering

enum Answer {
  case panel(title: String, lines: [String])
  case message(String)
  case chat
  /// The box that shows how others join: with the given browser link, or in every way if the link is nil.
  case invitation(BrowserInvitation?)

  /// If an answer has no request id, the client itself sent the command, and the answer is not shown.
  init?(_ answer: SharedBoard.Answer, to request: RequestMark?) {
    if case .help(let text) = answer {
      self = .panel(title: "Commands", lines: text.lines)
      return
    }
    guard request != nil, let (title, hasPanel) = Self.form(answer) else { return nil }
    switch answer {
    case .chat:
      self = .chat
      return
    // The box shows this link as text and as a QR code.
    case .news(.web(let web)) where web.isOn:
      self = .invitation(nil)
      return
    case .news(.invited(let invited)) where invited.code == nil:
      self = .invitation(invited.isForEveryone ? nil : BrowserInvitation(invited))
      return
    default: break
    }
    let lines = (EventText.line(.answer(answer)) ?? "").lines
    self =
      lines.count > 1 || hasPanel
      ? .panel(title: title, lines: lines) : .message(Self.withoutSymbol(lines.first ?? ""))
  }

  /// Returns the title for the result of a query, and whether a panel shows the result even if it has only one line;
  /// nil for other answers. A panel always shows lists, even empty ones, and join codes, because the user copies them.
  private static func form(_ answer: SharedBoard.Answer) -> (title: String, hasPanel: Bool)? {
    switch answer {
    case .objects: ("Objects", true)
    case .found: ("Objects found", true)
    case .object: ("Object", false)
    case .settings: ("Settings", true)
    case .digest: ("Digest", false)
    case .checkpoints: ("Checkpoints", true)
    case .diff: ("Differences", true)
    case .peers: ("People", true)
    case .chat: ("Chat", false)
    case .news(.invited): ("Invitation", true)
    case .news(.web): ("Browsers", true)
    case .news(.profile): ("Profile", false)
    // If there is a problem with saving, the first row shows it, so no answer is needed.
    case .saving(let state) where state.problem == nil: ("Saved", false)
    default: nil
    }
  }

  /// Returns a line of the text output without the symbol at its beginning.
  static func withoutSymbol(_ line: String) -> String {
    for symbol in ["- ", "! ", "~ ", "ok: "] where line.hasPrefix(symbol) {
      return String(line.dropFirst(symbol.count))
    }
    return line
  }

  /// Returns the message for an executed command; `typed` is the command if the user typed it. The message is nil if
  /// the command came from a key or the mouse and its effect is visible on the screen, such as a movement.
  static func message(_ verb: CommandName, _ done: CommandOutcome, typed: Command?, _ keys: KeyMap) -> String? {
    if let message = message(verb, done, keys) { return message }
    guard done.hasChanged != false else { return "nothing changed" }
    let objects = EventText.count(done.ids?.count ?? 1, "object")
    func hint(_ command: KeyMap.Command, _ words: String) -> String {
      keys.key(for: command).map { "; \($0) \(words)" } ?? ""
    }
    if let answer = ObjectCommand.answer(to: verb, objects, hint) { return answer }
    switch verb {
    case .color: return "colored \(objects)"
    case .width: return "changed the line width of \(objects)"
    case .photo: return "added the photo"
    case .game: return "a new game has begun"
    default: return typed.flatMap { effect(of: $0, done, objects) }
    }
  }

  /// Returns the message for a typed command that has no key.
  private static func effect(of command: Command, _ done: CommandOutcome, _ objects: String) -> String? {
    let name: String = command.argument() ?? ""
    switch command.name {
    case .set: return command.argument().map { effect(of: $0) }
    case .text: return "added the text"
    case .stroke: return "added the line"
    case .select: return "selected \(objects)"
    case .deselect: return "nothing is selected"
    case .move: return "moved \(objects)"
    case .scale: return "resized \(objects)"
    case .rotate: return "rotated \(objects)"
    case .edit, .insert: return "changed the text"
    case .undelete: return "restored the object"
    case .checkpoint: return "saved the checkpoint \(UntrustedText(name).quoted())"
    case .restore: return "restored the checkpoint \(UntrustedText(name).quoted())"
    // The chat shows the line of `say`. Separate events show that a session ends or continues.
    case .say, .leave, .quit, .continue: return nil
    default: return EventText.line(.answer(.done(command.name, done))).map(withoutSymbol)
    }
  }

  private static func effect(of setting: Setting) -> String {
    switch setting {
    case .title(let title):
      title.isEmpty ? "the board has no title" : "the title is \(UntrustedText(title).quoted())"
    case .background(let color): "the background is \(color.map(ColorText.text) ?? "the default")"
    case .grid(let spacing):
      spacing == 0 ? "the grid is off" : "the grid is \(DecimalText.hundredths(spacing)) units wide"
    case .language(let tag): "the language of games is \(UntrustedText(tag).quoted())"
    }
  }

  /// Returns the message for a command that is confirmed even if the user did not type it; nil for other commands.
  private static func message(_ verb: CommandName, _ done: CommandOutcome, _ keys: KeyMap) -> String? {
    switch verb {
    case .undo: return EventText.steps(verb, done, hint: keys.key(for: .redo).map { "Press \($0) to redo." })
    case .redo: return EventText.steps(verb, done, hint: keys.key(for: .undo).map { "Press \($0) to undo." })
    case .play: return "played"
    case .copy:
      let paste = keys.key(for: .object(.paste)) ?? ":paste"
      return "copied \(done.ids?.count ?? 1); \(paste) pastes it on any board"
    case .export:
      let count = done.count.map { $0 == 1 ? "1 object" : "\($0) objects" } ?? "the board"
      return "Exported \(count): \(done.file ?? "")"
    case .saveAs: return "the copy was saved"
    case .wait, .import: return EventText.line(.answer(.done(verb, done))).map(withoutSymbol)
    default: return nil
    }
  }
}
