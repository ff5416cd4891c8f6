import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct TextTests {
  private func board(_ number: UInt64) -> Board {
    Board(incarnation: Incarnation(number), member: RandomEditing.member(UInt8(number)), wallClock: 1000)
  }

  private func text(_ board: Board, _ id: ObjectID) -> String? { board.snapshot(id)?.text }

  @Test("[BRD-14] two users typing in one text both keep their words, each in one piece") func runs() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("ab", at: Point(x: 0, y: 0))
    for batch in anna.takeBatches() { try bob.receive(batch) }
    // Anna types forward, Bob backward, at the same position, letter by letter.
    for (index, letter) in "hello".enumerated() {
      try anna.text(id).edit(replacing: (1 + index)..<(1 + index), with: String(letter))
    }
    for letter in "world".reversed() { try bob.text(id).edit(replacing: 1..<1, with: String(letter)) }
    #expect(text(anna, id) == "ahellob")
    #expect(text(bob, id) == "aworldb")
    let (fromAnna, fromBob) = (anna.takeBatches(), bob.takeBatches())
    for batch in fromBob.reversed() { try anna.receive(batch) }
    for batch in fromAnna { try bob.receive(batch) }
    #expect(text(anna, id) == text(bob, id))
    #expect(["ahelloworldb", "aworldhellob"].contains(text(anna, id) ?? ""))
  }

  @Test("[BRD-14] edits of a text have the same result as on an array", arguments: 0..<repetitions(30, optimized: 100))
  func model(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let board = board(1)
    let id = try board.createText("", at: Point(x: 0, y: 0))
    var model: [Unicode.Scalar] = []
    for _ in 0..<40 {
      let start = random.below(model.count + 1)
      let end = start + random.below(min(4, model.count - start) + 1)
      let word = Array(["", "k", "läng", "🙂"][random.below(4)].unicodeScalars)
      var inserted = String.UnicodeScalarView()
      inserted.append(contentsOf: word)
      try board.text(id).edit(replacing: start..<end, with: String(inserted))
      model.replaceSubrange(start..<end, with: word)
      var expected = String.UnicodeScalarView()
      expected.append(contentsOf: model)
      #expect(text(board, id) == String(expected))
    }
  }

  @Test(
    "[BRD-14] replicas that typed separately agree, and no typed run is split",
    arguments: 0..<repetitions(30, optimized: 100)
  )
  func convergence(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let boards = [board(1), board(2), board(3)]
    let id = try boards[0].createText("--", at: Point(x: 0, y: 0))
    var batches = boards[0].takeBatches()
    for board in boards.dropFirst() { for batch in batches { try board.receive(batch) } }
    var words: [String] = []
    for (number, board) in boards.enumerated() {
      let word = String(repeating: ["A", "B", "C"][number], count: 4)
      words.append(word)
      for (offset, letter) in word.enumerated() {
        let place = random.chance(50) ? 1 + offset : 1
        try board.text(id).edit(replacing: place..<place, with: String(letter))
      }
      batches += board.takeBatches()
    }
    for board in boards { for batch in batches.shuffled(using: &random) { try board.receive(batch) } }
    let result = text(boards[0], id) ?? ""
    #expect(boards.allSatisfy { text($0, id) == result })
    #expect(result.count == 14)
    for word in words { #expect(result.split(separator: word).count <= 2 && result.contains(word)) }
  }

  @Test func `replacing a text keeps the text that others type at its ends`() throws {
    let (anna, bob) = (board(1), board(2))
    let id = try anna.createText("the quick fox", at: Point(x: 0, y: 0))
    for batch in anna.takeBatches() { try bob.receive(batch) }
    try anna.text(id).update(text: "the slow fox")
    try bob.text(id).edit(replacing: 13..<13, with: " jumps")
    for batch in anna.takeBatches() { try bob.receive(batch) }
    #expect(text(bob, id) == "the slow fox jumps")
  }

  @Test func `a text over the limit is refused, and no part of it is stored`() throws {
    let board = board(1)
    let id = try board.createText(String(repeating: "x", count: BoardLimits.textBytes), at: Point(x: 0, y: 0))
    _ = board.takeBatches()
    #expect(throws: BoardError.tooLong("text")) { try board.text(id).edit(replacing: 0..<0, with: "y") }
    #expect(throws: BoardError.tooLong("text")) {
      try board.createText(String(repeating: "x", count: BoardLimits.textBytes + 1), at: Point(x: 0, y: 0))
    }
    #expect(board.takeBatches().isEmpty)
    try board.text(id).edit(replacing: 0..<1, with: "y")
    #expect(text(board, id)?.utf8.count == BoardLimits.textBytes)
  }

  @Test func `runs that follow themselves or missing characters are not shown, and cause no endless loop`() throws {
    let author = Incarnation(1)
    let id = ObjectID(Dot(author, 1))
    func run(_ sequence: UInt64, _ anchor: TextTree.Anchor) -> Operation {
      Operation(id, .run(Dot(author, sequence)), TextTree.encodeRun("x", at: anchor))
    }
    let batch = try Batch(
      author: author,
      firstSequence: 1,
      time: HybridTime(1),
      operations: [
        Operation(id, .kind, .unsigned(1)), run(2, .right(.init(run: Dot(author, 2), offset: 0))),
        run(3, .left(.init(run: Dot(author, 4), offset: 0))), run(4, .left(.init(run: Dot(author, 3), offset: 0))),
        run(5, .right(.init(run: Dot(Incarnation(7), 1), offset: 9))),
        Operation(id, .run(Dot(author, 6)), .bytes([0, 0xFF])), Operation(id, .run(Dot(author, 7)), .unsigned(4)),
        run(8, .root),
      ]
    )
    let state = BoardState().applying([batch])
    #expect(state.record(id)?.text == "x")
  }

  @Test("[BRD-24] a text beyond its limits shows its first characters, in any order of arrival") func longText() throws
  {
    let author = Incarnation(1)
    let id = ObjectID(Dot(author, 1))
    let create = try Batch(
      author: author,
      firstSequence: 1,
      time: HybridTime(1),
      operations: [Operation(id, .kind, .unsigned(1))]
    )
    let batches = try (2...41).map { sequence in
      let dot = Dot(author, UInt64(sequence))
      let letter = String(UnicodeScalar(UInt8(ascii: "A") + UInt8(sequence % 26)))
      return try Batch(
        author: author,
        firstSequence: dot.sequence,
        time: HybridTime(dot.sequence),
        operations: [Operation(id, .run(dot), TextTree.encodeRun(String(repeating: letter, count: 60_000), at: .root))]
      )
    }
    let forwards = BoardState().applying([create] + batches)
    let backwards = BoardState().applying((batches + [create]).reversed())
    let text = try #require(forwards.record(id)?.text)
    let count = text.utf8.count
    #expect(count == BoardLimits.textElements)
    // Do not compare the texts themselves, because a failure would print them.
    #expect(text.prefix(3) == "CCC")
    #expect(text.suffix(3) == "DDD")
    let isSame = backwards.record(id)?.text == text && forwards.dump == backwards.dump
    #expect(isSame)
    // Typing one more character is refused.
    let board = board(2)
    for batch in [create] + batches { try board.receive(batch) }
    #expect(throws: BoardError.tooLong("text")) { try board.text(id).edit(replacing: 0..<0, with: "y") }
  }

  @Test("[BRD-24] runs beyond the limit of bytes are invisible") func manyBytes() throws {
    let author = Incarnation(1)
    let id = ObjectID(Dot(author, 1))
    var operations = [Operation(id, .kind, .unsigned(1))]
    // Each new run is before all others, so that only the limit ends the traversal early.
    for sequence in UInt64(2)...40 {
      let anchor: TextTree.Anchor = sequence == 2 ? .root : .left(.init(run: Dot(author, sequence - 1), offset: 0))
      let letter = String(UnicodeScalar(UInt8(sequence + 32)))
      operations.append(
        Operation(
          id,
          .run(Dot(author, sequence)),
          TextTree.encodeRun(letter + String(repeating: "x", count: 59_984), at: anchor)
        )
      )
    }
    let batch = try Batch(author: author, firstSequence: 1, time: HybridTime(1), operations: operations)
    let text = try #require(BoardState().applying([batch]).record(id)?.text)
    // 34 runs fit within 2 MiB; the last of these is the first in the traversal.
    #expect(text.prefix(2) == "Cx")
    #expect(text.unicodeScalars.count == BoardLimits.textElements)
  }
}
