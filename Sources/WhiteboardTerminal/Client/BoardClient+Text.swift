import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Text on the board, and the prompt.
extension BoardClient {
  // MARK: - On the board

  mutating func type(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    guard let isOver = typing?.handle(key, modifiers) else { return [] }
    // The pointer would be in front of the text.
    toolbox.pointer = nil
    let hiding = presence.hidePointer().map { perform([$0]) } ?? []
    return hiding + sendTyping() + (isOver ? endTyping() : [])
  }

  /// Sends what was typed.
  private mutating func sendTyping() -> [Action] {
    let (request, color) = (requests.nextID, toolbox.color)
    do throws(CommandError) {
      guard let command = try typing?.command(color: color, request: request) else { return [] }
      return [.command(try requests.request(command))]
    } catch {
      typing?.finish(request)
      messages.showProblem(error.message, at: now)
      settleTyping()
      return []
    }
  }

  /// Ends typing, and deletes the text if nothing is left of it.
  mutating func endTyping() -> [Action] {
    defer { typing = nil }
    return typing?.deletion.map { send($0) } ?? []
  }

  /// Adopts the text on the board.
  mutating func settleTyping() {
    guard let id = typing?.id, let text = scene.snapshot(id)?.text else { return }
    typing?.settle(text)
  }

  // MARK: - Paste

  /// The most characters of a paste.
  private static let pasteLimit = 10_000

  /// Inserts a pasted text in the prompt or in the text that is being typed.
  ///
  /// On the board, it becomes a new text; the path of a photo becomes a photo.
  mutating func paste(_ text: String) -> [Action] {
    if prompt.isOpen {
      prompt.insert(text)
      return []
    }
    if typing != nil {
      typing?.insert(String(text.prefix(Self.pasteLimit)))
      return sendTyping()
    }
    let words = PlainText.lines(String(text.prefix(Self.pasteLimit))).trimmed
    guard !words.isEmpty else { return [] }
    let place = toolbox.pointer ?? scene.viewport.center
    return send { () throws(CommandError) in
      let at = try BoardPoint(rounding: place)
      if let file = Self.photoFile(words) { return .photo(at: at, file: file, alias: nil) }
      return .text(at: at, words: words, alias: nil)
    }
  }

  /// Returns the path of a photo that was dropped on the terminal, which quotes or escapes blanks.
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

  // MARK: - Prompt

  mutating func edit(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [Action] {
    let (members, scene) = (members, scene)
    let outcome = prompt.handle(
      key,
      modifiers,
      Prompt.Names(
        members: members.all.values.map { Members.shown($0.name) },
        objects: scene.canvas.objects
      )
    )
    return perform(outcome)
  }

  /// Completes a path with the files that ``Action/findFiles(_:)`` asked for.
  package mutating func complete(files: [String], for beginning: String) {
    _ = perform(prompt.complete(files: files, for: beginning))
  }

  private mutating func perform(_ outcome: Prompt.Outcome) -> [Action] {
    switch outcome {
    case .none: return []
    case .findFiles(let beginning): return [.findFiles(beginning)]
    case .completions(let names):
      say(names)
      return []
    case .entered(let purpose, let text): return enter(text, for: purpose)
    }
  }

  private mutating func enter(_ text: String, for purpose: Prompt.Purpose) -> [Action] {
    switch purpose {
    case .chat: return send(.say(words: text))
    case .photo(let place):
      let file = prompt.expanded(text.trimmed)
      return send { () throws(CommandError) in
        .photo(at: try BoardPoint(rounding: place), file: file, alias: nil)
      }
    case .export:
      let file = prompt.expanded(text.trimmed)
      return send(.export(file: file, region: nil, scale: 1, isReplacing: false))
    case .move(let id, _): return send(.play(ObjectReference(id), move: text))
    case .command:
      do throws(PromptCommand.Failure) {
        return try PromptCommand(text.trimmed).map { perform($0) } ?? []
      } catch {
        switch error {
        case .terminal(let message): say(message, isBad: true)
        case .parser(let error): messages.showProblem(error.message, at: now)
        }
        return []
      }
    }
  }

  private mutating func perform(_ command: PromptCommand) -> [Action] {
    switch command {
    case .quit(let isAnyway): return isAnyway ? [.quit] : leave()
    case .suspend: return [.suspend]
    case .go(let words):
      if let id = scene.object(matching: words) { return go(to: id) }
      say("no object has this id, and no text contains these words", isBad: true)
    case .follow(let name):
      if let key = members.member(named: name) {
        follow(key)
      } else {
        say("no member is called \(Members.shown(name))", isBad: true)
      }
    case .fit: showEverything()
    case .zoom(let factor):
      zoom(by: factor / scene.viewport.zoom, around: scene.viewport.center)
    case .dotStyle(let style):
      layout.isASCII = style == .ascii
      scene.canvas.show(style)
    case .node(let command): return send(command)
    }
    return []
  }
}
