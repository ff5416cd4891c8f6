import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

extension PlayerClient {
  package mutating func frame() -> Screen {
    canvas.paint(BoardCanvas.frameWork)
    var screen = Screen(width: columns, height: rows)
    screen.copy(canvas.screen, to: (0, 0))
    putPointers(&screen)
    canvas.setBackground(of: &screen, in: canvas.screen.area)
    putChat(&screen)
    if showsKeys { putKeys(&screen) }
    if rows >= 3 { activity.draw(on: &screen, row: rows - 2, position: position, isASCII: isASCII) }
    if rows >= 2 { putStatus(&screen) }
    return screen
  }

  private func putStatus(_ screen: inout Screen) {
    let sign = isPlaying ? (isASCII ? ">" : "▶") : (isASCII ? "=" : "⏸")
    let pace = Self.speeds[speed]
    var words = [
      "\(sign) \(Recording.text(Int64(position))) / \(Recording.text(recording.duration))",
      "\(pace < 1 ? "\(pace)" : "\(Int(pace))")x", "step \(stepIndex) of \(recording.count)",
    ]
    if let shownAuthor { words.append("only \(name(of: shownAuthor))") }
    if followsChanges { words.append("following") }
    if skipsIdle { words.append("no pauses") }
    if let loop {
      words.append("loop \(Recording.text(loop.from))" + (loop.to.map { " to \(Recording.text($0))" } ?? " to ]"))
    }
    if !recording.history.damages.isEmpty { words.append("DAMAGED") }
    if let notice, elapsed - notice.since < Self.messageTime { words.append(notice.text) }
    var style = CellStyle.plain
    style.attributes = .bold
    let end = screen.put(words.joined(separator: "  "), x: 0, y: rows - 1, style)
    style.attributes = .dim
    // As many hints as fit. The key ? shows all keys.
    let arrows = isASCII ? ["arrows seek, speed"] : ["↑↓ speed", "←→ seek"]
    let keys = ["q leave", "? keys", "space"] + arrows + [",. step", "i pauses", "n marker", "p person"]
    var hint = ""
    for key in keys where end + hint.count + key.count + 3 <= columns { hint += "   " + key }
    screen.put(hint, x: end, y: rows - 1, style)
  }

  private func putPointers(_ screen: inout Screen) {
    let area = CellArea(x: 0, y: 0, width: columns, height: max(rows - 2, 1))
    for (member, presence) in recording.presence.shown(at: Int64(position)) {
      guard shownAuthor == nil || shownAuthor == member, let place = presence.cursor else { continue }
      let cell = canvas.viewport.cell(of: place)
      guard area.contains(x: cell.x, y: cell.y) else { continue }
      let color = CellColor(rgb: Pens.color(of: member))
      let sign = presence.isLaser ? (isASCII ? "*" : "✶") : (isASCII ? "^" : "▲")
      screen.put(sign, x: cell.x, y: cell.y, CellStyle(color), in: area)
      let row = cell.y + 1 >= area.rows.upperBound ? cell.y - 1 : cell.y + 1
      let label = CellStyle(color, on: .terminal, .reversed)
      screen.put(name(of: member), x: cell.x + 1, y: row, label, in: area)
    }
  }

  private func putChat(_ screen: inout Screen) {
    guard rows >= 4, let chatLine, elapsed - chatLine.since < Self.messageTime else { return }
    let area = CellArea(x: 0, y: rows - 3, width: columns, height: 1)
    let author = UntrustedText(chatLine.line.name ?? name(of: chatLine.line.author))
    let style = CellStyle(CellColor(rgb: Pens.color(of: chatLine.line.author)), on: .terminal, .reversed)
    let x = screen.put(" \(author) ", x: 0, y: rows - 3, style, in: area)
    let words = UntrustedText(chatLine.line.text).escaped(limit: 256)
    screen.put(" \(words) ", x: x, y: rows - 3, CellStyle.plain, in: area)
  }

  private func putKeys(_ screen: inout Screen) {
    let width = min(columns, (Self.keys.map(\.count).max() ?? 0) + 4)
    let height = min(rows, Self.keys.count + 2)
    let area = CellArea(x: (columns - width) / 2, y: 0, width: width, height: height)
    var style = CellStyle.plain
    style.attributes = .reversed
    screen.fill(area, with: ScreenCell(.space, style))
    for (row, line) in Self.keys.enumerated() {
      screen.put(line, x: area.columns.lowerBound + 2, y: row + 1, style, in: area)
    }
  }

  package static let keys = [
    "space            play and pause", "up, down         faster or slower, from 0.1x to 64x",
    "left, right      go back or forward 5 seconds; with Shift, a minute",
    ", .              go back or forward one step", "0 to 9           go to 0% to 90%; Home: the start; End: the end",
    "n N              go to the next or the previous marker", "i                skip pauses",
    "[ ] \\            set the start and the end of a loop; end the loop",
    "p f              show only one member's objects; follow the changes",
    "h j k l z        move the view, show everything; the wheel zooms", "?                show all keys",
    "q, Escape        leave",
  ]
}
