import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// The line at the bottom in which the user types a chat message, a command or a file name.
struct Prompt: Sendable {
  /// The meaning of the typed text.
  enum Purpose: Equatable, Sendable {
    case chat, command, export
    case photo(at: Point)
    case move(ObjectReference, isWordle: Bool)

    var label: String {
      switch self {
      case .chat: "say: "
      case .command: ":"
      case .export: "export to file: "
      case .photo: "photo file: "
      case .move(_, let isWordle): isWordle ? "guess: " : "column, 1 to 7: "
      }
    }

    /// Whether the typed text is the path of a file.
    fileprivate var isFile: Bool {
      switch self {
      case .photo, .export: true
      case .chat, .command, .move: false
      }
    }
  }

  enum Outcome: Sendable {
    case none
    case command(PromptCommand)
    /// The user entered text that is not a valid command.
    case failure(PromptCommand.Failure)
    /// Find the files whose paths begin with this text.
    case findFiles(String)
    case completions(String)
  }

  struct Names: Sendable {
    let members: [String]
    let objects: [ObjectID]
  }

  /// The line that is being typed; nil while the prompt is closed.
  private(set) var editor: LineEditor?
  private(set) var purpose = Purpose.command
  /// The user's home directory, for which `~` stands in paths.
  var home: String?
  /// The lines that the user entered, by the label of the prompt.
  private var histories: [String: [String]] = [:]

  private static let completionLimit = 12
  /// The commands whose last argument is a file.
  private static let fileCommands: Set<String> = ["photo", "export", "import", "resource", "save-as"]

  var isOpen: Bool { editor != nil }

  mutating func open(_ purpose: Purpose, text: String = "") {
    self.purpose = purpose
    let label = purpose.label
    editor = LineEditor(label: label, text: text, history: histories[label] ?? [])
  }

  mutating func close() { editor = nil }

  mutating func insert(_ text: String) { editor?.insert(text) }

  mutating func handle(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers, _ names: @autoclosure () -> Names)
    -> Outcome
  {
    guard let outcome = editor?.handle(key, modifiers) else { return .none }
    switch outcome {
    case .typing: return .none
    case .complete: return complete(names())
    case .canceled:
      editor = nil
      return .none
    case .entered(let text):
      editor = nil
      guard !text.isEmpty else { return .none }
      let label = purpose.label
      if histories[label]?.last != text { histories[label, default: []].append(text) }
      // The prompt stays open for the next guess. Otherwise, the letters of the next guess would run commands.
      if case .move(_, isWordle: true) = purpose { open(purpose) }
      return enter(text)
    }
  }

  private func enter(_ text: String) -> Outcome {
    do throws(PromptCommand.Failure) { return try command(text).map { .command($0) } ?? .none } catch {
      return .failure(error)
    }
  }

  /// The command depends on the purpose of the prompt.
  private func command(_ text: String) throws(PromptCommand.Failure) -> PromptCommand? {
    switch purpose {
    case .command: return try PromptCommand(text.trimmed)
    case .chat: return .board(.say(words: text))
    case .move(let game, _): return .board(.play(game, move: text.trimmed))
    case .export:
      let words = text.trimmed
      let isReplacing = words.hasSuffix(" force")
      let file = expanded(isReplacing ? String(words.dropLast(" force".count)).trimmed : words)
      return .board(.export(file: file, region: nil, scale: 1, isReplacing: isReplacing))
    case .photo(let place):
      do throws(CommandError) {
        let point = try BoardPoint(rounding: place)
        return .board(.photo(at: point, file: expanded(text.trimmed), alias: nil))
      } catch { throw .parser(error) }
    }
  }

  // MARK: - Games

  /// Refers to a new game by its id, because the game has begun.
  mutating func gameBegan(_ id: ObjectID, by request: Int64) {
    guard case .move(.alias(let alias), let isWordle) = purpose, alias == Self.newGame(request) else { return }
    purpose = .move(.id(id), isWordle: isWordle)
  }

  /// Closes the prompt for moves in a game that could not begin.
  mutating func gameFailed(by request: Int64) {
    if case .move(.alias(let alias), _) = purpose, alias == Self.newGame(request) { editor = nil }
  }

  /// Closes the prompt for moves in a game that is over for the user.
  mutating func endGame(_ id: ObjectID) { if case .move(.id(id), _) = purpose { editor = nil } }

  static func newGame(_ request: Int64) -> ObjectAlias? { ObjectAlias("game-begun-by-\(request)") }

  /// Returns a path with `~` replaced by the home directory.
  private func expanded(_ path: String) -> String {
    guard let home, path.hasPrefix("~/") else { return path }
    return home + path.dropFirst()
  }

  // MARK: - Completion

  /// Completes the word before the cursor.
  private mutating func complete(_ names: Names) -> Outcome {
    if purpose.isFile, let text = editor?.text {
      let path = expanded(text)
      editor?.replace(by: path)
      return .findFiles(path)
    }
    guard let word = editor?.word else { return .none }
    let path = expanded(word)
    editor?.replaceWord(by: path)
    guard let editor, purpose == .command else { return .none }
    let words = editor.text.split(separator: " ", omittingEmptySubsequences: false)
    let commands = CommandName.allCases.map(\.rawValue)
    guard words.count > 1 else { return complete(commands + PromptCommand.names.map(\.name), after: " ") }
    switch words[0] {
    case "follow": return complete(names.members, after: "")
    case "pen-style": return complete(DotStyle.allCases.map(\.rawValue), after: "")
    case "help": return complete(commands, after: "")
    case let command where Self.fileCommands.contains(String(command)): return .findFiles(editor.word)
    default: return complete(names.objects.map { String("\($0)".prefix { $0 != "-" }) }, after: " ")
    }
  }

  /// Completes a path with the files whose paths begin with the typed text.
  mutating func complete(files: [String], for beginning: String) -> Outcome {
    guard editor?.word == beginning || editor?.text == beginning else { return .none }
    return complete(files, after: "", isWhole: editor?.text == beginning)
  }

  /// Inserts the longest common prefix of all matching names, and lists the names if there are several.
  private mutating func complete(_ names: [String], after: String, isWhole: Bool = false) -> Outcome {
    guard let word = isWhole ? editor?.text : editor?.word else { return .none }
    let fitting = Set(names).filter { $0.hasPrefix(word) }.sorted()
    guard let first = fitting.first, let last = fitting.last else { return .none }
    let common = String(zip(first, last).prefix { $0 == $1 }.map(\.0))
    let completed = fitting.count == 1 ? first + (first.hasSuffix("/") ? "" : after) : common
    if isWhole { editor?.replace(by: completed) } else { editor?.replaceWord(by: completed) }
    guard fitting.count > 1 else { return .none }
    return .completions(fitting.prefix(Self.completionLimit).joined(separator: "  "))
  }
}
