import PeerCore
import WhiteboardKit
import WhiteboardRendering

/// The first row: the board, the members, the tools, and the pen.
struct TitleBar: Hashable {
  let layout: ScreenLayout
  let keys: KeyMap
  let boardName: UntrustedText
  let memberCount: Int
  /// The peers that announce the board and are not connected.
  let missing: [String]
  let isOurTurn: Bool
  let unreadCount: Int
  let tool: Tool
  let ink: UInt32?
  let width: Double
  let zoom: Double
  let followed: String?
  /// Whether a warning about unsaved work covers the row.
  let hasProblem: Bool

  func draw(on screen: inout Screen) {
    let area = layout.titleRow
    screen.fill(area, with: ScreenCell(.space, .bar))
    let (left, right) = ends
    var x = 0
    for (text, style) in left { x = screen.put(text, x: x, y: 0, style, in: area) }
    toolButtons.draw(on: &screen)
    let start = max(x, layout.columns - CharacterWidth.columns(right) - 2)
    let sign = CellStyle(ink.map { CellColor(rgb: $0) } ?? CellStyle.bar.foreground, on: CellStyle.bar.background)
    screen.put(layout.isASCII ? "*" : "●", x: start, y: 0, sign, in: area)
    screen.put(right, x: start + 2, y: 0, .bar, in: area)
  }

  /// The buttons of tools and colors, in this row or in a separate row.
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

  /// Both ends of the row. If the tools are in this row, the ends are the longest texts that leave room for them.
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

  private typealias LeftPart = (text: String, style: CellStyle)

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

  var end: String {
    let percent = Int((zoom * 100).rounded())
    let following = followed.map { "following \($0)  " } ?? ""
    let width = DecimalText.hundredths(width)
    return "\(following)\(tool.rawValue)  \(Pens.name(of: ink)) \(width)  \(percent)% "
  }
}

extension KeyMap {
  /// If the command has no key, returns the key of the prompt.
  func label(for command: KeyMap.Command) -> String { key(for: command) ?? ":" }
}

/// The tools and colors that the user can click, in their own row or in the title.
struct ToolButtons {
  struct Button: Hashable, Sendable {
    let command: KeyMap.Command
    let text: String
    let x: Int
    let y: Int

    var area: CellArea { CellArea(x: x, y: y, width: CharacterWidth.columns(text), height: 1) }
  }

  private enum Label { case keys, names, keysAndNames }

  let layout: ScreenLayout
  let keys: KeyMap
  let tool: Tool
  let ink: UInt32?
  /// The first column for buttons in the title, and the column after the last; nil if there is no room.
  let titleRoom: (start: Int, end: Int)?

  /// The number of columns of all buttons with the shortest texts.
  static let leastWidth = Tool.allCases.count + 1 + Pens.colors.count

  var buttons: [Button] {
    if layout.hasToolRow {
      let variants = [
        buttons(from: 1, y: 1, .keysAndNames, gap: 2), buttons(from: 1, y: 1, .keysAndNames, gap: 1),
        buttons(from: 1, y: 1, .names, gap: 1),
        buttons(from: 0, y: 1, .names, gap: 1, without: [.remover, .picker, .laser]),
      ]
      return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= layout.columns } ?? []
    }
    guard layout.rows >= 4, let titleRoom else { return [] }
    let variants = [
      buttons(from: titleRoom.start, y: 0, .keys, gap: 1), buttons(from: titleRoom.start, y: 0, .keys, gap: 0),
      buttons(from: titleRoom.start, y: 0, .keys, gap: nil),
    ]
    return variants.first { ($0.last?.area.columns.upperBound ?? 0) <= titleRoom.end } ?? []
  }

  /// Returns the buttons from the given column on, with a gap between tools. If the gap is nil, returns only the
  /// colors.
  private func buttons(from start: Int, y: Int, _ label: Label, gap: Int?, without left: Set<Tool> = []) -> [Button] {
    var buttons: [Button] = []
    var x = start
    func add(_ command: KeyMap.Command, _ text: String, gap: Int) {
      let button = Button(command: command, text: text, x: x, y: y)
      buttons.append(button)
      x = button.area.columns.upperBound + gap
    }
    if let gap {
      for tool in Tool.allCases where !left.contains(tool) {
        let key = keys.key(for: .tool(tool)).flatMap { $0.count == 1 ? $0 : nil }
        let sign = key ?? String(tool.shortName.prefix(1))
        let text =
          switch label {
          case .keys: sign
          case .names: tool.shortName
          case .keysAndNames: "\(sign) \(tool.shortName)"
          }
        add(.tool(tool), text, gap: gap)
      }
      x += 1
    }
    for index in Pens.colors.indices { add(.color(index), "\(index)", gap: 0) }
    return buttons
  }

  func command(atX x: Int, y: Int) -> KeyMap.Command? { buttons.first { $0.area.contains(x: x, y: y) }?.command }

  func draw(on screen: inout Screen) {
    if layout.hasToolRow {
      screen.fill(CellArea(x: 0, y: 1, width: layout.columns, height: 1), with: ScreenCell(.space, .bar))
    }
    for button in buttons {
      var style = CellStyle.bar
      if case .color(let index) = button.command, let rgb = Pens.colors[index].rgb {
        style.foreground = CellColor(rgb: rgb)
      }
      if isChosen(button.command) { style.attributes.insert(.reversed) }
      screen.put(button.text, x: button.x, y: button.y, style, in: button.area)
      screen.put(button.text.prefix(1), x: button.x, y: button.y, style.bold, in: button.area)
    }
  }

  private func isChosen(_ command: KeyMap.Command) -> Bool {
    switch command {
    case .tool(let tool): tool == self.tool
    case .color(let index): Pens.colors[index].rgb == ink
    default: false
    }
  }
}

extension Tool {
  fileprivate var shortName: String {
    switch self {
    case .rectangle: "rect"
    case .ellipse: "oval"
    case .eraser: "erase"
    case .remover: "remove"
    case .picker: "pick"
    default: rawValue
    }
  }
}

/// The save state, the messages about it, and the question about unsaved work.
struct SaveStatus: Sendable {
  enum Answer: Equatable, Sendable {
    case retry, saveElsewhere, leave, stay, none
  }

  /// The state that the board reported last; nil until the board is open.
  var state: SaveState?

  var problem: SaveProblem? { state?.problem }

  var isSaved: Bool { state == .saved }

  /// Whether the user would lose work by leaving, or may lose it because saving is in progress.
  var mustAskBeforeLeaving: Bool { state.map { $0 == .saving || $0.wouldLoseWork } ?? false }

  var isQuestionObsolete: Bool { state?.wouldLoseWork == false && state != .saving }

  /// The message about the save state; nil if the board must try to save again.
  var message: String? {
    switch state {
    case .saved: "every change is saved immediately; :export FILE saves a picture of the board"
    case .saving: "saving"
    case .off: "this board is not saved; :export FILE saves a copy"
    case .notSaved, nil: nil
    }
  }

  static func answer(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Answer {
    switch KeyMap.name(key, modifiers) {
    case "r": .retry
    case "s": .saveElsewhere
    case "x": .leave
    case "escape", "n": .stay
    default: .none
    }
  }

  func drawQuestion(on screen: inout Screen, _ layout: ScreenLayout, hasMembers: Bool) {
    Dialog(question(hasMembers: hasMembers)).draw(on: &screen, layout)
  }

  private func question(hasMembers: Bool) -> [String] {
    guard let problem else {
      return ["Saving. The program quits when everything is saved.", "", "x quit now   Esc stay"]
    }
    let loss =
      hasMembers
      ? "Quitting now loses the last changes here; other members have them." : "Quitting now loses the last changes."
    return [problem.headline, loss, "", "r try again", "s save a copy elsewhere", "x quit anyway", "Esc stay"]
  }

  /// Draws the warning about unsaved work over the first row. If there is room, the right end of the title bar stays
  /// visible.
  func drawProblem(on screen: inout Screen, _ layout: ScreenLayout, titleEnd: @autoclosure () -> String) {
    guard let problem else { return }
    let headline = " \(problem.headline) "
    let advice =
      problem.copy.map { [" all work is saved in \(UntrustedText($0).escaped(limit: 128)) ", " copied "] } ?? [
        " :save-as FILE saves a copy elsewhere; the program tries again by itself ", " :save-as FILE saves a copy ",
      ]
    let room = layout.columns - CharacterWidth.columns(titleEnd()) - 2
    let isBeside = layout.rows >= 4 && CharacterWidth.columns(headline) <= room
    let line = CellArea(x: 0, y: 0, width: isBeside ? room : layout.columns, height: 1)
    screen.fill(line, with: ScreenCell(.space, .problem))
    let x = screen.put(headline, x: 0, y: 0, CellStyle.problem.bold, in: line)
    // The longest advice that fits.
    let fitting = advice.first { x + CharacterWidth.columns($0) <= line.width }
    screen.put(fitting ?? "", x: x, y: 0, .problem, in: line)
  }
}
