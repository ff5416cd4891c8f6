import Testing

@testable import Whiteboard
@testable import WhiteboardKit

@Suite struct StorageNoticeTests {
  private let board: Board

  init() throws {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 7, count: 32)))
    board = Board(incarnation: Incarnation(1), member: member, wallClock: 0)
  }

  /// Adds objects of the local member as a peer's batches, because local edits would be checked one by one.
  private func create(_ range: Range<UInt64>) throws {
    let author = Incarnation(2)
    board.authors[author] = board.member
    for first in stride(from: range.lowerBound, to: range.upperBound, by: 4096) {
      let last = min(first + 4096, range.upperBound)
      let operations = (first..<last).map { Operation(ObjectID(Dot(author, $0)), .kind, .unsigned(1)) }
      let batch = try Batch(author: author, firstSequence: first, time: HybridTime(first), operations: operations)
      try board.receive(batch)
    }
  }

  @Test("[BRD-38] one note says that the board is nearly full, and what to do") func nearlyFull() throws {
    var notice = StorageNotice()
    func check() -> SharedBoard.News.Remark? { notice.check(board) }
    #expect(check() == nil)
    try create(1..<80_001)
    #expect(check() == nil)
    try create(80_001..<90_101)
    let note = try #require(check())
    #expect(note.code == "board-nearly-full")
    #expect(note.message.hasPrefix("You have written 90 % of what one author may write on this board."))
    #expect(note.message.contains("purge"))
    try create(90_101..<95_001)
    #expect(check() == nil, "the note is not repeated")
    // A full board refuses to create its settings, and loses nothing.
    try create(95_001..<100_001)
    let count = board.state.cellCount
    #expect(throws: BoardError.shareUsed) { try board.setTitle("Plan") }
    #expect(board.settings.title == nil && board.state.cellCount == count)
    let unneeded = (1...20).map { ObjectID(Dot(Incarnation(2), UInt64($0))) }
    try board.delete(unneeded)
    for id in unneeded { try board.purge(id) }
    // The usage is counted again after some refusals.
    #expect((0..<2).contains { _ in (try? board.setTitle("Plan")) != nil })
    #expect(board.settings.title == "Plan")
  }

  @Test("the limits of personal settings are reported from nine tenths on") func personalSettings() {
    func note(_ count: Int, _ part: Double) -> String? {
      SharedBoard.News.Remark.nearlyFull(hiddenAuthors: count, usedPart: part)?.message
    }
    #expect(note(230, 0.89) == nil)
    #expect(note(231, 0)?.hasPrefix("You hide 231 of at most 256 authors.") == true)
    #expect(note(0, 0.9)?.contains("90 %") == true)
  }
}
