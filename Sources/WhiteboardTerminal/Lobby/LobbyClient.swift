import WhiteboardKit
import WhiteboardRendering

/// The first screen: the boards on this network and the user's own boards.
///
/// It handles input and discovery events, and returns the user's choice and a screen.
package struct LobbyClient: Sendable {
  /// The choice of the user.
  package enum Choice: Hashable, Sendable {
    /// Join a board by a name, an id, a link or an address, with a join code if one is required.
    case join(target: String, code: String?)
    /// Join a board by its id, and use the local copy at `path`.
    case rejoin(board: String, path: String)
    /// Open or create a board with this name or file.
    case host(String)
    /// Quit the program.
    case quit
  }

  private enum Purpose: Hashable, Sendable {
    case address, name
    case code(target: String)
  }

  private(set) var columns: Int
  private(set) var rows: Int
  private(set) var boards = LobbyBoards()
  /// The index of the highlighted row of the list.
  private(set) var chosen = 0
  /// Whether the user highlighted this row, so that the highlight stays on it.
  private var hasChosen = false
  private(set) var editor: LineEditor?
  private var purpose = Purpose.name
  /// The last error.
  private(set) var failure: String?
  /// The reason why the last changes of the previous board were not saved; nil once a board is opened.
  package var problem: SaveProblem?
  /// The reason why discovery does not work.
  private(set) var discoveryProblem: String?
  private(set) var now = Duration.zero
  private let suggestion: String
  private let hasCode: Bool

  /// Creates an empty lobby.
  ///
  /// - Parameters:
  ///   - columns: The width of the terminal.
  ///   - rows: The height of the terminal.
  ///   - suggestion: The suggested name for a new board.
  ///   - hasCode: Whether the settings contain a join code.
  package init(columns: Int, rows: Int, suggestion: String, hasCode: Bool = false) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    self.suggestion = suggestion
    self.hasCode = hasCode
  }

  /// Sets the size of the terminal.
  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  // MARK: - Boards

  /// Adds or updates an announced board.
  package mutating func found(_ board: BoardEvent.FoundBoard) {
    let isBoard = update { $0.found(board) }
    if isBoard { discoveryProblem = nil }
  }

  /// Removes an announcement.
  package mutating func lost(_ board: BoardEvent.LostBoard) { update { $0.lost(board) } }

  /// Removes all announcements, because a new search begins.
  package mutating func searchBegan() { update { $0.searchBegan() } }

  /// The addresses of the announced boards, by board id.
  package var addresses: [String: [String]] { boards.addresses }

  /// Updates whether a peer of an announced board answers.
  package mutating func answered(_ isReachable: Bool, board: String) { update { $0.answered(isReachable, board) } }

  /// Changes the list; a row that the user highlighted stays highlighted.
  private mutating func update<Result>(_ change: (inout LobbyBoards) -> Result) -> Result {
    let former = boards.list
    let key = hasChosen && former.indices.contains(chosen) ? former[chosen].key : nil
    let result = change(&boards)
    let list = boards.list
    chosen = list.firstIndex { $0.key == key } ?? max(0, min(chosen, list.count - 1))
    return result
  }

  /// Shows why discovery does not work.
  package mutating func discoveryFailed(_ reason: String) { discoveryProblem = reason }

  /// Sets the boards that are stored on this computer.
  package mutating func setBoards(_ boards: [OwnBoard]) { update { $0.own = boards } }

  /// Removes the last error, since a board was opened after it.
  package mutating func clearError() { failure = nil }

  /// Reports an error; if a code is required, asks for it.
  package mutating func fail(_ message: String, wantsCodeFor target: String?) {
    failure = message
    guard let target else { return }
    // Remove the advice to use an option, because the prompt below asks for the code.
    if message.hasSuffix(WhiteboardError.codeAdvice) {
      failure = "\(message.dropLast(WhiteboardError.codeAdvice.count))."
    }
    askForCode(of: target)
  }

  private mutating func askForCode(of target: String) {
    purpose = .code(target: target)
    editor = LineEditor(label: "join code (four words): ")
  }

  // MARK: - Input

  /// Handles an input at a time since the program began.
  ///
  /// - Returns: The user's choice; nil if the input does not choose anything.
  package mutating func handleInput(_ event: InputEvent, now: Duration) -> Choice? {
    self.now = now
    switch event {
    case .key(let key, let modifiers): return handleKey(key, modifiers)
    case .mouse(let event):
      if case .scroll(_, let dy) = event.kind {
        choose(chosen + dy)
        return nil
      }
      guard case .press(.left) = event.kind, let index = indexes[event.y] else { return nil }
      chosen = index
      return open()
    case .paste(let text):
      if editor == nil { openAddress() }
      editor?.insert(text.trimmed)
      return nil
    case .focus, .reply: return nil
    }
  }

  private mutating func openAddress() {
    purpose = .address
    editor = LineEditor(label: "link, name or HOST:PORT: ")
  }

  /// Whether the next key is text for the prompt.
  var receivesText: Bool { editor != nil }

  /// Returns whether a key opens the prompt.
  func opensText(_ event: InputEvent) -> Bool {
    event == .key(.character("N"), []) || event == .key(.character("a"), [])
  }

  /// Sets the time since the program began.
  package mutating func beginFrame(now: Duration) { self.now = now }

  private mutating func handleKey(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Choice? {
    if editor != nil { return type(key, modifiers) }
    failure = nil
    switch KeyMap.name(key, modifiers) {
    case "up", "k", "shift+tab": choose(chosen - 1)
    case "down", "j", "tab": choose(chosen + 1)
    case "pageUp": choose(chosen - max(listRows - 1, 1))
    case "pageDown": choose(chosen + max(listRows - 1, 1))
    case "home", "g": choose(0)
    case "end", "G": choose(boards.list.count - 1)
    case "enter", "space": return open()
    case "o":
      guard boards.list.indices.contains(chosen), case .nearby(let id) = boards.list[chosen],
        let copy = boards.copy(of: id)
      else { return nil }
      return .host(copy.path)
    case "n": return .host(suggestion)
    case "N":
      purpose = .name
      editor = LineEditor(label: "name of the new board: ", text: suggestion)
    case "a": openAddress()
    case "q", "ctrl+c", "ctrl+d", "escape": return .quit
    default: break
    }
    return nil
  }

  /// Highlights the row with an index.
  ///
  /// An index outside the list highlights the first or the last row.
  private mutating func choose(_ index: Int) {
    chosen = max(0, min(index, boards.list.count - 1))
    hasChosen = true
  }

  private mutating func type(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Choice? {
    guard let outcome = editor?.handle(key, modifiers) else { return nil }
    switch outcome {
    case .typing, .complete: return nil
    case .canceled:
      editor = nil
      return nil
    case .entered(let text):
      editor = nil
      let words = text.trimmed
      guard !words.isEmpty else { return nil }
      switch purpose {
      case .name: return .host(words)
      case .address: return .join(target: words, code: nil)
      case .code(let target): return .join(target: target, code: words)
      }
    }
  }

  private mutating func open() -> Choice? {
    guard boards.list.indices.contains(chosen) else { return .host(suggestion) }
    switch boards.list[chosen] {
    case .nearby(let id):
      if let copy = boards.copy(of: id) { return .rejoin(board: id, path: copy.path) }
      if !hasCode, boards.requiresCode(id) {
        askForCode(of: id)
        return nil
      }
      return .join(target: id, code: nil)
    case .own(let board): return .host(board.path)
    }
  }

  /// Whether a part of the screen changes without input, as time passes.
  package var isTicking: Bool { boards.hasNoneNearby && now < .seconds(600) }
}
