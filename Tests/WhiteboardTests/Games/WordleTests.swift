import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct WordleTests {
  @Test(
    "[GAM-7] a repeated letter is marked as often as the answer contains it",
    arguments: [
      ("crane", "crane", "====="), ("eerie", "crane", "--~-="), ("allay", "label", "~~~--"),
      ("speed", "abide", "--~-~"), ("speed", "erase", "~-~~-"), ("speed", "steal", "=-=--"),
      ("speed", "crepe", "-~=~-"), ("geese", "eerie", "-=~-="), ("hello", "llama", "--~~-"),
      ("mamma", "gamma", "-===="), ("abbey", "babes", "~~==-"),
    ]
  ) func marks(guess: String, answer: String, expected: String) {
    let marks = Wordle.marks(of: Array(guess.utf8), for: Array(answer.utf8))
    #expect(marks.map(\.symbol).joined() == expected)
  }

  @Test("[GAM-5] the given generator draws the answer from the list of answers") func drawing() throws {
    var seen: Set<String> = []
    for seed in 0..<20 {
      let world = GameWorld(1)
      let answer = try world.answer(try world.wordle(seed: UInt64(seed)))
      #expect(try world.answer(try world.wordle(seed: UInt64(seed))) == answer)
      #expect(WordleList.answers.contains { $0.text == answer })
      seen.insert(answer)
    }
    #expect(seen.count > 10)
  }

  @Test("[GAM-5] only a list of English words exists") func languages() throws {
    let board = GameWorld(1).boards[0]
    var random = SeededGenerator(seed: 1)
    #expect(throws: BoardError.gameRefused(.unknownLanguage("de"))) {
      try board.createWordle(at: Point(x: 0, y: 0), language: "de", using: &random)
    }
    #expect(board.takeBatches().isEmpty)
    let id = try board.createWordle(at: Point(x: 3, y: 4), language: "en-GB", using: &random)
    let object = try #require(board.object(id) as? GameObject)
    #expect(object.game == "wordle")
    #expect(object.size == Size(width: 120, height: 128))
    #expect(object.centerPosition == Point(x: 3, y: 4))
  }

  @Test("[GAM-5] a game with an unknown word list can be watched and is not judged") func foreignList() throws {
    let world = GameWorld(2)
    let board = world.boards[0]
    let id = try board.gesture { () throws(BoardError) in
      let id = try board.create(.game)
      try board.stage(id, .game, .text(Wordle.name))
      try board.stage(id, .setup, .bytes([1] + [UInt8](repeating: 7, count: 40)))
      return id
    }
    try world.forceGuess("crane", in: id, by: board)
    try world.share()
    let other = world.boards[1]
    let view = try #require(other.gameView(id, for: other.member))
    #expect(view.detail == .notJudged(.foreignList))
    #expect(view.winners.isEmpty)
    #expect(throws: BoardError.gameRefused(.foreignList)) { try other.game(id).play("crane") }
  }

  @Test("[GAM-7] a guess that is not a word is refused, and uses no try") func words() throws {
    let world = GameWorld(1)
    let board = world.boards[0]
    let id = try world.wordle()
    for word in ["", "cran", "cranes", "qqqqq", "cräne", "cr ne", "🙂", "12345"] {
      #expect(throws: BoardError.gameRefused(.unknownWord(word))) { try board.game(id).play(word) }
    }
    #expect(throws: BoardError.gameRefused(.malformedMove)) { try board.game(id).play(.resign) }
    #expect(board.takeBatches().isEmpty)
    try world.forceGuess("qqqqq", in: id, by: board)
    try world.force(Array("crane".utf8), in: id, by: board)
    try world.force([UInt8](repeating: 0, count: 8), in: id, by: board)
    try board.game(id).play("HOUSE")
    let view = try #require(board.gameView(id, for: board.member))
    #expect(view.moveCount == 1)
    #expect(view.ignoredMoves.map(\.reason) == [.unknownWord("qqqqq"), .malformedMove, .malformedMove])
    #expect(try world.wordleView(id, on: board).rows.map(\.word) == ["house"])
  }

  @Test("[GAM-7] each player has six tries, none after the answer; the best is first") func leaderboard() throws {
    let world = GameWorld(4)
    let id = try world.wordle()
    let answer = try world.answer(id)
    let other = answer == "house" ? "mouse" : "house"
    let (anna, bob, carl, dora) = (world.boards[0], world.boards[1], world.boards[2], world.boards[3])
    try anna.game(id).play(other)
    // The guess would count, and waste a try.
    #expect(throws: BoardError.gameRefused(.repeatedWord(other))) { try anna.game(id).play(other) }
    for _ in 0..<5 { try world.forceGuess(other, in: id, by: anna) }
    #expect(try world.wordleView(id, on: anna).rows.count == 6)
    #expect(throws: BoardError.gameRefused(.gameOver)) { try anna.game(id).play(answer) }
    #expect(throws: BoardError.gameRefused(.gameOver)) { try anna.game(id).play("nonsense") }
    try bob.game(id).play(other)
    try carl.game(id).play(other)
    try dora.game(id).play(answer)
    carl.wallClock += 10
    bob.wallClock += 20
    try carl.game(id).play(answer)
    try bob.game(id).play(answer)
    #expect(throws: BoardError.gameRefused(.gameOver)) { try bob.game(id).play(other) }
    try world.share()
    for board in world.boards {
      let winners = try #require(board.object(id) as? GameObject).winners
      #expect(winners.map(\.member) == [dora.member, carl.member, bob.member])
      #expect(winners.map(\.tries) == [1, 2, 2])
    }
  }

  @Test("[GAM-12] after a player finished, others' letters and the answer are shown; before, only marks") func hiding()
    throws
  {
    let world = GameWorld(2)
    let id = try world.wordle()
    let answer = try world.answer(id)
    let other = answer == "house" ? "mouse" : "house"
    let (anna, bob) = (world.boards[0], world.boards[1])
    try bob.game(id).play(other)
    try bob.game(id).play(answer)
    try world.share()
    let before = try world.wordleView(id, on: anna)
    #expect(before.answer == nil && before.rows.isEmpty && before.keyboard.isEmpty)
    #expect(before.players.map(\.member) == [bob.member])
    #expect(before.players[0].rows.map(\.word) == [nil, nil])
    #expect(before.players[0].rows[1].symbols == "=====")
    #expect(before.players[0].hasWon && before.players[0].isDone)
    let text = try #require(anna.gameView(id, for: anna.member)).text.joined(separator: "\n")
    #expect(!text.contains(answer) && !text.contains(other))
    let revealed = try #require(anna.gameView(id, for: anna.member, isRevealing: true))
    #expect(revealed.json.contains(answer))
    try anna.game(id).play(answer)
    let after = try world.wordleView(id, on: anna)
    #expect(after.answer == answer)
    #expect(after.players[0].rows.map(\.word) == [other, answer])
    let keys = Set(answer.map { String($0) })
    #expect(Set(after.keyboard.keys) == keys)
    #expect(after.keyboard.values.allSatisfy { $0 == .correct })
  }

  @Test("[GAM-6] a word is decrypted only with its own game and move", arguments: 0..<50) func cipher(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    let word = WordleList.answers[random.below(WordleList.answers.count)]
    let id = ObjectID(Dot(.random(using: &random), 1 + UInt64(random.below(1000))))
    let dot = Dot(.random(using: &random), 1 + UInt64(random.below(1000)))
    let hidden = WordleCipher(id, move: dot).encipher(word)
    #expect(WordleCipher(id, move: dot).decipher(hidden) == word)
    #expect(WordleCipher(id).decipher(hidden) == nil)
    #expect(WordleCipher(ObjectID(dot), move: id.dot).decipher(hidden) == nil)
    #expect(WordleCipher(id, move: dot).decipher(hidden.dropLast()) == nil)
    for bit in 0..<64 {
      var bytes = hidden
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(WordleCipher(id, move: dot).decipher(bytes) == nil)
    }
  }

  @Test("[GAM-8] the JSON of a Wordle") func json() throws {
    let world = GameWorld(1)
    let board = world.boards[0]
    let id = ObjectID(board.nextDotInGesture())
    let setup = Wordle.setup(of: id, answer: try #require(WordleWord(Array("crane".utf8))))
    try board.gesture { () throws(BoardError) in
      let created = try board.create(.game)
      try board.stage(created, .game, .text(Wordle.name))
      try board.stage(created, .setup, .bytes(setup))
    }
    try board.game(id).play("eerie")
    let view = try #require(board.gameView(id, for: board.member))
    let member = board.member.description
    #expect(
      view.json == """
        {"id":"\(id)","game":"wordle","member":"\(member)","answer":null,\
        "players":[{"member":"\(member)","rows":[{"word":"eerie","marks":"--~-="}],\
        "hasWon":false,"isDone":false}],"keyboard":{"e":"=","i":"-","r":"~"},\
        "winners":[],"moves":1,"ignoredMoves":0}
        """
    )
    #expect(view.text == ["eerie --~-="])
    #expect(throws: BoardError.gameRefused(.repeatedWord("eerie"))) { try board.game(id).play("EERIE") }
    try board.game(id).play("crane")
    let won = try #require(board.gameView(id, for: board.member))
    #expect(won.text == ["eerie --~-=", "crane =====", "The answer is crane.", "1. \(member.prefix(8)) 2/6"])
    #expect(won.text { _ in "Ada" }.last == "1. Ada 2/6")
  }
}

extension Board {
  /// Returns the dot of the first operation in the next gesture.
  fileprivate func nextDotInGesture() -> Dot { gesture { nextDot() } }
}
