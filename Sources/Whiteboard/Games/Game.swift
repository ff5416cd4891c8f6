/// One move of a game as it lies on the board: who made it, when, and its bytes.
package struct PlacedMove: Hashable, Comparable, Sendable {
  /// The operation that made it.
  package let dot: Dot
  /// When, by its author's hybrid clock.
  package let time: HybridTime
  /// Whose incarnation that operation is of.
  package let member: MemberID
  /// The move in the game's own format.
  package let bytes: [UInt8]

  /// Orders by stamp, then by sequence: the order in which moves count (GAM-3).
  package static func < (lhs: PlacedMove, rhs: PlacedMove) -> Bool {
    lhs.time == rhs.time ? lhs.dot < rhs.dot : lhs.time < rhs.time
  }
}

/// The state of one game: a value that moves are folded into, in their order.
///
/// It knows nothing but its setup and its moves, so that replicas with the same cells have the same
/// state. A move that throws leaves the state as it was.
package protocol Game: Sendable {
  /// The name in the game's cell.
  static var name: String { get }

  /// The state before the first move.
  /// - Throws: `malformedSetup`, `foreignList`.
  init(setup: [UInt8], of id: ObjectID) throws(GameError)

  /// Makes a move, or throws why it is ignored.
  mutating func apply(_ move: PlacedMove) throws(GameError)

  /// The bytes of a move that `member` makes by the operation `dot`.
  ///
  /// Checked is the form, and that it does not cost its member a turn for nothing; whether it is this
  /// member's to make is for `apply(_:)`.
  func encode(_ move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8]

  /// The time of the latest move that one of `member` has to follow (GAM-4).
  func lastTime(before member: MemberID) -> HybridTime?

  /// The winners, the best first.
  var winners: [GameWinner] { get }

  /// Returns the view for `member`; `isRevealing` includes what would spoil the game for others.
  func detail(for member: MemberID, isRevealing: Bool) -> GameView.Detail
}

/// The games that are known here.
package enum GameRegistry {
  /// Their types.
  package static let games: [any Game.Type] = [Wordle.self, ConnectFour.self]

  /// The state before the first move of the game of this name.
  /// - Throws: `unknownGame`, or what the game makes of its setup.
  package static func start(
    _ name: String,
    setup: [UInt8],
    of id: ObjectID
  ) throws(GameError) -> any Game {
    for game in games where game.name == name { return try game.init(setup: setup, of: id) }
    throw .unknownGame
  }
}

/// A game after all its moves: what every replica with these cells agrees on.
package struct GameFold: Sendable {
  /// The state.
  package private(set) var game: any Game
  /// How many moves counted.
  package private(set) var acceptedCount = 0
  /// The moves that do not count, in order.
  package private(set) var ignored: [IgnoredMove] = []

  /// Folds `moves`, in any order, into the state before the first.
  package init(_ start: any Game, moves: [PlacedMove]) {
    game = start
    for move in moves.sorted() {
      do throws(GameError) {
        try game.apply(move)
        acceptedCount += 1
      } catch {
        ignored.append(IgnoredMove(dot: move.dot, member: move.member, reason: error))
      }
    }
  }
}

/// A move that does not count, on any replica.
public struct IgnoredMove: Hashable, Sendable {
  /// The operation that made it.
  public let dot: Dot
  /// The member that made the move.
  public let member: MemberID
  /// The reason why it does not count.
  public let reason: GameError
}

/// The reason why a local move is refused, a remote move is ignored, or a game is not judged.
public enum GameError: Error, Hashable, Sendable {
  /// No game of this name is known here.
  case unknownGame
  /// The setup of the game is not valid.
  case malformedSetup
  /// The game was begun with another word list.
  case foreignList
  /// There is no word list of this language here.
  case unknownLanguage(String)
  /// It is no move of this game.
  case malformedMove
  /// It is no word of the list.
  case unknownWord(String)
  /// This member has guessed the word before: it counts where it arrives, and is refused where it is
  /// made.
  case repeatedWord(String)
  /// The column is full.
  case columnFull
  /// It is the other player's turn.
  case notYourTurn
  /// Others play; this member looks on.
  case notAPlayer
  /// The game is over, or is for this member.
  case gameOver
  /// This incarnation has made all the moves that count.
  case tooManyMoves
  /// The gesture has a move of this game already, which comes first.
  case moveInProgress

  /// The stable word for this error.
  public var code: String {
    switch self {
    case .unknownGame: "unknown-game"
    case .malformedSetup: "malformed-setup"
    case .foreignList: "foreign-list"
    case .unknownLanguage: "unknown-language"
    case .malformedMove: "malformed-move"
    case .unknownWord: "unknown-word"
    case .repeatedWord: "repeated-word"
    case .columnFull: "column-full"
    case .notYourTurn: "not-your-turn"
    case .notAPlayer: "not-a-player"
    case .gameOver: "game-over"
    case .tooManyMoves: "too-many-moves"
    case .moveInProgress: "move-in-progress"
    }
  }
}
