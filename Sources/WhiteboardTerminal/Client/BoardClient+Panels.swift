import WhiteboardNode
import WhiteboardRendering

/// Panels: answers of several lines, the keys and the chat.
extension BoardClient {
  // MARK: - Opening

  /// Shows the answer to a command: a list and several lines in a panel, else one line at the bottom.
  ///
  /// An answer that the program asked for by itself has no request mark, and is not shown.
  mutating func showAnswer(_ event: NodeEvent) {
    if case .note(let note) = event, note.code == "help" {
      open(Panel("Commands", .lines(note.message.lines)))
      return
    }
    guard let (title, request) = answer(event), request != nil else { return }
    if case .chatHistory = event {
      openChat()
      return
    }
    let lines = (EventText.line(event) ?? "").lines
    guard lines.count > 1 || Self.staysOpen(event) else {
      say(Self.withoutMark(lines.first ?? ""))
      return
    }
    open(Panel(title, .lines(lines)))
  }

  /// Whether an answer of one line stays, too: a list, even an empty one, and a code that is copied.
  private static func staysOpen(_ event: NodeEvent) -> Bool {
    switch event {
    case .objects, .found, .settings, .checkpoints, .diff, .peers, .invited: true
    default: false
    }
  }

  /// The title for the answer to a command, and its request mark; nil if an event answers none.
  private func answer(_ event: NodeEvent) -> (title: String, request: RequestMark?)? {
    switch event {
    case .objects(let list): ("Objects", list.request)
    case .found(let list): ("Objects found", list.request)
    case .object(let shown): ("Object", shown.request)
    case .settings(let answer): ("Settings", answer.request)
    case .digest(let digest): ("Digest", digest.request)
    case .checkpoints(let list): ("Checkpoints", list.request)
    case .diff(let diff): ("Differences", diff.request)
    case .peers(let peers): ("People", peers.request)
    case .chatHistory(let history): ("Chat", history.request)
    case .invited(let invited): ("Invitation", invited.request)
    case .profile(let profile): ("Profile", profile.request)
    // The title says what is not saved.
    case .saveState(let saving) where saving.cause == nil: ("Saved", saving.request)
    default: nil
    }
  }

  /// A line of the text output without the mark in front that says what kind of line it is.
  static func withoutMark(_ line: String) -> String {
    for mark in ["- ", "! ", "~ ", "ok: "] where line.hasPrefix(mark) {
      return String(line.dropFirst(mark.count))
    }
    return line
  }

  /// Shows the keys, grouped.
  mutating func openKeys() { open(Panel("Keys", .keys)) }

  /// Shows the chat from its last line backwards.
  mutating func openChat() {
    unreadLines = 0
    open(Panel("Chat", .chat))
  }

  private mutating func open(_ panel: Panel) {
    notice = nil
    box = .panel(panel)
  }

  /// Whether the chat is open in a panel.
  var isChatOpen: Bool {
    if case .panel(let panel) = box { panel.content == .chat } else { false }
  }

  // MARK: - Keys and mouse

  /// Scrolls a panel, or closes it.
  mutating func take(
    _ key: InputEvent.Key,
    _ modifiers: InputEvent.Modifiers,
    in panel: Panel
  ) -> [Action] {
    var panel = panel
    let command = keys.command(key, modifiers)
    if panel.content == .chat, command == .chat || key == .enter {
      begin(.chat, lead: "say: ")
      return []
    }
    if modifiers.isEmpty, panel.scroll(key) {
      box = .panel(panel)
      return []
    }
    switch command {
    case .quit, .selectNone, .interrupt, .edit, .help, .readChat: box = nil
    case .redraw: return [.redraw]
    default: if key == .escape || key == .character("q") { box = nil }
    }
    return []
  }

  /// Scrolls the open panel by the mouse wheel.
  mutating func scrollPanel(by rows: Int) {
    guard case .panel(var panel) = box else { return }
    panel.scroll(by: rows)
    box = .panel(panel)
  }

  // MARK: - Screen

  /// The area of a panel with its frame: all but the first and the last row if there is room.
  var panelArea: CellArea {
    let top = rows >= 8 ? 1 : 0
    let bottom = rows >= 3 ? 1 : 0
    return CellArea(x: 0, y: top, width: columns, height: rows - top - bottom)
  }

  /// Whether a cell belongs to the open panel.
  func isInPanel(x: Int, y: Int) -> Bool { panelArea.contains(x: x, y: y) }

  mutating func drawPanel(_ panel: Panel, on screen: inout Screen) {
    var panel = panel
    let area = panelArea
    let hasFrame = area.height >= 3 && area.width >= 4
    let inner = hasFrame ? area.inset(by: 1) : area
    let width = max(hasFrame ? inner.width - 2 : inner.width, 1)
    let version = panel.content == .chat ? remarkCount : 0
    let isKnown = panel.isLaidOut(columns: width, version: version)
    panel.layOut(
      isKnown ? nil : rows(of: panel, columns: width),
      columns: width,
      version: version,
      height: inner.height
    )
    box = .panel(panel)
    screen.fill(area, with: .init(.space, Self.bar))
    let left = inner.columns.lowerBound + (hasFrame ? 1 : 0)
    for (row, parts) in panel.visible.enumerated() {
      for part in parts {
        var style = part.style
        style.background = Self.bar.background
        if style.foreground == .terminal { style.foreground = Self.bar.foreground }
        screen.put(
          part.text,
          x: left + part.column,
          y: inner.rows.lowerBound + row,
          style,
          in: inner
        )
      }
    }
    guard hasFrame else { return }
    screen.frame(area, Self.bar, isASCII: isASCII)
    let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
    let edge = CellArea(x: area.columns.lowerBound + 1, y: top, width: area.width - 2, height: 1)
    screen.put(" \(panel.title) ", x: area.columns.lowerBound + 2, y: top, Self.bar.bold, in: edge)
    let mark = " \(panel.position(isASCII: isASCII)) "
    let foot = CellArea(x: edge.columns.lowerBound, y: bottom, width: edge.width, height: 1)
    let end = screen.put(mark, x: area.columns.lowerBound + 2, y: bottom, Self.bar.bold, in: foot)
    // The longest that there is room for.
    for hint in hints(for: panel) {
      let start = foot.columns.upperBound - 1 - CharacterWidth.columns(hint)
      guard start > end else { continue }
      screen.put(hint, x: start, y: bottom, Self.bar, in: foot)
      break
    }
  }

  private func hints(for panel: Panel) -> [String] {
    let reply = panel.content == .chat ? "\(keys.key(for: .chat) ?? "Enter") reply  " : ""
    let arrows = isASCII ? "arrows" : "↑↓"
    return [
      " \(arrows) PgUp PgDn Home End scroll  \(reply)Esc closes ",
      " \(arrows) PgUp PgDn  \(reply)Esc closes ", " \(reply)Esc closes ",
    ]
  }

  // MARK: - Rows

  /// The rows of a panel for so many columns.
  private func rows(of panel: Panel, columns: Int) -> [Panel.Row] {
    switch panel.content {
    case .lines(let lines):
      lines.flatMap { line in
        hanging(line, columns: columns).map { [Panel.Part(text: $0, style: .plain)] }
      }
    case .keys: keyRows(columns: columns)
    case .chat: chatRows(columns: columns)
    }
  }

  /// A line in as many rows as it needs; all but the first are indented.
  private func hanging(_ line: String, columns: Int) -> [String] {
    guard CharacterWidth.columns(line) > columns else { return [line] }
    let blanks = String(line.prefix { $0 == " " }.prefix(max(columns - 8, 0)))
    let words = String(line.drop { $0 == " " })
    let indent = blanks + (columns > 20 ? "  " : "")
    let room = max(columns - indent.count, 1)
    return TextLines.wrapped(words, columns: room, limit: 1_000).enumerated().map {
      ($0 == 0 ? blanks : indent) + $1
    }
  }

  private func chatRows(columns: Int) -> [Panel.Row] {
    guard !remarks.isEmpty else {
      return [[Panel.Part(text: "No messages yet.", style: Self.quiet)]]
    }
    return remarks.flatMap { remark in
      let lead = remark.who.isEmpty ? "" : "\(shown(remark.who)): "
      let style =
        remark.key.isEmpty ? Self.quiet : CellStyle(CellColor(rgb: Pens.color(of: remark.key)))
      let text = remark.text.lines.map { TerminalText.cleaned($0, limit: 8_192) }
      return (lead + text.joined(separator: "\n  ")).lines.flatMap { line in
        hanging(line, columns: columns).map { [Panel.Part(text: $0, style: style)] }
      }
    }
  }

  /// The keys under headings, in two columns if there is room.
  private func keyRows(columns: Int) -> [Panel.Row] {
    let help = keys.help
    let keyWidth = help.map { CharacterWidth.columns($0.keys) }.max() ?? 0
    let isWide = columns >= 2 * (keyWidth + 40)
    let width = isWide ? (columns - 3) / 2 : columns
    let blocks = KeyMap.Section.allCases.compactMap { section -> [Panel.Row]? in
      let entries = help.filter { $0.section == section }
      guard !entries.isEmpty else { return nil }
      return [[Panel.Part(text: section.rawValue, style: Self.strong)]]
        + entries.flatMap { entry in
          let words = TextLines.wrapped(
            entry.what,
            columns: max(width - keyWidth - 4, 1),
            limit: 20
          )
          return words.enumerated().map { row, words in
            (row == 0 ? [Panel.Part(column: 2, text: entry.keys, style: Self.strong)] : [])
              + [Panel.Part(column: keyWidth + 4, text: words, style: .plain)]
          }
        } + [[]]
    }
    guard isWide else { return Array(blocks.joined().dropLast()) }
    // The first blocks that make up half of all rows go to the left.
    let half = (blocks.map(\.count).reduce(0, +) + 1) / 2
    var left: [Panel.Row] = []
    var right: [Panel.Row] = []
    for block in blocks {
      if right.isEmpty, left.count + block.count / 2 <= half {
        left += block
      } else {
        right += block
      }
    }
    return (0..<max(left.count, right.count)).map { row in
      let beside = row < right.count ? right[row] : []
      return (row < left.count ? left[row] : [])
        + beside.map { part in
          Panel.Part(column: part.column + width + 3, text: part.text, style: part.style)
        }
    }
  }
}

extension String {
  /// It in lines; empty lines stay.
  var lines: [String] {
    split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map(String.init)
  }
}
