import Testing

@testable import Whiteboard

@Suite struct BatchRunsTests {
  @Test("runs have at most as many operations and bytes as fit in one batch") func runs() {
    let half = BoardLimits.batchBytes / 2
    let most = BoardLimits.operationsPerBatch
    #expect([Int]().batches { $0 }.isEmpty)
    #expect(
      [half, 1, half - 1, 1, 2 * half, 3].batches { $0 }.map(Array.init) == [
        [half], [1, half - 1], [1], [2 * half], [3],
      ]
    )
    let small = Array(repeating: 0, count: 2 * most + 1)
    #expect(small.batches { $0 }.map(\.count) == [most, most, 1])
  }
}
