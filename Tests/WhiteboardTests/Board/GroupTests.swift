import Testing

@testable import Whiteboard

@Suite struct GroupTests {
  private let boards = TwoBoards()

  @Test("[BRD-26] members of a group move, scale and rotate together, in one gesture") func transform() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    let inner = try board.group([ids[0], ids[1]])
    let outer = try board.group([inner, ids[2]])
    #expect(board.groups(of: ids[0]) == [inner, outer])
    #expect(board.groups(of: ids[2]) == [outer])
    #expect(board.members(ofGroup: outer) == ids)
    #expect(board.members(ofGroup: inner) == Array(ids[..<2]))
    #expect(board.objectIDs == ids)
    _ = board.takeBatches()
    try board.move([outer], by: Point(x: 1, y: 2))
    #expect(board.takeBatches().map(\.operations.count) == [3])
    #expect(board.object(ids[2])?.centerPosition == Point(x: 21, y: 2))
    try board.scale([outer], by: 2, about: Point(x: 1, y: 2))
    #expect(board.object(ids[1])?.centerPosition == Point(x: 21, y: 2))
    #expect(board.object(ids[1])?.scale == 2)
    try board.rotate([inner], by: .degrees(90), about: Point(x: 1, y: 2))
    #expect(board.object(ids[1])?.centerPosition == Point(x: 1, y: 22))
    #expect(board.object(ids[1])?.angle == .pi / 2)
    #expect(board.object(ids[2])?.angle == 0)
  }

  @Test("[BRD-26] a group with as many objects as fit in a batch moves in one gesture") func large() throws {
    let board = boards.anna
    var ids: [ObjectID] = []
    for round in 0..<5 {
      try board.gesture {
        for number in 0..<800 { ids.append(try board.createText("", at: Point(x: Double(round), y: Double(number)))) }
      }
    }
    let group = try board.group(ids)
    _ = board.takeBatches()
    try board.move([group], by: Point(x: 1, y: 1))
    #expect(board.takeBatches().map(\.operations.count) == [4000])
    try board.duplicate([group])
    #expect(board.takeBatches().count > 1)
    #expect(board.objectIDs.count == 8000)
  }

  @Test("[BRD-26] a group with a locked or selected member does not change") func allOrNothing() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(3)
    let group = try anna.group(ids)
    try anna.setLocked(ids[1], true)
    let before = anna.state.dump
    let refused = BoardError.locked(ids[1])
    #expect(throws: refused) { try anna.move([group], by: Point(x: 1, y: 1)) }
    #expect(throws: refused) { try anna.delete([ids[0], group]) }
    #expect(throws: refused) { try anna.ungroup(group) }
    #expect(throws: refused) { try anna.reorder([group], .front) }
    #expect(anna.state.dump == before)
    try anna.setLocked(ids[1], false)
    try anna.select([ids[2]])
    try boards.share()
    bob.presentMembers = [anna.member]
    #expect(throws: BoardError.held(ids[2], by: anna.member)) {
      try bob.rotate([group], by: .radians(1), about: Point(x: 0, y: 0))
    }
    #expect(throws: BoardError.held(ids[2], by: anna.member)) { try bob.select([group]) }
    #expect(bob.selectedIDs.isEmpty)
    try anna.select([group])
    #expect(anna.selectedIDs == ids)
    try anna.deselectAll()
    #expect(anna.selectedIDs.isEmpty)
  }

  @Test("[BRD-26] ungrouping moves the members to the surrounding group") func ungroup() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    let inner = try board.group([ids[0], ids[1]])
    let outer = try board.group([inner, ids[2]])
    let within = try board.group([ids[2], inner])
    #expect(board.groups(of: ids[0]) == [inner, within, outer])
    try board.ungroup(inner)
    #expect(board.groups(of: ids[0]) == [within, outer])
    #expect(throws: BoardError.unknownObject(inner)) { try board.ungroup(inner) }
    #expect(throws: BoardError.unknownObject(ids[0])) { try board.ungroup(ids[0]) }
    #expect(throws: BoardError.empty) { try board.group([]) }
  }

  @Test("[BRD-26] a ring is cut at the same edge on every replica") func ring() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(2)
    let first = try anna.group([ids[0]])
    let second = try anna.group([ids[1]])
    try boards.share()
    // At the same time, Anna and Bob each put one group into the other. Bob's clock is ahead.
    bob.wallClock += 5
    try anna.gesture { try anna.stage(first, .group, .dot(second.dot)) }
    try bob.gesture { try bob.stage(second, .group, .dot(first.dot)) }
    try boards.share()
    for board in [anna, bob] {
      #expect(board.groups(of: ids[0]) == [first, second])
      #expect(board.groups(of: ids[1]) == [second])
      #expect(board.members(ofGroup: second) == ids)
    }
    // A group that contains itself is in no group.
    try anna.gesture { try anna.stage(second, .group, .dot(second.dot)) }
    #expect(anna.groups(of: second).isEmpty)
  }

  @Test("[BRD-26] if a group is created, changed or deleted, its members are reported as changed") func told() throws {
    let (anna, bob) = (boards.anna, boards.bob)
    let ids = try boards.texts(2)
    _ = anna.takeChanges()
    // The members' cells arrive before the group.
    let inner = try anna.group([ids[0]])
    let batches = anna.takeBatches()
    let outer = try anna.group([inner])
    #expect(anna.takeChanges().contains(.changed(ids[0])))
    for batch in anna.takeBatches() { try bob.receive(batch) }
    _ = bob.takeChanges()
    for batch in batches { try bob.receive(batch) }
    #expect(bob.takeChanges().contains(.changed(ids[0])))
    #expect(bob.groups(of: ids[0]) == [inner, outer])
    // Delete only a group, and not its objects.
    try bob.gesture { try bob.stage(outer, .deleted, .unsigned(1)) }
    #expect(bob.takeChanges() == [.changed(ids[0])])
    #expect(bob.groups(of: ids[0]) == [inner])
  }

  @Test("[BRD-26] the depth of groups is limited") func deep() throws {
    let board = boards.anna
    let id = try board.createText("x", at: Point(x: 0, y: 0))
    var last = id
    for _ in 0..<BoardLimits.groupDepth + 10 { last = try board.group([last]) }
    #expect(board.groups(of: id).count == BoardLimits.groupDepth)
  }

  @Test("[BRD-23] a deleted group is restored with the objects that were deleted with it") func undelete() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    let group = try board.group(ids)
    try board.delete(ids[0])
    board.wallClock += 1
    try board.delete(group)
    #expect(board.objectIDs.isEmpty)
    try board.undelete(group)
    #expect(board.members(ofGroup: group) == [ids[1], ids[2]])
    try board.undelete(ids[0])
    #expect(board.members(ofGroup: group) == ids)
    #expect(throws: BoardError.notDeleted(group)) { try board.undelete(group) }
    #expect(throws: BoardError.notDeleted(ids[1])) { try board.purge(ids[1]) }
    try board.delete(ids[1])
    try board.purge(ids[1])
    #expect(throws: BoardError.unknownObject(ids[1])) { try board.undelete(ids[1]) }
  }

  @Test("[BRD-27] a locked object can be selected and unlocked, and nothing else") func lock() throws {
    let board = boards.anna
    let id = try boards.texts(1)[0]
    let object = try #require(board.object(id) as? TextObject)
    try object.setLocked(true)
    let refused = BoardError.locked(id)
    #expect(throws: refused) { try object.move(to: Point(x: 1, y: 1)) }
    #expect(throws: refused) { try object.scale(to: 2) }
    #expect(throws: refused) { try object.rotate(to: .radians(2)) }
    #expect(throws: refused) { try object.setColor(1) }
    #expect(throws: refused) { try object.update(text: "y") }
    #expect(throws: refused) { try object.reorder(.back) }
    #expect(throws: refused) { try object.delete() }
    #expect(throws: refused) { try board.group([id]) }
    try object.select()
    try object.deselect()
    #expect(object.isLocked)
    try object.setLocked(false)
    try object.delete()
  }

  @Test("[BRD-27] an object that was concurrently locked and deleted can be restored") func lockedAndDeleted() throws {
    let id = try boards.texts(1)[0]
    try boards.anna.setLocked(id, true)
    try boards.bob.delete(id)
    try boards.share()
    try boards.anna.undelete(id)
    #expect(boards.anna.object(id)?.isLocked == true)
  }

  @Test("[SYN-8] an object seen as deleted for ten minutes may be purged, whatever its author's clock") func purgeable()
    throws
  {
    let board = boards.anna
    let ids = try boards.texts(4)
    var ages = DeletionAges()
    try board.delete(ids[0])
    board.wallClock = 0
    try board.delete(ids[1])
    board.wallClock = 4_000_000_000_000
    try board.delete(ids[2])
    #expect(ages.purgeable(on: board, at: 5) == [])
    try board.undelete(ids[0])
    try board.delete(ids[0])
    #expect(ages.purgeable(on: board, at: 600_004) == [])
    #expect(ages.purgeable(on: board, at: 600_005) == [ids[1], ids[2]])
    #expect(ages.purgeable(on: board, at: 600_005, excluding: [ids[1]]) == [ids[2]])
    #expect(ages.purgeable(on: board, at: 1_200_004) == [ids[0], ids[1], ids[2]])
  }
}
