import WhiteboardNode
import WhiteboardRendering

/// The first screen: the boards on this network and the user's own boards.
///
/// Input and discovery events go in; the user's choice and a screen come out.
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

  /// A board that is stored on this computer.
  package struct OwnBoard: Hashable, Sendable {
    let name: String
    let path: String
    let about: String
    /// The board's id, if the file holds it.
    let board: String?
    /// The board's title, if it has one.
    let title: String?

    /// Creates an entry with the board's name, title, file and id, and a short description.
    package init(
      name: String,
      path: String,
      about: String,
      board: String? = nil,
      title: String? = nil
    ) {
      self.board = board
      self.title = title
      self.name = name
      self.path = path
      self.about = about
    }
  }

  private enum Row: Hashable, Sendable {
    case nearby(String)
    case own(OwnBoard)
  }

  private enum Purpose: Hashable, Sendable {
    case address, name
    case code(target: String)
  }

  private var columns: Int
  private var rows: Int
  private let isASCII: Bool
  /// The announcements by board id and by peer id.
  private var nearby: [String: [String: NodeEvent.FoundBoard]] = [:]
  private var own: [OwnBoard] = []
  private var chosen = 0
  private var editor: LineEditor?
  private var purpose = Purpose.name
  /// The last error.
  private var failure: String?
  /// The reason why the last changes of the previous board were not saved; nil once a board is
  /// opened.
  package var problem: SaveProblem?
  /// The reason why discovery does not work.
  private var discoveryProblem: String?
  private var now = Duration.zero
  private let suggestion: String

  /// Creates an empty lobby that suggests a name for a new board.
  package init(columns: Int, rows: Int, isASCII: Bool, suggestion: String) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    self.isASCII = isASCII
    self.suggestion = suggestion
  }

  /// Sets the size of the terminal.
  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  // MARK: - Boards

  /// Adds or updates an announced board.
  package mutating func found(_ board: NodeEvent.FoundBoard) {
    // A relay announces no board.
    guard let id = board.board else { return }
    nearby[id, default: [:]][board.peer] = board
    discoveryProblem = nil
  }

  /// Returns the local copy of a board.
  private func copy(of board: String) -> OwnBoard? { own.first { $0.board == board } }

  /// Returns the display names of all peers that announce a board; names that several peers have are
  /// followed by the peer id.
  private func announcers(_ board: String) -> [String] {
    let found = (nearby[board] ?? [:]).values.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }
    return found.map { board in
      found.count { $0.name == board.name } > 1
        ? EventText.person(board.name, board.peer) : EventText.shortName(board.name, board.peer)
    }
  }

  /// Returns the announcement of a board with the most participants.
  private func shown(_ board: String) -> NodeEvent.FoundBoard? {
    nearby[board]?.values.max {
      ($0.participants ?? 0, $1.peer) < ($1.participants ?? 0, $0.peer)
    }
  }

  /// Removes an announcement.
  package mutating func lost(_ board: NodeEvent.LostBoard) {
    guard let id = board.board else { return }
    nearby[id]?[board.peer] = nil
    if nearby[id]?.isEmpty == true { nearby[id] = nil }
  }

  /// Shows why discovery does not work.
  package mutating func discoveryFailed(_ reason: String) { discoveryProblem = reason }

  /// Sets the boards that are stored on this computer.
  package mutating func setBoards(_ boards: [OwnBoard]) { own = boards }

  /// Removes the last error, since a board was opened after it.
  package mutating func clearError() { failure = nil }

  /// Reports an error; if a code is required, asks for it.
  package mutating func fail(_ message: String, wantsCodeFor target: String?) {
    failure = message
    guard let target else { return }
    // The prompt replaces the option.
    if message.hasSuffix(NodeError.codeAdvice) {
      failure = "\(message.dropLast(NodeError.codeAdvice.count))."
    }
    purpose = .code(target: target)
    editor = LineEditor(label: "join code (four words): ")
  }

  /// Returns the name of a board nearby: the title that the copy here has, or else the announced name.
  private func name(of board: String) -> String {
    TerminalText.cleaned(copy(of: board)?.title ?? shown(board)?.boardName ?? "", limit: 64)
  }

  private var list: [Row] {
    nearby.keys.sorted { (name(of: $0), $0) < (name(of: $1), $1) }
      .map { .nearby($0) }
      + own.filter { $0.board.map { nearby[$0] == nil } ?? true }.map { .own($0) }
  }

  // MARK: - Input

  /// Handles an input at a time since the program began.
  ///
  /// - Returns: The choice of the user, if the input is one.
  package mutating func handle(_ event: InputEvent, now: Duration) -> Choice? {
    self.now = now
    switch event {
    case .key(let key, let modifiers): return handle(key, modifiers)
    case .mouse(let event):
      if case .scroll(_, let dy) = event.kind {
        choose(chosen + dy)
        return nil
      }
      guard case .press(.left) = event.kind, let index = indexes[event.y] else { return nil }
      chosen = index
      return open()
    case .paste(let text):
      editor?.insert(text.trimmed)
      return nil
    case .focus, .reply: return nil
    }
  }

  /// Sets the time since the program began.
  package mutating func tick(now: Duration) { self.now = now }

  private mutating func handle(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> Choice? {
    if editor != nil { return type(key, modifiers) }
    failure = nil
    switch KeyMap.name(key, modifiers) {
    case "up", "k", "shift+tab": choose(chosen - 1)
    case "down", "j", "tab": choose(chosen + 1)
    case "pageUp": choose(chosen - max(listRows - 1, 1))
    case "pageDown": choose(chosen + max(listRows - 1, 1))
    case "home", "g": choose(0)
    case "end", "G": choose(list.count - 1)
    case "enter", "space": return open()
    case "o":
      guard list.indices.contains(chosen), case .nearby(let id) = list[chosen],
        let copy = copy(of: id)
      else { return nil }
      return .host(copy.path)
    case "n": return .host(suggestion)
    case "N":
      purpose = .name
      editor = LineEditor(label: "name of the new board: ", text: suggestion)
    case "a":
      purpose = .address
      editor = LineEditor(label: "link, name or HOST:PORT: ")
    case "q", "ctrl+c", "ctrl+d", "escape": return .quit
    default: break
    }
    return nil
  }

  /// Highlights a row of the list, at most the first or the last.
  private mutating func choose(_ index: Int) { chosen = max(0, min(index, list.count - 1)) }

  private mutating func type(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> Choice? {
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
    guard list.indices.contains(chosen) else { return .host(suggestion) }
    switch list[chosen] {
    case .nearby(let id):
      return copy(of: id).map { .rejoin(board: id, path: $0.path) } ?? .join(target: id, code: nil)
    case .own(let board): return .host(board.path)
    }
  }

  // MARK: - Screen

  private static let chosenStyle = CellStyle(.terminal, on: .terminal, .reversed)
  private static let errorStyle = CellStyle(CellColor(rgb: 0xE8601C))

  /// The indexes in the list by row of the screen.
  private var indexes: [Int: Int] {
    var indexes: [Int: Int] = [:]
    for (y, line) in visibleLines { if let index = line.index { indexes[y] = index } }
    return indexes
  }

  /// The number of rows for the list, without the title, the last row and the error.
  private var listRows: Int { max(rows - 2 - failureRows.count, 1) }

  /// The visible lines with their rows; the highlighted line is among them.
  private var visibleLines: [(row: Int, line: Line)] {
    let lines = lines.dropFirst()
    let at = lines.firstIndex { $0.index == chosen } ?? lines.startIndex
    let top = max(0, min(at - lines.startIndex - listRows / 2, lines.count - listRows))
    return lines.dropFirst(top).prefix(listRows).enumerated().map { ($0 + 1, $1) }
  }

  /// The last error, in at most half of the rows of the screen.
  private var failureRows: [String] {
    guard let failure, rows > 2 else { return [] }
    return TextLines.wrapped(
      TerminalText.cleaned(Notice.causeFirst(failure)),
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
    let list = list
    for (index, row) in list.enumerated() {
      if case .own = row, index == nearby.count {
        lines += nearby.isEmpty ? emptyLines : []
        lines += [Line(text: "", style: .plain), Line(text: " your boards", style: .quiet)]
      }
      let style = index == chosen ? Self.chosenStyle : .plain
      lines.append(Line(text: " \(text(row)) ", style: style, index: index))
    }
    if list.isEmpty { lines += emptyLines }
    return lines
  }

  /// The lines of an empty list: the state of the search, and what the user can do.
  private var emptyLines: [Line] {
    if let discoveryProblem {
      return [
        Line(
          text: " \(TerminalText.cleaned(discoveryProblem, limit: 300))",
          style: Self.errorStyle
        ),
        Line(text: " a joins by link or address; n begins a board.", style: .plain),
      ]
    }
    let seconds = Int(now / .seconds(1))
    guard seconds >= 5 else {
      return [Line(text: " looking…  n begins a board, a joins by link or address", style: .plain)]
    }
    return [
      Line(text: " no board was found on this network in \(seconds) s", style: .plain),
      Line(
        text:
          " n begins a board, a joins by link or address; whiteboard-peer doctor looks for the cause",
        style: .plain
      ),
    ]
  }

  private func text(_ row: Row) -> String {
    switch row {
    case .nearby(let id):
      guard let board = shown(id) else { return "" }
      let people = board.participants.map { $0 == 1 ? "1 person" : "\($0) people" } ?? ""
      let name = name(of: id)
      let names = announcers(id)
      let announcerNames = EventText.listed(names)
      let admission = board.admit.flatMap { Self.admissionTexts[$0] } ?? ""
      guard copy(of: id) == nil else {
        let are = names.count == 1 ? "is" : "are"
        return "\(name)  yours, \(announcerNames) \(are) on it  \(people)".trimmed
      }
      return [name, announcerNames, people, board.addresses.first ?? "", admission].filter {
        !$0.isEmpty
      }
      .joined(separator: "  ")
    case .own(let board):
      return "\(TerminalText.cleaned(board.title ?? board.name, limit: 64))  \(board.about)"
    }
  }

  /// The descriptions of the admission modes.
  private static let admissionTexts = [
    "anyone": "open to all", "ask": "asks first", "code": "join code required",
    "known": "known people only",
  ]

  /// Draws the current screen.
  ///
  /// - Returns: The screen, and the cell of the terminal's cursor; nil hides it.
  package func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    var screen = Screen(width: columns, height: rows)
    for (y, line) in visibleLines where y < rows - 1 {
      screen.put(TextLines.cut(line.text, columns: columns), x: 0, y: y, line.style)
    }
    let title = CellArea(x: 0, y: 0, width: columns, height: 1)
    screen.fill(title, with: Cell(.space, CellStyle.bar))
    let end = screen.put(" whiteboard ", x: 0, y: 0, CellStyle.bar.bold, in: title)
    if lines.count - 1 > listRows, list.indices.contains(chosen) {
      let mark = "\(chosen + 1) of \(list.count) "
      screen.put(mark, x: max(end, columns - mark.count), y: 0, CellStyle.bar, in: title)
    }
    if let problem {
      screen.fill(title, with: Cell(.space, CellStyle.problem))
      screen.put(" \(problem.headline) ", x: 0, y: 0, CellStyle.problem.bold, in: title)
    }
    let bottom = CellArea(x: 0, y: rows - 1, width: columns, height: 1)
    screen.fill(bottom, with: Cell(.space, CellStyle.bar))
    for (row, line) in failureRows.enumerated() {
      let y = rows - 1 - failureRows.count + row
      screen.fill(CellArea(x: 0, y: y, width: columns, height: 1))
      screen.put(" \(line)", x: 0, y: y, Self.errorStyle)
    }
    guard let editor else {
      let isOwn =
        list.indices.contains(chosen)
        && { if case .nearby(let id) = list[chosen] { copy(of: id) != nil } else { false } }()
      let ownCopy = isOwn ? "  o only your copy" : ""
      let hints = " Enter open\(ownCopy)  n new board  N by a name  a link or address  q leave"
      screen.put(hints, x: 0, y: rows - 1, CellStyle.bar, in: bottom)
      return (screen, nil)
    }
    let cursor = editor.draw(on: &screen, in: bottom, CellStyle.bar)
    return (screen, cursor)
  }

  /// Whether something on the screen changes with time alone.
  package var isTicking: Bool { nearby.isEmpty && now < .seconds(600) }
}
