import PeerCore

/// A game of Connect Four as one member sees it.
public struct ConnectFourView: Hashable, Sendable {
  /// The result of the game so far.
  public enum Outcome: Hashable, Sendable {
    /// The game is still in progress.
    case playing
    /// A member won with four in a row.
    case won(by: MemberID)
    /// The grid is full and no member won.
    case drawn
    /// A player resigned.
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

  /// A position in the grid.
  ///
  /// Columns are counted from the left and rows from the bottom, both from 0.
  public struct Place: Hashable, Comparable, Sendable {
    /// The column, counted from the left.
    public let column: Int
    /// The row, counted from the bottom.
    public let row: Int

    /// Compares two positions by column, then by row.
    public static func < (lhs: Place, rhs: Place) -> Bool {
      lhs.column == rhs.column ? lhs.row < rhs.row : lhs.column < rhs.column
    }
  }

  /// The member who sees this view.
  public let member: MemberID
  /// The players who have made a move: red, then yellow.
  public let players: [MemberID]
  /// The two members who may play; nil if any two may.
  public let invited: [MemberID]?
  /// The player whose turn it is; nil if that player has not joined yet or the game is over.
  public let turn: MemberID?
  /// The discs of each column from the bottom: 0 for red, 1 for yellow.
  public let stacks: [[Int]]
  /// The result of the game so far.
  public let outcome: Outcome
  /// The positions of the discs in the winning line; empty if no member has won with a line.
  public let line: [Place]

  /// The rows of the grid from the top.
  ///
  /// Each is a string of `R`, `Y` and `.`.
  public var grid: [String] {
    (0..<ConnectFour.rows).reversed().map { row in
      stacks.map { row < $0.count ? ($0[row] == 0 ? "R" : "Y") : "." }.joined()
    }
  }

  func add(to json: inout JSONObject) {
    json.add("member", string: member.description)
    json.add("state", string: outcome.code)
    json.add("players", list: players.map { JSONObject.quoted($0.description) })
    if let invited { json.add("invited", list: invited.map { JSONObject.quoted($0.description) }) }
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
    case .drawn: "The game is a draw."
    case .resigned(let member): "\(name(member)) has given up."
    }
  }
}
