/// A Connect Four as one member is shown it.
public struct ConnectFourView: Hashable, Sendable {
  /// How it ended, or not.
  public enum Outcome: Hashable, Sendable {
    /// It goes on.
    case playing
    /// Four in a row.
    case won(by: MemberID)
    /// The grid is full.
    case drawn
    /// A player gave up.
    case resigned(by: MemberID)

    var code: String {
      switch self {
      case .playing: "playing"
      case .won: "won"
      case .drawn: "drawn"
      case .resigned: "resigned"
      }
    }
  }

  /// A place of the grid, counted from 0: columns from the left, rows from the bottom.
  public struct Place: Hashable, Comparable, Sendable {
    /// From the left.
    public let column: Int
    /// From the bottom.
    public let row: Int

    /// Orders by column, then by row.
    public static func < (lhs: Place, rhs: Place) -> Bool {
      lhs.column == rhs.column ? lhs.row < rhs.row : lhs.column < rhs.column
    }
  }

  /// The member that sees this view.
  public let member: MemberID
  /// Red, then yellow; those who have made a move.
  public let players: [MemberID]
  /// The two who may play, where the game names them.
  public let invited: [MemberID]?
  /// Whose turn it is; nil if the seat is free, or the game over.
  public let turn: MemberID?
  /// The discs of each column from the bottom: 0 red, 1 yellow.
  public let stacks: [[Int]]
  /// How it stands.
  public let outcome: Outcome
  /// The places of the four that won.
  public let line: [Place]

  /// The grid from the top: `R`, `Y` and `.`, one text for each row.
  public var grid: [String] {
    (0..<ConnectFour.rows).reversed().map { row in
      stacks.map { row < $0.count ? ($0[row] == 0 ? "R" : "Y") : "." }.joined()
    }
  }

  func add(to json: inout JSONObject) {
    json.add("member", string: member.description)
    json.add("state", string: outcome.code)
    json.add("players", list: players.map { JSONObject.quoted($0.description) })
    if let invited {
      json.add("invited", list: invited.map { JSONObject.quoted($0.description) })
    }
    json.add("turn", string: turn?.description)
    json.add("grid", list: grid.map(JSONObject.quoted))
    json.add("line", points: line.map { Point(x: Double($0.column), y: Double($0.row)) })
  }

  func text(naming name: (MemberID) -> String) -> [String] {
    let head = (1...ConnectFour.columns).map { String($0) }.joined()
    let names = zip(["R", "Y"], players).map { "\($0) is \(name($1))" }
    return grid + [head] + names + [status(naming: name)]
  }

  private func status(naming name: (MemberID) -> String) -> String {
    switch outcome {
    case .playing: turn.map { "It is \(name($0))'s turn." } ?? "A seat is free."
    case .won(let member): "\(name(member)) has won."
    case .drawn: "Nobody has won."
    case .resigned(let member): "\(name(member)) has given up."
    }
  }
}
