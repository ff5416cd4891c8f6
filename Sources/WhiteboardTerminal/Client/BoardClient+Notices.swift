import Whiteboard
import WhiteboardNode
import WhiteboardRendering

/// Messages: one line at the bottom, or a box above it if the line is too short.
extension BoardClient {
  /// The most lines of messages that came at once.
  private static let noticeLimit = 8

  /// Shows a message for a while.
  mutating func say(_ text: String, isBad: Bool = false) {
    notice = Notice(text: text, kind: isBad ? .problem : .remark, since: now)
  }

  /// Shows that something went wrong, below what else went wrong just now.
  mutating func complain(_ message: String) {
    let text = Notice.causeFirst(message)
    guard let before = notice, before.kind == .problem, now - before.since < .seconds(1) else {
      say(text, isBad: true)
      return
    }
    let lines = (before.text.lines.filter { $0 != text } + [text]).suffix(Self.noticeLimit)
    say(lines.joined(separator: "\n"), isBad: true)
  }

  /// Shows a line of the chat if no chat is visible.
  mutating func announce(_ line: NodeEvent.Chat) {
    guard !hasPanel, !isChatOpen else {
      unreadLines = 0
      return
    }
    unreadLines += 1
    let text = TerminalText.cleaned(line.text, limit: 500)
    notice = Notice(text: "\(shown(line.name)): \(text)", kind: .chat, since: now)
  }

  /// Notes whether it is our turn in a game, and says so when it becomes our turn.
  mutating func announceTurn(in game: GameView?, of id: ObjectID) {
    guard isOurTurn(in: game) else {
      ourTurns.remove(id)
      return
    }
    guard ourTurns.insert(id).inserted else { return }
    say("Your turn in Connect Four: \(keys.key(for: .connectFour) ?? ":play") plays")
  }

  /// Whether a game waits for our move.
  func isOurTurn(in game: GameView?) -> Bool {
    guard case .connectFour(let view)? = game?.detail else { return false }
    return view.outcome == .playing && view.turn == view.member
  }

  /// Removes the message when its time is over.
  ///
  /// While the program connects, no message is visible, and so none expires.
  mutating func passTime() {
    guard let notice else { return }
    guard connecting == nil else {
      self.notice?.since = now
      return
    }
    let seconds = isNoticeBoxed ? 20 : notice.kind == .problem ? 8 : 4
    if now - notice.since >= .seconds(seconds) { self.notice = nil }
  }

  // MARK: - Screen

  /// Whether the message needs more room than the line at the bottom, and gets it.
  var isNoticeBoxed: Bool {
    guard let notice, notice.kind != .chat, rows >= 6 else { return false }
    return notice.text.lines.count > 1 || CharacterWidth.columns(notice.text) + 1 > columns
  }

  /// The rows of the message in its box.
  private var noticeRows: [String] {
    (notice?.text ?? "").lines.flatMap {
      TextLines.wrapped(
        TerminalText.cleaned($0),
        columns: max(columns - 4, 1),
        limit: max(rows - 5, 1)
      )
    }
    .prefix(max(rows - 5, 1)).map { $0 }
  }

  /// Where the message is if it is not in the line at the bottom.
  var noticeArea: CellArea? {
    guard notice != nil else { return nil }
    if isNoticeBoxed {
      let height = noticeRows.count + 2
      return CellArea(x: 0, y: rows - 1 - height, width: columns, height: height)
    }
    // What is typed has the line at the bottom.
    guard editor != nil, rows >= 3 else { return nil }
    return CellArea(x: 0, y: rows - 2, width: columns, height: 1)
  }

  /// Draws the message over everything else if it is not in the line at the bottom.
  func drawNotice(on screen: inout Screen) {
    guard let notice, let area = noticeArea else { return }
    let style = notice.kind == .problem ? Self.bad : Self.bar
    screen.fill(area, with: Cell(.space, style))
    guard isNoticeBoxed else {
      screen.put(" \(noticeLine)", x: 0, y: area.rows.lowerBound, style, in: area)
      return
    }
    screen.frame(area, style, isASCII: isASCII)
    for (row, line) in noticeRows.enumerated() {
      screen.put(line, x: 2, y: area.rows.lowerBound + 1 + row, style, in: area.inset(by: 1))
    }
    screen.put(" Esc closes ", x: 2, y: area.rows.upperBound - 1, style, in: area)
  }

  /// The message in one line; a chat line that is cut says how to read all of it.
  var noticeLine: String {
    guard let notice else { return "" }
    let text = TerminalText.cleaned(notice.text, limit: 500)
    guard CharacterWidth.columns(text) + 1 > columns else { return text }
    let rest = notice.kind == .chat ? "  \(keys.key(for: .readChat) ?? ":chat") reads all" : ""
    return TextLines.cut(text, columns: max(columns - 1 - rest.count, 1)) + rest
  }

  /// Closes the message if it is in a box at a cell.
  ///
  /// - Returns: Whether it was.
  mutating func closeNotice(at x: Int, _ y: Int) -> Bool {
    guard isNoticeBoxed, noticeArea?.contains(x: x, y: y) == true else { return false }
    notice = nil
    return true
  }
}
