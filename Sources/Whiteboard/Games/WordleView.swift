import PeerCore

/// The mark of one letter in a guess.
public enum WordleMark: Int, Hashable, Comparable, Sendable {
  /// The letter is not in the answer, or occurs there less often than in the guess.
  case absent
  /// The letter is in the answer, at another position.
  case misplaced
  /// The letter is at the right position.
  case correct

  /// The mark as one character: `-`, `~` or `=`.
  public var symbol: String {
    switch self {
    case .absent: "-"
    case .misplaced: "~"
    case .correct: "="
    }
  }

  /// Compares two marks by how much they reveal.
  public static func < (lhs: WordleMark, rhs: WordleMark) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A game of Wordle as one member sees it.
public struct WordleView: Hashable, Sendable {
  /// One guess with its marks.
  public struct Row: Hashable, Sendable {
    /// The guessed word; nil if it is hidden because it could reveal the answer to the member who sees this view.
    public let word: String?
    /// The mark of each letter.
    public let marks: [WordleMark]

    /// The marks as a string of five characters.
    public var symbols: String { marks.map { $0.symbol }.joined() }

    var json: String {
      var json = JSONObject()
      json.add("word", string: word)
      json.add("marks", string: symbols)
      return json.text
    }
  }

  /// One member that has made a guess.
  public struct Player: Hashable, Sendable {
    /// The member that made the guesses.
    public let member: MemberID
    /// The member's guesses, in order.
    public let rows: [Row]
    /// Whether the last guess is the answer.
    public let hasWon: Bool
    /// Whether the member has found the answer or has no tries left.
    public let isDone: Bool

    var json: String {
      var json = JSONObject()
      json.add("member", string: member.description)
      json.add("rows", list: rows.map { $0.json })
      json.add("hasWon", hasWon)
      json.add("isDone", isDone)
      return json.text
    }
  }

  /// The member that sees this view.
  public let member: MemberID
  /// The members that have guessed, in the order of their first guesses.
  public let players: [Player]
  /// The best mark of each letter that this member has tried.
  public let keyboard: [String: WordleMark]
  /// The answer; nil until this member has finished.
  public let answer: String?

  /// The guesses of the member who sees this view.
  public var rows: [Row] { players.first { $0.member == member }?.rows ?? [] }

  func add(to json: inout JSONObject) {
    json.add("member", string: member.description)
    json.add("answer", string: answer)
    json.add("players", list: players.map { $0.json })
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
