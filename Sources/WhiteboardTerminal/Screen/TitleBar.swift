import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// The first row: the board, the members, the tools, and the pen.
struct TitleBar {
  let layout: ScreenLayout
  let keys: KeyMap
  let boardName: UntrustedText
  let memberCount: Int
  /// The peers that announce the board and are not connected.
  let missing: [String]
  let isOurTurn: Bool
  /// The number of chat lines that arrived while no chat was visible.
  let unreadCount: Int
  let tool: Tool
  let ink: UInt32?
  let width: Double
  let zoom: Double
  /// The name of the followed member.
  let followed: String?
  /// Whether a warning about unsaved work covers the row.
  let hasProblem: Bool

  func draw(on screen: inout Screen) {
    let area = layout.titleRow
    screen.fill(area, with: Cell(.space, .bar))
    let (left, right) = ends
    var x = 0
    for (text, style) in left { x = screen.put(text, x: x, y: 0, style, in: area) }
    toolButtons.draw(on: &screen)
    let start = max(x, layout.columns - CharacterWidth.columns(right) - 2)
    let sign = CellStyle(ink.map { CellColor(rgb: $0) } ?? CellStyle.bar.foreground, on: CellStyle.bar.background)
    screen.put(layout.isASCII ? "*" : "●", x: start, y: 0, sign, in: area)
    screen.put(right, x: start + 2, y: 0, .bar, in: area)
  }

  /// The buttons of tools and colors, in this row or in a separate one.
  var toolButtons: ToolButtons {
    let (left, right) = ends
    return ToolButtons(
      layout: layout,
      keys: keys,
      tool: tool,
      ink: ink,
      // The warning about unsaved work covers the columns of the tools.
      titleRoom: hasProblem ? nil : (Self.width(of: left) + 2, layout.columns - CharacterWidth.columns(right) - 3)
    )
  }

  /// Both ends of the row: the longest texts that leave room for the tools, if they are in this row.
  private var ends: (left: [LeftPart], right: String) {
    let lefts = [leftEnd(isShort: false), leftEnd(isShort: true)]
    let rights = [end, "\(tool.rawValue)  \(Pens.name(of: ink)) ", "\(tool.rawValue) ", ""]
    if !layout.hasToolRow, !hasProblem, layout.rows >= 4 {
      for left in lefts {
        let room = layout.columns - Self.width(of: left) - 5 - ToolButtons.leastWidth
        if let right = rights.first(where: { CharacterWidth.columns($0) <= room }) { return (left, right) }
      }
    }
    let room = layout.columns - Self.width(of: lefts[0]) - 3
    return (lefts[0], rights.first { CharacterWidth.columns($0) <= room } ?? rights[2])
  }

  /// A part of the left end.
  private typealias LeftPart = (text: String, style: CellStyle)

  /// Returns the left end: the board, the members, and the games and chat lines that wait for the user.
  ///
  /// - Parameter isShort: Whether to shorten the name of the board and the number of chat lines.
  /// - Returns: The parts from left to right.
  private func leftEnd(isShort: Bool) -> [LeftPart] {
    let name = isShort ? TextLines.cut(boardName.displayed, columns: 12) : boardName.displayed
    let members =
      memberCount > 0
      ? "\(memberCount + 1) people" : missing.isEmpty ? "only you" : "Looking for \(EventText.listed(missing)) …"
    var leftEnd: [LeftPart] = [(" \(name) ", CellStyle.bar.bold), (" \(layout.isASCII ? "*" : "●") \(members)", .bar)]
    if isOurTurn { leftEnd.append(("  Your turn: \(keys.label(for: .connectFour))", CellStyle.bar.bold)) }
    if unreadCount > 0, !layout.hasSidePanel {
      let key = keys.label(for: .readChat)
      let lines = isShort ? "\(unreadCount) new" : "\(unreadCount) new in chat"
      leftEnd.append(("  \(lines): \(key)", CellStyle.bar.bold))
    }
    return leftEnd
  }

  private static func width(of parts: [LeftPart]) -> Int { parts.map { CharacterWidth.columns($0.text) }.reduce(0, +) }

  /// The followed member, the tool, the pen and the zoom.
  var end: String {
    let percent = Int((zoom * 100).rounded())
    let following = followed.map { "following \($0)  " } ?? ""
    let width = DecimalText.hundredths(width)
    return "\(following)\(tool.rawValue)  \(Pens.name(of: ink)) \(width)  \(percent)% "
  }
}

extension KeyMap {
  /// Returns the key of a command.
  ///
  /// If the command has no key, returns the key of the prompt.
  func label(for command: KeyMap.Command) -> String { key(for: command) ?? ":" }
}
