import Testing

@testable import Whiteboard

@Suite struct StackTests {
  private let ids = (1...5).map { ObjectID(Dot(Incarnation(1), $0)) }

  /// Returns a function that looks up the z index of an object; `zIndexes` has the order of ``ids``.
  private func zIndex(_ zIndexes: [[UInt8]]) -> (ObjectID) -> [UInt8] { { id in zIndexes[Int(id.dot.sequence) - 1] } }

  @Test("[BRD-13] only the moved objects get new z indexes") func moves() throws {
    let zIndex = self.zIndex([[10, 1], [20, 1], [30, 1], [40, 1], [50, 1]])
    var stack = Stack(ids)
    try stack.move([ids[0], ids[2]], .above(ids[3])) { [$0] }
    #expect(stack.order == [1, 3, 0, 2, 4].map { ids[$0] })
    #expect(stack.assign(to: [ids[0], ids[2]], zIndex: zIndex, jitter: 7) { _ in false })
    #expect(stack.written.map(\.id) == [ids[0], ids[2]])
    let zIndexes = [[40, 1]] + stack.written.map(\.zIndex) + [[50, 1]]
    for (lower, upper) in zip(zIndexes, zIndexes.dropFirst()) { #expect(ZIndex.isBehind(lower, upper)) }
    #expect(throws: BoardError.nextToItself(ids[1])) { try stack.move([ids[1]], .below(ids[1])) { [$0] } }
  }

  @Test("[BRD-34] neighbors get new z indexes if none is left between them") func spreading() throws {
    let equal = [UInt8](repeating: 5, count: 2)
    let zIndex = self.zIndex([[1], equal, equal, equal, [9]])
    var stack = Stack(ids)
    try stack.move([ids[4]], .above(ids[1])) { [$0] }
    var blocked = stack
    #expect(!blocked.assign(to: [ids[4]], zIndex: zIndex, jitter: 7) { _ in false })
    #expect(stack.assign(to: [ids[4]], zIndex: zIndex, jitter: 7) { $0 == ids[2] || $0 == ids[3] })
    #expect(stack.written.map(\.id) == [ids[4], ids[2], ids[3]])
  }
}
