import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What is to be seen.
extension BoardClient {
  /// The screen as it is to be now.
  ///
  /// - Returns: The screen, and where the terminal's own cursor is to stand; nil hides it.
  package mutating func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    var screen = Screen(width: columns, height: rows)
    if connecting != nil {
      drawConnecting(on: &screen)
      drawQuestion(on: &screen)
      return (screen, nil)
    }
    canvas.paint()
    screen.copy(canvas.screen, to: (boardArea.columns.lowerBound, boardArea.rows.lowerBound))
    drawGesture(on: &screen)
    drawSelections(on: &screen)
    drawCursors(on: &screen)
    if canvas.count == 0, gesture == nil { drawWelcome(on: &screen) }
    if hasPanel { drawPanel(on: &screen) }
    if rows >= 4 { drawTitle(on: &screen) }
    let cursor = drawBottom(on: &screen)
    drawQuestion(on: &screen)
    drawBox(on: &screen)
    drawNotice(on: &screen)
    drawProblem(on: &screen)
    return (screen, cursor ?? typingCell ?? (isKeyboardPen ? pointer.flatMap(cell) : nil))
  }

  /// Where the next letter goes.
  private var typingCell: (x: Int, y: Int)? {
    guard let typing else { return nil }
    guard let id = typing.id, let caret = canvas.caret(in: id, after: typing.caret) else {
      return cell(typing.place)
    }
    let (x, y) = (caret.x + boardArea.columns.lowerBound, caret.y + boardArea.rows.lowerBound)
    return boardArea.contains(x: x, y: y) ? (x, y) : nil
  }

  static let bar = CellStyle(CellColor(rgb: 0xE8E8E8), on: CellColor(rgb: 0x303A46))
  static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  static let strong = CellStyle(.terminal, on: .terminal, .bold)
  static let bad = CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x9A3324))

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
      dot(Self.points(tool, from, to), ink, on: &screen)
    case .band(let from, let to):
      dot(Self.points(.rectangle, from, to), Self.ours, on: &screen)
    case .erase(let path):
      dot(path, Self.removing, on: &screen)
    case .remove(let ids):
      for id in ids {
        guard let frame = frame(of: id) else { continue }
        dot(closed(frame.corners), Self.removing, on: &screen)
      }
    case .drag(let from, let to):
      let moving = moving(from, to)
      for id in selection {
        guard let frame = frame(of: id) else { continue }
        dot(closed(frame.moved(by: moving.offset)), Self.ours, on: &screen)
      }
      let view = canvas.viewport.rectangle
      if let x = moving.x {
        let ends = [Point(x: x, y: view.least.y), Point(x: x, y: view.greatest.y)]
        dot(ends, Self.removing, on: &screen)
      }
      if let y = moving.y {
        let ends = [Point(x: view.least.x, y: y), Point(x: view.greatest.x, y: y)]
        dot(ends, Self.removing, on: &screen)
      }
    case .resize(let resize):
      dot(closed(resize.corners), Self.ours, on: &screen)
    case .turn(let frame, let to):
      dot(closed(frame.turned(byDegrees: degrees(frame, to))), Self.ours, on: &screen)
    case .stroke, .pan, nil: break
    }
  }

  /// What is ours in hand, and what is about to go or is kept to.
  private static let ours: UInt32 = 0x56B4E9
  private static let removing: UInt32 = 0xCC79A7
  private static let laser: UInt32 = 0xFF3030

  private func frame(of id: ObjectID) -> SelectionFrame? {
    canvas.item(id).flatMap { frame(of: [$0.snapshot]) }
  }

  private func closed(_ corners: [Point]) -> [Point] { corners + corners.prefix(1) }

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

  private func drawSelections(on screen: inout Screen) {
    for id in held.sorted() {
      guard let holder = canvas.item(id)?.snapshot.selectedBy?.description,
        let frame = frame(of: id)
      else { continue }
      let isOurs = holder == own
      if isOurs, gesture != nil { continue }
      let rgb = isOurs ? Self.ours : Pens.color(of: holder)
      dot(closed(frame.corners), rgb, on: &screen)
      guard !isOurs, let corner = cell(frame.corners[0]) else { continue }
      let name = people[holder].map { shown($0.name) } ?? String(holder.prefix(8))
      screen.put(" \(name) ", x: corner.x, y: corner.y, label(rgb), in: boardArea)
    }
    guard gesture == nil, let frame = selectionFrame else { return }
    // What the mouse takes hold of.
    let signs: (corner: String, side: String, knob: String) =
      isASCII ? ("#", "+", "o") : ("■", "□", "○")
    let handles = frame.grips.map { ($0.point, $0.value.isCorner ? signs.corner : signs.side) }
    for (place, sign) in handles + [(frame.knob, signs.knob)] {
      guard let cell = cell(place) else { continue }
      screen.put(sign, x: cell.x, y: cell.y, CellStyle(CellColor(rgb: Self.ours)), in: boardArea)
    }
  }

  private func drawCursors(on screen: inout Screen) {
    for (key, person) in people.sorted(by: { $0.key < $1.key }) {
      guard let place = person.presence.cursor, let cell = cell(place) else { continue }
      let rest = now - person.movedAt
      guard rest < Self.pointerRest.gone else { continue }
      if rest >= Self.pointerRest.faded {
        // It says where the person is, and covers nothing.
        guard screen[cell.x, cell.y].glyph == .space else { continue }
        let style = CellStyle(CellColor(rgb: Pens.color(of: key)), on: .terminal, .dim)
        screen.put(isASCII ? "^" : "▲", x: cell.x, y: cell.y, style, in: boardArea)
        continue
      }
      let style = label(Pens.color(of: key))
      if person.presence.isLaser, allowsMotion { dot(person.trail, Self.laser, on: &screen) }
      let sign =
        person.presence.isLaser ? (isASCII ? "*" : "✶") : (isASCII ? "^" : "▲")
      screen.put(
        sign,
        x: cell.x,
        y: cell.y,
        CellStyle(CellColor(rgb: Pens.color(of: key))),
        in: boardArea
      )
      // Beside the pointer, so that what is pointed at can be read.
      let isLast = cell.y + 1 >= boardArea.rows.upperBound
      let row = isLast ? cell.y - 1 : cell.y + 1
      screen.put(shown(person.name), x: cell.x + 1, y: row, style, in: boardArea)
    }
  }

  /// When a pointer that does not move loses its name and leaves what is below it in sight, and when it
  /// is no longer drawn.
  static let pointerRest = (faded: Duration.seconds(3), gone: Duration.seconds(15))

  private func label(_ rgb: UInt32) -> CellStyle {
    // Few bytes, for cursors move often; and seen on any ground.
    CellStyle(CellColor(rgb: rgb), on: .terminal, .reversed)
  }

  private func drawWelcome(on screen: inout Screen) {
    let lines = [
      "Drag to draw. \(key(.tool(.text))) writes, \(key(.tool(.select))) selects, "
        + "\(key(.undo)) takes back.",
      people.isEmpty ? "\(key(.invite)) shows how others join." : "",
      "\(key(.menu)) shows what can be done, \(key(.help)) all keys. "
        + (saveState == .saved ? "Everything is saved as it happens." : ""),
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
    var x = 0
    for (text, style) in titleLead { x = screen.put(text, x: x, y: 0, style, in: area) }
    drawToolButtons(on: &screen)
    let right = titleTail
    let start = max(x, columns - CharacterWidth.columns(right) - 2)
    let sign = CellStyle(
      ink.map { CellColor(rgb: $0) } ?? Self.bar.foreground,
      on: Self.bar.background
    )
    screen.put(isASCII ? "*" : "●", x: start, y: 0, sign, in: area)
    screen.put(right, x: start + 2, y: 0, Self.bar, in: area)
  }

  /// What stands at the left of the title: the board, the people, and what waits for us.
  private var titleLead: [(text: String, style: CellStyle)] {
    let count = people.count + 1
    let missing = missing
    let who =
      count > 1
      ? "\(count) people"
      : missing.isEmpty ? "only you" : "Looking for \(EventText.listed(missing)) …"
    var lead = [
      (" \(shown(boardName)) ", Self.bar.bold), (" \(isASCII ? "*" : "●") \(who)", Self.bar),
    ]
    if !ourTurns.isEmpty { lead.append(("  Your turn: \(key(.connectFour))", Self.bar.bold)) }
    if unreadLines > 0, !hasPanel {
      lead.append(("  \(unreadLines) new in chat: \(key(.readChat))", Self.bar.bold))
    }
    return lead
  }

  /// How wide the left of the title is.
  var titleLeadWidth: Int { titleLead.map { CharacterWidth.columns($0.text) }.reduce(0, +) }

  /// What stands at the right of the title: as much of ``titleEnd`` as there is room for.
  var titleTail: String {
    let room = columns - titleLeadWidth - 3
    let candidates = [titleEnd, "\(tool.rawValue)  \(Pens.name(of: ink)) ", "\(tool.rawValue) "]
    return candidates.first { CharacterWidth.columns($0) <= room } ?? candidates[2]
  }

  /// The text at the right of the title.
  var titleEnd: String {
    let zoom = Int((canvas.viewport.zoom * 100).rounded())
    let following =
      followed.flatMap { people[$0] }.map { "following \(shown($0.name))  " } ?? ""
    return
      "\(following)\(tool.rawValue)  \(Pens.name(of: ink)) \(DecimalText.hundredths(width))  \(zoom)% "
  }

  private func drawPanel(on screen: inout Screen) {
    let left = columns - Self.panelWidth
    let (top, height) = (boardArea.rows.lowerBound, boardArea.height)
    let area = CellArea(x: left, y: top, width: Self.panelWidth, height: height)
    for y in area.rows { screen.put(isASCII ? "|" : "│", x: left, y: y, Self.quiet, in: area) }
    let inner = CellArea(x: left + 2, y: top, width: Self.panelWidth - 2, height: height)
    var y = inner.rows.lowerBound
    func put(_ text: String, _ style: CellStyle, _ screen: inout Screen) {
      guard inner.rows.contains(y) else { return }
      screen.put(text, x: inner.columns.lowerBound, y: y, style, in: inner)
      y += 1
    }
    put("people", Self.quiet, &screen)
    let ours = CellStyle(CellColor(rgb: Pens.color(of: own)))
    put("\(isASCII ? "*" : "●") you", ours.bold, &screen)
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
    if let notice, !isNoticeBoxed {
      let style = notice.kind == .problem ? Self.bad : Self.bar
      screen.fill(area, with: Cell(.space, style))
      screen.put(" \(noticeLine)", x: 0, y: y, style, in: area)
      return nil
    }
    screen.fill(area, with: Cell(.space, Self.bar))
    let style = saveState?.problem == nil ? Self.bar : Self.bad
    let x = screen.put(" \(status) ", x: 0, y: y, style, in: area) - 1
    // The longest that there is room for.
    for hints in [hints, always] {
      let start = columns - CharacterWidth.columns(hints) - 1
      guard start > x + 2 else { continue }
      screen.put(hints, x: start, y: y, Self.bar, in: area)
      break
    }
    return nil
  }

  /// How things stand, in plain words.
  private var status: String {
    let others = othersWords
    if let problem = saveState?.problem { return "\(problem.headline); \(others)" }
    let away = people.filter { $0.value.state != .connected }.sorted { $0.key < $1.key }
    if let (_, person) = away.first, let since = person.silentSince {
      let seconds = Int((now - since) / .seconds(1))
      let kept =
        person.waitingChanges == 0
        ? "your changes are kept"
        : person.waitingChanges == 1
          ? "1 change waiting" : "\(person.waitingChanges) changes waiting"
      return "\(shown(person.name)) unreachable for \(seconds) s; \(kept)"
    }
    guard let saveState else { return others }
    let words = requests.count == 0 ? saveState.words : "saving \(requests.count)"
    return "\(words); \(others)"
  }

  /// The state of the other members.
  private var othersWords: String {
    if let removalWords { return removalWords }
    if lacksBoard {
      let names = people.values.map { shown($0.name) }.sorted()
      return names.isEmpty
        ? "looking for the others" : "getting the board from \(EventText.listed(names))"
    }
    let missing = missing
    guard people.isEmpty else { return "synced with \(people.count)" }
    return missing.isEmpty
      ? "no other members" : "looking for \(EventText.listed(missing))"
  }

  /// What keys do now.
  private var hints: String {
    if typing != nil { return "type  Enter done  Alt+Enter new line" }
    if isKeyboardPen {
      return "arrows move  Space \(gesture == nil ? "press" : "let go")  \(key(.keyboardPen)) done"
    }
    if !selection.isEmpty {
      return "arrows move  \(key(.delete)) delete  \(key(.duplicate)) duplicate  "
        + "\(key(.turn(degrees: -15))) \(key(.turn(degrees: 15))) turn  "
        + "\(key(.menu)) more  \(key(.selectNone)) let go"
    }
    return "\(tool.rawValue): \(tool.hint)  \(always)"
  }

  /// The keys that show all others.
  private var always: String { "\(key(.menu)) menu  \(key(.help)) keys" }

  private func key(_ command: KeyMap.Command) -> String { keys.key(for: command) ?? ":" }
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
    notice != nil || connecting != nil
      || people.values.contains { person in
        person.silentSince != nil
          || person.presence.cursor != nil && now - person.movedAt <= Self.pointerRest.gone
      }
  }
}
