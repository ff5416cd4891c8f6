import Testing

@testable import Whiteboard

/// Boards of members whose wall clocks are wrong.
@Suite struct WrongClockTests {
  private let boards = TwoBoards()
  private let year: UInt64 = 31_557_600_000
  private let now: UInt64 = 1_700_000_000_000

  /// Returns Anna's board after a restart: a new incarnation with the contents of the old incarnation.
  private func restarted(_ old: Board, at wall: UInt64) throws -> Board {
    let board = Board(incarnation: Incarnation(77), member: old.member, wallClock: wall)
    board.authors.merge(old.authors) { mine, _ in mine }
    try board.receive(old.state.difference(since: Context()))
    return board
  }

  private func time(_ board: Board, _ id: ObjectID, _ property: Property) throws -> UInt64 {
    try #require(board.state.record(id)?[property]).time.milliseconds
  }

  @Test("[BRD-31] lines of one author keep their order over a restart with the clock set back") func setBack() throws {
    let anna = boards.anna
    try anna.say("1")
    try anna.say("2")
    let again = try restarted(anna, at: now - 20 * year)
    try again.say("3")
    try again.say("4")
    #expect(again.chat.map(\.text) == ["1", "2", "3", "4"])
    #expect(again.chat[2].sentAt == now - 20 * year)
    let other = try restarted(again, at: 0)
    #expect(other.chat == again.chat)
  }

  @Test("[BRD-31] a line follows those that its author saw, even if their clocks were years ahead") func causal() throws
  {
    let (anna, bob) = (boards.anna, boards.bob)
    bob.wallClock = now + 20 * year
    try bob.say("far ahead")
    try boards.share()
    let answer = try anna.say("answer")
    anna.wallClock += 1000
    try anna.say("and more")
    try boards.share()
    bob.wallClock = now - year
    try bob.say("set back")
    try boards.share()
    #expect(anna.chat.map(\.text) == ["far ahead", "answer", "and more", "set back"])
    #expect(bob.chat == anna.chat)
    // Only the time that decides the order is moved ahead.
    #expect(try time(anna, answer, .chatText) == now)
    #expect(anna.chat[1].sentAt == now)
  }

  @Test("[BRD-31] concurrent lines are in the order of their times") func concurrent() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    bob.wallClock = now + 5
    try bob.say("second")
    try anna.say("first")
    anna.wallClock = now + 9
    try anna.say("third")
    try boards.share()
    #expect(anna.chat.map(\.text) == ["first", "second", "third"])
    #expect(bob.chat == anna.chat)
  }

  @Test("[BRD-31] a line still follows one that was purged") func purged() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    bob.wallClock = now + 20 * year
    let line = try bob.say("far ahead")
    try boards.share()
    try anna.say("answer")
    try anna.gesture { try anna.stage(line, .purge, .none) }
    try anna.say("and more")
    #expect(anna.chat.map(\.text) == ["answer", "and more"])
  }

  @Test("[BRD-31] a line can be written even after one with the last possible time") func endOfTimes() throws {
    let anna = boards.anna
    let hostile = try Batch(
      author: Incarnation(9),
      firstSequence: 1,
      time: HybridTime(BoardLimits.time),
      operations: [Operation(ObjectID(Dot(Incarnation(9), 1)), .kind, .unsigned(ObjectKind.chat.rawValue))]
    )
    try anna.receive(hostile)
    try anna.say("1")
    anna.wallClock += 1
    try anna.say("2")
    #expect(anna.chat.map(\.text) == ["1", "2"])
  }

  @Test("[BRD-7] [BRD-32] a clock years ahead affects only the cells that it wrote") func spread() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(3)
    bob.wallClock = now + 20 * year
    try bob.object(ids[1])?.move(to: Point(x: 1, y: 1))
    try boards.share()
    let place = Point(x: 5, y: 5)
    try anna.gesture {
      for id in ids { try anna.object(id)?.move(to: place) }
      try anna.object(ids[1])?.scale(to: 2)
    }
    try boards.share()
    for board in [anna, bob] {
      #expect(ids.allSatisfy { board.object($0)?.centerPosition == place })
      #expect(try ids.map { try time(board, $0, .position) / year } == [53, 73, 53])
      #expect(try time(board, ids[1], .scale) == now)
    }
    let next = try anna.createText("next", at: place)
    #expect(try time(anna, next, .kind) == now)
  }

  @Test("[BRD-32] a gesture over far times is one undo step") func undo() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(3)
    bob.wallClock = now + 20 * year
    try bob.object(ids[1])?.move(to: Point(x: 1, y: 1))
    try boards.share()
    let before = ids.map { anna.object($0)?.centerPosition }
    try anna.gesture { for id in ids { try anna.object(id)?.move(to: Point(x: 5, y: 5)) } }
    #expect(anna.takeBatches().map(\.operations.count) == [1, 1, 1])
    #expect(try anna.undo().changed == 3)
    #expect(ids.map { anna.object($0)?.centerPosition } == before)
    #expect(try anna.redo().changed == 3)
    #expect(ids.allSatisfy { anna.object($0)?.centerPosition == Point(x: 5, y: 5) })
  }

  @Test("[BRD-26] a group is restored with all its objects, even if one was deleted far ahead", arguments: 0..<4)
  func group(ahead: Int) throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(4)
    let group = try anna.group(Array(ids.prefix(3)))
    try boards.share()
    bob.wallClock = now + 20 * year
    let far = ahead < 3 ? ids[ahead] : group
    try bob.gesture { try bob.stage(far, .deleted, .unsigned(0)) }
    try boards.share()
    // This deletion is separate from the group.
    try anna.delete(ids[3])
    anna.wallClock += 1000
    try anna.delete(group)
    #expect(anna.objectIDs.isEmpty)
    try anna.undelete(group)
    #expect(Set(anna.objectIDs) == Set(ids.prefix(3)))
    try boards.share()
    #expect(bob.objectIDs == anna.objectIDs)
  }

  @Test("[BRD-7] a member whose clock is years behind still wins with each edit") func behind() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(2)
    bob.wallClock = 0
    try bob.gesture {
      for id in ids { try bob.object(id)?.move(to: Point(x: 3, y: 3)) }
      try bob.setTitle("title")
    }
    try boards.share()
    #expect(ids.allSatisfy { anna.object($0)?.centerPosition == Point(x: 3, y: 3) })
    try anna.object(ids[0])?.move(to: Point(x: 4, y: 4))
    try boards.share()
    #expect(bob.object(ids[0])?.centerPosition == Point(x: 4, y: 4))
  }
}
