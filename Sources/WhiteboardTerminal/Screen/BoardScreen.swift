import Whiteboard
import WhiteboardKit
import WhiteboardRendering

/// A value that draws all parts of a board's screen.
struct BoardScreen {
  /// A cell of the terminal.
  typealias Position = (x: Int, y: Int)

  let layout: ScreenLayout
  let keys: KeyMap
  let workspace: Workspace
  let session: SessionState
  let saveStatus: SaveStatus
  let prompt: Prompt
  let messages: Messages
  /// Whether a laser pointer leaves a trail.
  let allowsMotion: Bool
  /// The time on the client's clock.
  let now: Duration

  private var scene: BoardScene { workspace.scene }

  /// Draws the screen.
  ///
  /// The canvas must already have painted the board.
  ///
  /// - Parameter overlay: The view that covers the board; it is laid out for the screen.
  /// - Returns: The screen, and the cell of the terminal's cursor; nil hides it.
  func compose(_ overlay: inout Overlay?) -> (screen: Screen, cursor: Position?) {
    var screen = Screen(width: layout.columns, height: layout.rows)
    drawBoard(on: &screen)
    if layout.hasSidePanel {
      SidePanel(layout: layout, ownID: scene.ownID, members: session.members, chat: session.chat, now: now).draw(
        on: &screen
      )
    }
    let titleBar = titleBar
    if layout.rows >= 4 { titleBar.draw(on: &screen) }
    let promptCursor = drawLastRow(on: &screen)
    session.questions.draw(on: &screen, layout, now: now)
    session.removal.draw(on: &screen, layout)
    draw(&overlay, on: &screen)
    messages.draw(on: &screen, layout, keys, isTyping: prompt.isOpen)
    saveStatus.drawProblem(on: &screen, layout, titleEnd: titleBar.end)
    return (screen, promptCursor ?? caretCell ?? penCell)
  }

  // MARK: - Board

  /// Draws the objects, the marks over them, and the first steps on an empty board.
  private func drawBoard(on screen: inout Screen) {
    let origin = layout.board
    screen.copy(scene.canvas.screen, to: (origin.columns.lowerBound, origin.rows.lowerBound))
    BoardMarks(
      layout: layout,
      scene: scene,
      toolbox: workspace.toolbox,
      members: session.members,
      allowsMotion: allowsMotion,
      now: now
    ).draw(on: &screen)
    if scene.canvas.count == 0, workspace.toolbox.gesture == nil {
      WelcomeText(keys: keys, isAlone: session.members.isEmpty, isSaved: saveStatus.isSaved).draw(
        on: &screen,
        in: layout.board
      )
    }
    scene.canvas.setBackground(of: &screen, in: layout.board)
  }

  /// The cell of the keyboard pen.
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

  /// The first row.
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

  /// Draws the last row: the prompt, the message, or the status.
  ///
  /// - Returns: The cell of the prompt's cursor.
  private func drawLastRow(on screen: inout Screen) -> Position? {
    let area = layout.bottomRow
    if let editor = prompt.editor {
      screen.fill(area, with: Cell(.space, .bar))
      return editor.draw(on: &screen, in: area, .bar)
    }
    guard !messages.drawInLastRow(on: &screen, layout, keys) else { return nil }
    StatusLine(
      layout: layout,
      keys: keys,
      saveStatus: saveStatus,
      removal: session.removal,
      members: session.members,
      missing: session.missing(ownID: scene.ownID),
      isBoardAwaited: session.board.isAwaited,
      pendingCount: workspace.requests.count,
      isTyping: workspace.typing != nil,
      toolbox: workspace.toolbox,
      hasSelection: !scene.selection.isEmpty,
      now: now
    ).draw(on: &screen)
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
    case .invitation, nil: break
    }
  }

  /// Returns the photos in view.
  ///
  /// Photos under a box must be drawn in cells.
  func photosInView(under overlay: Overlay?) -> PhotosInView {
    var covered = session.questions.isEmpty ? overlay?.area(in: layout) : layout.screen
    if let noticed = messages.area(in: layout, isTyping: prompt.isOpen) { covered = covered?.union(noticed) ?? noticed }
    return scene.photosInView(layout.board, covered: covered)
  }
}
