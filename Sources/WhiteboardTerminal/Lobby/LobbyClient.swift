import WhiteboardNode
import WhiteboardRendering

/// The boards nearby and one's own, on a terminal, as one value: where everything begins.
package struct LobbyClient: Sendable {
  /// What a person wants.
  package enum Choice: Hashable, Sendable {
    /// To join a board: a name, an id, a link or an address; by a code where there is one.
    case join(target: String, code: String?)
    /// To join a board by its id and use the local copy at `path`.
    case rejoin(board: String, path: String)
    /// To have a board of this name or file, new or not.
    case host(String)
    /// To leave.
    case quit
  }

  /// A board of one's own.
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
  /// The boards by their ids, and who announces each, by theirs.
  private var nearby: [String: [String: NodeEvent.FoundBoard]] = [:]
  private var own: [OwnBoard] = []
  private var chosen = 0
  private var editor: LineEditor?
  private var purpose = Purpose.name
  /// What went wrong last.
  private var trouble: String?
  /// The reason why the last changes of the previous board were not saved; nil once a board is
  /// opened.
  package var problem: SaveProblem?
  /// What keeps boards from being found.
  private var blindness: String?
  private var now = Duration.zero
  private let suggestion: String

  /// An empty lobby; a new board is called `suggestion` unless the person says otherwise.
  package init(columns: Int, rows: Int, isASCII: Bool, suggestion: String) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    self.isASCII = isASCII
    self.suggestion = suggestion
  }

  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
  }

  // MARK: - What there is

  /// A board nearby is there, or not as it was.
  package mutating func found(_ board: NodeEvent.FoundBoard) {
    // A relay by itself is no board.
    guard let id = board.board else { return }
    nearby[id, default: [:]][board.peer] = board
    blindness = nil
  }

  /// Returns the local copy of a board.
  private func copy(of board: String) -> OwnBoard? { own.first { $0.board == board } }

  /// Returns the display names of all peers that announce a board, with ids only if names are
  /// shared.
  private func announcers(_ board: String) -> [String] {
    let found = (nearby[board] ?? [:]).values.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }
    return found.map { one in
      found.count { $0.name == one.name } > 1
        ? EventText.person(one.name, one.peer) : EventText.shortName(one.name, one.peer)
    }
  }

  /// Of all who announce a board the one that sees most people on it.
  private func shown(_ board: String) -> NodeEvent.FoundBoard? {
    nearby[board]?.values.max {
      ($0.participants ?? 0, $1.peer) < ($1.participants ?? 0, $0.peer)
    }
  }

  /// A board nearby is gone.
  package mutating func lost(_ board: NodeEvent.LostBoard) {
    guard let id = board.board else { return }
    nearby[id]?[board.peer] = nil
    if nearby[id]?.isEmpty == true { nearby[id] = nil }
  }

  /// Boards cannot be found, and why.
  package mutating func isBlind(_ why: String) { blindness = why }

  /// The boards that are kept here.
  package mutating func keep(_ boards: [OwnBoard]) { own = boards }

  /// Removes the last error, since a board was opened after it.
  package mutating func opened() { trouble = nil }

  /// Reports an error; if a code is required, asks for it.
  package mutating func failed(_ message: String, wantsCodeFor target: String?) {
    trouble = message
    guard let target else { return }
    // The prompt below takes the place of the option.
    if message.hasSuffix(NodeError.codeAdvice) {
      trouble = "\(message.dropLast(NodeError.codeAdvice.count))."
    }
    purpose = .code(target: target)
    editor = LineEditor(lead: "the four words of the code: ")
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

  // MARK: - What is done

  /// A person did something, at a time since the program began; what is wanted, if that is clear.
  package mutating func take(_ event: InputEvent, now: Duration) -> Choice? {
    self.now = now
    switch event {
    case .key(let key, let modifiers): return take(key, modifiers)
    case .mouse(let event):
      if case .scroll(_, let dy) = event.kind {
        choose(chosen + dy)
        return nil
      }
      guard case .press(.left) = event.kind, let index = places[event.y] else { return nil }
      chosen = index
      return open()
    case .paste(let text):
      editor?.insert(text.trimmed)
      return nil
    case .focus, .reply: return nil
    }
  }

  /// Time goes by.
  package mutating func tick(now: Duration) { self.now = now }

  private mutating func take(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers
  ) -> Choice? {
    if editor != nil { return type(key, modifiers) }
    trouble = nil
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
      editor = LineEditor(lead: "name of the new board: ", text: suggestion)
    case "a":
      purpose = .address
      editor = LineEditor(lead: "link, name or HOST:PORT: ")
    case "q", "ctrl+c", "ctrl+d", "escape": return .quit
    default: break
    }
    return nil
  }

  /// Goes to a row of the list, at most to the first or the last.
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

  // MARK: - What is seen

  private static let chosenStyle = CellStyle(.terminal, on: .terminal, .reversed)
  private static let bad = CellStyle(CellColor(rgb: 0xE8601C))

  /// Which row of the list is on which row of the screen.
  private var places: [Int: Int] {
    var places: [Int: Int] = [:]
    for (y, line) in visibleLines { if let index = line.index { places[y] = index } }
    return places
  }

  /// The rows of the screen for the list: all but the title, the line at the bottom and what went wrong.
  private var listRows: Int { max(rows - 2 - troubleRows.count, 1) }

  /// The lines that there is room for, with the rows they are in; the chosen one is among them.
  private var visibleLines: [(row: Int, line: Line)] {
    let lines = lines.dropFirst()
    let at = lines.firstIndex { $0.index == chosen } ?? lines.startIndex
    let top = max(0, min(at - lines.startIndex - listRows / 2, lines.count - listRows))
    return lines.dropFirst(top).prefix(listRows).enumerated().map { ($0 + 1, $1) }
  }

  /// What went wrong last, in as many rows as it needs; at most half of the screen.
  private var troubleRows: [String] {
    guard let trouble, rows > 2 else { return [] }
    return TextLines.wrapped(
      TerminalText.cleaned(Notice.causeFirst(trouble)),
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
    // The first is the title's.
    var lines = [Line(text: "", style: .plain), Line(text: "", style: .plain)]
    lines.append(Line(text: " boards nearby", style: .quiet))
    let list = list
    for (index, row) in list.enumerated() {
      if case .own = row, index == nearby.count {
        lines += nearby.isEmpty ? emptiness : []
        lines += [Line(text: "", style: .plain), Line(text: " your boards", style: .quiet)]
      }
      let style = index == chosen ? Self.chosenStyle : .plain
      lines.append(Line(text: " \(text(row)) ", style: style, index: index))
    }
    if list.isEmpty { lines += emptiness }
    return lines
  }

  /// What an empty lobby says: what was tried, and what to do.
  private var emptiness: [Line] {
    if let blindness {
      return [
        Line(text: " \(TerminalText.cleaned(blindness, limit: 300))", style: Self.bad),
        Line(text: " a joins by link or address; n begins a board.", style: .plain),
      ]
    }
    let seconds = Int(now / .seconds(1))
    guard seconds >= 5 else {
      return [Line(text: " looking…  n begins a board, a joins by link or address", style: .plain)]
    }
    return [
      Line(text: " nobody has answered on this network in \(seconds) s", style: .plain),
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
      let who = EventText.listed(names)
      let way = board.admit.flatMap { Self.ways[$0] } ?? ""
      guard copy(of: id) == nil else {
        let are = names.count == 1 ? "is" : "are"
        return "\(name)  yours, \(who) \(are) on it  \(people)".trimmed
      }
      return [name, who, people, board.addresses.first ?? "", way].filter { !$0.isEmpty }
        .joined(separator: "  ")
    case .own(let board):
      return "\(TerminalText.cleaned(board.title ?? board.name, limit: 64))  \(board.about)"
    }
  }

  /// What it takes to join, by what a board announces.
  private static let ways = [
    "anyone": "open to all", "ask": "asks first", "code": "by a code",
    "known": "for people it knows",
  ]

  /// The screen as it is to be now, and where the terminal's own cursor is to stand; nil hides it.
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
    for (row, line) in troubleRows.enumerated() {
      let y = rows - 1 - troubleRows.count + row
      screen.fill(CellArea(x: 0, y: y, width: columns, height: 1))
      screen.put(" \(line)", x: 0, y: y, Self.bad)
    }
    guard let editor else {
      let isOwn =
        list.indices.contains(chosen)
        && { if case .nearby(let id) = list[chosen] { copy(of: id) != nil } else { false } }()
      let alone = isOwn ? "  o only your copy" : ""
      let hints = " Enter open\(alone)  n new board  N by a name  a link or address  q leave"
      screen.put(hints, x: 0, y: rows - 1, CellStyle.bar, in: bottom)
      return (screen, nil)
    }
    let cursor = editor.draw(on: &screen, in: bottom, CellStyle.bar)
    return (screen, cursor)
  }

  /// Whether something on the screen changes with time alone.
  package var isTicking: Bool { nearby.isEmpty && now < .seconds(600) }
}
