import PeerTestKit
import Testing

@testable import Whiteboard

/// A gesture reads its own writes.
@Suite struct GestureReadingTests {
  private let origin = Point(x: 0, y: 0)

  private func board(_ number: UInt64 = 1) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1_700_000_000_000)
  }

  @Test("an object that is selected and deselected in one gesture is not selected") func deselecting() throws {
    let board = board()
    let id = try board.createText("x", at: origin)
    try board.gesture {
      try board.object(id)?.select()
      #expect(board.holder(of: id) == board.member)
      try board.object(id)?.deselect()
    }
    #expect(board.holder(of: id) == nil)
    try board.gesture {
      try board.select([id])
      #expect(board.selectedIDs == [id])
      try board.deselectAll()
    }
    #expect(board.selectedIDs.isEmpty)
  }

  @Test("an object that is scaled by 2 twice in one gesture is 4 times as large") func scaling() throws {
    let board = board()
    let id = try board.createText("x", at: Point(x: 1, y: 0))
    try board.gesture {
      for _ in 0..<2 { try board.scale([id], by: 2, about: origin) }
      try board.move([id], by: Point(x: 0, y: 3))
    }
    #expect(board.object(id)?.scale == 4)
    #expect(board.object(id)?.centerPosition == Point(x: 4, y: 3))
    #expect(board.takeBatches().last?.operations.count == 2)
    try board.undo()
    #expect(board.object(id)?.scale == 1)
    #expect(board.object(id)?.centerPosition == Point(x: 1, y: 0))
  }

  @Test("an object that a gesture creates can be read, changed, found and deleted in it") func creating() throws {
    let board = board()
    let id = try board.gesture {
      let id = try board.createText("abc", at: origin)
      let text = try #require(board.object(id) as? TextObject)
      #expect(text.text == "abc")
      #expect(text.updatedAt == board.wallClock)
      try text.update(text: "abcd")
      #expect(text.text == "abcd")
      #expect(board.objects(at: origin) == [id])
      #expect(throws: BoardError.wrongKind(id)) { try board.setLineWidth(3, of: id) }
      let copy = try #require(try text.duplicate(by: Point(x: 5, y: 5)))
      let group = try board.group([id, copy.id])
      #expect(copy.groups == [group])
      try board.delete(copy.id)
      #expect(board.objectIDs == [id])
      return id
    }
    #expect(board.objectIDs == [id])
    #expect(board.snapshot(id)?.text == "abcd")
  }

  @Test("an inner gesture that throws reverts only its own edits, also for reads") func throwing() throws {
    let board = board()
    let id = try board.createText("x", at: origin)
    let before = board.state.dump
    try? board.gesture {
      try board.object(id)?.scale(to: 2)
      #expect(throws: BoardError.empty) {
        try board.gesture { () throws(BoardError) in
          try board.object(id)?.scale(to: 3)
          try board.createText("gone", at: origin)
          #expect(board.objectIDs.count == 2)
          throw .empty
        }
      }
      #expect(board.object(id)?.scale == 2)
      #expect(board.objectIDs == [id])
      throw BoardError.empty
    }
    #expect(board.state.dump == before)
    #expect(board.takeBatches().count == 1)
  }

  @Test("the reads of a gesture affect neither the batches nor the reported changes") func hidden() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("x", at: origin)
    for batch in anna.takeBatches() { try bob.receive(batch) }
    _ = anna.takeChanges()
    try bob.object(id)?.rotate(to: .radians(1))
    let angle = try #require(bob.object(id)).angle
    let batches = bob.takeBatches()
    try anna.gesture {
      let other = try anna.createText("y", at: origin)
      #expect(anna.objectIDs.count == 2)
      #expect(anna.takeChanges().isEmpty)
      for batch in batches { try anna.receive(batch) }
      #expect(anna.takeChanges() == [.changed(id)])
      #expect(anna.object(id)?.angle == angle)
      #expect(anna.object(other) != nil)
    }
    #expect(anna.takeChanges().count == 1)
    for batch in anna.takeBatches() { try bob.receive(batch) }
    #expect(anna.state.dump == bob.state.dump)
  }

  // MARK: - One gesture and one by one

  /// Returns the visible contents of a board, with objects named by their order of creation.
  private func reading(_ board: Board) -> [String] {
    let ids = board.state.storedIDs.sorted()
    let names = Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, "#\($0)") })
    func name(_ id: ObjectID) -> String { names[id] ?? "?" }
    var lines = ["stack \(board.objectIDs.map(name))", "settings \(board.settings)"]
    for id in ids {
      guard let record = board.state.record(id) else { continue }
      lines.append("\(name(id)) deleted=\(record.isDeleted) kind=\(record.kind?.name ?? "")")
      guard let shown = board.snapshot(id) else { continue }
      lines.append(
        "  \(shown.centerPosition) \(shown.size) \(shown.scale) \(shown.angle) "
          + "\(String(describing: shown.selectedBy)) \(String(describing: shown.color)) "
          + "\(shown.text ?? "") \(shown.ink ?? []) \(shown.lineWidth ?? 0) "
          + "\(String(describing: shown.erased)) \(shown.groups.map(name)) \(shown.isLocked)"
      )
      if let game = board.gameView(id, for: board.member) {
        lines.append("  \(game.detail) \(game.winners) \(game.moveCount)")
      }
    }
    for line in board.chat { lines.append("chat \(line.text)") }
    return lines
  }

  /// Performs a random edit, mostly of a recently edited object; returns the reason for a refusal, or an empty text.
  private func edit(_ board: Board, _ random: inout SeededGenerator) -> String {
    let ids = board.state.storedIDs.sorted()
    let id = ids.isEmpty ? nil : ids[random.below(ids.count)]
    let number = Double(1 + random.below(8))
    do throws(BoardError) {
      switch (random.below(16), id) {
      case (0, let id?): try board.object(id)?.select()
      case (1, let id?): try board.object(id)?.deselect()
      case (2, _): try board.deselectAll()
      case (3, let id?): try board.scale([id], by: number / 4, about: origin)
      case (4, let id?): try board.rotate([id], by: .radians(number), about: Point(x: number, y: 0))
      case (5, let id?): try board.move([id], by: Point(x: number, y: -number))
      case (6, let id?): try board.setColor(UInt32(number), of: id)
      case (7, let id?): try board.setLineWidth(number, of: id)
      case (8, _): try board.setTitle("title \(number)")
      case (9, let id?): try board.undelete(id)
      case (10, let id?): try board.text(id).update(text: "text \(number)")
      case (11, _): try board.createConnectFour(at: Point(x: number, y: 0))
      default: RandomEditing.edit(board, &random)
      }
      return ""
    } catch { return error.code }
  }

  @Test("a random gesture has the same result as its edits one by one", arguments: 0..<repetitions(60, optimized: 300))
  func oneByOne(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let (whole, single) = (board(), board())
    for _ in 0..<random.below(12) {
      var (one, other) = (random, random)
      _ = edit(whole, &one)
      _ = edit(single, &other)
      random = one
    }
    #expect(reading(whole) == reading(single), "seed \(seed)")
    let count = 1 + random.below(20)
    let steps = whole.history.done.count
    var (one, other) = (random, random)
    whole.gesture {
      for index in 0..<count {
        let refusal = edit(whole, &one)
        #expect(refusal == edit(single, &other), "seed \(seed), edit \(index)")
        #expect(reading(whole) == reading(single), "seed \(seed), edit \(index)")
      }
    }
    #expect(reading(whole) == reading(single), "seed \(seed)")
    let batches = whole.takeBatches()
    // Another board has the same reading.
    let copy = board(2)
    copy.authors[whole.incarnation] = whole.member
    copy.presentMembers = [whole.member]
    for batch in batches { try copy.receive(batch) }
    #expect(copy.state.dump == whole.state.dump, "seed \(seed)")
    // The gesture is one step.
    #expect(whole.history.done.count <= steps + 1, "seed \(seed)")
  }
}
