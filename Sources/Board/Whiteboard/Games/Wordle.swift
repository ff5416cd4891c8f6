import PeerCore

/// A game of Wordle for a whole board: each member has six tries to guess one word (GAM-5 to GAM-7).
package struct Wordle: Game {
  package static let name = "wordle"
  package static let letters = 5
  package static let tries = 6
  /// The size of a new game, in board units.
  static let size = Size(width: 120, height: 128)
  private static let version: UInt8 = 1

  private struct Player {
    var guesses: [WordleWord] = []
    var last: HybridTime
    var wonBy: PlacedMove?

    var isDone: Bool { wonBy != nil || guesses.count == Wordle.tries }
  }

  private let id: ObjectID
  private let answer: WordleWord
  private var players: [MemberID: Player] = [:]
  /// The members in the order of their first guesses.
  private var order: [MemberID] = []

  package init(setup: [UInt8], of id: ObjectID) throws(GameError) {
    guard let answer = WordleCipher(id).decipher(try Self.hiddenAnswer(setup)), WordleList.words.contains(answer)
    else { throw .malformedSetup }
    self.id = id
    self.answer = answer
  }

  private static func hiddenAnswer(_ setup: [UInt8]) throws(GameError) -> ArraySlice<UInt8> {
    guard setup.count == 1 + WordleWords.hash.count + 8, setup[0] == version else { throw .malformedSetup }
    let rest = setup.dropFirst()
    guard rest.prefix(WordleWords.hash.count).elementsEqual(WordleWords.hash) else { throw .foreignList }
    return rest.dropFirst(WordleWords.hash.count)
  }

  static func setup(of id: ObjectID, using random: inout some RandomNumberGenerator) -> [UInt8] {
    let count = UInt64(WordleList.answers.count)
    let answer = WordleList.answers[Int(UInt64.random(in: 0..<count, using: &random))]
    return setup(of: id, answer: answer)
  }

  static func setup(of id: ObjectID, answer: WordleWord) -> [UInt8] {
    [version] + WordleWords.hash + WordleCipher(id).encipher(answer)
  }

  /// Returns the setup of a copy. The answer depends only on the copy's id. A setup that this program cannot read is
  /// returned unchanged.
  static func setup(_ setup: [UInt8], ofCopy id: ObjectID) -> [UInt8] {
    guard (try? hiddenAnswer(setup)) != nil else { return setup }
    return self.setup(of: id, answer: WordleList.answers[WordleCipher(id).number(below: WordleList.answers.count)])
  }

  /// Returns the setup that has the same answer for another object. A setup that this program cannot read is returned
  /// unchanged.
  static func setup(_ setup: [UInt8], of id: ObjectID, movedTo other: ObjectID) -> [UInt8] {
    guard let hidden = try? hiddenAnswer(setup), let answer = WordleCipher(id).decipher(hidden) else { return setup }
    return self.setup(of: other, answer: answer)
  }

  package mutating func apply(_ move: PlacedMove) throws(GameError) {
    guard let word = WordleCipher(id, move: move.dot).decipher(move.bytes) else { throw .malformedMove }
    var player = players[move.member] ?? Player(last: move.time)
    guard !player.isDone else { throw .gameOver }
    guard WordleList.words.contains(word) else { throw .unknownWord(word.text) }
    if player.guesses.isEmpty { order.append(move.member) }
    player.guesses.append(word)
    player.last = move.time
    if word == answer { player.wonBy = move }
    players[move.member] = player
  }

  package func encode(_ move: GameMove, by member: MemberID, as dot: Dot) throws(GameError) -> [UInt8] {
    guard case .guess(let text) = move else { throw .malformedMove }
    let player = players[member]
    guard let word = WordleWord(ASCII.lowercase(text.utf8)), WordleList.words.contains(word) else {
      // If no tries are left, report `gameOver` even for an unknown word.
      if player?.isDone ?? false { throw .gameOver }
      throw .unknownWord(text)
    }
    // A repeated guess would use up a try (GAM-7) and reveal nothing new.
    if let player, !player.isDone, player.guesses.contains(word) { throw .repeatedWord(word.text) }
    return WordleCipher(id, move: dot).encipher(word)
  }

  package func lastTime(before member: MemberID) -> HybridTime? { players[member]?.last }

  package var winners: [GameWinner] {
    var won: [(tries: Int, move: PlacedMove)] = []
    for player in players.values { if let move = player.wonBy { won.append((player.guesses.count, move)) } }
    won.sort { $0.tries == $1.tries ? $0.move < $1.move : $0.tries < $1.tries }
    return won.map { GameWinner(member: $0.move.member, tries: $0.tries) }
  }

  package func detail(for member: MemberID, isRevealing: Bool) -> GameView.Detail {
    let isDone = players[member]?.isDone ?? false
    var keyboard: [String: WordleMark] = [:]
    let shown = order.compactMap { name -> WordleView.Player? in
      guard let player = players[name] else { return nil }
      let showsWords = isRevealing || isDone || name == member
      let rows = player.guesses.map { guess in
        let marks = Self.marks(of: guess.letters, for: answer.letters)
        if name == member { Self.press(guess, marks, on: &keyboard) }
        return WordleView.Row(word: showsWords ? guess.text : nil, marks: marks)
      }
      return WordleView.Player(member: name, rows: rows, hasWon: player.wonBy != nil, isDone: player.isDone)
    }
    return .wordle(
      WordleView(member: member, players: shown, keyboard: keyboard, answer: isDone || isRevealing ? answer.text : nil)
    )
  }

  /// For each letter, the keyboard shows the best mark of any guess.
  private static func press(_ guess: WordleWord, _ marks: [WordleMark], on keyboard: inout [String: WordleMark]) {
    for (letter, mark) in zip(guess.letters, marks) {
      let key = String(UnicodeScalar(letter))
      keyboard[key] = max(keyboard[key] ?? mark, mark)
    }
  }

  /// Returns the marks of a guess (GAM-7). Letters in the right position are marked first. Then the other letters are
  /// matched, from left to right, with the remaining letters of the answer. Therefore a letter is never marked more
  /// often than it occurs in the answer.
  package static func marks(of guess: [UInt8], for answer: [UInt8]) -> [WordleMark] {
    var marks = [WordleMark](repeating: .absent, count: guess.count)
    var left: [UInt8: Int] = [:]
    for (index, letter) in answer.enumerated() {
      if index < guess.count, guess[index] == letter { marks[index] = .correct } else { left[letter, default: 0] += 1 }
    }
    for (index, letter) in guess.enumerated() where marks[index] != .correct {
      guard let count = left[letter], count > 0 else { continue }
      marks[index] = .misplaced
      left[letter] = count - 1
    }
    return marks
  }
}

enum WordleList {
  static let answers: [WordleWord] = words(of: WordleWords.answers)
  static let words: Set<WordleWord> = Set(answers).union(words(of: WordleWords.others))

  private static func words(of text: StaticString) -> [WordleWord] {
    var words: [WordleWord] = []
    var word: UInt64 = 0
    var (end, bits): (UInt64, UInt64) = (0, 0)
    for letter in text.description.utf8 {
      let lowercase = letter | 0x20
      (end, bits) = ((end << 8) | UInt64(lowercase), bits + 8)
      guard letter != lowercase else { continue }
      word = ((word >> bits) << bits) | end
      words.append(WordleWord(bits: word))
      (end, bits) = (0, 0)
    }
    return words
  }
}

/// A word of five letters from a to z, in the lower 40 bits; the first letter is in the highest of these bits.
struct WordleWord: Hashable, Sendable {
  let bits: UInt64

  /// Creates a word from the lower 40 bits, which must hold five lower-case letters.
  init(bits: UInt64) { self.bits = bits }

  init?(_ letters: some Collection<UInt8>) {
    guard letters.count == Wordle.letters, letters.allSatisfy({ $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") })
    else { return nil }
    bits = letters.reduce(0) { ($0 << 8) | UInt64($1) }
  }

  var letters: [UInt8] { (0..<Wordle.letters).map { UInt8(truncatingIfNeeded: bits >> (32 - 8 * UInt64($0))) } }

  var text: String { String(decoding: letters, as: UTF8.self) }
}

/// A cipher that hides a word from a casual look at the data (GAM-6). The cipher does not keep the word secret, because
/// the key is computed from public data.
struct WordleCipher {
  private static let domain: UInt64 = 0x776F_7264_6C65_2D31
  private let key: UInt64

  init(_ id: ObjectID) { key = Self.taken(Self.taken(0, Self.domain), id.dot) }

  init(_ id: ObjectID, move dot: Dot) { key = Self.taken(WordleCipher(id).key, dot) }

  /// Returns the eight bytes that hide a word: its letters and a check value of 24 bits, encrypted with the key.
  func encipher(_ word: WordleWord) -> [UInt8] {
    let hidden = ((word.bits << 24) | check(word)) ^ SplitMix.mix(key)
    return (0..<8).map { UInt8(truncatingIfNeeded: hidden >> (56 - 8 * UInt64($0))) }
  }

  /// Returns the word that eight bytes hide; nil if the bytes were not made with this key.
  func decipher(_ bytes: some Collection<UInt8>) -> WordleWord? {
    guard bytes.count == 8 else { return nil }
    let shown = bytes.reduce(0) { ($0 << 8) | UInt64($1) } ^ SplitMix.mix(key)
    let letters = (0..<Wordle.letters).map { UInt8(truncatingIfNeeded: shown >> (56 - 8 * UInt64($0))) }
    guard let word = WordleWord(letters), check(word) == shown & 0xFF_FFFF else { return nil }
    return word
  }

  func number(below count: Int) -> Int { Int(SplitMix.mix(SplitMix.mix(~key)) % UInt64(count)) }

  private func check(_ word: WordleWord) -> UInt64 { SplitMix.mix(SplitMix.mix(key) ^ word.bits) >> 40 }

  private static func taken(_ hash: UInt64, _ word: UInt64) -> UInt64 { SplitMix.mix(hash ^ word) }

  private static func taken(_ hash: UInt64, _ dot: Dot) -> UInt64 {
    taken(taken(hash, dot.incarnation.rawValue), dot.sequence)
  }
}

/// The `mix` function of SYN-41.
private enum SplitMix {
  static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// The mark of one letter in a guess.
public enum WordleMark: Int, Hashable, Comparable, Sendable {
  /// The letter is not in the answer, or occurs there less often than in the guess.
  case absent
  case misplaced
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
    /// The guessed word; nil if the word is hidden, because the word could reveal the answer to the member who sees
    /// this view.
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
