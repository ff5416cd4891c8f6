/// The mark of one letter of a guess.
public enum WordleMark: Int, Hashable, Comparable, Sendable {
  /// Not in the answer, or not so often.
  case absent
  /// In the answer, elsewhere.
  case misplaced
  /// In its place.
  case correct

  /// One character: `-`, `~`, `=`.
  public var symbol: String {
    switch self {
    case .absent: "-"
    case .misplaced: "~"
    case .correct: "="
    }
  }

  /// Orders by how much is found out.
  public static func < (lhs: WordleMark, rhs: WordleMark) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A Wordle as one member is shown it.
public struct WordleView: Hashable, Sendable {
  /// One guess.
  public struct Row: Hashable, Sendable {
    /// The word, or nil if it would give the answer away to the one who looks.
    public let word: String?
    /// The marks, letter by letter.
    public let marks: [WordleMark]

    /// The marks as five characters.
    public var symbols: String { marks.map(\.symbol).joined() }

    var json: String {
      var json = JSONObject()
      json.add("word", string: word)
      json.add("marks", string: symbols)
      return json.text
    }
  }

  /// One member who has guessed.
  public struct Player: Hashable, Sendable {
    /// The member.
    public let member: MemberID
    /// The guesses, in their order.
    public let rows: [Row]
    /// Whether the last of them is the answer.
    public let hasWon: Bool
    /// Whether there are no tries left.
    public let isDone: Bool

    var json: String {
      var json = JSONObject()
      json.add("member", string: member.description)
      json.add("rows", list: rows.map(\.json))
      json.add("hasWon", hasWon)
      json.add("isDone", isDone)
      return json.text
    }
  }

  /// The member that sees this view.
  public let member: MemberID
  /// The members that have guessed, in the order of their first guesses.
  public let players: [Player]
  /// The best that is known of each letter that this member has tried.
  public let keyboard: [String: WordleMark]
  /// The answer, once this member is done.
  public let answer: String?

  /// The guesses of the member who looks.
  public var rows: [Row] { players.first { $0.member == member }?.rows ?? [] }

  func add(to json: inout JSONObject) {
    json.add("member", string: member.description)
    json.add("answer", string: answer)
    json.add("players", list: players.map(\.json))
    var keys = JSONObject()
    for key in keyboard.keys.sorted() { keys.add(key, string: keyboard[key]?.symbol) }
    json.add("keyboard", json: keys.text)
  }

  func text(naming name: (MemberID) -> String) -> [String] {
    var lines = rows.map { ($0.word ?? "") + " " + $0.symbols }
    for player in players where player.member != member {
      let rows = player.rows.map { [$0.word, $0.symbols].compactMap { $0 }.joined(separator: " ") }
      lines.append(name(player.member) + ": " + rows.joined(separator: ", "))
    }
    if let answer { lines.append("The answer is \(answer).") }
    return lines
  }
}
