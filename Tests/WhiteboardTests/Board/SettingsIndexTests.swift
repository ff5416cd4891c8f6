import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct SettingsIndexTests {
  private static let properties: [Property] = [.title, .background, .grid, .language]

  /// Compares the index with a search of all objects.
  private func check(_ state: BoardState) {
    let ids = state.records.filter { $0.value.kind == .settings && $0.value.isVisible }.map(\.key).sorted()
    #expect(state.settingsIDs == ids)
    #expect(state.objects.settings.objects.least == ids.first)
    for property in Self.properties {
      let isText = property == .title || property == .language
      let cells = ids.compactMap { state.record($0)?[property] }
      let legal = cells.filter { $0.value.shape == (isText ? Value.text("") : Value.unsigned(0)).shape }
      #expect(state.objects.settings.winner(property) == legal.max { $1.beats($0) })
      #expect(state.objects.settings.latest(property) == cells.max { $1.beats($0) })
    }
  }

  @Test("[BRD-28] the index agrees with a search of all objects", arguments: 0..<repetitions(20, optimized: 60))
  func recomputed(seed: UInt64)
    throws
  {
    var history = RandomHistory(seed: seed)
    var most = 0
    for _ in 0..<120 {
      let index = try history.step()
      check(history.states[index])
      history.showing(in: index) { check($0) }
      check(history.states[index])
      most = max(most, history.states[index].settingsIDs.count)
    }
    #expect(most > 1)
  }

  @Test("[BRD-28] a setting is read and written among thousands of settings objects") func many() throws {
    let board = TwoBoards.board(1)
    let author = Incarnation(2)
    for start in stride(from: UInt64(1), through: 8193, by: 4096) {
      try board.receive(
        Batch(
          author: author,
          firstSequence: start,
          time: HybridTime(start),
          operations: (start..<start + 4096).map {
            Operation(ObjectID(Dot(author, $0)), .kind, .unsigned(ObjectKind.settings.rawValue))
          }
        )
      )
    }
    try board.setTitle("first")
    try board.gesture {
      try board.setTitle("second")
      #expect(board.settings.title == "second")
    }
    #expect(board.settings.title == "second")
    check(board.state)
    #expect(board.state.record(ObjectID(Dot(author, 1)))?[.title]?.value == .text("second"))
    try board.undo()
    #expect(board.settings.title == "first")
    check(board.state)
  }
}
