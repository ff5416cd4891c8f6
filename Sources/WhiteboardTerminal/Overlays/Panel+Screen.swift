import WhiteboardRendering

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
    case .keys: rows.rows(of: keys)
    case .chat: rows.rows(of: chat)
    }
  }

  private func drawFrame(on screen: inout Screen, _ area: CellArea, _ keys: KeyMap, isASCII: Bool) {
    screen.frame(area, .bar, isASCII: isASCII)
    let (top, bottom) = (area.rows.lowerBound, area.rows.upperBound - 1)
    let (left, width) = (area.columns.lowerBound, area.width - 2)
    let head = CellArea(x: left + 1, y: top, width: width, height: 1)
    screen.put(" \(title) ", x: left + 2, y: top, CellStyle.bar.bold, in: head)
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
    let reply = content == .chat ? "\(keys.key(for: .chat) ?? "Enter") reply  " : ""
    let arrows = isASCII ? "arrows" : "↑↓"
    return [
      " \(arrows) PgUp PgDn Home End scroll  \(reply)Esc closes ", " \(arrows) PgUp PgDn  \(reply)Esc closes ",
      " \(reply)Esc closes ",
    ]
  }
}
