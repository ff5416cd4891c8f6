import PeerCore

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
    /// The view of a Wordle.
    case wordle(WordleView)
    /// The view of a Connect Four.
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
  /// Creates the view of a game as `member` sees it; nil if the object `id` is not a visible game.
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
