import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// The screen, composed of the drawings of all parts.
extension BoardClient {
  /// Draws the current screen.
  ///
  /// - Returns: The screen, and the cell of the terminal's cursor; nil hides it.
  package mutating func frame() -> (screen: Screen, cursor: (x: Int, y: Int)?) {
    var screen = Screen(width: layout.columns, height: layout.rows)
    if let connection {
      connection.draw(on: &screen, layout, now: now)
      questions.draw(on: &screen, layout)
      return (screen, nil)
    }
    let origin = layout.board
    scene.canvas.paint()
    screen.copy(scene.canvas.screen, to: (origin.columns.lowerBound, origin.rows.lowerBound))
    boardMarks.draw(on: &screen)
    if scene.canvas.count == 0, toolbox.gesture == nil { drawWelcome(on: &screen) }
    if layout.hasSidePanel {
      SidePanel(layout: layout, ownID: scene.ownID, members: members, chat: chat, now: now)
        .draw(on: &screen)
    }
    let titleBar = titleBar
    if layout.rows >= 4 { titleBar.draw(on: &screen) }
    let promptCursor = drawBottom(on: &screen)
    questions.draw(on: &screen, layout)
    removal.draw(on: &screen, layout)
    drawOverlay(on: &screen)
    messages.draw(on: &screen, layout, keys, isTyping: prompt.isOpen)
    saveStatus.drawProblem(on: &screen, layout, titleEnd: titleBar.end)
    return (screen, promptCursor ?? caretCell ?? penCell)
  }

  /// The cell of the keyboard's pen.
  private var penCell: (x: Int, y: Int)? {
    guard toolbox.isKeyboardPen, let place = toolbox.pointer else { return nil }
    return layout.cell(of: place, in: scene.viewport)
  }

  /// The cell where the next typed letter appears on the board.
  private var caretCell: (x: Int, y: Int)? {
    guard let typing else { return nil }
    guard let id = typing.id, let caret = scene.canvas.caret(in: id, after: typing.caret) else {
      return layout.cell(of: typing.place, in: scene.viewport)
    }
    let board = layout.board
    let (x, y) = (caret.x + board.columns.lowerBound, caret.y + board.rows.lowerBound)
    return board.contains(x: x, y: y) ? (x, y) : nil
  }

  private var boardMarks: BoardMarks {
    BoardMarks(
      layout: layout,
      scene: scene,
      ownID: scene.ownID,
      toolbox: toolbox,
      members: members,
      allowsMotion: allowsMotion,
      now: now
    )
  }

  var titleBar: TitleBar {
    TitleBar(
      layout: layout,
      keys: keys,
      boardName: board.name,
      memberCount: members.count,
      missing: missing,
      isOurTurn: !scene.ourTurns.isEmpty,
      unreadCount: chat.unreadCount,
      tool: toolbox.tool,
      ink: toolbox.ink,
      width: toolbox.width,
      zoom: scene.viewport.zoom,
      followed: members.followed.flatMap { members.name(of: $0) },
      hasProblem: saveStatus.problem != nil
    )
  }

  /// The display names of peers that announce this board and are not connected.
  private var missing: [String] {
    // A user whom the host removed waits for no member.
    guard removal.removal == nil else { return [] }
    return members.missing(from: board.id, ownID: scene.ownID)
  }

  /// Draws the first steps on an empty board.
  private func drawWelcome(on screen: inout Screen) {
    let lines = [
      "Drag to draw. \(keys.label(for: .tool(.text))) writes, "
        + "\(keys.label(for: .tool(.select))) selects, \(keys.label(for: .undo)) undoes.",
      members.isEmpty ? "\(keys.label(for: .invite)) shows how others join." : "",
      "\(keys.label(for: .menu)) shows a menu, \(keys.label(for: .help)) all keys. "
        + (saveStatus.isSaved ? "Everything is saved at once." : ""),
    ].filter { !$0.isEmpty }
    let area = layout.board
    let top = area.rows.lowerBound + (area.height - lines.count) / 2
    for (row, line) in lines.enumerated() {
      let x = area.columns.lowerBound + (area.width - line.count) / 2
      screen.put(line, x: max(x, 0), y: top + row, .quiet, in: area)
    }
  }

  /// Draws the last row: the prompt, the message, or the status.
  ///
  /// - Returns: The cell of the prompt's cursor.
  private func drawBottom(on screen: inout Screen) -> (x: Int, y: Int)? {
    let area = layout.bottomRow
    if let editor = prompt.editor {
      screen.fill(area, with: Cell(.space, .bar))
      return editor.draw(on: &screen, in: area, .bar)
    }
    if let notice = messages.notice, !messages.isBoxed(in: layout) {
      screen.fill(area, with: Cell(.space, notice.style))
      let line = " \(messages.line(columns: layout.columns, keys))"
      screen.put(line, x: 0, y: area.rows.lowerBound, notice.style, in: area)
      return nil
    }
    StatusLine(
      layout: layout,
      keys: keys,
      saveStatus: saveStatus,
      removal: removal,
      members: members,
      missing: missing,
      isBoardAwaited: board.isAwaited,
      pendingCount: requests.count,
      isTyping: typing != nil,
      toolbox: toolbox,
      hasSelection: !scene.selection.isEmpty,
      now: now
    ).draw(on: &screen)
    return nil
  }

  private mutating func drawOverlay(on screen: inout Screen) {
    if case .invitation = overlay {
      let box = InvitationBox(board: board, isMonochrome: scene.canvas.isMonochrome)
      if let panel = box.panel(in: layout) {
        overlay = .panel(panel)
      } else {
        box.draw(on: &screen, layout)
      }
    }
    switch overlay {
    case .panel(var panel):
      panel.draw(on: &screen, layout, keys, chat)
      overlay = .panel(panel)
    case .menu(let menu): menu.draw(on: &screen, layout, keys)
    case .unsavedQuestion:
      saveStatus.drawQuestion(on: &screen, layout, hasMembers: !members.isEmpty)
    case .invitation, nil: break
    }
  }

  /// The photos in view.
  func photosInView() -> PhotosInView {
    var covered = questions.isEmpty ? overlay?.area(in: layout) : layout.screen
    if let noticed = messages.area(in: layout, isTyping: prompt.isOpen) {
      covered = covered?.union(noticed) ?? noticed
    }
    return scene.photosInView(layout.board, covered: covered)
  }

  /// Whether a part of the screen changes with time alone.
  package var isTicking: Bool {
    messages.notice != nil || connection != nil || members.isTicking(at: now)
  }
}
