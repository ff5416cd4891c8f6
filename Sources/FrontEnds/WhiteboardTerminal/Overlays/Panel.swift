import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// A box with a title and scrolled rows: the keys, the chat, or the answer to a command.
struct Panel: Hashable, Sendable {
  enum Content: Hashable, Sendable {
    /// Lines that do not change while the panel is open.
    case lines([String])
    case keys
    /// The chat, to which lines are added while the panel is open.
    case chat
  }

  struct Part: Hashable, Sendable {
    /// The column, counted from the left edge of the rows.
    var column = 0
    let text: String
    var style: CellStyle
  }

  /// The parts of one row, which do not overlap.
  typealias Row = [Part]

  let title: String
  let content: Content
  /// The words that the user typed; only keys whose lines contain them are shown.
  private(set) var filter = ""
  /// The rows for ``columns``; empty until the first layout.
  private(set) var rows: [Row] = []
  private var columns = 0
  private var version = 0
  /// The index of the first visible row.
  private(set) var first = 0
  private(set) var height = 1
  /// Whether the last row stays visible when rows are added.
  private var staysAtEnd: Bool

  init(_ title: String, _ content: Content) {
    self.title = title
    self.content = content
    staysAtEnd = content == .chat
  }

  /// Returns whether the rows are up to date for this number of columns and this version of the content.
  func isLaidOut(columns: Int, version: Int) -> Bool {
    columns == self.columns && version == self.version && !rows.isEmpty
  }

  /// Sets the rows (nil if they did not change), and shows as many rows as fit.
  mutating func layOut(_ rows: [Row]?, columns: Int, version: Int, height: Int) {
    if let rows { self.rows = rows }
    (self.columns, self.version) = (columns, version)
    self.height = max(height, 1)
    let last = max(0, self.rows.count - self.height)
    first = staysAtEnd ? last : min(first, last)
    staysAtEnd = content == .chat && first == last
  }

  var visible: ArraySlice<Row> { rows.dropFirst(first).prefix(height) }

  /// Returns the visible range, such as `1–20 of 57`.
  func position(isASCII: Bool) -> String {
    guard !rows.isEmpty else { return "empty" }
    let last = min(first + height, rows.count)
    return "\(first + 1)\(isASCII ? "-" : "–")\(last) of \(rows.count)"
  }

  mutating func scroll(by count: Int) {
    staysAtEnd = false
    first = min(max(0, first + count), max(0, rows.count - height))
  }

  /// Changes the filter of the keys. Returns whether the key changes the filter.
  mutating func filter(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    guard content == .keys, modifiers.isSubset(of: .shift) else { return false }
    switch key {
    // If no letters were typed yet, q closes the panel.
    case .character(let letter) where filter.isEmpty ? letter.isLetter && letter != "q" : true: filter.append(letter)
    case .backspace where !filter.isEmpty: filter.removeLast()
    default: return false
    }
    (rows, first) = ([], 0)
    return true
  }

  mutating func scroll(_ key: InputEvent.Key) -> Bool {
    let page = max(height - 1, 1)
    switch key {
    case .up, .character("k"): scroll(by: -1)
    case .down, .character("j"): scroll(by: 1)
    case .pageUp, .character("b"): scroll(by: -page)
    case .pageDown, .character(" "), .tab: scroll(by: page)
    case .home, .character("g"): scroll(by: -first)
    case .end, .character("G"): scroll(by: rows.count)
    default: return false
    }
    return true
  }
}

extension Panel {
  mutating func draw(on screen: inout Screen, _ layout: ScreenLayout, _ keys: KeyMap, _ chat: ChatLog) {
    let area = layout.panel
    let hasFrame = area.height >= 3 && area.width >= 4
    let inner = hasFrame ? area.inset(by: 1) : area
    let width = max(hasFrame ? inner.width - 2 : inner.width, 1)
    let version = content == .chat ? chat.version : 0
    let isKnown = isLaidOut(columns: width, version: version)
    layOut(isKnown ? nil : rows(columns: width, keys, chat), columns: width, version: version, height: inner.height)
    screen.fill(area, with: .init(.space, .bar))
    let left = inner.columns.lowerBound + (hasFrame ? 1 : 0)
    for (row, parts) in visible.enumerated() {
      for part in parts {
        var style = part.style
        style.background = CellStyle.bar.background
        if style.foreground == .terminal { style.foreground = CellStyle.bar.foreground }
        let y = inner.rows.lowerBound + row
        screen.put(part.text, x: left + part.column, y: y, style, in: inner)
      }
    }
    if hasFrame { drawFrame(on: &screen, area, keys, isASCII: layout.isASCII) }
  }

  private func rows(columns: Int, _ keys: KeyMap, _ chat: ChatLog) -> [Row] {
    let rows = PanelRows(columns: columns)
    return switch content {
    case .lines(let lines): rows.rows(of: lines)
    case .keys: rows.rows(of: keys, filter)
    case .chat: rows.rows(of: chat)
    }
  }

  private func drawFrame(on screen: inout Screen, _ area: CellArea, _ keys: KeyMap, isASCII: Bool) {
    screen.frame(area, .bar, isASCII: isASCII)
    let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
    let (left, width) = (area.columns.lowerBound, area.width - 2)
    let head = CellArea(x: left + 1, y: top, width: width, height: 1)
    let filtered = filter.isEmpty ? "" : ": \(filter)"
    screen.put(" \(title)\(filtered) ", x: left + 2, y: top, CellStyle.bar.bold, in: head)
    let foot = CellArea(x: left + 1, y: bottom, width: width, height: 1)
    let mark = " \(position(isASCII: isASCII)) "
    let end = screen.put(mark, x: left + 2, y: bottom, CellStyle.bar.bold, in: foot)
    // The longest hint that fits.
    for hint in hints(keys, isASCII: isASCII) {
      let start = foot.columns.upperBound - 1 - CharacterWidth.columns(hint)
      guard start > end else { continue }
      screen.put(hint, x: start, y: bottom, .bar, in: foot)
      break
    }
  }

  private func hints(_ keys: KeyMap, isASCII: Bool) -> [String] {
    let reply =
      content == .chat
      ? "\(keys.key(for: .chat) ?? "Enter") reply  " : content == .keys ? "letters filter  " : ""
    let arrows = isASCII ? "arrows" : "↑↓"
    return [
      " \(arrows) PgUp PgDn Home End scroll  \(reply)Esc closes ", " \(arrows) PgUp PgDn  \(reply)Esc closes ",
      " \(reply)Esc closes ",
    ]
  }
}

struct PanelRows {
  private let columns: Int

  init(columns: Int) { self.columns = columns }

  func rows(of lines: [String]) -> [Panel.Row] { lines.flatMap { rows(of: $0, .plain) } }

  func rows(of chat: ChatLog) -> [Panel.Row] {
    guard !chat.lines.isEmpty else { return [[Panel.Part(text: "No messages yet.", style: .quiet)]] }
    return chat.lines.flatMap { line in
      let text = line.text.raw.lines.map { UntrustedText($0).escaped(limit: 8_192) }
      return (line.authorPrefix + text.joined(separator: "\n  ")).lines.flatMap { rows(of: $0, line.style) }
    }
  }

  private func rows(of line: String, _ style: CellStyle) -> [Panel.Row] {
    wrapped(line).map { [Panel.Part(text: $0, style: style)] }
  }

  /// Wraps a line; all rows but the first are indented.
  private func wrapped(_ line: String) -> [String] {
    guard CharacterWidth.columns(line) > columns else { return [line] }
    let blanks = String(line.prefix { $0 == " " }.prefix(max(columns - 8, 0)))
    let words = String(line.drop { $0 == " " })
    let indent = blanks + (columns > 20 ? "  " : "")
    let room = max(columns - indent.count, 1)
    return TextLines.wrapped(words, columns: room, limit: 1_000).enumerated().map { ($0 == 0 ? blanks : indent) + $1 }
  }

  // MARK: - Keys

  /// Returns the keys under headings, in two columns if there is room.
  func rows(of keys: KeyMap, _ filter: String) -> [Panel.Row] {
    let search = TextSearch(filter)
    let help = keys.help.filter { entry in search.map { $0.matches("\(entry.keys) \(entry.text)") } ?? true }
    guard !help.isEmpty else { return rows(of: ["No key does this. Backspace removes letters of the filter."]) }
    let keyWidth = help.map { CharacterWidth.columns($0.keys) }.max() ?? 0
    let isWide = columns >= 2 * (keyWidth + 40)
    let width = isWide ? (columns - 3) / 2 : columns
    let blocks = KeyMap.Section.allCases.compactMap { section -> [Panel.Row]? in
      let entries = help.filter { $0.section == section }
      guard !entries.isEmpty else { return nil }
      return [[Panel.Part(text: section.rawValue, style: .strong)]]
        + entries.flatMap { rows(of: $0.text, keys: $0.keys, keyWidth, width) } + [[]]
    }
    return isWide ? beside(blocks, width) : Array(blocks.joined().dropLast())
  }

  private func rows(of text: String, keys: String, _ keyWidth: Int, _ width: Int) -> [Panel.Row] {
    let lines = TextLines.wrapped(text, columns: max(width - keyWidth - 4, 1), limit: 20)
    return lines.enumerated().map { row, line in
      (row == 0 ? [Panel.Part(column: 2, text: keys, style: .strong)] : []) + [
        Panel.Part(column: keyWidth + 4, text: line, style: .plain)
      ]
    }
  }

  /// Puts the blocks into two columns of about the same height.
  private func beside(_ blocks: [[Panel.Row]], _ width: Int) -> [Panel.Row] {
    let half = (blocks.map(\.count).reduce(0, +) + 1) / 2
    var left: [Panel.Row] = []
    var right: [Panel.Row] = []
    for block in blocks {
      if right.isEmpty, left.count + block.count / 2 <= half { left += block } else { right += block }
    }
    return (0..<max(left.count, right.count)).map { row in
      (row < left.count ? left[row] : [])
        + (row < right.count ? right[row] : []).map { part in
          Panel.Part(column: part.column + width + 3, text: part.text, style: part.style)
        }
    }
  }
}
