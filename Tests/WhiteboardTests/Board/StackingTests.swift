import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct StackingTests {
  private let boards = TwoBoards()

  @Test("[BRD-13] objects move in the stack and keep their order among themselves") func moves() throws {
    let board = boards.anna
    let ids = try boards.texts(6)
    func order() -> [Int] { board.objectIDs.compactMap { ids.firstIndex(of: $0) } }
    try board.reorder([ids[3], ids[1]], .front)
    #expect(order() == [0, 2, 4, 5, 1, 3])
    try board.reorder([ids[3], ids[5]], .back)
    #expect(order() == [5, 3, 0, 2, 4, 1])
    try board.reorder([ids[5], ids[3]], .forward)
    #expect(order() == [0, 5, 3, 2, 4, 1])
    try board.reorder([ids[4], ids[2]], .backward)
    #expect(order() == [0, 5, 2, 4, 3, 1])
    try board.reorder([ids[0], ids[1]], .above(ids[2]))
    #expect(order() == [5, 2, 0, 1, 4, 3])
    try board.reorder([ids[3], ids[2]], .below(ids[5]))
    #expect(order() == [2, 3, 5, 0, 1, 4])
    #expect(throws: BoardError.nextToItself(ids[2])) { try board.reorder([ids[2]], .above(ids[2])) }
    _ = board.takeBatches()
    // An object that is already in position is not written.
    try board.reorder([ids[4]], .front)
    try board.reorder([ids[2], ids[3]], .back)
    try board.reorder([ids[4]], .forward)
    #expect(board.takeBatches().isEmpty)
  }

  @Test("[BRD-13] random moves have the same result as on a list", arguments: 0..<20) func arbitrary(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let board = boards.anna
    var model = try boards.texts(12)
    for _ in 0..<200 {
      let id = model[random.below(model.count)]
      let other = model[random.below(model.count)]
      guard id != other else { continue }
      let isAbove = random.below(2) == 0
      try board.reorder([id], isAbove ? .above(other) : .below(other))
      model.removeAll { $0 == id }
      let index = try #require(model.firstIndex(of: other))
      model.insert(id, at: isAbove ? index + 1 : index)
      try #require(board.objectIDs == model)
    }
    let places = board.snapshots.map(\.zIndex)
    #expect(zip(places, places.dropFirst()).allSatisfy { ZIndex.isBehind($0, $1) })
  }

  @Test("[BRD-13] two objects put at one position at once have one order, with room between") func atOnce() throws {
    let ids = try boards.texts(4)
    try boards.anna.reorder([ids[2]], .above(ids[0]))
    try boards.bob.reorder([ids[3]], .above(ids[0]))
    try boards.share()
    #expect(boards.anna.objectIDs == boards.bob.objectIDs)
    let order = boards.anna.objectIDs
    #expect(Set(order[1...2]) == [ids[2], ids[3]])
    try boards.anna.reorder([ids[1]], .above(order[1]))
    #expect(boards.anna.objectIDs == [ids[0], order[1], ids[1], order[2]])
  }

  @Test("[BRD-34] a position is strictly between its neighbors and at most 32 bytes long", arguments: 0..<50)
  func between(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func place() -> [UInt8] {
      (0..<random.below(5)).map { _ in UInt8(random.below(3) == 0 ? 255 : random.below(3)) } + [
        UInt8(1 + random.below(255))
      ]
    }
    for _ in 0..<200 {
      let (left, right) = (place(), place())
      let jitter = UInt8(random.below(256))
      guard left != right else {
        #expect(ZIndex.between(left, right, jitter: jitter) == nil)
        continue
      }
      let (lower, upper) = ZIndex.isBehind(left, right) ? (left, right) : (right, left)
      for (low, high) in [(lower, upper), (nil, lower), (upper, nil)] as [([UInt8]?, [UInt8]?)] {
        let middle = ZIndex.between(low, high, jitter: jitter)
        #expect(low.map { ZIndex.isBehind($0, middle ?? []) } ?? (middle != nil))
        #expect(high.map { ZIndex.isBehind(middle ?? [255, 255], $0) } ?? true)
        #expect((middle?.count ?? 99) <= ZIndex.longest)
        #expect(middle?.last != 0)
      }
    }
  }

  @Test("[BRD-34] if no position is left between two objects, their neighbors get new ones too") func room() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    func place(_ places: [UInt8]...) throws {
      try board.gesture { for (id, place) in zip(ids, places) { try board.stage(id, .zIndex, .bytes(place)) } }
    }
    // No position is between 07 and 07 00, or between two equal positions.
    let highest = [UInt8](repeating: 255, count: 64)
    let pairs: [([UInt8], [UInt8])] = [([7], [7, 0]), ([7], [7]), ([], []), (highest, [])]
    for (lower, upper) in pairs {
      try place(lower, upper, [9])
      try board.reorder(ids, .front)
      try place(lower, upper, [9])
      let (back, front) = (board.objectIDs[0], board.objectIDs[1])
      let moved = board.objectIDs[2]
      try board.reorder([moved], .above(back))
      #expect(board.objectIDs == [back, moved, front])
    }
    #expect(board.snapshots.allSatisfy { $0.zIndex.count <= BoardLimits.zIndexBytes })
  }

  @Test("[BRD-34] one gap can be halved many times, and positions stay short") func halved() throws {
    let board = boards.anna
    _ = try boards.texts(3)
    for _ in 0..<2_000 {
      let before = board.objectIDs
      try board.reorder([before[2]], .above(before[0]))
      #expect(board.objectIDs == [before[0], before[2], before[1]])
      #expect(board.snapshots.allSatisfy { $0.zIndex.count <= ZIndex.longest })
    }
  }

  @Test("[BRD-34] locked objects get no new position; if none is left, the move is refused") func locked() throws {
    let board = boards.anna
    let ids = try boards.texts(3)
    try board.gesture {
      try board.stage(ids[0], .zIndex, .bytes([7]))
      try board.stage(ids[1], .zIndex, .bytes([7, 0]))
    }
    for id in ids[..<2] { try board.setLocked(id, true) }
    #expect(throws: BoardError.stackFull) { try board.reorder([ids[2]], .above(ids[0])) }
    try board.setLocked(ids[1], false)
    try board.reorder([ids[2]], .above(ids[0]))
    #expect(board.objectIDs == [ids[0], ids[2], ids[1]])
  }

  @Test("[BRD-34] new objects do not go in front of one whose position leaves no short one") func notFollowed() throws {
    let board = boards.anna
    let ids = try boards.texts(2)
    try board.gesture { try board.stage(ids[1], .zIndex, .bytes([UInt8](repeating: 255, count: 64))) }
    for _ in 0..<100 { try board.createText("new", at: Point(x: 0, y: 0)) }
    #expect(board.objectIDs.first == ids[0] && board.objectIDs.last == ids[1])
    #expect(board.snapshots.dropLast().allSatisfy { $0.zIndex.count == 5 })
  }

  @Test("[BRD-13] next to a group is next to all its members; no object is next to itself") func nextToGroups() throws {
    let board = boards.anna
    let ids = try boards.texts(4)
    let group = try board.group([ids[1], ids[2]])
    try board.reorder([ids[0]], .above(group))
    #expect(board.objectIDs == [ids[1], ids[2], ids[0], ids[3]])
    try board.reorder([ids[3]], .below(group))
    #expect(board.objectIDs == [ids[3], ids[1], ids[2], ids[0]])
    // A member of the group is put next to its other members.
    try board.reorder([ids[1]], .above(group))
    #expect(board.objectIDs == [ids[3], ids[2], ids[1], ids[0]])
    #expect(throws: BoardError.nextToItself(group)) { try board.reorder([group], .below(group)) }
    #expect(throws: BoardError.nextToItself(ids[0])) { try board.reorder([ids[0]], .above(ids[0])) }
    try board.delete(ids[0])
    #expect(throws: BoardError.unknownObject(ids[0])) { try board.reorder([ids[1]], .above(ids[0])) }
  }

  @Test func `objects that one gesture creates are stacked in the order of their creation`() throws {
    let board = boards.anna
    let ids = try board.gesture { try (0..<300).map { try board.createText("\($0)", at: Point(x: 0, y: 0)) } }
    #expect(board.objectIDs == ids)
  }
}
