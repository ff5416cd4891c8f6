import PeerCore
import Whiteboard
import WhiteboardRendering

/// The marks over the board: the gesture in progress, the selections, and the pointers of members.
struct BoardMarks {
  let layout: ScreenLayout
  let scene: BoardScene
  let toolbox: Toolbox
  let members: Members
  let colors: [MemberID: UInt32]
  /// The number of open comments about each object.
  let comments: [ObjectID: Int]
  let allowsMotion: Bool
  let showsLinks: Bool
  let now: Duration

  private static let selection: UInt32 = 0x56B4E9
  /// The color of objects that a gesture deletes, and of the lines to which objects snap.
  private static let emphasis: UInt32 = 0xCC79A7
  private static let laser: UInt32 = 0xFF3030

  func draw(on screen: inout Screen) {
    drawNotes(on: &screen)
    drawGesture(on: &screen)
    drawSelections(on: &screen)
    drawHandles(on: &screen)
    drawPointers(on: &screen)
  }

  // MARK: - Votes, links and comments

  /// Draws notes at the right corners of objects: votes, links, and the numbers of open comments. A note never hides
  /// other text. If there is no room for a note, it is not shown.
  private func drawNotes(on screen: inout Screen) {
    var drawn: [CellArea] = []
    for id in scene.marked.union(comments.keys).sorted() {
      guard let snapshot = scene.snapshot(id) else { continue }
      let bounds = snapshot.bounds
      guard let corner = cell(Point(x: bounds.greatest.x, y: bounds.least.y)) else { continue }
      var notes = snapshot.votes.map { "\(UntrustedText($0.reaction).displayed(width: 8)) \($0.members.count)" }
      let sign = layout.isASCII ? "->" : "↗"
      let offset = notes.reduce(0) { $0 + CharacterWidth.columns($1) + 2 }
      if snapshot.link != nil { notes.append(sign) }
      if let count = comments[id] { notes.append(layout.isASCII ? "?\(count)" : "✎ \(count)") }
      let text = notes.joined(separator: "  ")
      let lower = scene.viewport.cell(of: bounds.greatest).y + layout.board.rows.lowerBound
      let width = CharacterWidth.columns(text)
      guard let place = places(at: corner, lower: lower, width).first(where: { isFree($0, on: screen, drawn) }) else {
        continue
      }
      let (x, y) = (place.columns.lowerBound, place.rows.lowerBound)
      drawn.append(place)
      screen.put(text, x: x, y: y, CellStyle(CellColor(rgb: Self.selection)), in: layout.board)
      guard showsLinks, let link = snapshot.link else { continue }
      let area = CellArea(x: x + offset, y: y, width: CharacterWidth.columns(sign), height: 1)
      screen.link(area.clamped(to: layout.board), to: link)
    }
  }

  /// Returns the cells for a note of an object, the best cells first: above its upper right corner, beside that corner,
  /// below its lower right corner, and inside.
  private func places(at corner: (x: Int, y: Int), lower: Int, _ width: Int) -> [CellArea] {
    let (columns, rows) = (layout.board.columns, layout.board.rows)
    let (above, inside) = (corner.x + 1 - width, corner.x - width)
    let corners = [
      (above, corner.y - 1), (corner.x + 2, corner.y), (above, lower + 1), (inside, corner.y + 1), (inside, lower - 1),
      (inside, corner.y),
    ]
    return corners.map { x, y in
      CellArea(
        x: max(min(x, columns.upperBound - width), columns.lowerBound),
        y: min(max(y, rows.lowerBound), rows.upperBound - 1),
        width: width,
        height: 1
      )
    }
  }

  /// Returns whether a note at this place hides no letters and no other notes, and touches no word.
  private func isFree(_ place: CellArea, on screen: Screen, _ drawn: [CellArea]) -> Bool {
    let columns = place.columns.lowerBound - 1..<place.columns.upperBound + 1
    return place.rows.allSatisfy { y in
      !drawn.contains { $0.rows.contains(y) && $0.columns.overlaps(columns) }
        && columns.allSatisfy { !layout.board.contains(x: $0, y: y) || !screen.hasLetter(atX: $0, y: y) }
    }
  }

  // MARK: - Gesture

  private func drawGesture(on screen: inout Screen) {
    switch toolbox.gesture {
    case .shape(let tool, let from, let to): dot(tool.outline(from: from, to: to), toolbox.ink, on: &screen)
    case .band(let from, let to): dot(Tool.rectangle.outline(from: from, to: to), Self.selection, on: &screen)
    case .erase(let path): dot(path, Self.emphasis, on: &screen)
    case .remove(let ids):
      for id in ids {
        guard let frame = scene.frame(of: id) else { continue }
        dot(closed(frame.corners), Self.emphasis, on: &screen)
      }
    case .move(let from, let to): drawMove(from, to, on: &screen)
    case .resize(let resize): dot(closed(resize.corners), Self.selection, on: &screen)
    case .rotate(let frame, let to):
      let degrees = scene.degrees(frame, to: to, isSnapping: toolbox.isSnapping)
      dot(closed(frame.turned(byDegrees: degrees)), Self.selection, on: &screen)
    case .stroke, .pan, nil: break
    }
  }

  private func drawMove(_ from: Point, _ to: Point, on screen: inout Screen) {
    let snapping = scene.snapping(from: from, to: to, isSnapping: toolbox.isSnapping)
    for id in scene.selection {
      guard let frame = scene.frame(of: id) else { continue }
      dot(closed(frame.moved(by: snapping.offset)), Self.selection, on: &screen)
    }
    let view = scene.viewport.rectangle
    if let x = snapping.x {
      let ends = [Point(x: x, y: view.least.y), Point(x: x, y: view.greatest.y)]
      dot(ends, Self.emphasis, on: &screen)
    }
    if let y = snapping.y {
      let ends = [Point(x: view.least.x, y: y), Point(x: view.greatest.x, y: y)]
      dot(ends, Self.emphasis, on: &screen)
    }
  }

  private func closed(_ corners: [Point]) -> [Point] { corners + corners.prefix(1) }

  /// Marks a path by a dot in each of its cells.
  private func dot(_ points: [Point], _ rgb: UInt32?, on screen: inout Screen) {
    let style = CellStyle(rgb.map { CellColor(rgb: $0) } ?? .terminal)
    guard var last = points.first else { return }
    for next in points.dropFirst() + (points.count == 1 ? [last] : []) {
      let from = scene.viewport.dot(of: last)
      let to = scene.viewport.dot(of: next)
      let count = Int(min(max(abs(to.x - from.x) / 2, abs(to.y - from.y) / 4), 1000)) + 1
      for step in 0...count {
        let share = Double(step) / Double(count)
        let place = Point(x: last.x + (next.x - last.x) * share, y: last.y + (next.y - last.y) * share)
        guard let cell = cell(place), !screen.hasLetter(atX: cell.x, y: cell.y) else { continue }
        screen.put(layout.isASCII ? "." : "·", x: cell.x, y: cell.y, style)
      }
      last = next
    }
  }

  private func cell(_ place: Point) -> (x: Int, y: Int)? { layout.cell(of: place, in: scene.viewport) }

  // MARK: - Selections

  private func drawSelections(on screen: inout Screen) {
    for id in scene.held.sorted() {
      guard let holder = scene.snapshot(id)?.selectedBy, let frame = scene.frame(of: id) else { continue }
      let isOwn = holder == scene.ownID
      if isOwn, toolbox.gesture != nil { continue }
      let rgb = isOwn ? Self.selection : color(of: holder)
      dot(closed(frame.corners), rgb, on: &screen)
      guard !isOwn, let corner = cell(frame.corners[0]) else { continue }
      let name = members.name(of: holder) ?? String(holder.description.prefix(8))
      screen.put(" \(name) ", x: corner.x, y: corner.y, label(rgb), in: layout.board)
    }
  }

  private func drawHandles(on screen: inout Screen) {
    guard toolbox.gesture == nil, let frame = scene.selectionFrame else { return }
    let signs: (corner: String, side: String, knob: String) = layout.isASCII ? ("#", "+", "o") : ("■", "□", "○")
    let handles = frame.grips.map { ($0.point, $0.value.isCorner ? signs.corner : signs.side) }
    let style = CellStyle(CellColor(rgb: Self.selection))
    for (place, sign) in handles + [(frame.knob, signs.knob)] {
      guard let cell = cell(place), !screen.hasLetter(atX: cell.x, y: cell.y) else { continue }
      screen.put(sign, x: cell.x, y: cell.y, style, in: layout.board)
    }
  }

  // MARK: - Pointers

  private func drawPointers(on screen: inout Screen) {
    for (id, member) in members.sorted {
      guard let place = member.presence.cursor, let cell = cell(place) else { continue }
      let rest = now - member.movedAt
      guard rest < Members.pointerRest.gone else { continue }
      let color = CellColor(rgb: self.color(of: id))
      if rest >= Members.pointerRest.faded {
        // A pointer that does not move must not cover anything.
        guard screen[cell.x, cell.y].glyph == .space else { continue }
        let style = CellStyle(color, on: .terminal, .dim)
        screen.put(layout.isASCII ? "^" : "▲", x: cell.x, y: cell.y, style, in: layout.board)
        continue
      }
      let isLaser = member.presence.isLaser
      if isLaser, allowsMotion { dot(member.trail, Self.laser, on: &screen) }
      let sign = isLaser ? (layout.isASCII ? "*" : "✶") : (layout.isASCII ? "^" : "▲")
      screen.put(sign, x: cell.x, y: cell.y, CellStyle(color), in: layout.board)
      // The name is beside the pointer, so that the object under the pointer stays visible.
      let isLast = cell.y + 1 >= layout.board.rows.upperBound
      let row = isLast ? cell.y - 1 : cell.y + 1
      screen.put(member.name.displayed, x: cell.x + 1, y: row, label(self.color(of: id)), in: layout.board)
    }
  }

  private func color(of id: MemberID) -> UInt32 { colors[id] ?? Pens.color(of: id) }

  private func label(_ rgb: UInt32) -> CellStyle {
    // This style is visible on any background. It needs few bytes, because pointers move often.
    CellStyle(CellColor(rgb: rgb), on: .terminal, .reversed)
  }
}

extension Screen {
  /// Whether a cell shows a letter, a digit or a punctuation mark, which a mark must not hide.
  fileprivate func hasLetter(atX x: Int, y: Int) -> Bool {
    guard let character = text(of: self[x, y].glyph).first else { return true }
    return character.isLetter || character.isNumber
      || character.isPunctuation && character != "·"
        && !(character == "." && self[x, y].style.foreground != .terminal)
  }
}
