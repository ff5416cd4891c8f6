import QRCode
import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What lies over the board: questions, the menu, the keys, and how others join.
extension BoardClient {
  func drawInvitation(_ invitation: NodeEvent.Invitation, on screen: inout Screen) {
    let who = EventText.person(invitation.name, invitation.peer)
    var lines = [
      invitation.direction == .incoming ? "\(who) asks to join." : "Joining \(who)."
    ]
    if let words = invitation.words {
      lines += ["Both screens must show these words:", "", "  \(shown(words))", ""]
    }
    if let warning = invitation.warning { lines.append(TerminalText.cleaned(warning, limit: 200)) }
    lines.append("y yes   n no")
    draw(lines, on: &screen)
  }

  mutating func drawBox(on screen: inout Screen) {
    switch box {
    case .help(let first): drawHelp(from: first, on: &screen)
    case .invite: drawInvite(on: &screen)
    case .menu(let menu): draw(menu, on: &screen)
    case .unsaved: draw(unsavedLines, on: &screen)
    case nil: break
    }
  }

  private var inviteLines: [String] {
    guard !link.isEmpty else {
      return [
        "This copy is offline: other peers cannot join it.", "",
        "To invite them, open the board without --offline.",
      ]
    }
    var lines: [String] = []
    if isAnnounced && !isDiscoveryMissing {
      lines += ["People nearby see \(shown(boardName)) in whiteboard-peer.", ""]
    }
    if let code { lines += ["The code: \(code)", ""] }
    lines += ["From elsewhere:", "whiteboard-peer join '\(link)'"]
    return lines
  }

  /// How others join, with a QR code of the link beside it where there is room.
  private func drawInvite(on screen: inout Screen) {
    // Without colours the light modules must be the characters, for most terminals are dark.
    let hasCode = !isASCII && !link.isEmpty
    let code =
      hasCode ? (try? QRSymbol(link).lines(isInverted: canvas.isMonochrome)) ?? [] : []
    let codeWidth = code.first?.count ?? 0
    let room = columns - codeWidth - 7
    guard !code.isEmpty, code.count + 2 <= rows, room >= 24 else {
      draw(inviteLines, on: &screen)
      return
    }
    let words = inviteLines.flatMap { wrapped($0, columns: min(room, 44)) }
    let width = words.map { CharacterWidth.columns($0) }.max() ?? 0
    let height = max(words.count, code.count)
    let rest = (words.count..<height).map { _ in "" }
    let area = draw(words + rest, atLeast: width + 1 + codeWidth, on: &screen)
    let ink = CellStyle(CellColor(rgb: 0), on: CellColor(rgb: 0xFFFFFF))
    for (row, line) in code.enumerated() {
      screen.put(
        line,
        x: area.columns.upperBound - 1 - codeWidth,
        y: area.rows.lowerBound + row,
        canvas.isMonochrome ? .plain : ink,
        in: area
      )
    }
  }

  // MARK: - Help

  /// The keys in as many columns as there is room for, and the rest by going down.
  private mutating func drawHelp(from first: Int, on screen: inout Screen) {
    let entries = keys.help
    let keyWidth = entries.map { CharacterWidth.columns($0.keys) }.max() ?? 0
    let lines = entries.map { entry in
      entry.keys + String(repeating: " ", count: keyWidth - CharacterWidth.columns(entry.keys) + 2)
        + entry.what
    }
    let room = max(columns - 6, 8)
    let width = min(lines.map { CharacterWidth.columns($0) }.max() ?? 0, room)
    let across = max(1, (room + 3) / (width + 3))
    // What does not fit says so in one line more.
    let fits = max(rows - 2, 1) * across >= lines.count
    let height = max(rows - (fits ? 2 : 3), 1)
    let start = min(first, max(0, lines.count - height * across))
    box = .help(from: start)
    let shown = lines[start...].prefix(height * across).map { line in
      let line = TextLines.cut(line, columns: width)
      return line + String(repeating: " ", count: width - CharacterWidth.columns(line))
    }
    let down = (shown.count + across - 1) / across
    var page = (0..<down).map { row in
      stride(from: row, to: shown.count, by: down).map { shown[$0] }.joined(separator: "   ")
    }
    if !fits {
      page.append("\(start + shown.count) of \(lines.count); arrows show the others")
    }
    draw(page, on: &screen)
  }

  // MARK: - Menu

  /// Where a menu is shown.
  func area(of menu: Menu) -> CellArea {
    let width = (menu.items.map { CharacterWidth.columns($0.words) }.max() ?? 0) + 12
    let height = menu.items.count + 2
    let corner = menu.cell ?? Menu.Cell(x: 2, y: rows)
    return CellArea(
      x: max(0, min(corner.x + 1, columns - width)),
      y: max(0, min(corner.y, rows - 1 - height)),
      width: min(width, columns),
      height: min(height, rows)
    )
  }

  /// The item of the menu that is shown at a cell.
  func menuRow(at x: Int, _ y: Int) -> Int? {
    guard case .menu(let menu) = box else { return nil }
    let inner = area(of: menu).inset(by: 1)
    return inner.contains(x: x, y: y) ? y - inner.rows.lowerBound : nil
  }

  private func draw(_ menu: Menu, on screen: inout Screen) {
    let area = area(of: menu)
    screen.fill(area, with: .init(.space, Self.bar))
    screen.frame(area, Self.bar, isASCII: isASCII)
    let inner = area.inset(by: 1)
    for (index, item) in menu.items.prefix(inner.height).enumerated() {
      let y = inner.rows.lowerBound + index
      var style = Self.bar
      if index == menu.chosen { style.attributes.insert(.reversed) }
      let row = CellArea(x: inner.columns.lowerBound, y: y, width: inner.width, height: 1)
      screen.fill(row, with: .init(.space, style))
      let key = keys.key(for: item.command) ?? ""
      screen.put(" \(key)", x: row.columns.lowerBound, y: y, style.bold, in: row)
      screen.put(item.words, x: row.columns.lowerBound + 8, y: y, style, in: row)
    }
  }

  // MARK: - Frames

  /// Draws lines in a frame in the middle; where their area is.
  @discardableResult
  private func draw(
    _ lines: [String],
    atLeast least: Int = 0,
    on screen: inout Screen
  ) -> CellArea {
    let shown = lines.flatMap { wrapped($0, columns: max(columns - 6, 8)) }
    let widest = max(shown.map { CharacterWidth.columns($0) }.max() ?? 0, least)
    let width = min(widest + 4, columns)
    let height = min(shown.count + 2, rows)
    let area = CellArea(
      x: (columns - width) / 2,
      y: max(0, (rows - height) / 2),
      width: width,
      height: height
    )
    screen.fill(area, with: .init(.space, Self.bar))
    screen.frame(area, Self.bar, isASCII: isASCII)
    let inner = area.inset(by: 1)
    for (row, line) in shown.prefix(inner.height).enumerated() {
      screen.put(
        line,
        x: inner.columns.lowerBound + 1,
        y: inner.rows.lowerBound + row,
        Self.bar,
        in: inner
      )
    }
    return inner
  }

  func wrapped(_ text: String, columns: Int) -> [String] {
    TextLines.wrapped(text, columns: columns, limit: 100)
  }
}
