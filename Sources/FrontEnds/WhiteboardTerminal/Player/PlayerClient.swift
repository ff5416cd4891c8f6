import PeerCore
import SessionReplay
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// The player of a recording: it handles input and the passing of time, and draws the screen.
package struct PlayerClient: Sendable {
  package static let speeds = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
  /// The length in milliseconds of the shortest pause that is skipped.
  package static let idleLimit: Int64 = 2_000
  /// The length in milliseconds to which a skipped pause is shortened.
  private static let idleRest: Int64 = 300

  package private(set) var isPlaying = true
  package var skipsIdle = false
  /// The current position, in milliseconds from the beginning.
  package private(set) var position = 0.0
  package var stepIndex: Int { playback.place }

  /// Whether the screen changes as time passes, without input.
  package var isMoving: Bool {
    isPlaying
      || [chatLine?.since, notice?.since].contains { since in since.map { elapsed - $0 < Self.messageTime } ?? false }
  }

  private(set) var playback: Playback
  var recording: Recording { playback.recording }
  var canvas: BoardCanvas
  private(set) var columns: Int
  private(set) var rows: Int
  let isASCII: Bool
  private(set) var speed = 3
  /// The start and end of the part that repeats, in milliseconds; the end is nil until the user sets it.
  private(set) var loop: (from: Int64, to: Int64?)?
  /// The authors, in the order of their first appearance.
  private let authors: [MemberID]
  /// The author whose objects are shown; nil for all authors.
  private(set) var shownAuthor: MemberID?
  private(set) var followsChanges = false
  /// Whether the user zoomed or moved the view, so that it no longer shows the whole board.
  private var isViewChosen = false
  let activity: ActivityBar
  private let photos: Set<AssetID>
  /// The number of ink previews that were shown or skipped.
  private var previewed = 0
  private(set) var chatLine: (line: ChatLine, since: Double)?
  /// The id of the newest chat line that was shown.
  private var lastChatID: ObjectID?
  private(set) var notice: (text: String, since: Double)?
  private(set) var showsKeys = false
  /// The time since the player started, in milliseconds.
  private(set) var elapsed = 0.0
  /// The time for which messages and chat lines are shown, in milliseconds.
  static let messageTime = 5_000.0

  package init(
    _ recording: Recording,
    photos: [AssetID: PhotoPixels] = [:],
    columns: Int,
    rows: Int,
    dotStyle: DotStyle
  ) {
    playback = Playback(recording)
    self.photos = Set(photos.keys)
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    isASCII = dotStyle == .ascii
    canvas = BoardCanvas(
      Viewport(center: Point(x: 0, y: 0), columns: self.columns, rows: max(rows - 2, 1)),
      dotStyle: dotStyle
    )
    for (asset, pixels) in photos { canvas.setPhoto(pixels, of: asset) }
    authors = RecordingStatistics(of: recording).people.compactMap(\.member)
    activity = ActivityBar(recording)
    fitToEnd()
    seek(to: 0)
  }

  package mutating func resize(columns: Int, rows: Int) {
    self.columns = max(columns, 1)
    self.rows = max(rows, 1)
    var viewport = canvas.viewport
    viewport.columns = self.columns
    viewport.rows = max(rows - 2, 1)
    canvas.show(viewport)
    if !isViewChosen { fitToEnd() }
  }

  // MARK: - Time

  package mutating func setSpeed(_ speed: Double) {
    self.speed = Self.speeds.indices.min { abs(Self.speeds[$0] - speed) < abs(Self.speeds[$1] - speed) } ?? 3
  }

  package mutating func advance(by time: Duration) {
    elapsed += time / .milliseconds(1)
    guard isPlaying else { return }
    position += time / .milliseconds(1) * Self.speeds[speed]
    if let loop, let end = loop.to, position >= Double(end) {
      seek(to: loop.from)
      return
    }
    if skipsIdle { skipPause() }
    if position >= Double(recording.duration) {
      position = Double(recording.duration)
      isPlaying = false
    }
    go(to: recording.place(at: Int64(position)))
    showPreviews()
  }

  /// Jumps to the next visible change if it is far away.
  private mutating func skipPause() {
    let here = Int64(position)
    let reached = recording.place(at: here)
    let step = reached < recording.count ? recording.times[reached] : recording.duration
    let next = min(step, recording.presence.nextTurn(after: here) ?? step)
    if Double(next) - position > Double(Self.idleLimit) { position = Double(next - Self.idleRest) }
  }

  /// Moves to a time in milliseconds from the beginning.
  package mutating func seek(to time: Int64) {
    position = Double(min(max(0, time), recording.duration))
    // At the beginning, no step is applied.
    go(to: time <= 0 ? 0 : recording.place(at: Int64(position)))
    previewed = recording.presence.previewCount(at: Int64(position))
  }

  private mutating func step(by count: Int) {
    isPlaying = false
    let target = min(max(0, stepIndex + count), recording.count)
    position = target == 0 ? 0 : Double(recording.times[target - 1])
    go(to: target)
  }

  private mutating func go(to target: Int) {
    let isNear = target >= stepIndex && target - stepIndex <= 2_000
    if !isNear { (chatLine, notice) = (nil, nil) }
    if !isNear { _ = playback.takeChanges() }
    let before = stepIndex
    playback.seek(toPlace: target)
    guard stepIndex != before || canvas.count == 0 else { return }
    isNear ? showChanges() : showAll()
  }

  // MARK: - Board

  private mutating func showPreviews() {
    let previews = recording.presence.previews
    let end = recording.presence.previewCount(at: Int64(position))
    for preview in previews[min(previewed, end)..<end] {
      // Finished strokes are on the board already (SYN-33).
      guard let record = playback.board.state.record(preview.stroke), !record.isFinished,
        shownAuthor == nil || playback.board.members[preview.stroke.dot.incarnation] == shownAuthor
      else { continue }
      canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    }
    previewed = end
  }

  private mutating func show(_ id: ObjectID, on board: Board) {
    guard let snapshot = board.snapshot(id), snapshot.kind.isShown,
      shownAuthor == nil || board.authors[id.dot.incarnation] == shownAuthor
    else {
      canvas.remove(id)
      return
    }
    if canvas.item(id)?.preview.isEmpty == false, playback.board.state.record(id)?.isFinished == true {
      // The finished stroke needs no preview (SYN-33).
      canvas.remove(id)
    }
    canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(id, for: board.member)))
    if followsChanges, shownAuthor == nil || board.authors[id.dot.incarnation] == shownAuthor {
      var viewport = canvas.viewport
      viewport.center = snapshot.centerPosition
      canvas.show(viewport)
    }
  }

  private mutating func showChanges() {
    let changes = playback.takeChanges()
    // Release this copy before the next step. Otherwise, that step would copy all storage.
    let board = playback.board.shown(photos: photos)
    showSettings(of: board)
    for change in changes {
      switch change {
      case .added(let id), .changed(let id), .removed(let id): show(id, on: board)
      case .selected: break
      }
    }
    if let line = board.chat.last, line.id != lastChatID {
      lastChatID = line.id
      chatLine = (line, elapsed)
    }
  }

  private mutating func showSettings(of board: Board) {
    canvas.grid = board.settings.grid
    canvas.background = board.settings.shownBackground
  }

  private mutating func showAll() {
    _ = playback.takeChanges()
    canvas.removeAll()
    let board = playback.board.shown(photos: photos)
    showSettings(of: board)
    for id in board.objectIDs { show(id, on: board) }
    lastChatID = board.chat.last?.id
  }

  /// Shows the part of the board that contains all objects at the end of the recording.
  private mutating func fitToEnd() {
    let before = stepIndex
    playback.seek(toPlace: recording.count)
    showAll()
    var viewport = canvas.viewport
    if let bounds = canvas.bounds { viewport.fit(bounds) }
    playback.seek(toPlace: before)
    canvas.show(viewport)
    showAll()
  }

  // MARK: - Input

  package mutating func handleInput(_ event: InputEvent) -> Bool {
    switch event {
    case .key(let key, let modifiers): return handleKey(key, modifiers)
    case .mouse(let mouse):
      switch mouse.kind {
      case .press(.left) where mouse.y == rows - 2, .drag(.left) where mouse.y == rows - 2:
        seek(to: activity.time(atColumn: mouse.x, of: columns))
      case .scroll(_, let dy):
        isViewChosen = true
        var viewport = canvas.viewport
        let center = viewport.place(atColumn: mouse.column, row: mouse.row)
        viewport.zoom(by: dy < 0 ? 1.25 : 0.8, around: center)
        canvas.show(viewport)
      default: break
      }
    case .paste, .focus, .reply: break
    }
    return false
  }

  private mutating func handleKey(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    let jump: Int64 = modifiers.contains(.shift) ? 60_000 : 5_000
    let showedKeys = showsKeys
    showsKeys = false
    switch key {
    case .escape where showedKeys: break
    case .character("q"), .escape: return true
    case .character("c") where modifiers.contains(.control): return true
    case .character("?"): showsKeys = !showedKeys
    case .character(" "):
      if !isPlaying, Int64(position) >= recording.duration { seek(to: 0) }
      isPlaying.toggle()
    case .up, .character("+"), .character("="): speed = min(speed + 1, Self.speeds.count - 1)
    case .down, .character("-"): speed = max(speed - 1, 0)
    case .right: seek(to: Int64(position) + jump)
    case .left: seek(to: Int64(position) - jump)
    case .character("."): step(by: 1)
    case .character(","): step(by: -1)
    case .home: seek(to: 0)
    case .end:
      seek(to: recording.duration)
      // If all steps have the same time, seeking to that time would go to the beginning, where no step is applied.
      go(to: recording.count)
    case .character("n"): seekMarker(forward: true)
    case .character("N"): seekMarker(forward: false)
    case .character("i"): skipsIdle.toggle()
    case .character("["): loop = (Int64(position), nil)
    case .character("]"): if let from = loop?.from, Int64(position) > from { loop = (from, Int64(position)) }
    case .character("\\"): loop = nil
    case .character("p"): showNextAuthor()
    case .character("f"): followsChanges.toggle()
    case .character("z"):
      isViewChosen = false
      fitToEnd()
    case .character("h"): pan(-1, 0)
    case .character("l"): pan(1, 0)
    case .character("k"): pan(0, -1)
    case .character("j"): pan(0, 1)
    case .character(let digit):
      if let tenth = digit.wholeNumberValue { seek(to: recording.duration * Int64(tenth) / 10) }
    default: break
    }
    return false
  }

  private mutating func pan(_ x: Double, _ y: Double) {
    isViewChosen = true
    var viewport = canvas.viewport
    viewport.pan(byDots: x * 16, y * 16)
    canvas.show(viewport)
  }

  private mutating func seekMarker(forward: Bool) {
    let markers = recording.markers
    let here = Int64(position)
    let next = forward ? markers.first { $0.elapsed > here } : markers.last { $0.elapsed < here - 500 }
    if let next { seek(to: next.elapsed) }
    notice = (
      next.map { "marker \(UntrustedText($0.name))" } ?? "no marker \(forward ? "after" : "before") this", elapsed
    )
  }

  func name(of member: MemberID) -> String {
    recording.name(of: member).map { UntrustedText($0).displayed } ?? String(member.description.prefix(8))
  }

  /// Shows only the objects of the next author; after the last author, shows all objects.
  private mutating func showNextAuthor() {
    let index = shownAuthor.flatMap { authors.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    shownAuthor = index < authors.count ? authors[index] : nil
    showAll()
  }
}

/// The bar that shows how many changes a recording has over time, and where its markers are.
struct ActivityBar: Sendable {
  /// The number of steps in each interval; all intervals have the same length.
  private let counts: [Int]
  private let markers: [Int64]
  private let duration: Int64
  private static let intervals = 512

  init(_ recording: Recording) {
    duration = recording.duration
    let length = max(recording.duration, 1)
    var counts = [Int](repeating: 0, count: Self.intervals)
    for time in recording.times { counts[min(Int(time * Int64(Self.intervals) / length), Self.intervals - 1)] += 1 }
    self.counts = counts
    markers = recording.markers.map(\.elapsed)
  }

  /// Returns the time in milliseconds that a column represents.
  func time(atColumn column: Int, of columns: Int) -> Int64 {
    Int64(Double(duration) * Double(column) / Double(max(columns - 1, 1)))
  }

  /// Draws the bar on a row, with the part before the position in bold.
  func draw(on screen: inout Screen, row: Int, position: Double, isASCII: Bool) {
    let columns = screen.width
    let greatest = max(counts.max() ?? 1, 1)
    let levels = Array(isASCII ? " .:-=+*#" : "▁▂▃▄▅▆▇█")
    let here = Int(position / Double(max(duration, 1)) * Double(columns - 1))
    for column in 0..<columns {
      let first = column * Self.intervals / columns
      let last = max(first + 1, (column + 1) * Self.intervals / columns)
      let most = counts[first..<min(last, Self.intervals)].max() ?? 0
      // Use the square root, so that an interval with one stroke is visible beside an interval with many strokes.
      let share = (Double(most) / Double(greatest)).squareRoot()
      let level = most == 0 ? 0 : max(1, Int((share * Double(levels.count - 1)).rounded()))
      var style = CellStyle.plain
      style.attributes = column == here ? .reversed : column < here ? .bold : .dim
      screen.put(String(levels[level]), x: column, y: row, style)
    }
    for marker in markers {
      let share = Double(marker) / Double(max(duration, 1))
      screen.put(isASCII ? "^" : "◆", x: Int(share * Double(columns - 1)), y: row)
    }
  }
}

extension PlayerClient {
  package mutating func frame() -> Screen {
    canvas.paint(BoardCanvas.frameWork)
    var screen = Screen(width: columns, height: rows)
    screen.copy(canvas.screen, to: (0, 0))
    putPointers(&screen)
    canvas.setBackground(of: &screen, in: canvas.screen.area)
    putChat(&screen)
    if showsKeys { putKeys(&screen) }
    if rows >= 3 { activity.draw(on: &screen, row: rows - 2, position: position, isASCII: isASCII) }
    if rows >= 2 { putStatus(&screen) }
    return screen
  }

  private func putStatus(_ screen: inout Screen) {
    let sign = isPlaying ? (isASCII ? ">" : "▶") : (isASCII ? "=" : "⏸")
    let pace = Self.speeds[speed]
    var words = [
      "\(sign) \(Recording.text(Int64(position))) / \(Recording.text(recording.duration))",
      "\(pace < 1 ? "\(pace)" : "\(Int(pace))")x", "step \(stepIndex) of \(recording.count)",
    ]
    if let shownAuthor { words.append("only \(name(of: shownAuthor))") }
    if followsChanges { words.append("following") }
    if skipsIdle { words.append("no pauses") }
    if let loop {
      words.append("loop \(Recording.text(loop.from))" + (loop.to.map { " to \(Recording.text($0))" } ?? " to ]"))
    }
    if !recording.history.damages.isEmpty { words.append("DAMAGED") }
    if let notice, elapsed - notice.since < Self.messageTime { words.append(notice.text) }
    var style = CellStyle.plain
    style.attributes = .bold
    let end = screen.put(words.joined(separator: "  "), x: 0, y: rows - 1, style)
    style.attributes = .dim
    // As many hints as fit. The key ? shows all keys.
    let arrows = isASCII ? ["arrows seek, speed"] : ["↑↓ speed", "←→ seek"]
    let keys = ["q leave", "? keys", "space"] + arrows + [",. step", "i pauses", "n marker", "p person"]
    var hint = ""
    for key in keys where end + hint.count + key.count + 3 <= columns { hint += "   " + key }
    screen.put(hint, x: end, y: rows - 1, style)
  }

  private func putPointers(_ screen: inout Screen) {
    let area = CellArea(x: 0, y: 0, width: columns, height: max(rows - 2, 1))
    for (member, presence) in recording.presence.shown(at: Int64(position)) {
      guard shownAuthor == nil || shownAuthor == member, let place = presence.cursor else { continue }
      let cell = canvas.viewport.cell(of: place)
      guard area.contains(x: cell.x, y: cell.y) else { continue }
      let color = CellColor(rgb: Pens.color(of: member))
      let sign = presence.isLaser ? (isASCII ? "*" : "✶") : (isASCII ? "^" : "▲")
      screen.put(sign, x: cell.x, y: cell.y, CellStyle(color), in: area)
      let row = cell.y + 1 >= area.rows.upperBound ? cell.y - 1 : cell.y + 1
      let label = CellStyle(color, on: .terminal, .reversed)
      screen.put(name(of: member), x: cell.x + 1, y: row, label, in: area)
    }
  }

  private func putChat(_ screen: inout Screen) {
    guard rows >= 4, let chatLine, elapsed - chatLine.since < Self.messageTime else { return }
    let area = CellArea(x: 0, y: rows - 3, width: columns, height: 1)
    let author = UntrustedText(chatLine.line.name ?? name(of: chatLine.line.author))
    let style = CellStyle(CellColor(rgb: Pens.color(of: chatLine.line.author)), on: .terminal, .reversed)
    let x = screen.put(" \(author) ", x: 0, y: rows - 3, style, in: area)
    let words = UntrustedText(chatLine.line.text).escaped(limit: 256)
    screen.put(" \(words) ", x: x, y: rows - 3, CellStyle.plain, in: area)
  }

  private func putKeys(_ screen: inout Screen) {
    let width = min(columns, (Self.keys.map(\.count).max() ?? 0) + 4)
    let height = min(rows, Self.keys.count + 2)
    let area = CellArea(x: (columns - width) / 2, y: 0, width: width, height: height)
    var style = CellStyle.plain
    style.attributes = .reversed
    screen.fill(area, with: ScreenCell(.space, style))
    for (row, line) in Self.keys.enumerated() {
      screen.put(line, x: area.columns.lowerBound + 2, y: row + 1, style, in: area)
    }
  }

  package static let keys = [
    "space            play and pause", "up, down         faster or slower, from 0.1x to 64x",
    "left, right      go back or forward 5 seconds; with Shift, a minute",
    ", .              go back or forward one step", "0 to 9           go to 0% to 90%; Home: the start; End: the end",
    "n N              go to the next or the previous marker", "i                skip pauses",
    "[ ] \\            set the start and the end of a loop; end the loop",
    "p f              show only one member's objects; follow the changes",
    "h j k l z        move the view, show everything; the wheel zooms", "?                show all keys",
    "q, Escape        leave",
  ]
}
