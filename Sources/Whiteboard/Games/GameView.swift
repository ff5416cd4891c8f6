/// A game as one member is shown it: a value that may leave the board's isolation.
public struct GameView: Hashable, Sendable {
  /// The details of a particular game.
  public enum Detail: Hashable, Sendable {
    /// It is kept and forwarded, but not judged here, and why.
    case notJudged(GameError)
    /// A Wordle.
    case wordle(WordleView)
    /// A Connect Four.
    case connectFour(ConnectFourView)
  }

  /// The game's object.
  public let id: ObjectID
  /// Which game it is; text from a peer.
  public let name: String
  /// How it stands.
  public let detail: Detail
  /// The winners, the best first; the same on every replica with an equal context.
  public let winners: [GameWinner]
  /// How many moves counted.
  public let moveCount: Int
  /// The moves that did not count.
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
    json.add("winners", list: winners.map(\.json))
    json.add("moves", Double(moveCount))
    json.add("ignoredMoves", Double(ignoredMoves.count))
    return json.text
  }

  /// A few lines for people; without the game's name, which is a peer's.
  public var text: [String] { text { $0.shortText } }

  /// A few lines for people, in which members go by what `name` calls them.
  public func text(naming name: (MemberID) -> String) -> [String] {
    switch detail {
    case .notJudged(let reason): ["This game is not judged here: \(reason.code)."]
    case .wordle(let view):
      view.text(naming: name)
        + winners.enumerated().map { index, winner in
          "\(index + 1). \(name(winner.member)) \(winner.tries ?? 0)/\(Wordle.tries)"
        }
    case .connectFour(let view): view.text(naming: name)
    }
  }
}

/// A member who won a game.
public struct GameWinner: Hashable, Sendable {
  /// The member.
  public let member: MemberID
  /// With how many tries, where the game counts them.
  public let tries: Int?

  var json: String {
    var json = JSONObject()
    json.add("member", string: member.description)
    if let tries { json.add("tries", Double(tries)) }
    return json.text
  }
}

extension MemberID {
  /// The first eight characters: for display only.
  package var shortText: String { String(description.prefix(8)) }
}
