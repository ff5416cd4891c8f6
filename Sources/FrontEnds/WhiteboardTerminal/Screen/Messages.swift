import PeerCore
import Whiteboard
import WhiteboardRendering

/// The current message: one line at the bottom, or a box above it if it needs more room.
struct Messages: Hashable, Sendable {
  var notice: Notice?

  /// The maximum number of lines of errors that are shown together.
  private static let lineLimit = 8

  mutating func show(_ text: String, _ kind: Notice.Kind = .remark, at now: Duration) {
    notice = Notice(text: text, kind: kind, since: now)
  }

  /// Shows an error below other errors that appeared within the last second. `nextRequest` is nil if no action failed.
  mutating func showProblem(_ message: String, before nextRequest: Int64? = nil, at now: Duration) {
    var text = Notice.causeFirst(message)
    if let before = notice, before.kind == .problem, now - before.since < .seconds(1) {
      text = (before.text.lines.filter { $0 != text } + [text]).suffix(Self.lineLimit).joined(separator: "\n")
    }
    notice = Notice(text: text, kind: .problem, nextRequest: nextRequest, since: now)
  }

  /// Shows a problem that the user need not solve now, in the status line until a key is pressed. It does not replace
  /// the message about another problem.
  mutating func showHint(_ message: String, at now: Duration) {
    guard notice?.kind != .problem else { return }
    notice = Notice(text: message, kind: .hint, since: now)
  }

  mutating func keyPressed() { if notice?.kind == .hint { notice = nil } }

  mutating func actionSucceeded(_ request: Int64) {
    if let next = notice?.nextRequest, request >= next { notice = nil }
  }

  mutating func expire(at now: Duration, in layout: ScreenLayout) {
    guard let notice else { return }
    let seconds = isBoxed(in: layout) || notice.kind == .hint ? 20 : notice.kind == .problem ? 8 : 4
    if now - notice.since >= .seconds(seconds) { self.notice = nil }
  }

  /// Restarts the time of the message, because the message is not visible yet.
  mutating func postpone(to now: Duration) { notice?.since = now }

  /// Closes the message if it is in a box that contains the cell. Returns whether the message was closed.
  mutating func close(atX x: Int, y: Int, in layout: ScreenLayout, isTyping: Bool) -> Bool {
    guard isBoxed(in: layout), area(in: layout, isTyping: isTyping)?.contains(x: x, y: y) == true else { return false }
    notice = nil
    return true
  }

  // MARK: - Drawing

  /// Returns whether the message is in a box, because it does not fit into one line.
  func isBoxed(in layout: ScreenLayout) -> Bool {
    guard let notice, ![.chat, .hint].contains(notice.kind), layout.rows >= 6 else { return false }
    return notice.text.lines.count > 1 || CharacterWidth.columns(notice.text) + 1 > layout.columns
  }

  /// Returns the area of the message above the last row; nil if the message is in the last row. While the user types,
  /// the prompt uses the last row.
  func area(in layout: ScreenLayout, isTyping: Bool) -> CellArea? {
    guard notice != nil else { return nil }
    if isBoxed(in: layout) {
      let height = rows(in: layout).count + 2
      return CellArea(x: 0, y: layout.rows - 1 - height, width: layout.columns, height: height)
    }
    // A hint is not shown while the prompt is open.
    guard isTyping, notice?.kind != .hint, layout.rows >= 3 else { return nil }
    return CellArea(x: 0, y: layout.rows - 2, width: layout.columns, height: 1)
  }

  private func rows(in layout: ScreenLayout) -> [String] {
    let limit = max(layout.rows - 5, 1)
    return (notice?.text ?? "").lines.flatMap {
      TextLines.wrapped(UntrustedText($0).escaped(), columns: max(layout.columns - 4, 1), limit: limit)
    }.prefix(limit).map { $0 }
  }

  /// Draws the message over everything else, unless ``drawInLastRow(on:_:_:)`` draws it.
  func draw(on screen: inout Screen, _ layout: ScreenLayout, _ keys: KeyMap, isTyping: Bool) {
    guard let notice, let area = area(in: layout, isTyping: isTyping) else { return }
    let style = notice.style
    screen.fill(area, with: ScreenCell(.space, style))
    guard isBoxed(in: layout) else {
      let line = " \(line(columns: layout.columns, keys))"
      screen.put(line, x: 0, y: area.rows.lowerBound, style, in: area)
      return
    }
    screen.frame(area, style, isASCII: layout.isASCII)
    for (row, line) in rows(in: layout).enumerated() {
      screen.put(line, x: 2, y: area.rows.lowerBound + 1 + row, style, in: area.inset(by: 1))
    }
    screen.put(" Esc closes ", x: 2, y: area.rows.upperBound - 1, style, in: area)
  }

  func drawInLastRow(on screen: inout Screen, _ layout: ScreenLayout, _ keys: KeyMap) -> Bool {
    guard let notice, !isBoxed(in: layout) else { return false }
    let area = layout.bottomRow
    screen.fill(area, with: ScreenCell(.space, notice.style))
    let line = " \(line(columns: layout.columns, keys))"
    screen.put(line, x: 0, y: area.rows.lowerBound, notice.style, in: area)
    return true
  }

  /// If a chat line or a hint is cut off, the returned text ends with the key that shows all of it.
  func line(columns: Int, _ keys: KeyMap) -> String {
    guard let notice else { return "" }
    let text = UntrustedText(notice.text).escaped(limit: 500)
    guard CharacterWidth.columns(text) + 1 > columns else { return text }
    let rest =
      switch notice.kind {
      case .chat: "  \(keys.key(for: .readChat) ?? ":chat") reads all"
      case .hint: "  \(keys.key(for: .invite) ?? ":invite") says more"
      case .remark, .problem: ""
      }
    let room = max(columns - 1 - rest.count, 1)
    let sentence = String(text.prefix { $0 != "." }) + "."
    let isSentence = notice.kind == .hint && CharacterWidth.columns(sentence) <= room
    return (isSentence ? sentence : TextLines.cut(text, columns: room)) + rest
  }
}

extension Notice {
  var style: CellStyle { [.problem, .hint].contains(kind) ? .problem : .bar }
}

struct Notice: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    case remark, problem
    /// A problem in one line; any key removes the line.
    case hint
    case chat
  }

  var text: String
  let kind: Kind
  /// The id of the first request after a failed action; nil if the message is not about an action. The success of that
  /// request or of a later request removes the message.
  var nextRequest: Int64?
  /// The time when the message appeared, on the client's clock.
  var since: Duration

  /// Returns a message with the cause before the path: `PATH: CAUSE` becomes `CAUSE (PATH)`.
  static func causeFirst(_ message: String) -> String {
    for beginning in ["/", "~/", "./", "../"] where message.hasPrefix(beginning) {
      guard let colon = message.firstRange(of: ": ") else { return message }
      return "\(message[colon.upperBound...]) (\(message[..<colon.lowerBound]))"
    }
    guard message.hasPrefix("\""), let end = message.dropFirst().firstIndex(of: "\"") else { return message }
    let path = message[...end]
    var cause = message[message.index(after: end)...]
    guard path.contains("/") || path.contains("."), !cause.isEmpty else { return message }
    if cause.hasPrefix(":") { cause = cause.dropFirst() } else { cause = "the file" + cause }
    return "\(String(cause).trimmed) (\(path.dropFirst().dropLast()))"
  }
}
