import PeerTestKit
import Whiteboard

/// Undo and redo, and their laws (I9).
extension BoardWorld {
  /// Undoes or redoes a step, and checks that it changes nothing that another author wrote last.
  func undo(_ one: Int) throws(Failure) {
    let board = peers[one].board
    prepare(one)
    let before = board.state
    let isRedo = random.chance(40)
    do throws(BoardError) { _ = if isRedo { try board.redo() } else { try board.undo() } } catch {
      tally[.refusals] += 1
    }
    let batches = board.takeBatches()
    for operation in batches.flatMap({ $0.operations }) {
      if let what = Self.trespass(operation, before, board) { throw fail("I9", what) }
    }
    if !batches.isEmpty { tally[.undos] += 1 }
    try publish(batches, of: one, since: before)
  }

  /// Returns the reason why an undo may not write this operation, or nil.
  static func trespass(_ operation: Operation, _ before: BoardState, _ board: Board) -> String? {
    guard let record = before.record(operation.object) else {
      return "an undo writes \(operation), whose object is not here"
    }
    if let cell = record[operation.property] {
      return board.isOwn(cell.dot.incarnation) ? nil : "an undo overwrites \(cell.dot) by \(operation)"
    }
    // If the cell is missing, the operation must be on one of the board's own objects, or remove one of its own writes.
    let isFresh = [129, 130].contains(operation.property.number)
    return isFresh || board.isOwn(operation.object.dot.incarnation)
      ? nil : "an undo writes \(operation), where nothing was"
  }

  /// Undoes some steps and redoes them without other edits, and checks that nothing has changed.
  func undoAndRedo(_ one: Int) throws(Failure) {
    let board = peers[one].board
    prepare(one)
    board.presentMembers = []
    let before = board.state
    let top = Reading(board)
    var steps = 0
    while steps < 6, (try? board.undo()) != nil { steps += 1 }
    let bottom = Reading(board)
    for round in 0..<3 {
      for _ in 0..<steps {
        do throws(BoardError) { _ = if round == 1 { try board.undo() } else { try board.redo() } } catch {
          if isLockedBySomebodyElse(error, on: board) {
            // Restoring an object is always allowed; deleting it again needs the permission to edit it.
            tally[.refusals] += 1
            return try publish(board.takeBatches(), of: one, since: before)
          }
          throw fail("I9", "what was undone cannot be \(round == 1 ? "undone" : "redone"): \(error)")
        }
      }
      let now = Reading(board)
      let wanted = round == 1 ? bottom : top
      guard now == wanted else {
        throw fail("I9", "after \(steps) steps, round \(round): \(now.difference(from: wanted))")
      }
    }
    if steps > 0 { tally[.undos] += 4 * steps }
    try publish(board.takeBatches(), of: one, since: before)
  }

  private func isLockedBySomebodyElse(_ error: BoardError, on board: Board) -> Bool {
    guard case .locked(let id) = error, let lock = board.state.record(id)?[.lock] else { return false }
    return !board.isOwn(lock.dot.incarnation)
  }

  /// Undoes every step on a new board with one author, and checks that each earlier state returns.
  func undoAlone() throws(Failure) {
    let board = newBoard(peers[0].member)
    board.wallClock = clock
    var edit = RandomEdit(board: board, random: random, mayDoWhatStays: false)
    var seen = [Reading(board)]
    for _ in 0..<12 {
      board.wallClock += 40
      board.step { _ = edit.act() }
      let now = Reading(board)
      if now != seen[seen.count - 1] { seen.append(now) }
    }
    random = edit.random
    var place = seen.count - 1
    while board.canUndo {
      do throws(BoardError) { try board.undo() } catch {
        // Steps without a change may remain at the end.
        if case .nothingToUndo(let rest) = error, rest.allSatisfy({ $0.reason == .unchanged }) { break }
        // An undo does not change a locked object either.
        guard case .locked = error else { throw fail("I9", "alone, an undo is refused: \(error)") }
        return
      }
      let now = Reading(board)
      if now == seen[place] { continue }
      guard place > 0, now == seen[place - 1] else {
        let wanted = seen[max(0, place - 1)]
        throw fail("I9", "alone, an undo shows \(now.difference(from: wanted))")
      }
      place -= 1
    }
    guard place == 0 else { throw fail("I9", "alone, \(place) states do not return") }
  }
}
