import SessionReplay
import Whiteboard
import WhiteboardRendering
import WhiteboardSync

/// A recording on a terminal, as one value: what is pressed goes in with the time, and cells come out.
package struct PlayerClient: Sendable {
  /// How fast it can go.
  package static let speeds = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64]
  /// Beyond that a pause is passed over, where pauses are.
  package static let idleLimit: Int64 = 2_000
  /// How much of a pause is kept.
  private static let idleRest: Int64 = 300

  /// Whether it goes on by itself.
  package private(set) var isPlaying = true
  /// Whether pauses are passed over.
  package var skipsIdle = false
  /// The current position, in milliseconds from the beginning.
  package private(set) var position = 0.0
  /// How many steps are applied.
  package var place: Int { playback.place }

  /// Whether what is shown changes without anything pressed.
  package var isMoving: Bool {
    isPlaying
      || [said?.since, remark?.since].contains { since in
        since.map { passed - $0 < Self.sayingTime } ?? false
      }
  }

  private var playback: Playback
  private var recording: Recording { playback.recording }
  private var canvas: BoardCanvas
  private var columns: Int
  private var rows: Int
  private let isASCII: Bool
  private var speed = 3
  private var loop: (from: Int64, to: Int64?)?
  /// The authors, in the order of their first appearance.
  private let people: [MemberID]
  private var only: MemberID?
  private var follows = false
  /// Whether the person chose what is in view.
  private var isViewChosen = false
  /// How many steps there are in each of some equal times.
  private let activity: [Int]
  private static let buckets = 512
  /// The photos that can be shown.
  private let photos: Set<AssetID>
  /// The number of ink previews that were shown or skipped.
  private var previewed = 0
  /// The last line of the chat, and since when it is shown.
  private var said: (line: ChatLine, since: Double)?
  /// The newest line of the chat that was there.
  private var lastSaid: ObjectID?
  /// Something to say for a moment, and since when.
  private var remark: (words: String, since: Double)?
  /// Whether the keys are shown.
  private var showsKeys = false
  /// How much time went by at the terminal, in milliseconds: what is said stays for some of it.
  private var passed = 0.0
  private static let sayingTime = 5_000.0

  /// At the beginning, playing.
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
    people = RecordingStatistics(of: recording).people.compactMap(\.member)
    var activity = [Int](repeating: 0, count: Self.buckets)
    let duration = max(recording.duration, 1)
    for time in recording.times {
      activity[min(Int(time * Int64(Self.buckets) / duration), Self.buckets - 1)] += 1
    }
    self.activity = activity
    fitToEnd()
    seek(to: 0)
  }

  /// The terminal has another size.
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

  /// Goes as fast as the nearest of ``speeds``.
  package mutating func setSpeed(_ wanted: Double) {
    speed =
      Self.speeds.indices.min { abs(Self.speeds[$0] - wanted) < abs(Self.speeds[$1] - wanted) } ?? 3
  }

  /// Lets time pass.
  package mutating func advance(by elapsed: Duration) {
    passed += elapsed / .milliseconds(1)
    guard isPlaying else { return }
    position += elapsed / .milliseconds(1) * Self.speeds[speed]
    if let loop, let end = loop.to, position >= Double(end) {
      seek(to: loop.from)
      return
    }
    if skipsIdle { passOverPause() }
    if position >= Double(recording.duration) {
      position = Double(recording.duration)
      isPlaying = false
    }
    go(to: recording.place(at: Int64(position)))
    showPreviews()
  }

  /// Goes on to where something is seen again, where that is far.
  private mutating func passOverPause() {
    let here = Int64(position)
    let reached = recording.place(at: here)
    let step = reached < recording.count ? recording.times[reached] : recording.duration
    let next = min(step, recording.presence.nextTurn(after: here) ?? step)
    if Double(next) - position > Double(Self.idleLimit) {
      position = Double(next - Self.idleRest)
    }
  }

  /// Goes to a time.
  package mutating func seek(to time: Int64) {
    position = Double(min(max(0, time), recording.duration))
    // At the very beginning nothing has happened yet.
    go(to: time <= 0 ? 0 : recording.place(at: Int64(position)))
    previewed = recording.presence.previewCount(at: Int64(position))
  }

  private mutating func step(by count: Int) {
    isPlaying = false
    let target = min(max(0, place + count), recording.count)
    position = target == 0 ? 0 : Double(recording.times[target - 1])
    go(to: target)
  }

  private mutating func go(to target: Int) {
    let isNear = target >= place && target - place <= 2_000
    if !isNear { (said, remark) = (nil, nil) }
    if !isNear { _ = playback.takeChanges() }
    let before = place
    playback.seek(toPlace: target)
    guard place != before || canvas.count == 0 else { return }
    isNear ? showChanges() : showAll()
  }

  // MARK: - What is shown

  /// Shows what was drawn and was not on the board yet, up to now.
  private mutating func showPreviews() {
    let previews = recording.presence.previews
    let end = recording.presence.previewCount(at: Int64(position))
    for preview in previews[min(previewed, end)..<end] {
      // Finished strokes are on the board already (SYN-33).
      guard let record = playback.board.state.record(preview.stroke), !record.isFinished,
        only == nil || playback.board.members[preview.stroke.dot.incarnation] == only
      else { continue }
      canvas.preview(preview.points, from: preview.first, of: preview.stroke)
    }
    previewed = end
  }

  /// Shows an object as it is, or no more.
  private mutating func show(_ id: ObjectID, on board: Board) {
    guard let snapshot = board.snapshot(id), snapshot.kind.isShown,
      only == nil || board.authors[id.dot.incarnation] == only
    else {
      canvas.remove(id)
      return
    }
    if canvas.item(id)?.preview.isEmpty == false,
      playback.board.state.record(id)?.isFinished == true
    {
      // All of it is on the board now (SYN-33).
      canvas.remove(id)
    }
    canvas.set(BoardCanvas.Item(snapshot, game: board.gameView(id, for: board.member)))
    if follows, only == nil || board.authors[id.dot.incarnation] == only {
      var viewport = canvas.viewport
      viewport.center = snapshot.centerPosition
      canvas.show(viewport)
    }
  }

  private mutating func showChanges() {
    let changes = playback.takeChanges()
    // Gone before the next step, which would else copy all that it shares with this.
    let board = playback.board.shown(photos: photos)
    for change in changes {
      switch change {
      case .added(let id), .changed(let id), .removed(let id): show(id, on: board)
      case .selected: break
      }
    }
    if let line = board.chat.last, line.id != lastSaid {
      lastSaid = line.id
      said = (line, passed)
    }
  }

  private mutating func showAll() {
    _ = playback.takeChanges()
    canvas.removeAll()
    let board = playback.board.shown(photos: photos)
    for id in board.objectIDs { show(id, on: board) }
    lastSaid = board.chat.last?.id
  }

  /// Shows all that is there in the end, so that nothing happens out of view.
  private mutating func fitToEnd() {
    let place = place
    playback.seek(toPlace: recording.count)
    showAll()
    var viewport = canvas.viewport
    if let bounds = canvas.bounds { viewport.fit(bounds) }
    playback.seek(toPlace: place)
    canvas.show(viewport)
    showAll()
  }

  // MARK: - What is pressed

  /// Takes what a person did.
  /// - Returns: Whether the person leaves.
  package mutating func take(_ event: InputEvent) -> Bool {
    switch event {
    case .key(let key, let modifiers): return take(key, modifiers)
    case .mouse(let mouse):
      switch mouse.kind {
      case .press(.left) where mouse.y == rows - 2, .drag(.left) where mouse.y == rows - 2:
        seek(to: time(atColumn: mouse.x))
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

  private mutating func take(_ key: InputEvent.Key, _ modifiers: InputEvent.Modifiers) -> Bool {
    let leap: Int64 = modifiers.contains(.shift) ? 60_000 : 5_000
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
    case .right: seek(to: Int64(position) + leap)
    case .left: seek(to: Int64(position) - leap)
    case .character("."): step(by: 1)
    case .character(","): step(by: -1)
    case .home: seek(to: 0)
    case .end:
      seek(to: recording.duration)
      // Where all happened at once, the beginning is the end.
      go(to: recording.count)
    case .character("n"): seekMarker(forward: true)
    case .character("N"): seekMarker(forward: false)
    case .character("i"): skipsIdle.toggle()
    case .character("["): loop = (Int64(position), nil)
    case .character("]"):
      if let from = loop?.from, Int64(position) > from { loop = (from, Int64(position)) }
    case .character("\\"): loop = nil
    case .character("p"): nextPerson()
    case .character("f"): follows.toggle()
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
    let next =
      forward ? markers.first { $0.elapsed > here } : markers.last { $0.elapsed < here - 500 }
    if let next { seek(to: next.elapsed) }
    remark = (
      next.map { "marker \(TerminalText.cleaned($0.name, limit: 64))" }
        ?? "no marker \(forward ? "after" : "before") this", passed
    )
  }

  /// Returns the display name of a member.
  private func name(of member: MemberID) -> String {
    recording.name(of: member).map { TerminalText.cleaned($0, limit: 64) }
      ?? String(member.description.prefix(8))
  }

  private mutating func nextPerson() {
    let index = only.flatMap { people.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
    only = index < people.count ? people[index] : nil
    showAll()
  }

  private func time(atColumn column: Int) -> Int64 {
    Int64(Double(recording.duration) * Double(column) / Double(max(columns - 1, 1)))
  }

  // MARK: - Cells

  /// The cells as they are now.
  package mutating func frame() -> Screen {
    canvas.paint()
    var screen = Screen(width: columns, height: rows)
    screen.copy(canvas.screen, to: (0, 0))
    putCursors(&screen)
    putSaid(&screen)
    if showsKeys { putKeys(&screen) }
    if rows >= 3 { putBar(&screen) }
    if rows >= 2 { putStatus(&screen) }
    return screen
  }

  private func putBar(_ screen: inout Screen) {
    let greatest = max(activity.max() ?? 1, 1)
    let levels = Array(isASCII ? " .:-=+*#" : "▁▂▃▄▅▆▇█")
    let here = Int(position / Double(max(recording.duration, 1)) * Double(columns - 1))
    for column in 0..<columns {
      let first = column * Self.buckets / columns
      let last = max(first + 1, (column + 1) * Self.buckets / columns)
      let most = activity[first..<min(last, Self.buckets)].max() ?? 0
      // The root shows a single stroke beside a storm.
      let share = (Double(most) / Double(greatest)).squareRoot()
      let level = most == 0 ? 0 : max(1, Int((share * Double(levels.count - 1)).rounded()))
      var style = CellStyle.plain
      style.attributes = column == here ? .reversed : column < here ? .bold : .dim
      screen.put(String(levels[level]), x: column, y: rows - 2, style)
    }
    for marker in recording.markers {
      let share = Double(marker.elapsed) / Double(max(recording.duration, 1))
      screen.put(isASCII ? "^" : "◆", x: Int(share * Double(columns - 1)), y: rows - 2)
    }
  }

  private func putStatus(_ screen: inout Screen) {
    let sign = isPlaying ? (isASCII ? ">" : "▶") : (isASCII ? "=" : "⏸")
    let pace = Self.speeds[speed]
    var words = [
      "\(sign) \(Recording.text(Int64(position))) / \(Recording.text(recording.duration))",
      "\(pace < 1 ? "\(pace)" : "\(Int(pace))")x", "step \(place) of \(recording.count)",
    ]
    if let only { words.append("only \(name(of: only))") }
    if follows { words.append("following") }
    if skipsIdle { words.append("no pauses") }
    if let loop {
      words.append(
        "loop \(Recording.text(loop.from))"
          + (loop.to.map { " to \(Recording.text($0))" } ?? " to ]")
      )
    }
    if !recording.history.damages.isEmpty { words.append("DAMAGED") }
    if let remark, passed - remark.since < Self.sayingTime { words.append(remark.words) }
    var style = CellStyle.plain
    style.attributes = .bold
    let end = screen.put(words.joined(separator: "  "), x: 0, y: rows - 1, style)
    style.attributes = .dim
    // What there is room for; `?` tells the rest.
    let arrows = isASCII ? ["arrows seek, speed"] : ["↑↓ speed", "←→ seek"]
    let keys =
      ["q leave", "? keys", "space"] + arrows + [",. step", "i pauses", "n marker", "p person"]
    var hint = ""
    for key in keys where end + hint.count + key.count + 3 <= columns { hint += "   " + key }
    screen.put(hint, x: end, y: rows - 1, style)
  }

  /// Draws the pointers of members, with their names.
  private func putCursors(_ screen: inout Screen) {
    let area = CellArea(x: 0, y: 0, width: columns, height: max(rows - 2, 1))
    for (member, presence) in recording.presence.shown(at: Int64(position)) {
      guard only == nil || only == member, let place = presence.cursor else { continue }
      let cell = canvas.viewport.cell(of: place)
      guard area.contains(x: cell.x, y: cell.y) else { continue }
      let color = CellColor(rgb: Pens.color(of: member.description))
      let sign = presence.isLaser ? (isASCII ? "*" : "✶") : (isASCII ? "^" : "▲")
      screen.put(sign, x: cell.x, y: cell.y, CellStyle(color), in: area)
      let row = cell.y + 1 >= area.rows.upperBound ? cell.y - 1 : cell.y + 1
      let label = CellStyle(color, on: .terminal, .reversed)
      screen.put(name(of: member), x: cell.x + 1, y: row, label, in: area)
    }
  }

  /// Draws the latest chat line.
  private func putSaid(_ screen: inout Screen) {
    guard rows >= 4, let said, passed - said.since < Self.sayingTime else { return }
    let area = CellArea(x: 0, y: rows - 3, width: columns, height: 1)
    let who = TerminalText.cleaned(said.line.name ?? name(of: said.line.author), limit: 64)
    let style = CellStyle(
      CellColor(rgb: Pens.color(of: said.line.author.description)),
      on: .terminal,
      .reversed
    )
    let x = screen.put(" \(who) ", x: 0, y: rows - 3, style, in: area)
    let words = TerminalText.cleaned(said.line.text, limit: 256)
    screen.put(" \(words) ", x: x, y: rows - 3, CellStyle.plain, in: area)
  }

  /// The keys, in a box over the board.
  private func putKeys(_ screen: inout Screen) {
    let width = min(columns, (Self.keys.map(\.count).max() ?? 0) + 4)
    let height = min(rows, Self.keys.count + 2)
    let area = CellArea(x: (columns - width) / 2, y: 0, width: width, height: height)
    var style = CellStyle.plain
    style.attributes = .reversed
    screen.fill(area, with: Cell(.space, style))
    for (row, line) in Self.keys.enumerated() {
      screen.put(line, x: area.columns.lowerBound + 2, y: row + 1, style, in: area)
    }
  }

  /// The help text of the keys.
  package static let keys = [
    "space            play and pause",
    "up, down         faster and slower: 0.1x to 64x",
    "left, right      5 seconds back and forth; a minute with shift",
    ", .              a step back and forth",
    "0 to 9           a tenth of it; Home and End",
    "n N              the next marker, the one before",
    "i                pass over pauses",
    "[ ] \\            repeat from here, to here; no more",
    "p f              show one person's objects only; follow what changes",
    "h j k l z        move the view; show all; the wheel zooms",
    "?                these keys",
    "q, Escape        leave",
  ]
}
