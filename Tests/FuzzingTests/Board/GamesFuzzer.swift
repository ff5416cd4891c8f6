@testable import Whiteboard

/// Checks that the order of the moves does not affect the state of a game, for any setup and any moves.
func fuzzGames(_ input: inout Input) {
  let id = ObjectID(Dot(Incarnation(1), 1))
  let choice = input.byte()
  let isWordle = choice & 1 == 0
  var setup = input.bytes(Int(choice >> 2))
  if choice & 2 == 0 {
    // Use a valid setup, so that moves are checked.
    if isWordle {
      guard let answer = WordleWord(Array("eerie".utf8)) else { return }
      setup = Wordle.setup(of: id, answer: answer)
    } else {
      setup = ConnectFour.setup(between: nil)
    }
  }
  guard let game = try? SupportedGame(isWordle ? Wordle.name : ConnectFour.name, setup: setup, of: id) else { return }
  var moves: [PlacedMove] = []
  while !input.isEmpty, moves.count < 60 { moves.append(move(&input, game, moves.count)) }
  let fold = GameFold(game, moves: moves)
  let again = GameFold(game, moves: moves.reversed())
  insist(fold.acceptedCount + fold.ignored.count == moves.count, "a move counts or is ignored")
  insist(fold.acceptedCount == again.acceptedCount, "the order does not affect the accepted moves")
  insist(fold.ignored == again.ignored, "the order does not affect the ignored moves")
  insist(fold.game.winners == again.game.winners, "the order does not affect the winners")
  for number in UInt8(0)..<3 {
    guard let member = MemberID(bytes: [UInt8](repeating: number, count: 32)) else { return }
    insist(
      fold.game.detail(for: member, isRevealing: false) == again.game.detail(for: member, isRevealing: false),
      "the order does not affect what a member sees"
    )
  }
}

private func move(_ input: inout Input, _ game: any Game, _ index: Int) -> PlacedMove {
  let head = input.byte()
  let author = UInt64(head & 3) + 1
  let dot = Dot(Incarnation(author), UInt64(index) + 2)
  guard let member = MemberID(bytes: [UInt8](repeating: head & 3, count: 32)) else { preconditionFailure("32 bytes") }
  let words = ["eerie", "geese", "speed", "crane", "level", "llama", "abbey", "sleet"]
  let made: GameMove =
    game is Wordle
    ? .guess(words[Int(head >> 2) & 7]) : head >> 2 & 7 == 7 ? .resign : .drop(column: Int(head >> 2 & 7) + 1)
  let bytes =
    head & 0x80 == 0 ? (try? game.encode(made, by: member, as: dot)) ?? [] : input.bytes(Int(head >> 4 & 7) + 2)
  return PlacedMove(dot: dot, time: HybridTime(UInt64(input.byte())), member: member, bytes: bytes)
}
