import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// Drawing the lobby: the list, the last error, and the keys or the prompt.
extension LobbyClient {
  private static let chosenStyle = CellStyle(.terminal, on: .terminal, .reversed)
  private static let errorStyle = CellStyle(CellColor(rgb: 0xE8601C))

  /// The index in the list for each screen row that shows a list item.
  var indexes: [Int: Int] {
    var indexes: [Int: Int] = [:]
    for (y, line) in visibleLines { if let index = line.index { indexes[y] = index } }
    return indexes
  }

  /// The number of rows for the list, without the title, the last row and the error.
  var listRows: Int { max(rows - 2 - failureRows.count, 1) }

  /// The visible lines with their screen rows, including the highlighted line.
  private var visibleLines: [(row: Int, line: Line)] {
    let lines = lines.dropFirst()
    let at = lines.firstIndex { $0.index == chosen } ?? lines.startIndex
    let top = max(0, min(at - lines.startIndex - listRows / 2, lines.count - listRows))
    return lines.dropFirst(top).prefix(listRows).enumerated().map { ($0 + 1, $1) }
  }

  /// The last error, in at most half of the rows of the screen.
  private var failureRows: [String] {
    guard let failure, rows > 2 else { return [] }
    return TextLines.wrapped(
      UntrustedText(Notice.causeFirst(failure)).escaped(),
      columns: max(columns - 2, 1),
      limit: max(rows / 2, 1)
    )
  }

  private struct Line {
    let text: String
    let style: CellStyle
    var index: Int?
  }

  private var lines: [Line] {
    // The first row is the title.
    var lines = [Line(text: "", style: .plain), Line(text: "", style: .plain)]
    lines.append(Line(text: " boards nearby", style: .quiet))
    let list = boards.list
    for (index, row) in list.enumerated() {
      if case .own = row, index == boards.nearbyCount {
        lines += boards.hasNoneNearby ? emptyLines : []
        lines += [Line(text: "", style: .plain), Line(text: " your boards", style: .quiet)]
      }
      let style = index == chosen ? Self.chosenStyle : .plain
      // A row that is too long, for example because it names a problem, continues in the next lines.
      let texts = TextLines.wrapped(boards.text(row), columns: max(columns - 4, 1), limit: 3)
      for (part, text) in texts.enumerated() {
        let indent = part == 0 ? " " : "   "
        lines.append(Line(text: "\(indent)\(text) ", style: style, index: index))
      }
    }
    if list.isEmpty { lines += emptyLines }
    return lines
  }

  /// The lines that an empty list shows: the state of the search, and what the user can do.
  private var emptyLines: [Line] {
    if let discoveryProblem {
      let problem = TextLines.wrapped(
        UntrustedText(discoveryProblem).escaped(limit: 600),
        columns: max(columns - 2, 1),
        limit: max(rows / 2, 1)
      )
      return problem.map { Line(text: " \($0)", style: Self.errorStyle) } + [
        Line(text: " Press a to join by link or address, or n for a new board.", style: .plain)
      ]
    }
    let seconds = Int(now / .seconds(1))
    guard seconds >= 5 else { return [Line(text: " looking for boards…  n new board  a join by link", style: .plain)] }
    return [
      Line(text: " no board was found on this network in \(seconds) s", style: .plain),
      Line(text: " n new board  a join by link; to find the cause: whiteboard-peer doctor", style: .plain),
    ]
  }

  /// Draws the current screen.
  ///
  /// - Returns: The screen, and the cell of the terminal's cursor; nil hides it.
  package func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    var screen = Screen(width: columns, height: rows)
    for (y, line) in visibleLines where y < rows - 1 {
      screen.put(TextLines.cut(line.text, columns: columns), x: 0, y: y, line.style)
    }
    let title = CellArea(x: 0, y: 0, width: columns, height: 1)
    screen.fill(title, with: Cell(.space, CellStyle.bar))
    let end = screen.put(" whiteboard ", x: 0, y: 0, CellStyle.bar.bold, in: title)
    if lines.count - 1 > listRows, boards.list.indices.contains(chosen) {
      let mark = "\(chosen + 1) of \(boards.list.count) "
      screen.put(mark, x: max(end, columns - mark.count), y: 0, CellStyle.bar, in: title)
    }
    if let problem {
      screen.fill(title, with: Cell(.space, CellStyle.problem))
      screen.put(" \(problem.headline) ", x: 0, y: 0, CellStyle.problem.bold, in: title)
    }
    let bottom = CellArea(x: 0, y: rows - 1, width: columns, height: 1)
    screen.fill(bottom, with: Cell(.space, CellStyle.bar))
    for (row, line) in failureRows.enumerated() {
      let y = rows - 1 - failureRows.count + row
      screen.fill(CellArea(x: 0, y: y, width: columns, height: 1))
      screen.put(" \(line)", x: 0, y: y, Self.errorStyle)
    }
    guard let editor else {
      let isOwn =
        boards.list.indices.contains(chosen)
        && { if case .nearby(let id) = boards.list[chosen] { boards.copy(of: id) != nil } else { false } }()
      let ownCopy = isOwn ? "  o own copy" : ""
      let hints = " Enter open\(ownCopy)  n new board  N named board  a join by link  q leave"
      screen.put(hints, x: 0, y: rows - 1, CellStyle.bar, in: bottom)
      return (screen, nil)
    }
    let cursor = editor.draw(on: &screen, in: bottom, CellStyle.bar)
    return (screen, cursor)
  }
}
