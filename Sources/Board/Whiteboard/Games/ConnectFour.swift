import PeerCore

/// A game of Connect Four for two players; other members watch (GAM-9, GAM-10).
package struct ConnectFour: Game {
  package static let name = "connect-four"
  package static let columns = 7
  package static let rows = 6
  /// The size of a new game, in board units.
  static let size = Size(width: 140, height: 128)
  private static let version: UInt8 = 1
  private static let resignation: UInt8 = 0xFF

  /// The members who may play; nil if any two members may play.
  private let invited: [MemberID]?
  /// The players so far: red, then yellow.
  private var players: [MemberID] = []
  /// The player (0 or 1) of each disc, column by column from the bottom.
  private var stacks = [[Int]](repeating: [], count: columns)
  private var discCount = 0
  private var last: HybridTime?
  private var outcome = ConnectFourView.Outcome.playing
  private var line: Set<ConnectFourView.Place> = []

  package init(setup: [UInt8]) throws(GameError) {
    guard setup.first == Self.version else { throw .malformedSetup }
    let rest = setup.dropFirst()
    if rest.isEmpty {
      invited = nil
    } else if rest.count == 64, let one = MemberID(bytes: rest.prefix(32)),
      let other = MemberID(bytes: rest.suffix(32)), one != other
    {
      invited = [one, other]
    } else {
      throw .malformedSetup
    }
  }

  static func setup(between players: (MemberID, MemberID)?) -> [UInt8] {
    [version] + (players.map { $0.0.bytes + $0.1.bytes } ?? [])
  }

  /// Returns the setup of a copy that `member` makes. If only two other members may play, any two members may play the
  /// copy.
  static func setup(_ setup: [UInt8], copiedBy member: MemberID) -> [UInt8] {
    guard let game = try? ConnectFour(setup: setup), game.invited?.contains(member) == false else { return setup }
    return self.setup(between: nil)
  }

  package mutating func apply(_ move: PlacedMove) throws(GameError) {
    guard move.bytes.count == 1, move.bytes[0] == Self.resignation || move.bytes[0] < Self.columns else {
      throw .malformedMove
    }
    guard outcome == .playing else { throw .gameOver }
    if move.bytes[0] == Self.resignation {
      guard let seat = players.firstIndex(of: move.member) else { throw .notAPlayer }
      outcome = .resigned(by: players[seat])
    } else {
      try drop(Int(move.bytes[0]), by: move.member)
    }
    last = move.time
  }

  private mutating func drop(_ column: Int, by member: MemberID) throws(GameError) {
    let seat = discCount % 2
    if let own = players.firstIndex(of: member) {
      guard own == seat else { throw .notYourTurn }
    } else {
      guard players.count < 2, invited?.contains(member) ?? true else { throw .notAPlayer }
    }
    guard stacks[column].count < Self.rows else { throw .columnFull }
    if !players.contains(member) { players.append(member) }
    stacks[column].append(seat)
    discCount += 1
    line = fours(through: ConnectFourView.Place(column: column, row: stacks[column].count - 1))
    if !line.isEmpty { outcome = .won(by: member) } else if discCount == Self.columns * Self.rows { outcome = .drawn }
  }

  private func seat(_ column: Int, _ row: Int) -> Int? {
    guard stacks.indices.contains(column), stacks[column].indices.contains(row) else { return nil }
    return stacks[column][row]
  }

  /// Returns the positions on all winning lines (four or more discs of one color) through a position.
  private func fours(through place: ConnectFourView.Place) -> Set<ConnectFourView.Place> {
    let own = seat(place.column, place.row)
    var result: Set<ConnectFourView.Place> = []
    for (right, up) in [(1, 0), (0, 1), (1, 1), (1, -1)] {
      var run = [place]
      for sign in [1, -1] {
        var column = place.column + sign * right
        var row = place.row + sign * up
        while seat(column, row) == own {
          run.append(ConnectFourView.Place(column: column, row: row))
          column += sign * right
          row += sign * up
        }
      }
      if run.count >= 4 { result.formUnion(run) }
    }
    return result
  }

  package func encode(_ move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8] {
    switch move {
    case .drop(let column):
      guard (1...Self.columns).contains(column) else { throw .malformedMove }
      return [UInt8(column - 1)]
    case .resign: return [Self.resignation]
    case .guess: throw .malformedMove
    }
  }

  package func lastTime(before member: MemberID) -> HybridTime? { last }

  package var winners: [GameWinner] {
    switch outcome {
    case .won(let member): [GameWinner(member: member, tries: nil)]
    case .resigned(let loser): players.filter { $0 != loser }.map { GameWinner(member: $0, tries: nil) }
    case .playing, .drawn: []
    }
  }

  package func detail(for member: MemberID, isRevealing: Bool) -> GameView.Detail {
    let turn = discCount % 2
    return .connectFour(
      ConnectFourView(
        member: member,
        players: players,
        invited: invited,
        turn: outcome == .playing && turn < players.count ? players[turn] : nil,
        stacks: stacks,
        outcome: outcome,
        line: line.sorted()
      )
    )
  }
}

/// A game of Connect Four as one member sees it.
public struct ConnectFourView: Hashable, Sendable {
  /// The result of the game so far.
  public enum Outcome: Hashable, Sendable {
    case playing
    case won(by: MemberID)
    case drawn
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
  /// The two members who may play; nil if any two members may play.
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
