import QRCode
import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// What lies over the board: questions, the menu, the keys, and how others join.
extension BoardClient {
  private func drawInvitation(_ invitation: NodeEvent.Invitation, on screen: inout Screen) {
    let who = EventText.person(invitation.name, invitation.peer)
    var lines = [
      invitation.direction == .incoming ? "\(who) asks to join." : "Joining \(who)."
    ]
    if invitation.direction == .incoming, invitation.known == true {
      lines += ["This key is known from before."]
      lines += invitation.words.map { ["To compare words anyway:", "", "  \(shown($0))"] } ?? []
      lines += [""]
    } else if let words = invitation.words {
      lines += ["Both screens must show these words:", "", "  \(shown(words))", ""]
    }
    if let warning = invitation.warning { lines.append(TerminalText.cleaned(warning, limit: 200)) }
    lines.append(
      invitation.direction == .incoming
        ? "y yes   A always admit \(EventText.shortName(invitation.name, who))   n no"
        : "y yes   n no"
    )
    draw(lines, on: &screen)
  }

  /// Draws the first question that waits for an answer.
  func drawQuestion(on screen: inout Screen) {
    if let invitation = invitations.first {
      drawInvitation(invitation, on: &screen)
    } else if let offer = fileOffers.first {
      draw([EventText.offerLine(offer), "", "y accept   n decline"], on: &screen)
    }
  }

  mutating func drawBox(on screen: inout Screen) {
    if removalShown != nil { draw(removalLines, on: &screen) }
    switch box {
    case .panel(let panel): drawPanel(panel, on: &screen)
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
  private mutating func drawInvite(on screen: inout Screen) {
    // Without colours the light modules must be the characters, for most terminals are dark.
    let hasCode = !isASCII && !link.isEmpty
    let code =
      hasCode ? (try? QRSymbol(link).lines(isInverted: canvas.isMonochrome)) ?? [] : []
    let codeWidth = code.first?.count ?? 0
    let room = columns - codeWidth - 7
    guard !code.isEmpty, code.count + 2 <= rows, room >= 24 else {
      // Lines that do not fit are scrolled, because half a link is useless.
      if inviteLines.flatMap({ wrapped($0, columns: max(columns - 6, 8)) }).count + 2 > rows {
        let panel = Panel("Invite", .lines(inviteLines))
        box = .panel(panel)
        drawPanel(panel, on: &screen)
      } else {
        draw(inviteLines, on: &screen)
      }
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

  // MARK: - Menu

  /// The item of the menu that is shown at a cell.
  func menuRow(at x: Int, _ y: Int) -> Int? {
    guard case .menu(let menu) = box else { return nil }
    let layout = layout(of: menu)
    return layout.visible.first { layout.cells(of: $0).contains(x: x, y: y) }
  }

  private func draw(_ menu: Menu, on screen: inout Screen) {
    let layout = layout(of: menu)
    let area = layout.area
    screen.fill(area, with: .init(.space, Self.bar))
    screen.frame(area, Self.bar, isASCII: isASCII)
    for index in layout.visible {
      let item = menu.items[index]
      var style = Self.bar
      if index == menu.chosen { style.attributes.insert(.reversed) }
      let row = layout.cells(of: index)
      let (x, y) = (row.columns.lowerBound, row.rows.lowerBound)
      screen.fill(row, with: .init(.space, style))
      let key = keys.key(for: item.command) ?? ""
      screen.put(" \(key)", x: x, y: y, style.bold, in: row)
      screen.put(item.words, x: x + 8, y: y, style, in: row)
    }
    guard layout.visible.count < menu.items.count else { return }
    let (first, last) = (layout.visible.lowerBound + 1, layout.visible.upperBound)
    screen.put(
      " \(first)\(isASCII ? "-" : "–")\(last) of \(menu.items.count) ",
      x: area.columns.lowerBound + 2,
      y: area.rows.upperBound - 1,
      Self.bar.bold,
      in: area
    )
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
