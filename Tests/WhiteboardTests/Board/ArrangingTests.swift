import Testing

@testable import Whiteboard

@Suite struct ArrangingTests {
  private let board = TwoBoards().anna

  private func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double) throws -> ObjectID {
    try board.createForm(.rectangle, at: Point(x: x, y: y), size: Size(width: width, height: height))
  }

  private func bounds(_ id: ObjectID) throws -> Rectangle { try #require(board.bounds(of: [id])) }

  @Test("objects are aligned at an edge or a middle line of their common bounds") func align() throws {
    let ids = [try box(0, 0, 40, 20), try box(100, 50, 60, 80), try box(30, 200, 10, 10)]
    let whole = try #require(board.bounds(of: ids))
    for edge in AlignmentEdge.allCases {
      try board.align(ids, edge)
      for id in ids {
        let bounds = try bounds(id)
        switch edge {
        case .left: #expect(bounds.least.x == whole.least.x)
        case .center: #expect((bounds.center.x - whole.center.x).magnitude < 0.1)
        case .right: #expect(bounds.greatest.x == whole.greatest.x)
        case .top: #expect(bounds.least.y == whole.least.y)
        case .middle: #expect((bounds.center.y - whole.center.y).magnitude < 0.1)
        case .bottom: #expect(bounds.greatest.y == whole.greatest.y)
        }
      }
      #expect(try board.undo().label == "align")
    }
  }

  @Test("the distances between neighbors become equal, and the outer objects stay") func distribute() throws {
    let ids = [try box(0, 0, 40, 20), try box(200, 0, 60, 80), try box(50, 0, 10, 10), try box(70, 0, 20, 10)]
    try board.distribute(ids, .horizontally)
    let sorted = try [ids[0], ids[2], ids[3], ids[1]].map(bounds)
    let gaps = zip(sorted, sorted.dropFirst()).map { $1.least.x - $0.greatest.x }
    #expect(gaps.allSatisfy { ($0 - gaps[0]).magnitude < 0.2 })
    #expect(sorted[0].center == Point(x: 0, y: 0) && (sorted[3].center.x - 200).magnitude < 0.2)
    #expect(try board.undo().label == "distribute")
  }

  @Test("a frame does not take along an object that is moved onto it") func ontoFrame() throws {
    let frame = try board.createForm(.frame, at: Point(x: 300, y: 0), size: Size(width: 200, height: 200))
    let ids = [try box(0, 0, 20, 20), frame, try box(640, 0, 20, 20)]
    try board.align(ids, .center)
    #expect(try ids.map { try bounds($0).center } == Array(repeating: Point(x: 320, y: 0), count: 3))
    #expect(board.objects(inFrame: frame) == [ids[0], ids[2]])
  }

  @Test("a whole group moves as one object, and a line between objects follows them") func pieces() throws {
    let (left, right) = (try box(0, 0, 20, 20), try box(40, 10, 20, 20))
    let other = try box(300, 300, 20, 20)
    let line = try board.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: [Point(x: 0, y: 0), Point(x: 300, y: 300)],
      from: Binding(to: left),
      to: Binding(to: other)
    )
    try board.group([left, right])
    try board.align([left, right, other, line], .bottom)
    let positions = try [left, right, other].map { try bounds($0).center }
    #expect(positions == [Point(x: 0, y: 290), Point(x: 40, y: 300), Point(x: 300, y: 300)])
    #expect(throws: BoardError.tooFew(2)) { try board.align([left, right, line], .top) }
    #expect(throws: BoardError.tooFew(3)) { try board.distribute([left, other], .vertically) }
  }

  @Test("clearing deletes all objects except locked and held ones, in one step") func clear() throws {
    let ids = [try box(0, 0, 40, 20), try box(200, 0, 60, 80), try box(50, 0, 10, 10)]
    try board.setLocked(ids[1], true)
    #expect(try board.clear() == [ids[0], ids[2]])
    #expect(board.objectIDs == [ids[1]])
    try board.undo()
    #expect(board.objectIDs == ids)
  }
}
