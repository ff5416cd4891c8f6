import Crypto
import FoundationEssentials
import PeerTestKit
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// `Protocol/Vectors/games.json`, which another implementation of `Protocol/games.md` created.
struct GameVectors: Decodable {
  struct List: Decodable {
    let sha256: String
    let answers: Int
    let others: Int
  }

  struct Hidden: Decodable, Sendable {
    let object: String
    let move: String?
    let word: String
    let hex: String
  }

  struct Garbage: Decodable, Sendable {
    let object: String
    let hex: String
  }

  struct Setup: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let game: String
    let object: String
    let setup: String
    let error: String?
    var testDescription: String { name }
  }

  struct Marks: Decodable, Sendable {
    let guess: String
    let answer: String
    let marks: String
  }

  struct Winner: Decodable, Hashable, Sendable {
    let member: String
    let tries: Int?
  }

  struct Rows: Decodable, Sendable {
    let member: String
    let rows: [[String]]
  }

  struct Game: Decodable, CustomTestStringConvertible, Sendable {
    struct Move: Decodable, Sendable {
      let move: String
      let time: String
      let member: String
      let hex: String

      func placed() throws -> PlacedMove {
        let author = try #require(Hexadecimal.decode(member))
        let time = try #require(UInt64(time))
        return PlacedMove(
          dot: try #require(ObjectID(move)).dot,
          time: HybridTime(time),
          member: try #require(MemberID(bytes: author)),
          bytes: try #require(Hexadecimal.decode(hex))
        )
      }
    }
    let name: String
    let game: String
    let object: String
    let setup: String
    let moves: [Move]
    let ignored: [[String]]
    let winners: [Winner]
    let rows: [Rows]?
    let grid: [String]?
    let state: String?
    var testDescription: String { name }
  }

  let list: List
  let hidden: [Hidden]
  let garbage: [Garbage]
  let setups: [Setup]
  let marks: [Marks]
  let games: [Game]

  static func content(of name: String) throws -> Data {
    let path = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    return try Data(contentsOf: URL(filePath: path + "/Protocol/" + name))
  }

  static let file: GameVectors = {
    do { return try JSONDecoder().decode(GameVectors.self, from: try content(of: "Vectors/games.json")) } catch {
      preconditionFailure("Protocol/Vectors/games.json: \(error)")
    }
  }()
}

@Suite struct GameVectorTests {
  @Test("[GAM-5] the words in the program are those of Protocol/Wordle.txt, and so is their hash") func list() throws {
    let content = try GameVectors.content(of: "Wordle.txt")
    #expect(Array(SHA256.hash(data: content)) == WordleWords.hash)
    #expect(Hexadecimal.encode(WordleWords.hash) == GameVectors.file.list.sha256)
    let parts = String(decoding: content, as: UTF8.self).split(separator: "\n\n", omittingEmptySubsequences: false)
    #expect(parts.count == 2)
    let answers = parts[0].split(separator: "\n").map { String($0) }
    let others = parts[1].split(separator: "\n").map { String($0) }
    #expect(WordleList.answers.map(\.text) == answers)
    #expect(Set(WordleList.words.map(\.text)) == Set(answers + others))
    #expect(WordleList.words.count == answers.count + others.count)
    #expect(answers.count == GameVectors.file.list.answers)
    #expect(others.count == GameVectors.file.list.others)
    #expect(answers == answers.sorted() && others == others.sorted())
    #expect((answers + others).allSatisfy { WordleWord(Array($0.utf8)) != nil })
    let licence = try GameVectors.content(of: "Wordle.LICENSE.md")
    #expect(String(decoding: licence, as: UTF8.self).contains(GameVectors.file.list.sha256))
  }

  @Test("[GAM-6] words are encrypted and decrypted as in their vectors", arguments: GameVectors.file.hidden)
  func hidden(vector: GameVectors.Hidden) throws {
    let id = try #require(ObjectID(vector.object))
    let word = try #require(WordleWord(Array(vector.word.utf8)))
    let cipher = try vector.move.map { WordleCipher(id, move: try #require(ObjectID($0)).dot) }
    let used = cipher ?? WordleCipher(id)
    #expect(Hexadecimal.encode(used.encipher(word)) == vector.hex)
    let bytes = try #require(Hexadecimal.decode(vector.hex))
    #expect(used.decipher(bytes) == word)
  }

  @Test("[GAM-6] garbage decrypts to no word") func garbage() throws {
    #expect(!GameVectors.file.garbage.isEmpty)
    for vector in GameVectors.file.garbage {
      let cipher = WordleCipher(try #require(ObjectID(vector.object)))
      let bytes = try #require(Hexadecimal.decode(vector.hex))
      #expect(cipher.decipher(bytes) == nil)
    }
  }

  @Test("[GAM-5] [GAM-9] setups are accepted or refused as in their vectors", arguments: GameVectors.file.setups)
  func setups(vector: GameVectors.Setup) throws {
    let id = try #require(ObjectID(vector.object))
    let setup = try #require(Hexadecimal.decode(vector.setup))
    var found: String?
    do throws(GameError) { _ = try SupportedGame(vector.game, setup: setup, of: id) } catch { found = error.code }
    #expect(found == vector.error)
  }

  @Test("[GAM-7] guesses are marked as in their vectors") func marks() {
    for vector in GameVectors.file.marks {
      let marks = Wordle.marks(of: Array(vector.guess.utf8), for: Array(vector.answer.utf8))
      #expect(marks.map(\.symbol).joined() == vector.marks, "\(vector.guess) \(vector.answer)")
    }
  }

  @Test("[GAM-3] games have the results of their vectors, in any order of moves", arguments: GameVectors.file.games)
  func games(vector: GameVectors.Game) throws {
    let id = try #require(ObjectID(vector.object))
    let setup = try #require(Hexadecimal.decode(vector.setup))
    let moves = try vector.moves.map { try $0.placed() }
    var random = SeededGenerator(seed: 1)
    for _ in 0..<5 {
      let start = try SupportedGame(vector.game, setup: setup, of: id)
      let fold = GameFold(start, moves: moves.shuffled(using: &random))
      #expect(fold.ignored.map { [$0.dot.description, $0.reason.code] } == vector.ignored)
      #expect(fold.acceptedCount + fold.ignored.count == moves.count)
      #expect(
        fold.game.winners.map { GameVectors.Winner(member: Hexadecimal.encode($0.member.bytes), tries: $0.tries) }
          == vector.winners
      )
      let looker = try #require(MemberID(bytes: [UInt8](repeating: 200, count: 32)))
      switch fold.game.detail(for: looker, isRevealing: true) {
      case .notJudged: Issue.record("the game of this vector is not judged")
      case .connectFour(let view):
        #expect(view.grid == vector.grid)
        #expect(view.outcome.code == vector.state)
      case .wordle(let view):
        let rows = try #require(vector.rows)
        #expect(view.players.count == rows.count)
        for expected in rows {
          let player = try #require(view.players.first { Hexadecimal.encode($0.member.bytes) == expected.member })
          #expect(player.rows.map { [$0.word ?? "", $0.symbols] } == expected.rows)
        }
      }
    }
  }

  @Test("[GAM-6] sent bytes contain neither the answer nor a guess in clear text", arguments: 0..<30)
  func nothingInClear(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let member = try #require(MemberID(bytes: [UInt8](repeating: 1, count: 32)))
    let board = Board(incarnation: .random(using: &random), member: member, wallClock: 1_000_000)
    let id = try board.createWordle(at: Point(x: 0, y: 0), using: &random)
    guard case .wordle(let view)? = board.gameView(id, for: member, isRevealing: true)?.detail, let answer = view.answer
    else {
      Issue.record("the game is not judged")
      return
    }
    let words = ["house", answer]
    for word in words { try board.game(id).play(word) }
    let bytes = board.takeBatches().flatMap { BatchCoding.encode($0) }
    let all = DifferenceCoding.encode(board.state.difference(since: Context()))
    for word in words {
      for length in [5, 4] {
        let part = Array(Array(word.utf8).suffix(length))
        #expect(!bytes.contains(part))
        #expect(!all.contains(part))
      }
    }
    #expect(board.gameView(id, for: member)?.winners.map(\.tries) == [2])
  }
}
