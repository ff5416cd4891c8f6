import Whiteboard
import WhiteboardRendering

/// The members and the chat beside the board.
struct SidePanel {
  let layout: ScreenLayout
  let ownID: MemberID?
  let members: Members
  let chat: ChatLog
  let now: Duration

  /// The maximum number of members that are listed.
  private static let memberLimit = 8

  func draw(on screen: inout Screen) {
    let area = layout.sidePanel
    let left = area.columns.lowerBound
    for y in area.rows { screen.put(layout.isASCII ? "|" : "│", x: left, y: y, .quiet, in: area) }
    let inner = CellArea(x: left + 2, y: area.rows.lowerBound, width: area.width - 2, height: area.height)
    let top = memberLines(width: inner.width)
    let bottom = chatLines(width: inner.width, height: inner.height)
    let lines = top + bottom.suffix(max(0, inner.height - top.count))
    for (row, line) in lines.prefix(inner.height).enumerated() {
      let y = inner.rows.lowerBound + row
      screen.put(line.text, x: inner.columns.lowerBound, y: y, line.style, in: inner)
    }
  }

  private func memberLines(width: Int) -> [(text: String, style: CellStyle)] {
    let isASCII = layout.isASCII
    let own = ownID.map { CellStyle(CellColor(rgb: Pens.color(of: $0))) } ?? .plain
    var lines: [(text: String, style: CellStyle)] = [("people", .quiet), ("\(isASCII ? "*" : "●") you", own.bold)]
    for (id, member) in members.sorted.prefix(Self.memberLimit) {
      let isConnected = member.state == .connected
      let sign = isConnected ? (isASCII ? "*" : "●") : (isASCII ? "o" : "○")
      let icon = member.icon.map { " \($0)" } ?? ""
      let silence = member.silentSince.map { " \(Int((now - $0) / .seconds(1))) s" } ?? ""
      let text = "\(sign) \(member.name)\(icon)\(isConnected ? "" : silence)"
      lines.append((text, CellStyle(CellColor(rgb: Pens.color(of: id)))))
    }
    lines.append((String(repeating: isASCII ? "-" : "─", count: width), .quiet))
    return lines
  }

  private func chatLines(width: Int, height: Int) -> [(text: String, style: CellStyle)] {
    chat.lines.suffix(height).flatMap { line in
      let text = line.authorPrefix + line.text.escaped(limit: 500)
      return Dialog.wrapped([text], columns: width).map { ($0, line.style) }
    }
  }
}
