import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct BoardReadingTests {
  private func randomBoard(_ seed: UInt64) -> Board {
    var random = SeededGenerator(seed: seed)
    let board = Board(incarnation: Incarnation(7), member: RandomEditing.member(1), wallClock: 1_700_000_000_000)
    for _ in 0..<150 + random.below(200) { RandomEditing.edit(board, &random) }
    return board
  }

  @Test("the foremost objects are the last ones of all objects", arguments: 0..<20) func foremost(seed: UInt64) {
    let state = randomBoard(seed).state
    let all = Array(state.snapshots.reversed())
    #expect(all.count > 3)
    for count in [1, 2, 7, all.count / 2, all.count, all.count + 1] {
      #expect(state.foremostSnapshots(count) == Array(all.prefix(count)))
    }
  }

  @Test("the frames and the time of the last change are those of the snapshots", arguments: 0..<20)
  func frames(seed: UInt64) {
    let state = randomBoard(seed).state
    let snapshots = state.snapshots
    var frames: Set<[Double]> = []
    var count = 0
    state.forEachShownFrame { center, size, scale in
      frames.insert([center.x, center.y, size.width, size.height, scale])
      count += 1
    }
    #expect(count == snapshots.count && count == state.shownCount)
    #expect(
      frames
        == Set(
          snapshots.map {
            [$0.centerPosition.x, $0.centerPosition.y, $0.size.width, $0.size.height, $0.scale]
          }
        )
    )
    #expect(state.lastChange == snapshots.map(\.updatedAt).max())
    #expect(BoardState().lastChange == nil && BoardState().foremostSnapshots(3).isEmpty)
  }
}
