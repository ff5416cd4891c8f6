import Whiteboard

extension BoardCanvas {
  /// Returns an area extended by all labels that overlap it, so that no wide character is cut.
  func withLabels(_ area: CellArea) -> CellArea {
    var whole = area
    while true {
      let next = order.withLabels(whole, within: screen.area)
      if next == whole { return whole }
      whole = next
    }
  }

  /// Removes everything but the grid from an area.
  mutating func clear(_ area: CellArea) {
    dots.clear(area)
    ground.fill(area)
    drawGrid(in: area)
  }

  /// Writes an area to the screen after its objects were drawn.
  mutating func finish(_ area: CellArea) {
    var known: (from: CellStyle, to: CellStyle)?
    for y in area.rows {
      for x in area.columns {
        let under = ground[x, y]
        // A cell with text shows no lines, so that the text stays readable.
        var cell = isBare(under) ? dotStyle.cell(dots, x, y, on: under.style.background) ?? under : under
        // The halves of cells are pixels of a photo.
        if cell.style.background != .terminal, ![.space, .upperHalf, .lowerHalf].contains(cell.glyph) {
          // Most cells of a fill have the same colors.
          if known?.from != cell.style { known = (cell.style, InkColor.readable(cell.style)) }
          if let known { cell.style = known.to }
        }
        screen[x, y] = cell
      }
    }
    // The cells come from `ground`, so copy its cluster table too.
    screen.takeClusters(of: ground)
  }

  /// Returns whether a line may replace the glyph of a cell: a space, a part of a photo, the grid, or a frame's line.
  func isBare(_ cell: ScreenCell) -> Bool {
    let glyph = cell.glyph
    return glyph == .space || glyph == .upperHalf || glyph == .lowerHalf || cell == gridCell
      || cell.style.attributes.contains(.dim) && FrameSigns.ofFrames.contains(glyph)
  }

  var gridCell: ScreenCell {
    ScreenCell(Glyph(dotStyle == .ascii ? "." : "·"), CellStyle(.terminal, on: .terminal, .dim))
  }

  /// The minimum distance between crossings of the grid, in dots.
  private static let leastGrid = 8.0

  private mutating func drawGrid(in area: CellArea) {
    guard let grid = BoardGrid(grid, least: Self.leastGrid / viewport.scale) else { return }
    func places(_ cells: Range<Int>, _ place: (Int) -> Double) -> [Double] {
      grid.positions(from: place(cells.lowerBound), to: place(cells.upperBound))
    }
    let columns = places(area.columns) { viewport.place(atColumn: Double($0), row: 0).x }
    let rows = places(area.rows) { viewport.place(atColumn: 0, row: Double($0)).y }
    for y in rows {
      for x in columns {
        let cell = viewport.cell(of: Point(x: x, y: y))
        if area.contains(x: cell.x, y: cell.y) { ground[cell.x, cell.y] = gridCell }
      }
    }
  }

  /// Draws an object; returns the work, in dots.
  mutating func draw(_ item: Item, _ place: Place, in area: CellArea) -> Int {
    let covered = place.area.clamped(to: area)
    let work = 1 + Self.cellWork * covered.width * covered.height
    guard item.snapshot.style.opacity > 0 else { return work }
    switch item.snapshot.kind {
    case .drawing: return 1 + drawStroke(item, place, in: area)
    case .photo: drawPhoto(item.snapshot, in: area)
    default: drawLabel(of: item.snapshot, place, in: area)
    }
    return work + Self.letterWork * (item.snapshot.text?.utf8.count ?? 0)
  }

  /// The work for a cell with a letter or a part of a photo, in dots.
  static let cellWork = 40

  private mutating func drawLabel(of snapshot: ObjectSnapshot, _ place: Place, in area: CellArea) {
    guard let label = place.label else { return }
    let covered = place.area.clamped(to: area)
    if snapshot.kind == .text, viewport.zoom < 1, !isFree(label.area.clamped(to: area)) {
      return drawBar(for: label, in: area)
    }
    if snapshot.kind != .text { ground.fill(covered) }
    dots.clear(covered)
    if snapshot.kind == .text, let fill = CellFill(snapshot.style) { paint(fill, covered) }
    label.draw(on: &ground, in: area)
  }

  /// Returns whether an area has no letters.
  private func isFree(_ area: CellArea) -> Bool {
    area.rows.allSatisfy { y in area.columns.allSatisfy { isBare(ground[$0, y]) } }
  }

  /// Draws a bar in place of a text that would print over other letters, in the free cells of its first row.
  private mutating func drawBar(for label: PlacedLabel, in area: CellArea) {
    let style = label.label.lines.first?.first?.style ?? .plain
    let bar = ScreenCell(Glyph(dotStyle == .ascii ? "-" : "─"), style)
    let row = label.area.clamped(to: area)
    for y in row.rows.prefix(1) {
      func isFree(_ x: Int) -> Bool { isBare(ground[x, y]) || ground[x, y].glyph == bar.glyph }
      // A bar does not join words: there is a space between it and letters.
      let free = row.columns.filter { x in
        isFree(x) && (x - 1...x + 1).allSatisfy { !row.columns.contains($0) || isFree($0) }
      }
      for x in free { ground[x, y] = bar }
    }
  }

  private mutating func drawStroke(_ item: Item, _ place: Place, in cells: CellArea) -> Int {
    let snapshot = item.snapshot
    let area = DotArea(cells, dots.grid)
    let isWhole = place.area.clamped(to: cells) == place.area
    guard let ink = snapshot.ink else { return 0 }
    let scale = snapshot.scale * viewport.scale
    let pen = DotPen(
      breadths: PenBreadth(dots: (snapshot.lineWidth ?? 1) * scale, style: dotStyle),
      color: DotLayer.dot(place.color),
      dashes: place.dashes
    )
    let placement = InkPlacement(item, viewport, dots.grid)
    guard let parts = item.parts else {
      return draw(item.preview.isEmpty ? ink : ink + item.preview, placement, pen, area, isWhole: isWhole)
    }
    var work = draw(parts, of: snapshot, pen, area)
    if !item.preview.isEmpty {
      work += draw(ink.suffix(1) + item.preview, placement, pen, area, isWhole: isWhole)
    }
    return work
  }

  /// Draws the parts of a stroke that are in an area; `isWhole` means that the whole stroke is in the area.
  private mutating func draw(
    _ points: [InkPoint],
    _ placement: InkPlacement,
    _ pen: DotPen,
    _ area: DotArea,
    isWhole: Bool
  ) -> Int {
    // Gaps depend on the distance from the start of the stroke.
    guard !isWhole, pen.dashes == .none else { return draw(points, points.indices, placement, pen, area) }
    let runs = placement.runs(of: points, in: area, margin: Double(pen.breadths[0] + 2))
    return runs.reduce(points.count / InkPlacement.runLength) { work, run in
      work + draw(points, run, placement, pen, area)
    }
  }

  private mutating func draw(
    _ points: [InkPoint],
    _ run: Range<Int>,
    _ placement: InkPlacement,
    _ pen: DotPen,
    _ area: DotArea
  ) -> Int {
    dots.draw(
      placement.path(points[run]),
      isBend: { InkTurn.isBend(at: run.lowerBound &+ $0, of: points.count) { points[$0].point } },
      pen,
      within: area
    )
  }

  private mutating func draw(
    _ parts: [ObjectSnapshot.InkLine],
    of snapshot: ObjectSnapshot,
    _ pen: DotPen,
    _ area: DotArea
  ) -> Int {
    let rotation = snapshot.rotation
    let factor = dots.grid.factor
    return parts.reduce(0) { work, line in
      let path = zip(line.points, line.pressures).lazy.map { [viewport] offset, pressure in
        let place = snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
        let dot = viewport.dot(of: place)
        return DotPoint(x: dot.x * factor, y: dot.y * factor, pressure: pressure)
      }
      let points = line.points
      return work
        + dots.draw(path, isBend: { InkTurn.isBend(at: $0, of: points.count) { points[$0] } }, pen, within: area)
    }
  }
}

extension BoardCanvas {
  /// The background on which the colors of lines must be visible.
  var surface: Paper { shownBackground.map { Paper($0) } ?? paper }

  var shownBackground: UInt32? { isMonochrome ? nil : background }

  private var pixelAreas: [CellArea] {
    photoItems.compactMap { item in
      guard let asset = item.snapshot.asset, shownAsPixels.contains(asset.id) else { return nil }
      return wholeArea(item.snapshot)
    }
  }

  /// Sets the board's background in the area of a screen that shows the canvas, in place of the terminal's default
  /// colors. Cells over the pixels of a photo get no background, because a background would cover the photo.
  package func setBackground(of screen: inout Screen, in area: CellArea) {
    guard let background = shownBackground else { return }
    let plain = CellColor(rgb: surface == .light ? 0x000000 : 0xFFFFFF)
    let photos = shownAsPixels.isEmpty ? [] : pixelAreas
    let (left, top) = (area.columns.lowerBound, area.rows.lowerBound)
    let area = area.clamped(to: screen.area)
    for y in area.rows {
      for x in area.columns {
        let isPhoto = photos.contains { $0.contains(x: x - left, y: y - top) }
        if !isPhoto, screen[x, y].style.background == .terminal {
          screen[x, y].style.background = CellColor(rgb: background)
        }
        if screen[x, y].style.foreground == .terminal { screen[x, y].style.foreground = plain }
      }
    }
  }
}

extension Glyph {
  static let upperHalf = Glyph("▀")
  static let lowerHalf = Glyph("▄")
}

/// The transform from the points of a stroke to dots.
struct InkPlacement {
  private let x: (Double, Double, Double)
  private let y: (Double, Double, Double)

  init(_ item: BoardCanvas.Item, _ viewport: Viewport, _ grid: DotGrid) {
    let snapshot = item.snapshot
    let center = item.inkCenter ?? snapshot.centerPosition
    let rotation = snapshot.rotation
    let factor = snapshot.scale * viewport.scale * grid.factor
    let (cosine, sine) = (rotation.cosine * factor, rotation.sine * factor)
    let unit = 1.0 / 16
    if center == snapshot.centerPosition, snapshot.scale == 1, snapshot.angle == 0 {
      // Do not use the center of the stroke. The center moves while the stroke grows, but the dots that are already
      // drawn must not move.
      let origin = viewport.dot(of: Point(x: 0, y: 0))
      x = (factor * unit, 0, origin.x * grid.factor)
      y = (0, factor * unit, origin.y * grid.factor)
      return
    }
    let origin = viewport.dot(of: snapshot.centerPosition)
    x = (cosine * unit, -sine * unit, origin.x * grid.factor - cosine * center.x + sine * center.y)
    y = (sine * unit, cosine * unit, origin.y * grid.factor - sine * center.x - cosine * center.y)
  }

  func path(_ points: ArraySlice<InkPoint>) -> Path { Path(placement: self, points: points.makeIterator()) }

  /// The number of points in each part of a stroke. A part is drawn or left out as a whole.
  static let runLength = 16

  /// Returns the ranges of a stroke's points to draw in an area: the parts that touch the area, with one more point on
  /// either side. Near this additional point, the line can differ from the line of the whole stroke. The difference is
  /// only outside the area, because the omitted parts do not touch the area.
  func runs(of points: [InkPoint], in area: DotArea, margin: Double) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for first in stride(from: 0, to: max(points.count - 1, 1), by: Self.runLength) {
      let last = min(first + Self.runLength, points.count - 1)
      guard touches(points, first...last, area, margin) else { continue }
      let run = max(first - 1, 0)..<min(last + 2, points.count)
      if let before = runs.last, before.upperBound >= run.lowerBound {
        runs[runs.count - 1] = before.lowerBound..<run.upperBound
      } else {
        runs.append(run)
      }
    }
    return runs
  }

  /// Whether the box around some points touches an area or is at most `margin` dots outside it.
  @inline(__always)
  private func touches(_ points: [InkPoint], _ part: ClosedRange<Int>, _ area: DotArea, _ margin: Double) -> Bool {
    var (left, right, top, bottom) = (Int32.max, Int32.min, Int32.max, Int32.min)
    for index in part {
      let point = points[index]
      (left, right) = (min(left, point.x), max(right, point.x))
      (top, bottom) = (min(top, point.y), max(bottom, point.y))
    }
    let (across, down) = ((Double(right) - Double(left)) / 2, (Double(bottom) - Double(top)) / 2)
    let (middleX, middleY) = (Double(left) + across, Double(top) + down)
    let column = x.0 * middleX + x.1 * middleY + x.2
    let row = y.0 * middleX + y.1 * middleY + y.2
    let width = x.0.magnitude * across + x.1.magnitude * down + margin
    let height = y.0.magnitude * across + y.1.magnitude * down + margin
    return column + width >= Double(area.columns.lowerBound) && column - width <= Double(area.columns.upperBound)
      && row + height >= Double(area.rows.lowerBound) && row - height <= Double(area.rows.upperBound)
  }

  /// Converts points to dots; a concrete type for speed, because a board can have half a million points.
  struct Path: Sequence, IteratorProtocol {
    fileprivate let placement: InkPlacement
    fileprivate var points: IndexingIterator<ArraySlice<InkPoint>>

    @inline(__always) mutating func next() -> DotPoint? {
      guard let point = points.next() else { return nil }
      return placement.dot(point)
    }
  }

  @inline(__always) func dot(_ point: InkPoint) -> DotPoint {
    let (right, down) = (Double(point.x), Double(point.y))
    return DotPoint(x: x.0 * right + x.1 * down + x.2, y: y.0 * right + y.1 * down + y.2, pressure: point.pressure)
  }
}

package struct Label: Hashable, Sendable {
  package struct Span: Hashable, Sendable {
    /// The text; it may contain names chosen by other members.
    package let text: String
    package let style: CellStyle

    init(_ text: String, _ style: CellStyle = .plain) {
      self.text = text
      self.style = style
    }
  }

  package var lines: [[Span]] = []
  var alignment = TextAlignment.left

  package var width: Int { lines.reduce(0) { max($0, Self.columns($1)) } }
  package var height: Int { lines.count }

  static func columns(_ line: [Span]) -> Int { line.reduce(0) { $0 + CharacterWidth.columns($1.text) } }

  func indent(ofRow row: Int) -> Int {
    switch alignment {
    case .left: 0
    case .center: (width - Self.columns(lines[row])) / 2
    case .right: width - Self.columns(lines[row])
    }
  }

  func draw(on screen: inout Screen, at origin: (x: Int, y: Int), in area: CellArea) {
    for (row, line) in lines.enumerated() {
      var column = origin.x + indent(ofRow: row)
      for span in line { column = screen.put(span.text, x: column, y: origin.y + row, span.style, in: area) }
    }
  }
}

struct PlacedLabel: Sendable {
  let label: Label
  private(set) var area: CellArea

  init(_ label: Label) {
    self.label = label
    area = CellArea(x: 0, y: 0, width: label.width, height: label.height)
  }

  mutating func move(to center: (x: Int, y: Int)) {
    let (width, height) = (area.width, area.height)
    area = CellArea(x: center.x - width / 2, y: center.y - height / 2, width: width, height: height)
  }

  /// Moves the label so that the side to which its lines are aligned is at a cell of its first row.
  mutating func move(from start: (x: Int, y: Int)) {
    let shift =
      switch label.alignment {
      case .left: 0
      case .center: area.width / 2
      case .right: area.width - 1
      }
    area = CellArea(x: start.x - shift, y: start.y, width: area.width, height: area.height)
  }

  /// Moves the label to the middle rows of an area, and to the side of the area to which the label's lines are aligned.
  mutating func move(into room: CellArea) {
    let free = room.width - area.width
    let shift =
      switch label.alignment {
      case .left: 0
      case .center: free / 2
      case .right: free
      }
    area = CellArea(
      x: room.columns.lowerBound + shift,
      y: room.rows.lowerBound + (room.height - area.height) / 2,
      width: area.width,
      height: area.height
    )
  }

  func draw(on screen: inout Screen, in area: CellArea) {
    let origin = (self.area.columns.lowerBound, self.area.rows.lowerBound)
    label.draw(on: &screen, at: origin, in: area)
  }
}

package enum GamePanel {
  package static func label(_ view: GameView, isASCII: Bool, naming name: (MemberID) -> String) -> Label {
    switch view.detail {
    case .wordle(let wordle): self.wordle(wordle, view, naming: name)
    case .connectFour(let game): connectFour(game, isASCII: isASCII, naming: name)
    case .notJudged:
      Label(lines: [[.init("game: ", strong), .init(view.name, strong)], [.init("moves not checked", quiet)]])
    }
  }

  private static let strong = CellStyle(.terminal, on: .terminal, .bold)
  private static let quiet = CellStyle(.terminal, on: .terminal, .dim)
  private static let black = CellColor(rgb: 0)
  private static let white = CellColor(rgb: 0xFFFFFF)

  private static func wordle(_ wordle: WordleView, _ view: GameView, naming name: (MemberID) -> String) -> Label {
    var label = Label()
    label.lines.append([.init("WORDLE  \(wordle.rows.count)/\(Wordle.tries)", strong)])
    for row in wordle.rows {
      let letters = Array(row.word?.uppercased() ?? "?????")
      label.lines.append(zip(letters, row.marks).map { letter, mark in .init(tile(letter, mark), style(mark)) })
    }
    for _ in wordle.rows.count..<max(Wordle.tries, wordle.rows.count) {
      label.lines.append([.init(" _  _  _  _  _ ", quiet)])
    }
    for player in wordle.players where player.member != wordle.member {
      let how =
        player.hasWon
        ? "\(player.rows.count)/\(Wordle.tries)" : player.isDone ? "X/\(Wordle.tries)" : "\(player.rows.count)…"
      label.lines.append([.init("\(TextLines.cut(name(player.member), columns: 12)) \(how)", quiet)])
    }
    for (place, winner) in view.winners.prefix(3).enumerated() {
      let who = TextLines.cut(name(winner.member), columns: 12)
      label.lines.append([.init("\(place + 1). \(who)")])
    }
    if let answer = wordle.answer { label.lines.append([.init("it is \(answer)", quiet)]) }
    return label
  }

  /// The brackets show whether the letter is correct, even without colors.
  private static func tile(_ letter: Character, _ mark: WordleMark) -> String {
    switch mark {
    case .correct: "[\(letter)]"
    case .misplaced: "(\(letter))"
    case .absent: " \(letter) "
    }
  }

  private static func style(_ mark: WordleMark) -> CellStyle {
    switch mark {
    case .correct: CellStyle(black, on: CellColor(rgb: 0x6AAA64), .bold)
    case .misplaced: CellStyle(black, on: CellColor(rgb: 0xC9B458), .bold)
    case .absent: CellStyle(white, on: CellColor(rgb: 0x555555))
    }
  }

  private static func connectFour(_ game: ConnectFourView, isASCII: Bool, naming name: (MemberID) -> String) -> Label {
    var label = Label()
    let signs: [Character: (text: String, style: CellStyle)] = [
      "R": (isASCII ? " R" : " ●", CellStyle(CellColor(rgb: 0xE5484D), on: .terminal, .bold)),
      "Y": (isASCII ? " Y" : " ○", CellStyle(CellColor(rgb: 0xFFC53D), on: .terminal, .bold)),
    ]
    for row in game.grid {
      label.lines.append(
        row.map { sign in
          let known = signs[sign]
          return .init(known?.text ?? " .", known?.style ?? quiet)
        }
      )
    }
    label.lines.append([.init((1...ConnectFour.columns).map { " \($0)" }.joined(), quiet)])
    let status: String =
      switch game.outcome {
      case .playing: game.turn.map { turn(of: $0, game, naming: name) } ?? "a seat is free"
      case .won(let member): "\(TextLines.cut(name(member), columns: 12)) won"
      case .drawn: "a draw"
      case .resigned(let member): "\(TextLines.cut(name(member), columns: 12)) gave up"
      }
    label.lines.append([.init(status, strong)])
    return label
  }

  /// Returns whose turn it is; `Your turn` only if `name` returns `you` for the local member.
  private static func turn(of member: MemberID, _ game: ConnectFourView, naming name: (MemberID) -> String) -> String {
    let player = name(member)
    if member == game.member, player == "you" { return "Your turn" }
    return "\(TextLines.cut(player, columns: 12))'s turn"
  }
}
