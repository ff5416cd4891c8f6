import PeerTestKit

@testable import Whiteboard

enum RandomEditing {
  static func member(_ number: UInt8) -> MemberID {
    guard let member = MemberID(bytes: Array(repeating: number, count: 32)) else { preconditionFailure("32 bytes") }
    return member
  }

  static func asset(_ number: UInt8) -> AssetReference {
    guard let id = AssetID(Array(repeating: number, count: 32)),
      let header = try? PhotoHeader(format: .png, width: 30, height: 20),
      let asset = try? AssetReference(id: id, byteCount: 1000, header: header)
    else { preconditionFailure("a legal asset") }
    return asset
  }

  static func point(_ random: inout SeededGenerator) -> Point {
    Point(x: Double(random.below(4000)) / 3 - 600, y: Double(random.below(4000)) / 7)
  }

  /// Performs a random gesture, which the board may refuse; returns whether anything was written.
  @discardableResult static func edit(_ board: Board, _ random: inout SeededGenerator) -> Bool {
    do {
      try act(board, &random)
      return true
    } catch { return false }
  }

  private static func act(_ board: Board, _ random: inout SeededGenerator) throws(BoardError) {
    let ids = board.state.records.keys.sorted()
    let choice = ids.isEmpty ? 0 : random.below(27)
    let id = ids.isEmpty ? nil : ids[random.below(ids.count)]
    let place = point(&random)
    let lines = ids.filter { board.state.record($0)?.form?.hasPoints == true && board.state.isShown($0) }
    switch (choice, id) {
    case (0, _), (1, _): try board.createText(["", "a", "héllo", "x🙂y"][random.below(4)], at: place)
    case (2, _):
      let first = try InkPoint(place)
      try board.createDrawing([first, InkPoint(x: first.x + 5, y: first.y - 9)])
    case (3, _): try board.say("line \(random.below(100))", as: "Anna")
    case (4, _): try board.createPhoto(asset(UInt8(random.below(5))), at: place)
    case (5, let id?): try board.delete(id)
    case (6, let id?): try board.purge(id)
    case (7, let id?): try board.object(id)?.scale(to: Double(1 + random.below(50)) / 10)
    case (8, let id?): try board.object(id)?.rotate(to: .radians(Double(random.below(700)) / 100))
    case (9, let id?): try board.object(id)?.select()
    case (10, let id?): try board.object(id)?.deselect()
    case (11, let id?):
      let count = board.state.record(id).map { TextTree($0).scalars.count } ?? 0
      let start = random.below(count + 1)
      let end = start + random.below(min(3, count - start) + 1)
      try board.text(id).edit(replacing: start..<end, with: ["", "q", "rst"][random.below(3)])
    case (12, _):
      // Several objects move in one gesture.
      try board.gesture { () throws(BoardError) in for id in ids.prefix(5) { try board.object(id)?.move(to: place) } }
    case (13, let id?):
      // An undelete, and a property of a later version.
      guard board.state.record(id)?.isLocked != true else { throw .locked(id) }
      try board.gesture { () throws(BoardError) in
        try board.stage(id, .deleted, .unsigned(0))
        try board.stage(id, Property(60), .dot(id.dot))
      }
    case (14, _):
      let some = ids.filter { _ in random.below(3) == 0 }
      try board.group(Array(some.prefix(4)))
    case (15, let id?): try board.ungroup(id)
    case (16, let id?): try board.duplicate([id], by: Point(x: 3, y: 4))
    case (17, let id?):
      let moves: [StackMove] = [.front, .back, .forward, .backward, .above(id), .below(id)]
      try board.reorder([ids[random.below(ids.count)]], moves[random.below(6)])
    case (18, _): try board.erase(along: [place, point(&random)], radius: 30)
    case (19, let id?): try board.setLocked(id, random.below(3) == 0)
    case (20, let id?): if random.below(2) == 0 { try board.undelete(id) } else { try board.setGrid(place.y + 1) }
    case (21, _):
      let form = DrawingForm.allCases[random.below(DrawingForm.allCases.count)]
      let points = form.hasPoints ? (0..<2 + random.below(4)).map { _ in point(&random) } : []
      try board.createForm(form, at: place, points: points, label: ["", "héllo"][random.below(2)])
    case (22, let id?):
      let line = lines.isEmpty ? id : lines[random.below(lines.count)]
      try board.setPoints((0..<1 + random.below(5)).map { _ in point(&random) }, of: line)
    case (23, let id?):
      let changes: [StyleChange] = [
        .fill(UInt32(random.below(2)) * 0xFF), .lineStyle(.dotted), .opacity(0.5), .end(.dot), .isCurved(true),
        .textSize(24), .isBold(random.below(2) == 0), .isItalic(true), .form(.ellipse), .textColor(nil),
      ]
      try board.restyle([id], [changes[random.below(changes.count)], .opacity(1)])
    case (24, let id?): try board.resize(id, to: Size(width: Double(random.below(90)), height: 20))
    case (25, let id?), (26, let id?):
      let binding = board.binding(to: id, at: place, isExact: random.below(4) == 0)
      let line = lines.isEmpty ? id : lines[random.below(lines.count)]
      try board.bind(random.below(2) == 0 ? .start : .end, of: line, to: random.below(5) == 0 ? nil : binding)
    case (_, let id?): try board.object(id)?.move(to: place)
    case (_, nil): break
    }
  }
}

extension BoardState {
  /// Everything in the state, in order, so that equal states have equal dumps.
  var dump: String {
    var lines: [String] = []
    for incarnation in context.incarnations { lines.append("seen \(incarnation) \(context[incarnation].ranges)") }
    for id in records.keys.sorted() {
      guard let record = record(id) else { continue }
      lines.append("object \(id) orphan=\(orphans.contains(id))")
      for entry in record.entries {
        let (property, cell) = (entry.property, entry.cell)
        lines.append("  \(property) \(cell)")
      }
    }
    lines.append("cells \(cellCount)")
    return lines.joined(separator: "\n")
  }

  func joined(_ other: BoardState) -> BoardState {
    var result = self
    var changes = ChangeLog()
    do { try result.merge(other.difference(since: context), changes: &changes) } catch {
      preconditionFailure("a small board is not full")
    }
    return result
  }

  func applying(_ batches: [Batch]) -> BoardState {
    var result = self
    var changes = ChangeLog()
    for batch in batches {
      do { try result.apply(batch, changes: &changes) } catch { preconditionFailure("a small board is not full") }
    }
    return result
  }
}
