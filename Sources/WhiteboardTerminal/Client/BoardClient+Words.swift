import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Words: on the board, in the chat and at the prompt.
extension BoardClient {
  // MARK: - On the board

  /// Begins a new text, or types on in the one that is there.
  mutating func typeText(at place: Point) -> [Action] {
    if let id = object(at: place), let snapshot = canvas.item(id)?.snapshot, snapshot.kind == .text
    {
      return typeIn(snapshot)
    }
    typing = TextTyping(at: place)
    return []
  }

  /// Types in a text; it is let go of, so that others can type in it as well.
  mutating func typeIn(_ snapshot: ObjectSnapshot) -> [Action] {
    typing = TextTyping(snapshot)
    return selection.isEmpty ? [] : request(.deselect)
  }

  mutating func type(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    guard let isOver = typing?.take(key, modifiers) else { return [] }
    return hidePointer() + handOnWords() + (isOver ? endTyping() : [])
  }

  /// Who types does not point: a pointer would stand before the words.
  private mutating func hidePointer() -> [Action] {
    pointer = nil
    guard toldPointer != nil else { return [] }
    toldPointer = nil
    return [.command(CommandRequest(.point(nil)))]
  }

  /// What was typed goes to the board.
  private mutating func handOnWords() -> [Action] {
    guard var words = typing else { return [] }
    defer { typing = words }
    let mark = requests.nextID
    guard let reference = words.reference else {
      guard !words.scalars.isEmpty else { return [] }
      let name = "typed-\(mark)"
      words.begins(as: name)
      words.inFlight.insert(mark)
      let color = penColor
      return request { () throws(CommandError) in
        .text(
          at: try BoardPoint(rounding: words.place),
          words: words.words,
          color: color,
          alias: ObjectAlias(name)
        )
      }
    }
    guard let (change, before) = words.takeChange() else { return [] }
    words.inFlight.insert(mark)
    // Others may have typed since: the place is one in the words that are shown here.
    return request(
      .insert(
        reference,
        at: change.range.lowerBound,
        words: change.words,
        replacing: change.range.count,
        was: before
      )
    )
  }

  /// A text of which nothing is left goes.
  mutating func endTyping() -> [Action] {
    defer { typing = nil }
    guard let typing, let reference = typing.reference,
      typing.scalars.allSatisfy(\.properties.isWhitespace)
    else { return [] }
    return request(.delete([reference]))
  }

  /// The text in which somebody types is as the board has it.
  mutating func settleTyping() {
    guard let id = typing?.id, let text = canvas.item(id)?.snapshot.text else { return }
    typing?.settle(text)
  }

  // MARK: - At the prompt

  mutating func begin(_ purpose: Purpose, lead: String, text: String = "") {
    self.purpose = purpose
    editor = LineEditor(lead: lead, text: text, history: histories[lead] ?? [])
  }

  mutating func paste(_ text: String) -> [Action] {
    if editor != nil {
      editor?.insert(text)
      return []
    }
    if typing != nil {
      typing?.insert(String(text.prefix(10_000)))
      return handOnWords()
    }
    let words = PlainText.lines(String(text.prefix(10_000))).trimmed
    guard !words.isEmpty else { return [] }
    let place = pointer ?? canvas.viewport.center
    return request { () throws(CommandError) in
      let at = try BoardPoint(rounding: place)
      if let file = Self.photoFile(words) { return .photo(at: at, file: file, alias: nil) }
      return .text(at: at, words: words, alias: nil)
    }
  }

  /// The path of a photo that was dropped on the terminal, as terminals write it.
  private static func photoFile(_ words: String) -> String? {
    var path = words
    if path.hasPrefix("'"), path.hasSuffix("'"), path.count > 2 {
      path = String(path.dropFirst().dropLast())
    } else {
      path = path.replacing("\\ ", with: " ")
    }
    if path.hasPrefix("file:///") { path = String(path.dropFirst("file://".count)) }
    let isPhoto = ["png", "jpg", "jpeg"].contains { path.lowercased().hasSuffix("." + $0) }
    return isPhoto && path.hasPrefix("/") && !path.contains("\n") ? path : nil
  }

  mutating func edit(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    guard let outcome = editor?.take(key, modifiers) else { return [] }
    switch outcome {
    case .typing: return []
    case .complete: return complete()
    case .cancelled:
      editor = nil
      return []
    case .entered(let text):
      let lead = editor?.lead ?? ""
      editor = nil
      if !text.isEmpty, histories[lead]?.last != text { histories[lead, default: []].append(text) }
      return text.isEmpty ? [] : entered(text)
    }
  }

  private mutating func entered(_ text: String) -> [Action] {
    switch purpose {
    case .chat: return request(.say(words: text))
    case .photo(let place):
      let file = path(text.trimmed)
      return request { () throws(CommandError) in
        .photo(at: try BoardPoint(rounding: place), file: file, alias: nil)
      }
    case .export:
      let file = path(text.trimmed)
      return request(.export(file: file, region: nil, scale: 1, isReplacing: false))
    case .guess(let id): return request(.play(ObjectReference(id), move: text))
    case .command: return command(text.trimmed)
    }
  }

  // MARK: - Commands of the prompt

  /// What the prompt knows beside the verbs, and what it does.
  static let ownCommands: [(name: String, about: String)] = [
    ("q", "leave the board"), ("suspend", "return to the shell, as Ctrl+Z does; fg continues"),
    ("go", "go to an object: its id, or words of it"), ("follow", "follow a person: the name"),
    ("fit", "show everything"), ("zoom", "zoom to a percentage"),
    ("pen-style", "braille, half or ascii"),
  ]

  private mutating func command(_ line: String) -> [Action] {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1].trimmed : ""
    switch words.first {
    case "q", "quit": return rest == "anyway" ? [.quit] : leave()
    case "suspend": return [.suspend]
    case "go" where !rest.isEmpty: return go(toWhat: rest)
    case "follow" where !rest.isEmpty:
      guard
        let key = people.first(where: { $0.value.name.lowercased().hasPrefix(rest.lowercased()) })
      else {
        say("no member is called \(shown(rest))", isBad: true)
        return []
      }
      follow(key.key)
      return []
    case "fit":
      if let bounds = canvas.bounds { see(bounds) }
      return []
    case "zoom":
      guard let percent = Double(rest), percent > 0 else {
        say(":zoom takes a number of percent, as in :zoom 50", isBad: true)
        return []
      }
      var viewport = canvas.viewport
      viewport.zoom(by: percent / 100 / viewport.zoom, around: viewport.center)
      look(viewport)
      return []
    case "pen-style":
      guard let style = DotStyle(rawValue: rest) else {
        say(":pen-style takes braille, half or ascii", isBad: true)
        return []
      }
      isASCII = style == .ascii
      canvas.show(style)
      return []
    case nil: return []
    case let word? where CommandName(rawValue: word) == nil && !word.hasPrefix("{"):
      let known = CommandName.allCases.map(\.rawValue) + Self.ownCommands.map(\.name)
      let nearest = Spelling.nearest(to: word, in: known)
      let advice = nearest.map { "did you mean \($0)?" } ?? ":help lists them"
      say("there is no command \(shown(word)); \(advice)", isBad: true)
      return []
    default:
      do throws(CommandError) {
        guard let parsed = try CommandParser.parse(line) else { return [] }
        return request(parsed.command)
      } catch {
        complain(error.message)
        return []
      }
    }
  }

  private mutating func go(toWhat words: String) -> [Action] {
    if let id = ObjectID(words) ?? canvas.objects.first(where: { "\($0)".hasPrefix(words + "-") }),
      canvas.item(id) != nil
    {
      return go(to: id)
    }
    let wanted = words.lowercased()
    let found = canvas.objects.first {
      canvas.item($0)?.snapshot.text?.lowercased().contains(wanted) == true
    }
    guard let found else {
      say("there is nothing of that id and no text with these words", isBad: true)
      return []
    }
    return go(to: found)
  }

  /// Verbs whose last argument is a file.
  private static let fileCommands: Set<String> = [
    "photo", "export", "import", "resource", "save-as",
  ]

  /// A path as the system takes it: `~` stands for the person's directory.
  private func path(_ text: String) -> String {
    guard let home, text.hasPrefix("~/") else { return text }
    return home + text.dropFirst()
  }

  /// Completes the word before the cursor; files are looked for outside.
  private mutating func complete() -> [Action] {
    if purpose.isFile, let text = editor?.text {
      let whole = path(text)
      editor?.replace(by: whole)
      return [.findFiles(whole)]
    }
    guard let word = editor?.word else { return [] }
    let whole = path(word)
    editor?.replaceWord(by: whole)
    guard let editor else { return [] }
    guard purpose == .command else { return [] }
    let words = editor.text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count > 1 else {
      offer(CommandName.allCases.map(\.rawValue) + Self.ownCommands.map(\.name), after: " ")
      return []
    }
    switch words[0] {
    case "follow": offer(people.values.map { shown($0.name) }, after: "")
    case "pen-style": offer(DotStyle.allCases.map(\.rawValue), after: "")
    case "help": offer(CommandName.allCases.map(\.rawValue), after: "")
    case let verb where Self.fileCommands.contains(String(verb)): return [.findFiles(editor.word)]
    default: offer(canvas.objects.map { String("\($0)".prefix { $0 != "-" }) }, after: " ")
    }
    return []
  }

  /// The files whose paths begin as the word before the cursor.
  package mutating func complete(files: [String], for beginning: String) {
    guard editor?.word == beginning || editor?.text == beginning else { return }
    offer(files, after: "", isWhole: editor?.text == beginning)
  }

  /// Completes as far as all of those agree that begin as what is typed, and lists them where there are several.
  private mutating func offer(_ names: [String], after: String, isWhole: Bool = false) {
    guard let word = isWhole ? editor?.text : editor?.word else { return }
    let fitting = Set(names).filter { $0.hasPrefix(word) }.sorted()
    guard let first = fitting.first, let last = fitting.last else { return }
    let common = String(zip(first, last).prefix { $0 == $1 }.map(\.0))
    let completed = fitting.count == 1 ? first + (first.hasSuffix("/") ? "" : after) : common
    if isWhole { editor?.replace(by: completed) } else { editor?.replaceWord(by: completed) }
    if fitting.count > 1 { say(fitting.prefix(12).joined(separator: "  ")) }
  }
}

extension BoardClient.Purpose {
  /// Whether what is typed is the path of a file.
  fileprivate var isFile: Bool {
    switch self {
    case .photo, .export: true
    case .chat, .command, .guess: false
    }
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
