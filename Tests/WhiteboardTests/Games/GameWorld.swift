import PeerTestKit
import Testing

@testable import Whiteboard

/// Several boards that know each other's incarnations, and every batch so far.
///
/// Member *n* writes with incarnation *n*.
final class GameWorld {
  let boards: [Board]
  private(set) var batches: [Batch] = []

  init(_ count: Int) { boards = (1...count).map { GameWorld.board(UInt8($0), of: count) } }

  static func board(_ number: UInt8, of count: Int) -> Board {
    let board = Board(
      incarnation: Incarnation(UInt64(number)),
      member: RandomEditing.member(number),
      wallClock: 1_700_000_000_000
    )
    for other in 1...count { board.authors[Incarnation(UInt64(other))] = RandomEditing.member(UInt8(other)) }
    return board
  }

  /// Delivers all batches to all boards.
  func share() throws {
    collect()
    for board in boards { for batch in batches { try board.receive(batch) } }
  }

  /// Collects new batches without delivering them.
  func collect() { for board in boards { batches += board.takeBatches() } }

  func wordle(seed: UInt64 = 1) throws -> ObjectID {
    var random = SeededGenerator(seed: seed)
    let id = try boards[0].createWordle(at: Point(x: 0, y: 0), using: &random)
    try share()
    return id
  }

  func connectFour(opponent: MemberID? = nil) throws -> ObjectID {
    let id = try boards[0].createConnectFour(at: Point(x: 0, y: 0), opponent: opponent)
    try share()
    return id
  }

  /// Writes a move that no honest replica would write.
  func force(_ bytes: [UInt8], in id: ObjectID, by board: Board) throws {
    try board.gesture { () throws(BoardError) in
      let dot = board.nextDot()
      try board.stage(id, .move(dot), .bytes(bytes))
    }
  }

  /// Writes a guess that no honest replica would write.
  func forceGuess(_ word: String, in id: ObjectID, by board: Board) throws {
    let letters = try #require(WordleWord(Array(word.utf8)))
    try board.gesture { () throws(BoardError) in
      let dot = board.nextDot()
      try board.stage(id, .move(dot), .bytes(WordleCipher(id, move: dot).encipher(letters)))
    }
  }

  func wordleView(_ id: ObjectID, on board: Board, for member: MemberID? = nil) throws -> WordleView {
    let view = try #require(board.gameView(id, for: member ?? board.member))
    guard case .wordle(let detail) = view.detail else { throw GameError.malformedSetup }
    return detail
  }

  func fourView(_ id: ObjectID, on board: Board) throws -> ConnectFourView {
    let view = try #require(board.gameView(id, for: board.member))
    guard case .connectFour(let detail) = view.detail else { throw GameError.malformedSetup }
    return detail
  }

  /// Returns the answer, which every member can compute (`Protocol/games.md`, Security).
  func answer(_ id: ObjectID) throws -> String {
    let view = try #require(boards[0].gameView(id, for: boards[0].member, isRevealing: true))
    guard case .wordle(let detail) = view.detail else { throw GameError.malformedSetup }
    return try #require(detail.answer)
  }
}
