import PeerTestKit
import Testing

@testable import Whiteboard

/// One visible value: a cell, or the text of an object.
struct Shown: Hashable {
  let id: ObjectID
  let property: Property?
  let value: Value
}

extension Board {
  /// The visible values, without their authors and times: all cells except selections and undone cells.
  var content: [Shown] {
    var content: [Shown] = []
    for id in state.records.keys.sorted() where state.isVisible(id) {
      guard let record = state.record(id) else { continue }
      // The object of a setting is not visible.
      if record.kind != .settings { content.append(Shown(id: id, property: nil, value: .text(record.text))) }
      for entry in record.entries where entry.cell.value != .none {
        switch entry.property.number {
        case 3, 4, 128, 129: continue
        case Property.kind.number where record.kind == .settings: continue
        case 130: content.append(Shown(id: id, property: .erasure(id.dot), value: entry.cell.value))
        default: content.append(Shown(id: id, property: entry.property, value: entry.cell.value))
        }
      }
    }
    return content
  }
}

/// The laws of undo (I9), checked with random gestures.
@Suite struct UndoLawTests {
  private func makeBoard(_ number: Int, _ random: inout SeededGenerator) -> Board {
    var generator = SeededGenerator(seed: random.next())
    return Board(
      incarnation: .random(using: &random),
      member: RandomEditing.member(UInt8(number)),
      wallClock: 1_700_000_000_000 + UInt64(random.below(3_600_000)),
      newIncarnation: { .random(using: &generator) }
    )
  }

  /// Performs one random step, sometimes of several gestures.
  private func step(_ board: Board, _ random: inout SeededGenerator) {
    board.wallClock += UInt64(random.below(50))
    guard random.chance(20) else {
      RandomEditing.edit(board, &random)
      return
    }
    board.beginStep()
    for _ in 0..<(1 + random.below(4)) { RandomEditing.edit(board, &random) }
    board.endStep()
  }

  @Test(
    "[I9] without other users, undo goes back through every state, and redo forward",
    arguments: 0..<repetitions(30, optimized: 100)
  )
  func alone(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let board = makeBoard(1, &random)
    // The contents of the board before each step that can be undone.
    var states = [board.content]
    var hasPurged = false
    for _ in 0..<40 {
      let count = board.history.done.count
      step(board, &random)
      let batches = board.takeBatches()
      if batches.contains(where: { $0.operations.contains { $0.property == .purge } }) { hasPurged = true }
      let content = board.content
      // A step without a visible change is skipped.
      if board.history.done.count > count, Self.withoutChat(content) != Self.withoutChat(states[states.count - 1]) {
        states.append(content)
      }
      states[states.count - 1] = content
    }
    #expect(states.count > 6, "seed \(seed)")
    for count in [1, 3, board.history.done.count] {
      let before = board.content
      var steps = 0
      var place = states.count - 1
      while steps < count {
        do throws(BoardError) { try board.undo() } catch {
          // A purged object does not come back.
          #expect(error.code == "nothing-to-undo", "seed \(seed)")
          #expect(hasPurged || place == 0, "seed \(seed)")
          break
        }
        let now = Self.withoutChat(board.content)
        if !hasPurged, now != Self.withoutChat(states[place]) {
          place -= 1
          try #require(place >= 0, "seed \(seed)")
          #expect(now == Self.withoutChat(states[place]), "seed \(seed)")
        }
        steps += 1
      }
      for _ in 0..<steps { try board.redo() }
      #expect(board.content == before, "seed \(seed)")
    }
  }

  /// Returns the contents without chat lines, which are never undone.
  private static func withoutChat(_ content: [Shown]) -> [Shown] {
    let chat = Set(content.lazy.filter { $0.property == .chatText }.map(\.id))
    return content.filter { !chat.contains($0.id) }
  }

  @Test(
    "[I9] with other users, undo overwrites only own values, and all replicas converge",
    arguments: 0..<repetitions(25, optimized: 80)
  )
  func among(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let boards = (0..<3).map { makeBoard($0, &random) }
    var batches: [Batch] = []
    var undone = 0
    for _ in 0..<120 {
      let board = boards[random.below(3)]
      board.wallClock += UInt64(random.below(50))
      switch random.below(10) {
      case 0..<4: step(board, &random)
      case 4..<7:
        let before = board.state
        let isUndo = random.chance(60)
        guard isUndo ? board.canUndo : board.canRedo else { continue }
        let outcome: UndoOutcome
        do throws(BoardError) { outcome = try isUndo ? board.undo() : board.redo() } catch {
          // Another user locked or changed the object meanwhile, so nothing was undone.
          let codes = ["locked", "nothing-to-undo", "nothing-to-redo"]
          #expect(codes.contains(error.code), "seed \(seed)")
          #expect(board.state.dump == before.dump, "seed \(seed)")
          continue
        }
        let made = board.takeBatches()
        let operations = made.flatMap(\.operations)
        #expect(operations.count == outcome.changed, "seed \(seed)")
        for operation in operations {
          let known = before.record(operation.object)?[operation.property]
          #expect(known.map { board.isOwn($0.dot.incarnation) } ?? true, "seed \(seed)")
        }
        undone += operations.count
        batches += made
      case 7 where random.chance(10):
        var claim = Difference(context: Context())
        claim.context.insert(90_000...90_000, of: board.incarnation)
        try board.receive(claim)
      default: if let batch = batches.randomElement(using: &random) { try board.receive(batch) }
      }
      batches += board.takeBatches()
    }
    #expect(undone > 3, "seed \(seed)")
    var joined = BoardState()
    for board in boards { joined = joined.joined(board.state) }
    for board in boards.reversed() { #expect(board.state.joined(joined).dump == joined.dump, "seed \(seed)") }
    // After the exchange, an undo and a redo together still change nothing.
    for board in boards {
      try board.receive(joined.difference(since: board.state.context))
      #expect(board.state.dump == joined.dump, "seed \(seed)")
    }
    let board = boards[0]
    let content = board.content
    let incarnation = board.incarnation
    var outcomes: [UndoOutcome] = []
    do throws(BoardError) { while true { outcomes.append(try board.undo()) } } catch {
      guard error.code != "locked" else { return }
      #expect(error.code == "nothing-to-undo", "seed \(seed)")
    }
    for _ in outcomes {
      do throws(BoardError) { outcomes.append(try board.redo()) } catch {
        #expect(error.code == "locked", "seed \(seed)")
        return
      }
    }
    if board.incarnation == incarnation, outcomes.allSatisfy({ $0.unwritable == 0 }) {
      #expect(board.content == content, "seed \(seed)")
    }
  }
}
