import CommandLines
import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The line at the bottom in which the user types a chat message, a command or a file name.
struct Prompt: Sendable {
  enum Purpose: Equatable, Sendable {
    case chat, command, export, find
    case photo(at: Point)
    case move(ObjectReference, isWordle: Bool)
    /// A game that is over. The prompt stays open, so that the letters of another guess do not run commands.
    case over

    var label: String {
      switch self {
      case .chat: "say: "
      case .command: ":"
      case .export: "export to file: "
      case .find: "find: "
      case .over: "The game is over. Enter closes this line. "
      case .photo: "photo file: "
      case .move(_, let isWordle): isWordle ? "guess: " : "column, 1 to 7: "
      }
    }

    fileprivate var isFile: Bool {
      switch self {
      case .photo, .export: true
      case .chat, .command, .move, .find, .over: false
      }
    }
  }

  enum Outcome: Sendable {
    case none
    case command(PromptCommand)
    case failure(PromptCommand.Failure)
    /// Go to an object with these words: the next object, or the previous object if `step` is -1.
    case find(String, step: Int)
    /// Find the files whose paths begin with this text.
    case findFiles(String)
    case completions(String)
  }

  struct Names: Sendable {
    let members: [String]
    let objects: [ObjectID]

    /// Returns the possible words for an argument in a form from ``CommandEntry/forms(at:)``. The words for a form
    /// `KEY=VALUE` begin with the key; the value is completed only after the user typed `KEY=`.
    fileprivate func words(for form: String, toComplete word: String) -> [String] {
      if let equals = form.firstIndex(of: "=") {
        let key = String(form[...equals])
        let value = String(form[form.index(after: equals)...])
        guard word.hasPrefix(key) else { return value.first?.isLowercase == true ? [form] : [key] }
        return words(for: value, toComplete: "").map { key + $0 }
      }
      return switch form {
      case "ID": objects.map { String("\($0)".prefix { $0 != "-" }) }
      case "PEER": members
      case "COMMAND": CommandName.allCases.map(\.rawValue)
      case "ICON": ProfileIcon.allCases.map { "\($0)" }
      case "#RRGGBB", "#RRGGBB[AA]": Pens.colors.compactMap(\.rgb).map(Pens.text)
      default: form.first.map { $0.isLowercase || $0 == "-" } == true ? [form] : []
      }
    }
  }

  /// The line that is being typed; nil while the prompt is closed.
  private(set) var editor: LineEditor?
  private(set) var purpose = Purpose.command
  /// The user's home directory, for which `~` stands in paths.
  var home: String?
  /// The lines that the user entered, by the label of the prompt.
  private var histories: [String: [String]] = [:]

  private static let completionLimit = 12

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
    if purpose == .find, let text = editor?.text {
      switch key {
      case .up: return .find(text, step: -1)
      case .down: return .find(text, step: 1)
      case .enter: return .find(text, step: modifiers.contains(.shift) ? -1 : 1)
      default: break
      }
    }
    if purpose == .over, key != .enter, key != .escape { return .none }
    // An empty guess does not close the prompt. Otherwise, the letters of the next guess would run commands.
    if case .move(_, isWordle: true) = purpose, editor?.text.isEmpty == true, key == .enter || key == .backspace {
      return .none
    }
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
      // The prompt stays open for the next guess.
      if case .move(_, isWordle: true) = purpose { open(purpose) }
      return enter(text)
    }
  }

  private func enter(_ text: String) -> Outcome {
    do throws(PromptCommand.Failure) { return try command(text).map { .command($0) } ?? .none } catch {
      return .failure(error)
    }
  }

  private func command(_ text: String) throws(PromptCommand.Failure) -> PromptCommand? {
    switch purpose {
    case .command: return try PromptCommand(text.trimmed)
    case .chat: return .board(.say(words: text))
    case .find, .over: return nil
    case .move(let game, _): return .board(.play(game, move: text.trimmed))
    case .export:
      let words = text.trimmed
      let isReplacing = words.hasSuffix(" force")
      let file = expanded(isReplacing ? String(words.dropLast(" force".count)).trimmed : words)
      return .board(.export(file: file, isReplacing: isReplacing))
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

  /// Accepts no more moves in a game that is over for the user.
  mutating func endGame(_ id: ObjectID) { if isOpen, case .move(.id(id), _) = purpose { open(.over) } }

  static func newGame(_ request: Int64) -> ObjectAlias? { ObjectAlias("game-begun-by-\(request)") }

  private func expanded(_ path: String) -> String {
    guard let home, path.hasPrefix("~/") else { return path }
    return home + path.dropFirst()
  }

  // MARK: - Completion

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
    guard words.count > 1 else {
      return complete(CommandName.allCases.map(\.rawValue) + PromptCommand.names.map(\.name), after: " ")
    }
    switch words[0] {
    case "follow": return complete(names.members, after: "")
    case "pen-style": return complete(DotStyle.allCases.map(\.rawValue), after: "")
    case "go": return complete(names.words(for: "ID", toComplete: path), after: " ")
    case let word:
      guard let command = CommandName(rawValue: String(word)) else { return .none }
      let index = editor.text.prefix(editor.cursor).count { $0 == " " } - 1
      let forms = CommandTable.entry(command).forms(at: index)
      let candidates = forms.flatMap { names.words(for: $0, toComplete: path) }
      // A file that a peer offers is not on this computer.
      guard forms.contains("FILE"), !forms.contains("INVITATION") else { return complete(candidates, after: " ") }
      return path.isEmpty || !candidates.contains { $0.hasPrefix(path) }
        ? .findFiles(path) : complete(candidates, after: " ")
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
    let completed = fitting.count == 1 ? first + (first.hasSuffix("/") || first.hasSuffix("=") ? "" : after) : common
    if isWhole { editor?.replace(by: completed) } else { editor?.replaceWord(by: completed) }
    guard fitting.count > 1 else { return .none }
    return .completions(fitting.prefix(Self.completionLimit).joined(separator: "  "))
  }
}

/// A line of the `:` prompt: a command for the terminal or for the board.
enum PromptCommand: Sendable {
  case quit(isAnyway: Bool)
  case suspend
  /// Go to the object with an id, or to an object whose text contains the words.
  case go(String)
  case follow(String)
  case fit, present
  /// Ask before all objects are deleted.
  case clear
  /// Zoom to a factor, where 1 is the actual size.
  case zoom(Double)
  case dotStyle(DotStyle)
  case board(Command)

  static let names: [(name: String, about: String)] = [
    ("q", "leave the board"), ("suspend", "return to the shell until you run fg, like Ctrl+Z"),
    ("go", "go to the object with this id, or to the text with these words"),
    ("follow", "follow the member with this name"), ("fit", "show everything"),
    ("present", "present the frames one after the other"), ("zoom", "zoom to a percentage"),
    ("pen-style", "how lines are drawn: braille, half or ascii"),
  ]

  enum Failure: Error, Equatable, Sendable {
    /// The terminal does not accept the command.
    case terminal(String)
    /// The line is not a valid command for the board.
    case parser(CommandError)
  }

  /// Parses a line. Returns nil if the line is empty or a comment. Throws ``Failure`` with the message for the user.
  init?(_ line: String) throws(Failure) {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    let rest = words.count > 1 ? words[1].trimmed : ""
    switch words.first {
    case nil: return nil
    case "q", "quit": self = .quit(isAnyway: rest == "anyway")
    case "suspend": self = .suspend
    case "go" where !rest.isEmpty: self = .go(rest)
    case "follow" where !rest.isEmpty: self = .follow(rest)
    case "fit": self = .fit
    case "present": self = .present
    case "clear" where rest == "board": self = .clear
    case "zoom":
      guard let percent = Double(rest), percent > 0 else {
        throw .terminal(":zoom needs a percentage, such as :zoom 50")
      }
      self = .zoom(percent / 100)
    case "pen-style":
      guard let style = DotStyle(rawValue: rest) else {
        throw .terminal(":pen-style needs one of braille, half or ascii")
      }
      self = .dotStyle(style)
    case let word? where CommandName(rawValue: word) == nil && !word.hasPrefix("{"):
      let known = CommandName.allCases.map(\.rawValue) + Self.names.map(\.name)
      let nearest = Spelling.nearest(to: word, in: known)
      let advice = nearest.map { "did you mean \($0)?" } ?? ":help lists them"
      throw .terminal("there is no command \(UntrustedText(word)); \(advice)")
    default:
      do throws(CommandError) {
        guard let request = try CommandParser.parse(line) else { return nil }
        self = .board(request.command)
      } catch { throw .parser(error) }
    }
  }
}

extension String {
  var trimmed: String {
    let isBlank: (Character) -> Bool = { $0.isWhitespace }
    let rest = drop(while: isBlank)
    return String(rest.reversed().drop(while: isBlank).reversed())
  }

  var lines: [String] { split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init) }
}

enum FileCompletion {
  /// The maximum number of entries of a directory that are read.
  private static let limit = 10_000

  /// Returns the paths that begin with the given text, in no particular order. The path of a directory ends with a
  /// slash. A file whose name begins with a dot is returned only if the user typed the dot.
  static func paths(beginning: String) -> [String] {
    let slash = beginning.lastIndex(of: "/")
    let folder = slash.map { String(beginning[...$0]) } ?? ""
    let name = slash.map { beginning[beginning.index(after: $0)...] } ?? beginning[...]
    guard let directory = opendir(folder.isEmpty ? "." : folder) else { return [] }
    defer { closedir(directory) }
    var paths: [String] = []
    var seen = 0
    while seen < limit, let entry = readdir(directory) {
      seen += 1
      let file = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard let file, file != ".", file != "..", file.hasPrefix(name), !file.hasPrefix(".") || name.hasPrefix(".")
      else { continue }
      let isDirectory = entry.pointee.d_type == UInt8(DT_DIR)
      paths.append(folder + file + (isDirectory ? "/" : ""))
    }
    return paths
  }
}
