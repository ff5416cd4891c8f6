import Testing

@testable import Whiteboard

@Suite struct StagedOperationsTests {
  private let author = Incarnation(4)

  private func staged(_ count: Int = 0) -> StagedOperations {
    var staged = StagedOperations(author: author, firstSequence: 10, label: nil)
    for index in 0..<count {
      let id = ObjectID(staged.dot(at: index))
      staged.append(Operation(id, .kind, .unsigned(1)), after: nil)
    }
    return staged
  }

  @Test("[BRD-11] operations get consecutive dots, and a later write of a cell replaces the first") func dots() throws {
    var staged = staged(2)
    #expect(staged.nextDot == Dot(author, 12))
    let id = ObjectID(staged.dot(at: 0))
    staged.append(Operation(id, .color, .unsigned(1)), after: HybridTime(5))
    #expect(staged.replace(with: Operation(id, .color, .unsigned(2))) == 2)
    #expect(staged.replace(with: Operation(id, .scale, .unsigned(2))) == nil)
    var clock = HybridClock()
    let batches = staged.batches(&clock, wall: 1_700_000_000_000)
    #expect(batches.count == 1 && batches[0].firstSequence == 10)
    #expect(batches[0].operations.last?.value == .unsigned(2))
  }

  @Test("[BRD-32] operations after a time far ahead of the wall clock are batches of their own") func farTimes() {
    var staged = staged(1)
    let id = ObjectID(staged.dot(at: 0))
    let far = HybridTime(2_000_000_000_000 << 16)
    staged.append(Operation(id, .color, .unsigned(1)), after: far)
    staged.append(Operation(id, .scale, .unsigned(1)), after: nil)
    var clock = HybridClock()
    let batches = staged.batches(&clock, wall: 1_700_000_000_000)
    #expect(batches.map(\.firstSequence) == [10, 11, 12])
    #expect(batches[1].time > far && batches[2].time < far)
  }

  @Test("a gesture has a limited number of operations") func limits() throws {
    let next = Operation(ObjectID(Dot(author, 1)), .color, .unsigned(1))
    var staged = staged(BoardLimits.operationsPerGesture - 1)
    try staged.requireRoom()
    staged.append(next, after: nil)
    #expect(throws: BoardError.tooManyOperations) { try staged.requireRoom() }
  }

  @Test("[BRD-11] operations that do not fit in one batch are several, with consecutive dots and times") func pieces() {
    let most = BoardLimits.operationsPerBatch
    var clock = HybridClock()
    let batches = staged(2 * most + 1).batches(&clock, wall: 1_700_000_000_000)
    #expect(batches.map(\.operations.count) == [most, most, 1])
    #expect(batches.map(\.firstSequence) == [0, 1, 2].map { 10 + UInt64($0 * most) })
    let begin = batches[0].time.rawValue
    #expect(batches.map(\.time.rawValue) == [0, 1, 2].map { begin + UInt64($0 * most) })
  }

  @Test("rolling back removes later operations, and restores the replaced ones") func rollback() {
    var staged = staged(1)
    let id = ObjectID(staged.dot(at: 0))
    staged.append(Operation(id, .color, .unsigned(1)), after: nil)
    let (point, before) = (staged.savepoint, staged.operations)
    for color in [2, 3] as [UInt64] { _ = staged.replace(with: Operation(id, .color, .unsigned(color))) }
    staged.append(Operation(id, .scale, .unsigned(1)), after: nil)
    staged.roll(backTo: point)
    #expect(staged.operations == before && staged.floors.count == 2)
    #expect(staged.replace(with: Operation(id, .scale, .unsigned(2))) == nil)
  }

  @Test("[BRD-30] each operation may add an object, a cell and its bytes") func growth() {
    let next = Operation(ObjectID(Dot(author, 1)), .color, .unsigned(1))
    let shown = BoardGrowth(objects: 2, cells: 1)
    let growth = staged(3).growth(with: next, alreadyShown: shown)
    #expect(growth.objects == 2 && growth.cells == 3 && growth.incarnations == 5)
    #expect(growth.bytes == staged(3).valueBytes + next.value.length)
  }

  @Test("the first label counts, unless the gesture already has operations") func labels() {
    var named = staged()
    named.setLabel("move")
    named.setLabel("scale")
    #expect(named.label == "move")
    var unnamed = staged(1)
    unnamed.setLabel("move")
    #expect(unnamed.label == nil)
  }
}
