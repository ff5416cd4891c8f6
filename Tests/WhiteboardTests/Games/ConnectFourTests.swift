import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct ConnectFourTests {
  /// Lets the first two members play the columns in turn.
  private func play(_ columns: [Int], _ world: GameWorld, _ id: ObjectID) throws {
    for (index, column) in columns.enumerated() {
      try world.boards[index % 2].game(id).play(.drop(column: column))
      try world.share()
    }
  }

  @Test(
    "[GAM-10] four in a row win in each direction",
    arguments: [
      [1, 1, 2, 2, 3, 3, 4], [1, 2, 1, 2, 1, 2, 1], [1, 2, 2, 3, 3, 4, 3, 4, 4, 7, 4],
      [7, 6, 6, 5, 5, 4, 5, 4, 4, 1, 4],
    ]
  ) func directions(columns: [Int]) throws {
    let world = GameWorld(3)
    let id = try world.connectFour()
    try play(columns.dropLast(), world, id)
    #expect(try world.fourView(id, on: world.boards[2]).outcome == .playing)
    let winner = world.boards[(columns.count - 1) % 2]
    try winner.game(id).play(.drop(column: columns[columns.count - 1]))
    try world.share()
    for board in world.boards {
      let view = try world.fourView(id, on: board)
      #expect(view.outcome == .won(by: winner.member))
      #expect(view.line.count == 4 && view.turn == nil)
      #expect(board.gameView(id, for: board.member)?.winners.map(\.member) == [winner.member])
      #expect(throws: BoardError.gameRefused(.gameOver)) { try board.game(id).play(.drop(column: 7)) }
    }
  }

  @Test("[GAM-10] players alternate, full columns are closed, and all others are spectators") func refusals() throws {
    let world = GameWorld(3)
    let (anna, bob, carl) = (world.boards[0], world.boards[1], world.boards[2])
    let id = try world.connectFour()
    #expect(throws: BoardError.gameRefused(.notAPlayer)) { try anna.game(id).play(.resign) }
    try anna.game(id).play(.drop(column: 1))
    #expect(throws: BoardError.gameRefused(.notYourTurn)) { try anna.game(id).play("2") }
    try world.share()
    try play([], world, id)
    for index in 0..<5 {
      try world.boards[(index + 1) % 2].game(id).play(.drop(column: 1))
      try world.share()
    }
    #expect(throws: BoardError.gameRefused(.columnFull)) { try anna.game(id).play("1") }
    #expect(throws: BoardError.gameRefused(.notYourTurn)) { try bob.game(id).play("2") }
    #expect(throws: BoardError.gameRefused(.notAPlayer)) { try carl.game(id).play("2") }
    for text in ["0", "8", "-1", "x", "", "9223372036854775808"] {
      #expect(throws: BoardError.gameRefused(.malformedMove)) { try anna.game(id).play(text) }
    }
    #expect(throws: BoardError.gameRefused(.malformedMove)) { try anna.game(id).play(.guess("crane")) }
    #expect(world.boards.allSatisfy { $0.takeBatches().isEmpty })
  }

  @Test("[GAM-10] moves by a spectator or out of turn are ignored on every replica") func ignored() throws {
    let world = GameWorld(3)
    let (anna, bob, carl) = (world.boards[0], world.boards[1], world.boards[2])
    let id = try world.connectFour()
    try play([4, 4], world, id)
    let before = try world.fourView(id, on: anna).stacks
    try world.force([0], in: id, by: bob)
    try world.force([0], in: id, by: carl)
    try world.force([0xFF], in: id, by: carl)
    try world.force([7], in: id, by: anna)
    try world.force([0, 0], in: id, by: anna)
    try world.force([], in: id, by: anna)
    try world.share()
    for board in world.boards {
      let view = try #require(board.gameView(id, for: board.member))
      #expect(try world.fourView(id, on: board).stacks == before)
      #expect(view.moveCount == 2)
      let reasons = view.ignoredMoves.map(\.reason)
      #expect(reasons.filter { $0 == .notYourTurn }.count == 1)
      #expect(reasons.filter { $0 == .notAPlayer }.count == 2)
      #expect(reasons.filter { $0 == .malformedMove }.count == 3)
    }
    try anna.game(id).play("1")
  }

  @Test("[GAM-9] only the named members may play") func invitation() throws {
    let world = GameWorld(3)
    let (anna, bob, carl) = (world.boards[0], world.boards[1], world.boards[2])
    #expect(throws: BoardError.gameRefused(.malformedSetup)) {
      try anna.createConnectFour(at: Point(x: 0, y: 0), opponent: anna.member)
    }
    let id = try world.connectFour(opponent: bob.member)
    #expect(throws: BoardError.gameRefused(.notAPlayer)) { try carl.game(id).play("1") }
    try world.force([0], in: id, by: carl)
    try world.share()
    try bob.game(id).play("3")
    try world.share()
    try anna.game(id).play("3")
    #expect(try world.fourView(id, on: anna).players == [bob.member, anna.member])
    #expect(try world.fourView(id, on: anna).invited == [anna.member, bob.member])
  }

  @Test("[GAM-10] a player who resigns has lost, and need not wait for a turn") func resignation() throws {
    let world = GameWorld(2)
    let (anna, bob) = (world.boards[0], world.boards[1])
    let id = try world.connectFour()
    try play([1, 2], world, id)
    try bob.game(id).play("resign")
    try world.share()
    #expect(try world.fourView(id, on: anna).outcome == .resigned(by: bob.member))
    #expect(anna.gameView(id, for: anna.member)?.winners.map(\.member) == [anna.member])
    #expect(throws: BoardError.gameRefused(.gameOver)) { try anna.game(id).play("1") }
  }

  @Test("[GAM-8] the JSON and the lines of a Connect Four") func json() throws {
    let world = GameWorld(2)
    let (anna, bob) = (world.boards[0], world.boards[1])
    let id = try world.connectFour()
    try play([4, 4, 1], world, id)
    let view = try #require(anna.gameView(id, for: anna.member))
    let empty = "\".......\","
    #expect(
      view.json == """
        {"id":"\(id)","game":"connect-four","member":"\(anna.member)","state":"playing",\
        "players":["\(anna.member)","\(bob.member)"],"turn":"\(bob.member)",\
        "grid":[\(empty)\(empty)\(empty)\(empty)"...Y...","R..R..."],"line":[],\
        "winners":[],"moves":3,"ignoredMoves":0}
        """
    )
    #expect(view.text[4...6] == ["...Y...", "R..R...", "1234567"])
    #expect(view.text.last == "It is \(bob.member.shortText)'s turn.")
  }
}
