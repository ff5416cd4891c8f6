import BoardWorlds
import FoundationEssentials
import PeerCore
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// The board in `Protocol/Vectors/walkthrough.json`, which another implementation created.
private struct Walkthrough: Decodable {
  struct Person: Decodable {
    let name: String
    let peerID: String
    let boardIncarnation: String
  }

  struct Step: Decodable {
    let title: String
    let from: String
    let message: String?
  }

  struct Written: Decodable {
    let author: String
    let hex: String
    let chain: String
    let digest: String
  }

  struct Recipe: Decodable, CustomTestStringConvertible, Sendable {
    let name: String
    let hex: String
    let message: String
    let value: BoardVectors.Batch.Parts
    let digest: String
    let file: String?
    var testDescription: String { name }
  }

  let people: [Person]
  let session: String
  let steps: [Step]
  let answer: String
  let batches: [Written]
  let contextHash: String
  let recipes: [Recipe]

  static let all: Walkthrough = {
    let path = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    do {
      return try JSONDecoder().decode(
        Walkthrough.self,
        from: Data(contentsOf: URL(filePath: path + "/Protocol/Vectors/walkthrough.json"))
      )
    } catch { preconditionFailure("the walkthrough cannot be read: \(error)") }
  }()
}

/// The board of `Protocol/Walkthrough.md`, and its recipes.
struct WalkthroughTests {
  private static let now = Moment(wall: 1_700_000_002_000, uptime: 1_000_000)
  private static let told = Walkthrough.all
  private let told = Walkthrough.all

  private func member(_ name: String) throws -> MemberID {
    let person = try #require(told.people.first { $0.name == name })
    return try #require(MemberID(bytes: BoardVectors.bytes(person.peerID)))
  }

  private func incarnation(_ name: String) throws -> Incarnation {
    let person = try #require(told.people.first { $0.name == name })
    return try #require(Incarnation(person.boardIncarnation))
  }

  @Test("[SYN-10] each message of the walkthrough decodes, and encodes to the same bytes") func messages() throws {
    var kinds: Set<UInt8> = []
    for step in told.steps {
      guard let hex = step.message else { continue }
      let bytes = try BoardVectors.bytes(hex)
      kinds.insert(try #require(bytes.first))
      #expect(try #require(try SyncMessage.decode(bytes)).encode() == bytes, "\(step.title)")
    }
    #expect(kinds == [1, 2, 3, 4, 7, 8, 9])
  }

  @Test("[AUT-5] [SYN-29] a replica that receives the walkthrough has its board at the end") func board() throws {
    let board = try #require(BoardID(bytes: BoardVectors.bytes(told.session)))
    let replica = Replica(author: Author(board: board, key: RealKey(9)), now: Self.now)
    let log = ActionLog()
    for name in ["anna", "ben"] { log += replica.peerJoined(try member(name), now: Self.now) }
    var writer = LinkBatchWriter()
    for step in told.steps {
      guard let hex = step.message else { continue }
      let bytes = try BoardVectors.bytes(hex)
      switch try SyncMessage.decode(bytes) {
      case .author?: if step.from == "ben" { writer.beginAuthor() }
      case .batch(let content)?:
        let encoded = try EncodedBatch(decoding: BoardVectors.bytes(told.batches[1].hex))
        #expect(writer.encode(encoded) == content)
      // These messages are for the other peer.
      case .request?, .nothingLacking?, .state?: continue
      default: break
      }
      log += replica.received(bytes, from: try member(step.from), now: Self.now)
    }
    let answer = try BoardVectors.bytes(told.answer)
    log += replica.receivedAnswer(answer, request: 1, from: try member("anna"), now: Self.now)
    for action in log.take() { if case .protocolViolation(_, let error) = action { Issue.record("refused: \(error)") } }
    #expect(replica.digest.hex == told.batches[1].digest)
    #expect(BoardVectors.hash(replica.board.state.context) == told.contextHash)
    // The answer encodes to the same bytes except for the signature.
    let read = try Answer(answer)
    #expect(read.incarnation == (try incarnation("anna")))
    let made = Answer.encode(
      read.records,
      read.difference,
      by: Author(board: board, key: RealKey(9)),
      as: read.incarnation
    )
    #expect(made.dropLast(64) == answer.dropLast(64))
  }

  @Test("[AUT-6] the chains of the walkthrough are those of its batches") func chains() throws {
    for written in told.batches {
      var chain = BatchChain(try incarnation(written.author))
      let encoded = try EncodedBatch(decoding: BoardVectors.bytes(written.hex))
      #expect(EncodedBatch(encoded.batch).bytes == encoded.bytes)
      chain.append(encoded.bytes, through: encoded.batch.sequences.upperBound)
      #expect(chain.hash.hex == written.chain)
    }
  }

  @Test("[SYN-20] [SYN-28] the description of a recipe agrees with its bytes", arguments: told.recipes)
  private func recipe(vector: Walkthrough.Recipe) throws {
    let encoded = try EncodedBatch(decoding: BoardVectors.bytes(vector.hex))
    let operations = try vector.value.operations.map { try $0.operation() }
    #expect(encoded.batch.operations == operations)
    var writer = LinkBatchWriter()
    writer.beginAuthor()
    let message = try BoardVectors.bytes(vector.message)
    #expect([SyncMessage.batchKind] + writer.encode(encoded) == message)
    var state = BoardState()
    var changes = ChangeLog()
    try state.apply(encoded.batch, changes: &changes)
    #expect(BoardDigest.digest(of: state).hex == vector.digest)
  }

  @Test("[BRD-34] this program writes the batch of each recipe", arguments: told.recipes) private func product(
    vector: Walkthrough.Recipe
  ) throws {
    let board = Board(incarnation: try incarnation("ben"), member: try member("ben"), wallClock: 1_700_000_000_000)
    switch vector.name {
    case "text": try board.createText("Hi, é", at: Point(x: 100, y: -50))
    case "stroke":
      let points = try [Point(x: 0, y: 0), Point(x: 10, y: 5), Point(x: 20, y: 0)].map { try InkPoint($0) }
      try board.createDrawing(points, lineWidth: 5, color: 0x1E66_F5FF)
    case "photo":
      let operations = try vector.value.operations.map { try $0.operation() }
      let asset = try #require(operations.last.flatMap { AssetReference($0.value) })
      let file = try BoardVectors.bytes(try #require(vector.file))
      #expect(asset.byteCount == file.count)
      #expect(asset.id.description == Bytes32.sha256(file).hex)
      try board.createPhoto(asset, at: Point(x: 0, y: 0))
    default: try board.say("Who is next?", as: "Ben")
    }
    let batches = board.takeBatches()
    #expect(batches.map { Hexadecimal.encode(EncodedBatch($0).bytes) } == [vector.hex])
  }
}
