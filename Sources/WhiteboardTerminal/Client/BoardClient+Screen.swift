import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What is to be seen.
extension BoardClient {
  /// The screen as it is to be now.
  ///
  /// - Returns: The screen, and where the terminal's own cursor is to stand; nil hides it.
  package mutating func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    canvas.paint()
    var screen = Screen(width: columns, height: rows)
    screen.copy(canvas.screen, to: (boardArea.columns.lowerBound, boardArea.rows.lowerBound))
    drawGesture(on: &screen)
    drawSelections(on: &screen)
    drawCursors(on: &screen)
    if canvas.count == 0, gesture == nil { drawWelcome(on: &screen) }
    if hasPanel { drawPanel(on: &screen) }
    if rows >= 4 { drawTitle(on: &screen) }
    let cursor = drawBottom(on: &screen)
    if let invitation = invitations.first { drawInvitation(invitation, on: &screen) }
    if isInviteShown { drawBox(inviteLines, on: &screen) }
    if isHelpShown { drawBox(helpLines, on: &screen) }
    if let cursor { return (screen, cursor) }
    return (screen, isKeyboardPen ? pointer.flatMap(cell) : nil)
  }

  private static let bar = CellStyle(CellColor(rgb: 0xE8E8E8), on: CellColor(rgb: 0x303A46))
  private static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  private static let strong = CellStyle(.terminal, on: .terminal, .bold)
  private static let bad = CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x9A3324))

  /// The cell of the terminal where a place of the board shows; nil outside.
  private func cell(_ place: Point) -> (x: Int, y: Int)? {
    let cell = canvas.viewport.cell(of: place)
    let (x, y) = (cell.x + boardArea.columns.lowerBound, cell.y + boardArea.rows.lowerBound)
    return boardArea.contains(x: x, y: y) ? (x, y) : nil
  }

  // MARK: - On the board

  private func drawGesture(on screen: inout Screen) {
    switch gesture {
    case .shape(let tool, let from, let to):
      dot(Self.points(tool, from, to), Pens.colors[color].rgb, on: &screen)
    case .band(let from, let to):
      dot(Self.points(.rectangle, from, to), 0x56B4E9, on: &screen)
    case .erase(let path):
      dot(path, 0xCC79A7, on: &screen)
    case .drag(let from, let to):
      let (dx, dy) = (to.x - from.x, to.y - from.y)
      for id in selection {
        guard let snapshot = canvas.item(id)?.snapshot else { continue }
        outline(snapshot, by: Point(x: dx, y: dy), 0x56B4E9, on: &screen)
      }
    case .stroke, .pan, nil: break
    }
  }

  /// Marks a path by dots, cell by cell.
  private func dot(_ points: [Point], _ rgb: UInt32?, on screen: inout Screen) {
    let style = CellStyle(rgb.map { CellColor(rgb: $0) } ?? .terminal)
    guard var last = points.first else { return }
    for next in points.dropFirst() + (points.count == 1 ? [last] : []) {
      let from = canvas.viewport.dot(of: last)
      let to = canvas.viewport.dot(of: next)
      let count = Int(min(max(abs(to.x - from.x) / 2, abs(to.y - from.y) / 4), 1000)) + 1
      for step in 0...count {
        let share = Double(step) / Double(count)
        let place = Point(
          x: last.x + (next.x - last.x) * share,
          y: last.y + (next.y - last.y) * share
        )
        if let cell = cell(place) { screen.put(isASCII ? "." : "·", x: cell.x, y: cell.y, style) }
      }
      last = next
    }
  }

  private func outline(
    _ snapshot: ObjectSnapshot,
    by offset: Point,
    _ rgb: UInt32,
    on screen: inout Screen
  ) {
    let rotation = snapshot.rotation
    let (width, height) = (snapshot.size.width / 2, snapshot.size.height / 2)
    let corners = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1), (-1, -1)].map { x, y in
      let corner = snapshot.shown(
        Point(x: x * width, y: y * height),
        sine: rotation.sine,
        cosine: rotation.cosine
      )
      return Point(x: corner.x + offset.x, y: corner.y + offset.y)
    }
    dot(corners, rgb, on: &screen)
  }

  private func drawSelections(on screen: inout Screen) {
    for id in held.sorted() {
      guard let snapshot = canvas.item(id)?.snapshot, let holder = snapshot.selectedBy?.description
      else { continue }
      let isOurs = holder == own
      if isOurs, case .drag = gesture { continue }
      let rgb = isOurs ? 0x56B4E9 : Pens.color(of: holder)
      outline(snapshot, by: Point(x: 0, y: 0), rgb, on: &screen)
      guard !isOurs, let corner = cell(snapshot.bounds.least) else { continue }
      let name = people[holder].map { shown($0.name) } ?? String(holder.prefix(8))
      screen.put(" \(name) ", x: corner.x, y: corner.y, label(rgb), in: boardArea)
    }
  }

  private func drawCursors(on screen: inout Screen) {
    for (key, person) in people.sorted(by: { $0.key < $1.key }) {
      guard let place = person.cursor, let cell = cell(place) else { continue }
      let style = label(Pens.color(of: key))
      screen.put(isASCII ? "^" : "▲", x: cell.x, y: cell.y, style, in: boardArea)
      // Beside the pointer, so that what is pointed at can be read.
      let isLast = cell.y + 1 >= boardArea.rows.upperBound
      let row = isLast ? cell.y - 1 : cell.y + 1
      screen.put(shown(person.name), x: cell.x + 1, y: row, style, in: boardArea)
    }
  }

  private func label(_ rgb: UInt32) -> CellStyle {
    CellStyle(CellColor(rgb: 0), on: CellColor(rgb: rgb), .bold)
  }

  private func drawWelcome(on screen: inout Screen) {
    let lines = [
      "Drag to draw. t writes, v selects, u takes back.",
      people.isEmpty ? "i shows how others join." : "",
      "? shows all keys. Everything is saved as it happens.",
    ].filter { !$0.isEmpty }
    let top = boardArea.rows.lowerBound + (boardArea.height - lines.count) / 2
    for (row, line) in lines.enumerated() {
      let x = boardArea.columns.lowerBound + (boardArea.width - line.count) / 2
      screen.put(line, x: max(x, 0), y: top + row, Self.quiet, in: boardArea)
    }
  }

  // MARK: - Around the board

  private func drawTitle(on screen: inout Screen) {
    let area = CellArea(x: 0, y: 0, width: columns, height: 1)
    screen.fill(area, with: Cell(.space, Self.bar))
    let dot = isASCII ? "*" : "●"
    let count = people.count + 1
    let who = count == 1 ? "only you" : "\(count) people"
    let x = screen.put(" \(shown(boardName)) ", x: 0, y: 0, Self.bar.bold, in: area)
    screen.put(" \(dot) \(who)", x: x, y: 0, Self.bar, in: area)
    let pen = Pens.colors[color]
    let zoom = Int((canvas.viewport.zoom * 100).rounded())
    let right = "\(tool.rawValue)  \(pen.name) \(Self.text(width))  \(zoom)% "
    let start = max(x, columns - right.count - 2)
    let sign = CellStyle(
      pen.rgb.map { CellColor(rgb: $0) } ?? Self.bar.foreground,
      on: Self.bar.background
    )
    screen.put(dot, x: start, y: 0, sign, in: area)
    screen.put(right, x: start + 2, y: 0, Self.bar, in: area)
  }

  private func drawPanel(on screen: inout Screen) {
    let left = columns - Self.panelWidth
    let area = CellArea(x: left, y: 1, width: Self.panelWidth, height: rows - 2)
    for y in area.rows { screen.put(isASCII ? "|" : "│", x: left, y: y, Self.quiet, in: area) }
    let inner = CellArea(x: left + 2, y: 1, width: Self.panelWidth - 2, height: rows - 2)
    var y = inner.rows.lowerBound
    func put(_ text: String, _ style: CellStyle, _ screen: inout Screen) {
      guard inner.rows.contains(y) else { return }
      screen.put(text, x: inner.columns.lowerBound, y: y, style, in: inner)
      y += 1
    }
    put("people", Self.quiet, &screen)
    put("\(isASCII ? "*" : "●") you", Self.strong, &screen)
    for (key, person) in people.sorted(by: { $0.key < $1.key }).prefix(8) {
      let isHere = person.state == .connected
      let sign = isHere ? (isASCII ? "*" : "●") : (isASCII ? "o" : "○")
      let icon = person.icon.map { " \($0)" } ?? ""
      let silent = person.silentSince.map { " \(Int((now - $0) / .seconds(1))) s" } ?? ""
      let style = CellStyle(CellColor(rgb: Pens.color(of: key)))
      put("\(sign) \(shown(person.name))\(icon)\(isHere ? "" : silent)", style, &screen)
    }
    put(String(repeating: isASCII ? "-" : "─", count: inner.width), Self.quiet, &screen)
    let lines = remarks.suffix(inner.height).flatMap { remark in
      let lead = remark.who.isEmpty ? "" : "\(shown(remark.who)): "
      let text = TerminalText.cleaned(remark.text, limit: 500)
      return wrapped(lead + text, columns: inner.width).map { line in
        (
          line,
          remark.key.isEmpty ? Self.quiet : CellStyle(CellColor(rgb: Pens.color(of: remark.key)))
        )
      }
    }
    for (line, style) in lines.suffix(max(0, inner.rows.upperBound - y)) {
      put(line, style, &screen)
    }
  }

  /// The line at the bottom: what is typed, or how things stand and what keys do.
  private func drawBottom(on screen: inout Screen) -> (x: Int, y: Int)? {
    let y = rows - 1
    let area = CellArea(x: 0, y: y, width: columns, height: 1)
    if let editor {
      screen.fill(area, with: Cell(.space, Self.bar))
      return editor.draw(on: &screen, in: area, Self.bar)
    }
    if let notice {
      let style = notice.isBad ? Self.bad : Self.bar
      screen.fill(area, with: Cell(.space, style))
      screen.put(" \(TerminalText.cleaned(notice.text, limit: 500))", x: 0, y: y, style, in: area)
      return nil
    }
    screen.fill(area, with: Cell(.space, Self.bar))
    let x = screen.put(" \(status)", x: 0, y: y, Self.bar, in: area)
    let hints = self.hints
    let start = columns - CharacterWidth.columns(hints) - 1
    if start > x + 2 { screen.put(hints, x: start, y: y, Self.bar, in: area) }
    return nil
  }

  /// How things stand, in plain words.
  private var status: String {
    let away = people.filter { $0.value.state != .connected }.sorted { $0.key < $1.key }
    if let (_, person) = away.first, let since = person.silentSince {
      let seconds = Int((now - since) / .seconds(1))
      return "\(shown(person.name)) unreachable for \(seconds) s; your changes are kept"
    }
    let saved = waiting.isEmpty ? "saved" : "saving \(waiting.count)"
    return people.isEmpty
      ? "\(saved); nobody else is here" : "\(saved); synced with \(people.count)"
  }

  /// What keys do now.
  private var hints: String {
    if isKeyboardPen { return "arrows move  Space pen up or down  ; done" }
    if !selection.isEmpty { return "arrows move  x delete  d duplicate  . , turn  Esc let go" }
    return "\(tool.rawValue): \(tool.hint)  : command  ? keys"
  }

  // MARK: - Boxes

  private func drawInvitation(_ invitation: NodeEvent.Invitation, on screen: inout Screen) {
    let who = EventText.person(invitation.name, invitation.peer)
    var lines = [
      invitation.direction == .incoming ? "\(who) asks to join." : "Joining \(who)."
    ]
    if let words = invitation.words {
      lines += ["Both screens must show these words:", "", "  \(shown(words))", ""]
    }
    if let warning = invitation.warning { lines.append(TerminalText.cleaned(warning, limit: 200)) }
    lines.append("y yes   n no")
    drawBox(lines, on: &screen)
  }

  private var inviteLines: [String] {
    var lines = ["People nearby see \(shown(boardName)) in whiteboard-peer.", ""]
    if let code { lines += ["The code: \(code)", ""] }
    lines += ["From elsewhere:", "whiteboard-peer join '\(link)'"]
    return lines
  }

  private var helpLines: [String] {
    KeyMap.bindings.compactMap { binding in
      guard !binding.help.isEmpty else { return nil }
      if case .tool = binding.command { return "\(binding.keys[0])  \(binding.help)" }
      let isSelfExplaining =
        binding.help.first.map { !$0.isLowercase } ?? false || binding.keys.isEmpty
      return isSelfExplaining || binding.help.contains(binding.keys[0] + " ")
        ? binding.help : "\(binding.keys[0])  \(binding.help)"
    }
  }

  private func drawBox(_ lines: [String], on screen: inout Screen) {
    let shown = lines.flatMap { wrapped($0, columns: max(columns - 6, 8)) }
    let width = min((shown.map { CharacterWidth.columns($0) }.max() ?? 0) + 4, columns)
    let height = min(shown.count + 2, rows)
    let area = CellArea(
      x: (columns - width) / 2,
      y: max(0, (rows - height) / 2),
      width: width,
      height: height
    )
    screen.fill(area, with: Cell(.space, Self.bar))
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
  }

  private func wrapped(_ text: String, columns: Int) -> [String] {
    TextLines.wrapped(text, columns: columns, limit: 100)
  }
}

extension CellStyle {
  /// The same, bold.
  var bold: CellStyle {
    var style = self
    style.attributes.insert(.bold)
    return style
  }
}

extension BoardClient {
  /// Whether something on the screen changes with time alone.
  package var isTicking: Bool {
    notice != nil || people.values.contains { $0.silentSince != nil }
  }
}
