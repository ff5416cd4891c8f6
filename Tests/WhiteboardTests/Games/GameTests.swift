import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct GameTests {
  @Test("[GAM-1] an unknown game is stored and not judged") func unknown() throws {
    let world = GameWorld(2)
    let board = world.boards[0]
    let id = try board.gesture { () throws(BoardError) in
      let id = try board.create(.game)
      try board.stage(id, .game, .text("chess"))
      try board.stage(id, .setup, .bytes([9]))
      return id
    }
    try world.force([1, 2, 3], in: id, by: board)
    try world.share()
    for board in world.boards {
      let view = try #require(board.gameView(id, for: board.member))
      #expect(view.detail == .notJudged(.unknownGame))
      #expect(view.name == "chess" && view.winners.isEmpty)
      #expect(view.json.contains("\"notJudged\":\"unknown-game\""))
      #expect(throws: BoardError.gameRefused(.unknownGame)) { try board.game(id).play("e2e4") }
      #expect(throws: BoardError.gameRefused(.unknownGame)) { try board.game(id).play(.resign) }
    }
    #expect(world.boards[0].state.dump == world.boards[1].state.dump)
  }

  @Test("[GAM-1] malformed setups are not judged", arguments: [0, 1, 2, 3, 4]) func hostileSetups(number: Int) throws {
    let board = GameWorld(1).boards[0]
    let setups: [Value?] = [nil, .text("x"), .bytes([]), .bytes([UInt8](repeating: 1, count: 5000)), .bytes([1, 2])]
    for name in [Wordle.name, ConnectFour.name] {
      let id = try board.gesture { () throws(BoardError) in
        let id = try board.create(.game)
        try board.stage(id, .game, .text(name))
        if let setup = setups[number] { try board.stage(id, .setup, setup) }
        return id
      }
      let view = try #require(board.gameView(id, for: board.member))
      #expect(view.detail == .notJudged(.malformedSetup))
    }
  }

  @Test("[GAM-1] a name that is too long, or no text, counts as none") func names() throws {
    let board = GameWorld(1).boards[0]
    for name in [Value.text(String(repeating: "a", count: 65)), .bytes([1])] {
      let id = try board.gesture { () throws(BoardError) in
        let id = try board.create(.game)
        try board.stage(id, .game, name)
        return id
      }
      #expect(board.gameView(id, for: board.member)?.detail == .notJudged(.unknownGame))
      #expect((board.object(id) as? GameObject)?.game == nil)
    }
  }

  @Test("[GAM-2] all incarnations of one member play as one, and unknown authors do not play") func incarnations()
    throws
  {
    let world = GameWorld(3)
    let (anna, bob, again) = (world.boards[0], world.boards[1], world.boards[2])
    let id = try world.connectFour()
    try anna.game(id).play(.drop(column: 1))
    try world.share()
    try bob.game(id).play(.drop(column: 2))
    try world.share()
    // The third incarnation is Anna's as well.
    try world.force([0], in: id, by: again)
    try world.share()
    anna.authors[again.incarnation] = anna.member
    bob.authors[again.incarnation] = nil
    #expect(try world.fourView(id, on: anna).stacks[0] == [0, 0])
    #expect(try world.fourView(id, on: bob).stacks[0] == [0])
    #expect(bob.gameView(id, for: bob.member)?.ignoredMoves.isEmpty == true)
    bob.authors[again.incarnation] = anna.member
    #expect(try world.fourView(id, on: bob).stacks[0] == [0, 0])
  }

  @Test("[GAM-3] any order of delivery leads to one state and one leaderboard", arguments: 0..<40) func permutations(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let world = GameWorld(4)
    let wordle = try world.wordle(seed: seed)
    let four = try world.connectFour()
    let answer = try world.answer(wordle)
    let words = ["crane", "slate", "house", "among", answer]
    for _ in 0..<60 {
      let board = world.boards[random.below(4)]
      board.wallClock += UInt64(random.below(50))
      // Some moves come from a program that checks nothing.
      switch random.below(6) {
      case 0, 1: try? board.game(wordle).play(words[random.below(5)])
      case 2: try world.forceGuess(words[random.below(5)], in: wordle, by: board)
      case 3: try? board.game(four).play(.drop(column: 1 + random.below(7)))
      case 4: try world.force([UInt8(random.below(9))], in: four, by: board)
      default: if random.chance(30) { try world.share() }
      }
    }
    world.collect()
    let fresh = GameWorld.board(9, of: 4)
    for board in world.boards + [fresh] {
      for batch in world.batches.shuffled(using: &random) { try board.receive(batch) }
    }
    for id in [wordle, four] {
      let first = try #require(fresh.gameView(id, for: fresh.member))
      #expect(first.moveCount > 0)
      for board in world.boards { #expect(board.gameView(id, for: fresh.member) == first, "seed \(seed)") }
    }
  }

  @Test("[GAM-3] a late move is inserted at its position") func lateMoves() throws {
    let world = GameWorld(3)
    let (anna, bob, carl) = (world.boards[0], world.boards[1], world.boards[2])
    let id = try world.connectFour()
    // Carl was first, but his move was not delivered.
    try carl.game(id).play(.drop(column: 7))
    let late = carl.takeBatches()
    anna.wallClock += 1000
    bob.wallClock += 2000
    try anna.game(id).play(.drop(column: 1))
    for batch in anna.takeBatches() { try bob.receive(batch) }
    try bob.game(id).play(.drop(column: 2))
    for batch in bob.takeBatches() { try anna.receive(batch) }
    #expect(try world.fourView(id, on: anna).players == [anna.member, bob.member])
    for batch in late { try anna.receive(batch) }
    let view = try #require(anna.gameView(id, for: anna.member))
    #expect(try world.fourView(id, on: anna).players == [carl.member, anna.member])
    #expect(view.ignoredMoves.map(\.reason) == [.notAPlayer])
    #expect(view.ignoredMoves.map(\.member) == [bob.member])
  }

  @Test("[GAM-3] no incarnation uses up the moves of another") func floods() throws {
    let world = GameWorld(2)
    let id = try world.wordle()
    let (flooder, victim) = (world.boards[0], world.boards[1])
    for _ in 0..<300 { try world.force([0], in: id, by: flooder) }
    #expect(throws: BoardError.gameRefused(.tooManyMoves)) { try flooder.game(id).play("crane") }
    try world.forceGuess("crane", in: id, by: flooder)
    try world.share()
    try victim.game(id).play("house")
    let view = try #require(victim.gameView(id, for: victim.member))
    #expect(view.moveCount == 1)
    #expect(view.ignoredMoves.count == BoardLimits.gameMovesPerIncarnation)
  }

  @Test("[GAM-4] an answer follows a move whose clock is far ahead") func clocks() throws {
    let world = GameWorld(2)
    let (anna, bob) = (world.boards[0], world.boards[1])
    let id = try world.connectFour()
    anna.wallClock += 86_400_000
    try anna.game(id).play(.drop(column: 4))
    try world.share()
    try bob.game(id).play(.drop(column: 4))
    try world.share()
    #expect(try world.fourView(id, on: anna).stacks[3] == [0, 1])
  }

  @Test("[GAM-11] a locked game refuses moves, a selected one does not; a gesture has at most one") func refusals()
    throws
  {
    let world = GameWorld(2)
    let (anna, bob) = (world.boards[0], world.boards[1])
    let id = try world.connectFour()
    let text = try anna.createText("no game", at: Point(x: 0, y: 0))
    #expect(throws: BoardError.wrongKind(text)) { try anna.game(text).play("1") }
    #expect(anna.gameView(text, for: anna.member) == nil)
    try bob.object(id)?.select()
    try world.share()
    anna.presentMembers = [bob.member]
    try anna.game(id).play("1")
    try anna.gesture { () throws(BoardError) in try anna.stage(id, .lock, .unsigned(1)) }
    try world.share()
    #expect(throws: BoardError.locked(id)) { try bob.game(id).play("1") }
    try anna.gesture { () throws(BoardError) in try anna.stage(id, .lock, .unsigned(0)) }
    try world.share()
    #expect(throws: BoardError.gameRefused(.moveInProgress)) {
      try bob.gesture { () throws(BoardError) in
        try bob.game(id).play("1")
        try bob.game(id).play("2")
      }
    }
    #expect(bob.takeBatches().isEmpty)
    try bob.delete(id)
    #expect(throws: BoardError.unknownObject(id)) { try bob.game(id).play("1") }
    #expect(bob.gameView(id, for: bob.member) == nil)
  }
}
