import PeerCore

/// One move of a game, as the board stores it.
package struct PlacedMove: Hashable, Comparable, Sendable {
  package let dot: Dot
  package let time: HybridTime
  package let member: MemberID
  package let bytes: [UInt8]

  /// Compares two moves by stamp, then by sequence number: the order in which moves are applied (GAM-3).
  package static func < (lhs: PlacedMove, rhs: PlacedMove) -> Bool {
    lhs.time == rhs.time ? lhs.dot < rhs.dot : lhs.time < rhs.time
  }
}

/// The state of one game, to which moves are applied in order. The state depends only on the setup and the moves, so
/// replicas with the same cells have the same state. A move that throws does not change the state.
package protocol Game: Sendable {
  /// Applies a move. Throws the reason if the move must be ignored.
  mutating func apply(_ move: PlacedMove) throws(GameError)

  /// Returns the bytes of a move that `member` makes with the operation `dot`. This method checks that the move has a
  /// valid format and does not waste a turn of the member. `apply(_:)` checks whether the member may make the move.
  func encode(_ move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8]

  /// Returns the time of the latest move that a new move of `member` must follow (GAM-4).
  func lastTime(before member: MemberID) -> HybridTime?

  /// The winners, the best first.
  var winners: [GameWinner] { get }

  /// If `isRevealing` is true, the view includes spoilers.
  func detail(for member: MemberID, isRevealing: Bool) -> GameView.Detail
}

extension Game {
  /// Returns the bytes of a move by `member` with the operation `dot`. Throws if the move would be ignored now; the
  /// error is the reason.
  func bytes(of move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8] {
    let bytes = try encode(move, by: member, as: dot)
    // Apply the move to a copy of the game, at the position that it will have: right after the last move that it must
    // follow.
    var next = self
    let time = lastTime(before: member) ?? HybridTime(0)
    try next.apply(PlacedMove(dot: dot, time: time, member: member, bytes: bytes))
    return bytes
  }
}

/// An enumeration instead of `any Game`, because Embedded Swift has no existential types.
package enum SupportedGame: Game {
  case wordle(Wordle)
  case connectFour(ConnectFour)

  package static let names = [Wordle.name, ConnectFour.name]

  package init(_ name: String, setup: [UInt8], of id: ObjectID) throws(GameError) {
    switch name {
    case Wordle.name: self = .wordle(try Wordle(setup: setup, of: id))
    case ConnectFour.name: self = .connectFour(try ConnectFour(setup: setup))
    default: throw .unknownGame
    }
  }

  /// Returns the setup of the game `id`, which `member` makes as a copy of another game (GAM-13).
  static func setup(_ setup: [UInt8], of name: String?, ofCopy id: ObjectID, by member: MemberID) -> [UInt8] {
    switch name {
    case Wordle.name: Wordle.setup(setup, ofCopy: id)
    case ConnectFour.name: ConnectFour.setup(setup, copiedBy: member)
    default: setup
    }
  }

  package mutating func apply(_ move: PlacedMove) throws(GameError) {
    switch consume self {
    case .wordle(var game):
      defer { self = .wordle(game) }
      try game.apply(move)
    case .connectFour(var game):
      defer { self = .connectFour(game) }
      try game.apply(move)
    }
  }

  package func encode(_ move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8] {
    switch self {
    case .wordle(let game): try game.encode(move, by: member, as: dot)
    case .connectFour(let game): try game.encode(move, by: member, as: dot)
    }
  }

  package func lastTime(before member: MemberID) -> HybridTime? {
    switch self {
    case .wordle(let game): game.lastTime(before: member)
    case .connectFour(let game): game.lastTime(before: member)
    }
  }

  package var winners: [GameWinner] {
    switch self {
    case .wordle(let game): game.winners
    case .connectFour(let game): game.winners
    }
  }

  package func detail(for member: MemberID, isRevealing: Bool) -> GameView.Detail {
    switch self {
    case .wordle(let game): game.detail(for: member, isRevealing: isRevealing)
    case .connectFour(let game): game.detail(for: member, isRevealing: isRevealing)
    }
  }
}

/// The result of applying all moves of a game, the same for replicas with the same cells.
package struct GameFold: Sendable {
  package private(set) var game: SupportedGame
  package private(set) var acceptedCount = 0
  package private(set) var ignored: [IgnoredMove] = []

  /// `moves` may be unsorted; `start` is the state before the first move.
  package init(_ start: SupportedGame, moves: [PlacedMove]) {
    game = start
    for move in moves.sorted() {
      do throws(GameError) {
        try game.apply(move)
        acceptedCount += 1
      } catch { ignored.append(IgnoredMove(dot: move.dot, member: move.member, reason: error)) }
    }
  }
}

extension GameFold {
  /// Throws the reason why the state of the game cannot be computed.
  init(_ id: ObjectID, _ record: ObjectRecord, authors: [Incarnation: MemberID]) throws(GameError) {
    let start = try SupportedGame(record.gameName ?? "", setup: record.setup ?? [], of: id)
    self.init(start, moves: record.moves { authors[$0] })
  }
}

/// A move that every replica ignores.
public struct IgnoredMove: Hashable, Sendable {
  /// The dot of the operation that made the move.
  public let dot: Dot
  /// The member that made the move.
  public let member: MemberID
  /// The reason why the move is ignored.
  public let reason: GameError
}

/// The reason why a local move is refused, why a remote move is ignored, or why the state of a game cannot be computed.
public enum GameError: Error, Hashable, Sendable {
  case unknownGame
  case malformedSetup
  /// The game uses a word list that this program does not have.
  case foreignList
  case unknownLanguage(String)
  case malformedMove
  case unknownWord(String)
  /// The member has guessed the word before.
  ///
  /// The local replica refuses a repeated guess by the local member, but accepts a repeated guess by a peer.
  case repeatedWord(String)
  case columnFull
  case notYourTurn
  case notAPlayer
  /// The game is over for this member or for all members.
  case gameOver
  /// This incarnation has made the maximum number of moves.
  case tooManyMoves
  /// The current gesture already has a move of this game.
  case moveInProgress

  /// The stable code of this error, such as `unknown-game`.
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

/// A move of a game, as the player enters it.
public enum GameMove: Hashable, Sendable {
  case guess(String)
  /// A disc dropped into a column, numbered 1 to 7 from the left, in Connect Four.
  case drop(column: Int)
  case resign

  /// Creates the move that `text` describes in the game `name`; nil if there is no such move.
  ///
  /// In Wordle, `text` is a word. In Connect Four, it is a column number or `resign`.
  public init?(_ text: String, in name: String) {
    switch name {
    case Wordle.name: self = .guess(text)
    case ConnectFour.name:
      if text == "resign" {
        self = .resign
      } else if let column = Int(text) {
        self = .drop(column: column)
      } else {
        return nil
      }
    default: return nil
    }
  }
}

/// A game on the board.
public final class GameObject: WhiteboardObject {
  /// The name of the game; nil if the object has no valid name.
  ///
  /// The name is unchecked text from a peer.
  public var game: String? { record.gameName }
  /// The winners of the game, the best first.
  public var winners: [GameWinner] { view(for: board.member)?.winners ?? [] }

  /// Returns the game as `member` sees it; see `BoardReplica.gameView(_:for:isRevealing:)`.
  public func view(for member: MemberID, isRevealing: Bool = false) -> GameView? {
    board.gameView(id, for: member, isRevealing: isRevealing)
  }

  /// Makes a move in the game.
  ///
  /// A member can make a move while another member holds the object, because a move does not change the object's
  /// appearance. No member can make a move while the object is locked. A move cannot be undone. A gesture contains at
  /// most one move of each game.
  ///
  /// - Throws: `unknownObject`, `locked`, `gameRefused`, `boardFull`, `clockExhausted`.
  public func play(_ move: GameMove) throws(BoardError) {
    guard board.state.isVisible(id) else { throw .unknownObject(id) }
    let record = record
    guard !record.isLocked else { throw .locked(id) }
    try board.requireNoMove(of: id)
    try board.gesture { () throws(BoardError) in
      let game = try judged { () throws(GameError) in
        let game = try GameFold(id, record, authors: board.authors).game
        try record.requireRoomForMove(by: board.incarnation)
        return game
      }
      // The move must come after every move that its author has seen, even if the clock of another member is ahead
      // (GAM-4).
      let floor = game.lastTime(before: board.member)
      if let floor, !floor.canBeFollowed { throw .clockExhausted }
      let dot = board.nextDot()
      let bytes = try judged { () throws(GameError) in try game.bytes(of: move, by: board.member, as: dot) }
      try board.stage(id, .move(dot), .bytes(bytes), after: floor)
    }
  }

  /// Makes the move that `text` describes: a word, a column number, or `resign`.
  /// - Throws: The same errors as `play(_:)`.
  public func play(_ text: String) throws(BoardError) {
    guard board.state.isVisible(id) else { throw .unknownObject(id) }
    guard let move = GameMove(text, in: game ?? "") else {
      let isKnown = SupportedGame.names.contains(game ?? "")
      throw .gameRefused(isKnown ? .malformedMove : .unknownGame)
    }
    try play(move)
  }

  private func judged<Value>(_ body: () throws(GameError) -> Value) throws(BoardError) -> Value {
    do throws(GameError) { return try body() } catch { throw .gameRefused(error) }
  }
}

/// A game as one member sees it.
///
/// The value can leave the board's isolation.
public struct GameView: Hashable, Sendable {
  /// The part of the view that depends on the kind of game.
  public enum Detail: Hashable, Sendable {
    /// This program cannot compute the state of the game, for the given reason.
    ///
    /// The game is still stored and forwarded.
    case notJudged(GameError)
    case wordle(WordleView)
    case connectFour(ConnectFourView)
  }

  /// The id of the game's object.
  public let id: ObjectID
  /// The name of the game: unchecked text from a peer.
  public let name: String
  /// The state of the game.
  public let detail: Detail
  /// The winners, the best first.
  ///
  /// Replicas with equal contexts have the same winners.
  public let winners: [GameWinner]
  /// The number of moves that counted.
  public let moveCount: Int
  /// The moves that were ignored, with the reasons.
  public let ignoredMoves: [IgnoredMove]

  /// The view as one line of JSON (GAM-8).
  public var json: String {
    var json = JSONObject()
    json.add("id", string: id.description)
    json.add("game", string: name)
    switch detail {
    case .notJudged(let reason): json.add("notJudged", string: reason.code)
    case .wordle(let view): view.add(to: &json)
    case .connectFour(let view): view.add(to: &json)
    }
    json.add("winners", list: winners.map { $0.json })
    json.add("moves", Double(moveCount))
    json.add("ignoredMoves", Double(ignoredMoves.count))
    return json.text
  }

  /// The view as a few lines of text.
  ///
  /// The game's name is left out, because it is unchecked text from a peer.
  public var text: [String] { text { $0.shortText } }

  /// Returns the view as a few lines of text.
  ///
  /// `name` returns the name to show for a member.
  public func text(naming name: (MemberID) -> String) -> [String] {
    switch detail {
    case .notJudged(let reason): ["This program cannot check the moves of this game: \(reason.code)."]
    case .wordle(let view):
      view.text(naming: name)
        + winners.enumerated().map { index, winner in
          "\(index + 1). \(name(winner.member)) \(winner.tries ?? 0)/\(Wordle.tries)"
        }
    case .connectFour(let view): view.text(naming: name)
    }
  }
}

/// A winner of a game.
public struct GameWinner: Hashable, Sendable {
  /// The member that won.
  public let member: MemberID
  /// The number of tries that the member needed; nil if the game does not count tries.
  public let tries: Int?

  var json: String {
    var json = JSONObject()
    json.add("member", string: member.description)
    if let tries { json.add("tries", Double(tries)) }
    return json.text
  }
}

extension MemberID {
  /// The first eight characters of the id, for display only.
  package var shortText: String { String(description.prefix(8)) }
}

extension GameView {
  init?(_ id: ObjectID, on state: BoardState, authors: [Incarnation: MemberID], for member: MemberID, isRevealing: Bool)
  {
    guard state.isVisible(id), let record = state.record(id), record.kind == .game else { return nil }
    let name = record.gameName ?? ""
    do throws(GameError) {
      let fold = try GameFold(id, record, authors: authors)
      self.init(
        id: id,
        name: name,
        detail: fold.game.detail(for: member, isRevealing: isRevealing),
        winners: fold.game.winners,
        moveCount: fold.acceptedCount,
        ignoredMoves: fold.ignored
      )
    } catch { self.init(id: id, name: name, detail: .notJudged(error), winners: [], moveCount: 0, ignoredMoves: []) }
  }
}
