import PeerCore
import Whiteboard
import WhiteboardKit
import WhiteboardRendering

struct BoardScreen {
  typealias Position = (x: Int, y: Int)

  let layout: ScreenLayout
  let keys: KeyMap
  let workspace: Workspace
  let session: SessionState
  let saveStatus: SaveStatus
  let prompt: Prompt
  let messages: Messages
  let allowsMotion: Bool
  let showsLinks: Bool
  let now: Duration

  private var scene: BoardScene { workspace.scene }

  /// The canvas must already have painted the board; a nil cursor hides the terminal's cursor.
  func compose(_ overlay: inout Overlay?, _ parts: inout DrawnParts) -> (screen: Screen, cursor: Position?) {
    var screen = Screen(width: layout.columns, height: layout.rows)
    drawBoard(on: &screen)
    if layout.hasSidePanel {
      let panel = SidePanel(layout, ownID: scene.ownID, session.members, session.chat, now: now)
      parts.sidePanel.draw(panel, in: layout.sidePanel, on: &screen) { panel.draw(on: &$0) }
    }
    let titleBar = titleBar
    if layout.rows >= 4 {
      let area = CellArea(x: 0, y: 0, width: layout.columns, height: layout.board.rows.lowerBound)
      parts.titleBar.draw(titleBar, in: area, on: &screen) { titleBar.draw(on: &$0) }
    }
    let promptCursor = drawLastRow(on: &screen, &parts)
    session.questions.draw(on: &screen, layout, now: now)
    session.removal.draw(on: &screen, layout)
    draw(&overlay, on: &screen)
    messages.draw(on: &screen, layout, keys, isTyping: prompt.isOpen)
    saveStatus.drawProblem(on: &screen, layout, titleEnd: titleBar.end)
    return (screen, promptCursor ?? caretCell ?? penCell)
  }

  // MARK: - Board

  private func drawBoard(on screen: inout Screen) {
    let origin = layout.board
    screen.copy(scene.canvas.screen, to: (origin.columns.lowerBound, origin.rows.lowerBound))
    if let presentedArea {
      for y in layout.board.rows {
        for x in layout.board.columns where !presentedArea.contains(x: x, y: y) { screen[x, y] = ScreenCell() }
      }
    }
    BoardMarks(
      layout: layout,
      scene: scene,
      toolbox: workspace.toolbox,
      members: session.members,
      colors: session.members.colors(scene.ownID),
      comments: session.chat.comments,
      allowsMotion: allowsMotion,
      showsLinks: showsLinks,
      now: now
    ).draw(on: &screen)
    if scene.canvas.count == 0, workspace.toolbox.gesture == nil {
      let canInvite = session.members.isEmpty && session.board.admitters == nil && !session.board.link.isEmpty
      WelcomeText(keys: keys, canInvite: canInvite, isSaved: saveStatus.isSaved).draw(on: &screen, in: layout.board)
    }
    scene.canvas.setBackground(of: &screen, in: layout.board)
  }

  /// The cells of the presented frame; nil if there is no presentation. Nothing outside these cells is shown.
  private var presentedArea: CellArea? {
    guard let id = workspace.presentation?.frame, let bounds = scene.snapshot(id)?.bounds else { return nil }
    let (area, board) = (scene.viewport.area(of: bounds), layout.board)
    return CellArea(
      x: area.columns.lowerBound + board.columns.lowerBound,
      y: area.rows.lowerBound + board.rows.lowerBound,
      width: area.width,
      height: area.height
    )
  }

  private var penCell: Position? {
    guard workspace.toolbox.isKeyboardPen, let place = workspace.toolbox.pointer else { return nil }
    return layout.cell(of: place, in: scene.viewport)
  }

  /// The cell where the next typed letter appears on the board.
  private var caretCell: Position? {
    guard let typing = workspace.typing else { return nil }
    guard let id = typing.id, let caret = scene.canvas.caret(in: id, after: typing.caret) else {
      return layout.cell(of: typing.place, in: scene.viewport)
    }
    let board = layout.board
    let (x, y) = (caret.x + board.columns.lowerBound, caret.y + board.rows.lowerBound)
    return board.contains(x: x, y: y) ? (x, y) : nil
  }

  // MARK: - First and last row

  var titleBar: TitleBar {
    TitleBar(
      layout: layout,
      keys: keys,
      boardName: session.board.name,
      memberCount: session.members.count,
      missing: session.missing(ownID: scene.ownID),
      isOurTurn: !scene.ourTurns.isEmpty,
      unreadCount: session.chat.unreadCount,
      tool: workspace.toolbox.tool,
      ink: workspace.toolbox.ink,
      width: workspace.toolbox.width,
      zoom: scene.viewport.zoom,
      followed: session.members.followed.flatMap { session.members.name(of: $0) },
      hasProblem: saveStatus.problem != nil
    )
  }

  /// Returns the cell of the prompt's cursor.
  private func drawLastRow(on screen: inout Screen, _ parts: inout DrawnParts) -> Position? {
    let area = layout.bottomRow
    if let editor = prompt.editor {
      screen.fill(area, with: ScreenCell(.space, .bar))
      return editor.draw(on: &screen, in: area, .bar)
    }
    guard !messages.drawInLastRow(on: &screen, layout, keys) else { return nil }
    let status = BoardStatus(
      saveStatus: saveStatus,
      removal: session.removal,
      members: session.members,
      missing: session.missing(ownID: scene.ownID),
      isBoardAwaited: session.board.isAwaited,
      comparison: session.questions.comparison(at: now),
      pendingCount: workspace.requests.count,
      now: now
    )
    let toolbox = workspace.toolbox
    let line = StatusLine(
      layout: layout,
      keys: keys,
      status: status.text,
      hasProblem: saveStatus.problem != nil,
      isTyping: workspace.typing != nil,
      tool: toolbox.tool,
      isKeyboardPen: toolbox.isKeyboardPen,
      hasGesture: toolbox.gesture != nil,
      presented: workspace.presented,
      hasSelection: !scene.selection.isEmpty
    )
    parts.statusLine.draw(line, in: area, on: &screen) { line.draw(on: &$0) }
    return nil
  }

  // MARK: - Overlay

  private func draw(_ overlay: inout Overlay?, on screen: inout Screen) {
    if case .invitation(let link) = overlay {
      let box = InvitationBox(board: session.board, link: link, isMonochrome: scene.canvas.isMonochrome)
      if let panel = box.panel(in: layout) { overlay = .panel(panel) } else { box.draw(on: &screen, layout) }
    }
    switch overlay {
    case .panel(var panel):
      panel.draw(on: &screen, layout, keys, session.chat)
      overlay = .panel(panel)
    case .menu(let menu): menu.draw(on: &screen, layout, keys)
    case .unsavedQuestion: saveStatus.drawQuestion(on: &screen, layout, hasMembers: !session.members.isEmpty)
    case .clearQuestion(let count):
      let undo = keys.key(for: .undo).map { "\($0) restores them." } ?? ""
      let question = "Delete all objects on the board (\(count))?"
      Dialog([question, "Locked objects stay. \(undo)", "", "y delete   Esc keep"]).draw(on: &screen, layout)
    case .linkQuestion(let link):
      let address = UntrustedText(link).escaped(limit: 2_048)
      Dialog(["Open this link in your browser?", "", address, "", "Enter open   c copy   Esc close"]).draw(
        on: &screen,
        layout
      )
    case .invitation, nil: break
    }
  }

  /// Photos under a box must be drawn in cells.
  func photosInView(under overlay: Overlay?) -> PhotosInView {
    var covered = session.questions.isEmpty ? overlay?.area(in: layout) : layout.screen
    if let noticed = messages.area(in: layout, isTyping: prompt.isOpen) { covered = covered?.union(noticed) ?? noticed }
    return scene.photosInView(layout.board, within: presentedArea, covered: covered)
  }
}

/// The parts beside the board, as they were drawn last; most frames change only the board.
struct DrawnParts: Sendable {
  var titleBar = DrawnPart<TitleBar>()
  var sidePanel = DrawnPart<SidePanel>()
  var statusLine = DrawnPart<StatusLine>()
}

/// A part of the screen that is drawn again only when its content changes.
struct DrawnPart<Content: Equatable & Sendable>: Sendable {
  private var content: Content?
  private var cells = Screen(width: 0, height: 0)

  mutating func draw(_ content: Content, in area: CellArea, on screen: inout Screen, _ draw: (inout Screen) -> Void) {
    if content != self.content {
      var drawn = Screen(width: screen.width, height: screen.height)
      draw(&drawn)
      (self.content, cells) = (content, drawn.part(area))
    }
    screen.copy(cells, to: (area.columns.lowerBound, area.rows.lowerBound))
  }
}

struct WelcomeText {
  let keys: KeyMap
  let canInvite: Bool
  let isSaved: Bool

  private var lines: [String] {
    [
      "Drag to draw. \(keys.label(for: .tool(.text))) writes, "
        + "\(keys.label(for: .tool(.select))) selects, \(keys.label(for: .undo)) undoes.",
      canInvite ? "\(keys.label(for: .invite)) shows how others join." : "",
      "\(keys.label(for: .menu)) shows a menu, \(keys.label(for: .help)) all keys. "
        + (isSaved ? "Everything is saved immediately." : ""),
    ].filter { !$0.isEmpty }
  }

  func draw(on screen: inout Screen, in area: CellArea) {
    let lines = lines
    let top = area.rows.lowerBound + (area.height - lines.count) / 2
    for (row, line) in lines.enumerated() {
      let x = area.columns.lowerBound + (area.width - line.count) / 2
      screen.put(line, x: max(x, 0), y: top + row, .quiet, in: area)
    }
  }
}

/// The members and the chat beside the board.
struct SidePanel: Hashable {
  private struct Line: Hashable {
    let text: String
    let style: CellStyle
  }

  private let layout: ScreenLayout
  private let people: [Line]
  private let chat: [ChatLog.Line]

  private static let memberLimit = 8

  init(_ layout: ScreenLayout, ownID: MemberID?, _ members: Members, _ chat: ChatLog, now: Duration) {
    self.layout = layout
    people = Self.lines(of: members, ownID: ownID, isASCII: layout.isASCII, now: now)
    self.chat = chat.lines
  }

  func draw(on screen: inout Screen) {
    let area = layout.sidePanel
    let left = area.columns.lowerBound
    for y in area.rows { screen.put(layout.isASCII ? "|" : "│", x: left, y: y, .quiet, in: area) }
    let inner = CellArea(x: left + 2, y: area.rows.lowerBound, width: area.width - 2, height: area.height)
    let divider = Line(text: String(repeating: layout.isASCII ? "-" : "─", count: inner.width), style: .quiet)
    let top = people + [divider]
    let bottom = chatLines(width: inner.width, height: inner.height)
    let lines = top + bottom.suffix(max(0, inner.height - top.count))
    for (row, line) in lines.prefix(inner.height).enumerated() {
      let y = inner.rows.lowerBound + row
      screen.put(line.text, x: inner.columns.lowerBound, y: y, line.style, in: inner)
    }
  }

  private static func lines(of members: Members, ownID: MemberID?, isASCII: Bool, now: Duration) -> [Line] {
    let colors = members.colors(ownID)
    func color(_ id: MemberID) -> CellStyle { CellStyle(CellColor(rgb: colors[id] ?? Pens.color(of: id))) }
    let own = ownID.map(color) ?? .plain
    var lines = [Line(text: "people", style: .quiet), Line(text: "\(isASCII ? "*" : "●") you", style: own.bold)]
    for (id, member) in members.sorted.prefix(memberLimit) {
      let isConnected = member.state == .connected
      let sign = isConnected ? (isASCII ? "*" : "●") : (isASCII ? "o" : "○")
      let icon = member.icon.map { " \($0)" } ?? ""
      let silence = member.silentSince.map { " \(Int((now - $0) / .seconds(1))) s" } ?? ""
      let text = "\(sign) \(member.name)\(icon)\(isConnected ? "" : silence)"
      lines.append(Line(text: text, style: color(id)))
    }
    return lines
  }

  private func chatLines(width: Int, height: Int) -> [Line] {
    chat.suffix(height).flatMap { line in
      let text = line.authorPrefix + line.text.escaped(limit: 500)
      return Dialog.wrapped([text], columns: width).map { Line(text: $0, style: line.style) }
    }
  }
}

/// The last row while it shows no prompt and no message: the state of the board, and useful keys.
struct StatusLine: Hashable {
  let layout: ScreenLayout
  let keys: KeyMap
  /// The state of the board.
  let status: String
  let hasProblem: Bool
  let isTyping: Bool
  let tool: Tool
  let isKeyboardPen: Bool
  let hasGesture: Bool
  let presented: String?
  let hasSelection: Bool

  func draw(on screen: inout Screen) {
    let area = layout.bottomRow
    let y = area.rows.lowerBound
    screen.fill(area, with: ScreenCell(.space, .bar))
    let style: CellStyle = hasProblem ? .problem : .bar
    let x = screen.put(" \(status) ", x: 0, y: y, style, in: area) - 1
    // The longest hints that fit.
    for hints in hints + [generalHints] {
      let start = layout.columns - CharacterWidth.columns(hints) - 1
      guard start > x + 2 else { continue }
      screen.put(hints, x: start, y: y, .bar, in: area)
      break
    }
  }

  /// The keys for the current tool, selection or text, the most complete hint first.
  private var hints: [String] {
    if isTyping { return ["type  Enter done  Alt+Enter new line"] }
    if let presented { return ["\(presented)   → next  ← previous  Esc end", "\(presented)  Esc end", presented] }
    if isKeyboardPen {
      let space = hasGesture ? "release" : "press"
      return ["arrows move  Space \(space)  \(keys.label(for: .keyboardPen)) done"]
    }
    if hasSelection {
      let moving = "arrows move  \(keys.label(for: .object(.delete))) delete  "
      let more = "\(keys.label(for: .menu)) more  \(keys.label(for: .selectNone)) deselect"
      let turning = "\(keys.label(for: .turn(degrees: -15))) \(keys.label(for: .turn(degrees: 15))) turn  "
      return [moving + "\(keys.label(for: .object(.duplicate))) duplicate  " + turning + more, moving + more]
    }
    let hint = "\(tool.rawValue): \(tool.hint)"
    let shortHint = "\(tool.rawValue): \(tool.hint.prefix { $0 != ";" })"
    return ["\(hint)  \(generalHints)", "\(shortHint)  \(generalHints)", shortHint]
  }

  private var generalHints: String { "\(keys.label(for: .menu)) menu  \(keys.label(for: .help)) keys" }
}

/// The state of the board, as one text for the status line.
struct BoardStatus {
  let saveStatus: SaveStatus
  let removal: RemovalState
  let members: Members
  /// The peers that announce the board and are not connected.
  let missing: [String]
  let isBoardAwaited: Bool
  /// The newcomer whose user is still comparing the words, and the time that is left.
  let comparison: String?
  let pendingCount: Int
  let now: Duration

  var text: String {
    if let problem = saveStatus.problem { return "\(problem.headline); \(memberStatus)" }
    let unreachable = members.sorted.first { $0.value.state != .connected }?.value
    if let unreachable, let since = unreachable.silentSince {
      let seconds = Int((now - since) / .seconds(1))
      let count = unreachable.waitingChanges
      let changes =
        count == 0 ? "your changes are sent later" : count == 1 ? "1 change waiting" : "\(count) changes waiting"
      return "\(unreachable.name) unreachable for \(seconds) s; \(changes)"
    }
    guard let state = saveStatus.state else { return memberStatus }
    return "\(pendingCount == 0 ? state.words : "saving \(pendingCount)"); \(memberStatus)"
  }

  private var memberStatus: String {
    if let status = removal.status { return status }
    if isBoardAwaited {
      let names = members.all.values.map(\.name.displayed).sorted()
      return names.isEmpty ? "looking for the other members" : "getting the board from \(EventText.listed(names))"
    }
    if let comparison { return comparison }
    guard members.isEmpty else { return "synced with \(members.count)" }
    return missing.isEmpty ? "no other members" : "looking for \(EventText.listed(missing))"
  }
}

/// Lines in a frame in the middle of the screen.
struct Dialog {
  private let lines: [String]
  private let leastWidth: Int

  init(_ lines: [String], leastWidth: Int = 0) {
    self.lines = lines
    self.leastWidth = leastWidth
  }

  @discardableResult func draw(on screen: inout Screen, _ layout: ScreenLayout) -> CellArea {
    let shown = Self.wrapped(lines, columns: max(layout.columns - 6, 8))
    let widest = max(shown.map { CharacterWidth.columns($0) }.max() ?? 0, leastWidth)
    let width = min(widest + 4, layout.columns)
    let height = min(shown.count + 2, layout.rows)
    let area = CellArea(
      x: (layout.columns - width) / 2,
      y: max(0, (layout.rows - height) / 2),
      width: width,
      height: height
    )
    screen.fill(area, with: .init(.space, .bar))
    screen.frame(area, .bar, isASCII: layout.isASCII)
    let inner = area.inset(by: 1)
    for (row, line) in shown.prefix(inner.height).enumerated() {
      let y = inner.rows.lowerBound + row
      screen.put(line, x: inner.columns.lowerBound + 1, y: y, .bar, in: inner)
    }
    return inner
  }

  static func wrapped(_ lines: [String], columns: Int) -> [String] {
    lines.flatMap { TextLines.wrapped($0, columns: columns, limit: 100) }
  }
}

extension CellStyle {
  static let bar = CellStyle(CellColor(rgb: 0xE8E8E8), on: CellColor(rgb: 0x303A46))
  /// Less important text.
  static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  /// Headings and keys.
  static let strong = CellStyle(.terminal, on: .terminal, .bold)
  /// Errors, and work that is not saved.
  static let problem = CellStyle(CellColor(rgb: 0xFFFFFF), on: CellColor(rgb: 0x9A3324))

  var bold: CellStyle {
    var style = self
    style.attributes.insert(.bold)
    return style
  }
}
