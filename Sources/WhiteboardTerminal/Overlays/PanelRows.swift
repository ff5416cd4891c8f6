import PeerCore
import WhiteboardRendering

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
  func rows(of keys: KeyMap) -> [Panel.Row] {
    let help = keys.help
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
