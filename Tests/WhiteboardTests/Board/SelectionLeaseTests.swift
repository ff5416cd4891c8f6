import Testing

@testable import Whiteboard

/// The leases on selected objects: how long a selection holds an object, and how another member takes it.
@Suite struct SelectionLeaseTests {
  private let boards = TwoBoards()
  private var anna: Board { boards.anna }
  private var bob: Board { boards.bob }
  private let origin = Point(x: 0, y: 0)

  init() {
    boards.anna.presentMembers = [boards.bob.member]
    boards.bob.presentMembers = [boards.anna.member]
  }

  /// Lets time pass on both boards, in milliseconds.
  private func wait(_ milliseconds: UInt64) {
    for board in [anna, bob] {
      board.uptime += milliseconds
      board.wallClock += milliseconds
    }
  }

  private func isHeld(_ id: ObjectID) -> Bool { anna.holder(of: id) == bob.member }

  /// Writes a selection again, which no correct program does.
  private func renew(_ id: ObjectID) throws {
    try bob.stageAlone(id, .selection, .bytes(bob.member.bytes))
    try boards.share()
  }

  @Test("[BRD-22] a selection holds an object for 60 s, however often it is written") func end() throws {
    let id = try boards.texts(1)[0]
    try bob.select([id])
    try boards.share()
    for _ in 0..<59 {
      wait(1000)
      try renew(id)
      #expect(isHeld(id))
    }
    #expect(throws: BoardError.held(id, by: bob.member)) { try anna.delete(id) }
    wait(1000)
    #expect(!isHeld(id) && anna.removeEndedLeases() == [id] && anna.removeEndedLeases() == [])
    // Neither another selection nor a selection after a deselection holds the object again before 240 s have passed.
    try renew(id)
    try bob.deselect([id])
    try renew(id)
    wait(200_000)
    try renew(id)
    #expect(!isHeld(id))
    try anna.move([id], by: Point(x: 1, y: 1))
    wait(41_000)
    try renew(id)
    #expect(isHeld(id))
  }

  @Test("[BRD-22] a member that holds as many objects as it may can hold others when its leases are forgotten")
  func room() {
    var leases = SelectionLeases()
    let member = bob.member
    func id(_ number: Int) -> ObjectID { ObjectID(Dot(Incarnation(1), UInt64(number))) }
    for number in 1...BoardLimits.selectionsPerMember { leases.selected(id(number), by: member, 0) }
    let other = id(BoardLimits.selectionsPerMember + 1)
    leases.selected(other, by: member, 0)
    #expect(leases.holds(id(1), member, 1) && !leases.holds(other, member, 1))
    #expect(leases.removeEnded(BoardLimits.selectionLease).count == BoardLimits.selectionsPerMember)
    let end = BoardLimits.selectionLease + BoardLimits.selectionRest
    #expect(leases.removeEnded(end).isEmpty)
    leases.selected(other, by: member, end)
    #expect(leases.holds(other, member, end + 1))
  }

  @Test("[BRD-22] an edit extends the lease of its author, and begins it again after its end") func edits() throws {
    let ids = try boards.texts(2)
    try bob.select(ids)
    try boards.share()
    for _ in 0..<4 {
      wait(50_000)
      try bob.text(ids[0]).edit(replacing: 0..<0, with: "a")
      try boards.share()
    }
    #expect(isHeld(ids[0]) && !isHeld(ids[1]))
    try bob.move([ids[1]], by: Point(x: 1, y: 0))
    try boards.share()
    #expect(isHeld(ids[1]))
    // An edit by a member that has not selected the object has no effect.
    wait(60_000)
    try anna.move([ids[1]], by: Point(x: 1, y: 0))
    try boards.share()
    #expect(!isHeld(ids[1]) && bob.holder(of: ids[1]) == bob.member)
  }

  @Test("[BRD-22] any member can take an object, and the earlier holder cannot hold it at once") func taking() throws {
    let id = try boards.texts(1)[0]
    try bob.select([id])
    try boards.share()
    #expect(throws: BoardError.held(id, by: bob.member)) { try anna.select([id]) }
    #expect(try anna.select([id], taking: true) == [id])
    try boards.share()
    #expect(anna.holder(of: id) == anna.member && bob.holder(of: id) == anna.member)
    // Bob insists: his selection wins by its time, but holds nothing, even if he also edits.
    try renew(id)
    try bob.stageAlone(id, .color, .unsigned(1))
    try boards.share()
    #expect(anna.selection(of: id) == bob.member && anna.holder(of: id) == nil)
    try anna.move([id], by: Point(x: 1, y: 1))
    try anna.select([id])
    try boards.share()
    #expect(anna.holder(of: id) == anna.member)
    try anna.deselect([id])
    try boards.share()
    wait(BoardLimits.selectionRest)
    try bob.select([id])
    try boards.share()
    #expect(isHeld(id))
  }

  @Test("[BRD-22] a member that deselects an object can select it again after another member") func turns() throws {
    let id = try boards.texts(1)[0]
    for _ in 0..<3 {
      try bob.select([id])
      try boards.share()
      #expect(isHeld(id))
      try bob.deselect([id])
      try boards.share()
      try anna.select([id])
      try boards.share()
      #expect(bob.holder(of: id) == anna.member)
      try anna.deselect([id])
      try boards.share()
    }
  }

  @Test("[BRD-22] a member holds at most 1,024 objects, at any times") func number() throws {
    let ids = try (0..<1200).map { try anna.createText("\($0)", at: origin) }
    try boards.share()
    let most = BoardLimits.time - 8192
    let batch = try Batch(
      author: bob.incarnation,
      firstSequence: 1,
      time: HybridTime(most),
      operations: ids.map { Operation($0, .selection, .bytes(bob.member.bytes)) }
    )
    try anna.receive(batch)
    #expect(ids.filter(isHeld).count == BoardLimits.selectionsPerMember)
    #expect(ids.prefix(BoardLimits.selectionsPerMember).allSatisfy(isHeld))
    wait(BoardLimits.selectionLease)
    #expect(anna.removeEndedLeases().count == BoardLimits.selectionsPerMember)
    #expect(!ids.contains(where: isHeld))
    // The leases of others do not count.
    try anna.select([ids[0]])
    #expect(anna.holder(of: ids[0]) == anna.member)
    // No lease is remembered forever.
    wait(BoardLimits.selectionRest)
    #expect(anna.removeEndedLeases() == [ids[0]])
    wait(BoardLimits.selectionRest)
    #expect(anna.removeEndedLeases().isEmpty && anna.nextLeaseEnd == nil)
  }

  @Test("[BRD-22] selections neither change the digest nor prevent equal boards") func agreement() throws {
    let id = try boards.texts(1)[0]
    try bob.select([id])
    try boards.share()
    wait(70_000)
    try anna.select([id], taking: true)
    try renew(id)
    try boards.share()
    #expect(anna.state.context == bob.state.context && anna.state.dump == bob.state.dump)
  }
}
