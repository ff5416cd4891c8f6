import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// Text that the user types or pastes on the board.
extension Workspace {
  mutating func beginTyping(in snapshot: ObjectSnapshot) -> [BoardEffect] {
    typing = TextTyping(snapshot)
    touch(snapshot.id)
    // Clear the selection, because other members cannot edit a selected text object.
    return scene.selection.isEmpty ? [] : requests.issue(.deselect)
  }

  mutating func beginTyping(at place: Point) { typing = TextTyping(at: place) }

  mutating func type(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> [BoardEffect] {
    guard let isOver = typing?.handle(key, modifiers) else { return [] }
    // Hide the pointer, which would cover the text.
    toolbox.pointer = nil
    let hiding = presence.hidePointer().map { [$0] } ?? []
    return hiding + sendTyping() + (isOver ? endTyping() : [])
  }

  /// If no text is being typed, creates a text object, or a photo if the pasted text is the path of a photo file.
  mutating func paste(_ text: String) -> [BoardEffect] {
    let pasted = PastedText(text)
    guard typing == nil else {
      typing?.insert(pasted.text)
      return sendTyping()
    }
    if let drawing = pasted.drawing { return [.drawingPasted(drawing)] + pasteObjects() }
    guard let content = pasted.content else { return [] }
    guard case .text = content else {
      let place = scene.freePlace(for: BoardScene.photoSize, near: target)
      return draw { () throws(CommandError) in content.command(at: try BoardPoint(rounding: place)) }
    }
    let place = target
    return draw { () throws(CommandError) in content.command(at: try BoardPoint(rounding: place)) } + [
      .message("added the pasted text to the board")
    ]
  }

  private mutating func sendTyping() -> [BoardEffect] {
    let (request, color) = (requests.nextID, toolbox.color)
    let isNew = typing?.reference == nil
    do throws(CommandError) {
      guard let command = try typing?.command(color: color, request: request) else { return [] }
      let effect = BoardEffect.command(try requests.request(command))
      if isNew { requestToDraw = request }
      return [effect]
    } catch {
      typing?.finish(request)
      settleTyping()
      return [.problem(error.message)]
    }
  }

  mutating func endTyping() -> [BoardEffect] {
    defer { typing = nil }
    return typing?.deletion.map { requests.issue($0) } ?? []
  }

  mutating func settleTyping() {
    guard let id = typing?.id, let text = scene.snapshot(id)?.text else { return }
    typing?.settle(text)
  }
}

/// Text that the user pasted, truncated to a maximum length.
struct PastedText: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    case text(String)
    /// If a photo file is dropped on a terminal, the terminal pastes its path.
    case photo(path: String)

    func command(at point: BoardPoint) -> Command {
      switch self {
      case .text(let words): .text(at: point, words: words, alias: nil)
      case .photo(let path): .photo(at: point, file: path, alias: nil)
      }
    }
  }

  let text: String
  /// The pasted objects as JSON, copied from a page, a board file or Excalidraw; nil for other text.
  let drawing: String?

  /// The prefixes of pasted drawings. Whitespace is removed before the comparison.
  private static let drawings = [#"{"type":"excalidraw"#, #"{"format":"whiteboard-board""#]

  private static let limit = 10_000
  private static let photoEndings = [".png", ".jpg", ".jpeg"]

  init(_ text: String) {
    self.text = String(text.prefix(Self.limit))
    let start = self.text.prefix(100).filter { !$0.isWhitespace }
    drawing = Self.drawings.contains { start.hasPrefix($0) } ? text : nil
  }

  var content: Content? {
    let words = PlainText.lines(text).trimmed
    guard !words.isEmpty else { return nil }
    return Self.photoPath(words).map { .photo(path: $0) } ?? .text(words)
  }

  /// Returns the path of a photo file that the user dropped on the terminal; nil for other text. The terminal puts the
  /// path in quotes, or escapes its spaces.
  private static func photoPath(_ words: String) -> String? {
    var path = words
    if path.hasPrefix("'"), path.hasSuffix("'"), path.count > 2 {
      path = String(path.dropFirst().dropLast())
    } else {
      path = path.replacing("\\ ", with: " ")
    }
    if path.hasPrefix("file:///") { path = String(path.dropFirst("file://".count)) }
    let isPhoto = photoEndings.contains { path.lowercased().hasSuffix($0) }
    return isPhoto && path.hasPrefix("/") && !path.contains("\n") ? path : nil
  }
}
