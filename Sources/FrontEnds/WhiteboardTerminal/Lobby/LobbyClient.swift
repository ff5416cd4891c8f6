import PeerCore
import WhiteboardKit
import WhiteboardRendering

package struct LobbyClient: Sendable {
  package enum Choice: Hashable, Sendable {
    /// Join a board by a name, an id, a link or an address, with a join code if a code is required.
    case join(target: String, code: String?)
    /// Join a board by its id, and use the local copy at `path`.
    case rejoin(board: String, path: String)
    case host(String)
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
  private(set) var failure: String?
  /// The reason why the last changes of the previous board were not saved; nil once a board is opened.
  package var problem: SaveProblem?
  private(set) var discoveryProblem: String?
  private(set) var now = Duration.zero
  private let suggestion: String
  private let hasCode: Bool

  package init(columns: Int, rows: Int, suggestion: String, hasCode: Bool = false) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    self.suggestion = suggestion
    self.hasCode = hasCode
  }

  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  // MARK: - Boards

  package mutating func found(_ board: SharedBoard.News.FoundBoard) {
    let isBoard = update { $0.found(board) }
    if isBoard { discoveryProblem = nil }
  }

  package mutating func lost(_ board: SharedBoard.News.FoundBoard) { update { $0.lost(board) } }

  package mutating func searchBegan() { update { $0.searchBegan() } }

  package var addresses: [String: [String]] { boards.addresses }

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

  package mutating func discoveryFailed(_ reason: String) { discoveryProblem = reason }

  package mutating func setBoards(_ boards: [OwnBoard]) { update { $0.own = boards } }

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

  /// `now` is the time since the program began. Returns nil if the input does not choose anything.
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

  var receivesText: Bool { editor != nil }

  func opensText(_ event: InputEvent) -> Bool {
    event == .key(.character("N"), []) || event == .key(.character("a"), [])
  }

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

  package var isTicking: Bool { boards.hasNoneNearby && now < .seconds(600) }
}

extension LobbyClient {
  private static let chosenStyle = CellStyle(.terminal, on: .terminal, .reversed)
  private static let errorStyle = CellStyle(CellColor(rgb: 0xE8601C))

  /// The index in the list for each screen row that shows a list item.
  var indexes: [Int: Int] {
    var indexes: [Int: Int] = [:]
    for (y, line) in visibleLines { if let index = line.index { indexes[y] = index } }
    return indexes
  }

  var listRows: Int { max(rows - 2 - failureRows.count, 1) }

  private var visibleLines: [(row: Int, line: Line)] {
    let lines = lines.dropFirst()
    let at = lines.firstIndex { $0.index == chosen } ?? lines.startIndex
    let top = max(0, min(at - lines.startIndex - listRows / 2, lines.count - listRows))
    return lines.dropFirst(top).prefix(listRows).enumerated().map { ($0 + 1, $1) }
  }

  private var failureRows: [String] {
    guard let failure, rows > 2 else { return [] }
    return TextLines.wrapped(
      UntrustedText(Notice.causeFirst(failure)).escaped(),
      columns: max(columns - 2, 1),
      limit: max(rows / 2, 1)
    )
  }

  private struct Line {
    let text: String
    let style: CellStyle
    var index: Int?
  }

  private var lines: [Line] {
    // The first row is the title.
    var lines = [Line(text: "", style: .plain), Line(text: "", style: .plain)]
    lines.append(Line(text: " boards nearby", style: .quiet))
    let list = boards.list
    for (index, row) in list.enumerated() {
      if case .own = row, index == boards.nearbyCount {
        lines += boards.hasNoneNearby ? emptyLines : []
        lines += [Line(text: "", style: .plain), Line(text: " your boards", style: .quiet)]
      }
      let style = index == chosen ? Self.chosenStyle : .plain
      // A row that is too long, for example because it names a problem, continues in the next lines.
      let texts = TextLines.wrapped(boards.text(row), columns: max(columns - 4, 1), limit: 3)
      for (part, text) in texts.enumerated() {
        let indent = part == 0 ? " " : "   "
        lines.append(Line(text: "\(indent)\(text) ", style: style, index: index))
      }
    }
    if list.isEmpty { lines += emptyLines }
    return lines
  }

  /// The lines that an empty list shows: the state of the search, and what the user can do.
  private var emptyLines: [Line] {
    if let discoveryProblem {
      let problem = TextLines.wrapped(
        UntrustedText(discoveryProblem).escaped(limit: 600),
        columns: max(columns - 2, 1),
        limit: max(rows / 2, 1)
      )
      return problem.map { Line(text: " \($0)", style: Self.errorStyle) } + [
        Line(text: " Press a to join by link or address, or n for a new board.", style: .plain)
      ]
    }
    let seconds = Int(now / .seconds(1))
    guard seconds >= 5 else { return [Line(text: " looking for boards…  n new board  a join by link", style: .plain)] }
    return [
      Line(text: " no board was found on this network in \(seconds) s", style: .plain),
      Line(text: " n new board  a join by link; to find the cause: whiteboard-peer doctor", style: .plain),
    ]
  }

  /// A nil cursor hides the terminal's cursor.
  package func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    var screen = Screen(width: columns, height: rows)
    for (y, line) in visibleLines where y < rows - 1 {
      screen.put(TextLines.cut(line.text, columns: columns), x: 0, y: y, line.style)
    }
    let title = CellArea(x: 0, y: 0, width: columns, height: 1)
    screen.fill(title, with: ScreenCell(.space, CellStyle.bar))
    let end = screen.put(" whiteboard ", x: 0, y: 0, CellStyle.bar.bold, in: title)
    if lines.count - 1 > listRows, boards.list.indices.contains(chosen) {
      let mark = "\(chosen + 1) of \(boards.list.count) "
      screen.put(mark, x: max(end, columns - mark.count), y: 0, CellStyle.bar, in: title)
    }
    if let problem {
      screen.fill(title, with: ScreenCell(.space, CellStyle.problem))
      screen.put(" \(problem.headline) ", x: 0, y: 0, CellStyle.problem.bold, in: title)
    }
    let bottom = CellArea(x: 0, y: rows - 1, width: columns, height: 1)
    screen.fill(bottom, with: ScreenCell(.space, CellStyle.bar))
    for (row, line) in failureRows.enumerated() {
      let y = rows - 1 - failureRows.count + row
      screen.fill(CellArea(x: 0, y: y, width: columns, height: 1))
      screen.put(" \(line)", x: 0, y: y, Self.errorStyle)
    }
    guard let editor else {
      let isOwn =
        boards.list.indices.contains(chosen)
        && { if case .nearby(let id) = boards.list[chosen] { boards.copy(of: id) != nil } else { false } }()
      let ownCopy = isOwn ? "  o own copy" : ""
      let hints = " Enter open\(ownCopy)  n new board  N named board  a join by link  q leave"
      screen.put(hints, x: 0, y: rows - 1, CellStyle.bar, in: bottom)
      return (screen, nil)
    }
    let cursor = editor.draw(on: &screen, in: bottom, CellStyle.bar)
    return (screen, cursor)
  }
}
