import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

extension BoardVectors {
  struct Retirements: Decodable, Sendable {
    struct Valid: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let board: String
      let hex: String
      let incarnations: [String]
      let host: String
      let salt: String
      let signed: String
      var testDescription: String { name }
    }
    /// A retirement of consecutive numbers, without the bytes of the numbers.
    struct Large: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let board: String
      let before: String
      let first: String
      let count: UInt64
      let after: String
      var testDescription: String { name }
    }
    struct Refused: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let board: String
      let hex: String
      let error: String
      var testDescription: String { name }
    }
    struct Step: Decodable, Sendable {
      let name: String
      let batch: String?
      let retirement: String?
      let difference: String?
      let buckets: UInt16?
      let context: [String: [[UInt64]]]
      let contextHash: String
      let digest: String
      let sums: [String]
    }
    struct Effect: Decodable, CustomTestStringConvertible, Sendable {
      let name: String
      let steps: [Step]
      var testDescription: String { name }
    }
    struct Unrecorded: Decodable, Sendable {
      let member: String
      let hex: String
      let retirement: String
      let context: [String: [[UInt64]]]
    }
    let board: String
    let valid: [Valid]
    let large: [Large]
    let invalid: [Refused]
    let effects: [Effect]
    let unrecorded: Unrecorded
  }
}

/// Tests the vectors about retirements, and about boards before and after a retirement.
@Suite struct BoardVectorRetirementTests {
  private static let vectors = BoardVectors.file.retirements
  private let verifier = P256SignatureVerifier()

  private func word(of error: any Error) -> String? { (error as? CodecError)?.code ?? (error as? ReplicaError)?.code }

  @Test("[AUT-17] a retirement decodes as in its vector", arguments: vectors.valid) func retirement(
    vector: BoardVectors.Retirements.Valid
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let board = try BoardVectors.board(vector.board)
    let retirement = try Retirement(bytes)
    try retirement.verify(board: board, with: verifier)
    #expect(retirement.incarnations.map(\.description) == vector.incarnations)
    #expect(Hexadecimal.encode(retirement.host) == vector.host)
    #expect(Hexadecimal.encode(retirement.salt) == vector.salt)
    #expect(retirement.bytes == bytes)
    let signed = try BoardVectors.bytes(vector.signed)
    #expect(verifier.isValid(Array(bytes.suffix(64)), of: signed, by: retirement.host))
    // A local retirement has the same bytes except for the signature, which is always different.
    let author = Author(board: board, key: try VectorKey(of: MemberID(publicKey: retirement.host)))
    let made = try #require(Retirement(of: retirement.incarnations, salt: retirement.salt, by: author))
    #expect(made.bytes.dropLast(64) == bytes.dropLast(64))
    try made.verify(board: board, with: verifier)
  }

  @Test("[AUT-17] a retirement of as many incarnations as it may have decodes", arguments: vectors.large) func large(
    vector: BoardVectors.Retirements.Large
  ) throws {
    let first = try #require(Incarnation(vector.first)).rawValue
    var writer = ByteWriter()
    writer.raw(try BoardVectors.bytes(vector.before))
    for number in first..<first + vector.count { writer.incarnation(Incarnation(number)) }
    writer.raw(try BoardVectors.bytes(vector.after))
    let retirement = try Retirement(writer.bytes)
    try retirement.verify(board: BoardVectors.board(vector.board), with: verifier)
    #expect(retirement.incarnations.count == Retirement.incarnationLimit)
    #expect(writer.bytes.count <= Retirement.byteLimit)
  }

  @Test("[AUT-17] an invalid retirement is rejected", arguments: vectors.invalid) func refused(
    vector: BoardVectors.Retirements.Refused
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let board = try BoardVectors.board(vector.board)
    do {
      try Retirement(bytes).verify(board: board, with: verifier)
      Issue.record("accepted, but expected the error \(vector.error)")
    } catch { #expect(word(of: error) == vector.error) }
  }

  @Test("[AUT-17] the board after each step is that of the vectors", arguments: vectors.effects) func effect(
    vector: BoardVectors.Retirements.Effect
  ) throws {
    var state = BoardState()
    var changes = ChangeLog()
    for step in vector.steps {
      if let hex = step.batch {
        try state.apply(try BatchCoding.decode(BoardVectors.bytes(hex)), changes: &changes)
      } else if let hex = step.retirement {
        state.retire(try Retirement(BoardVectors.bytes(hex)).incarnations, changes: &changes)
      } else {
        let difference = try DifferenceCoding.decode(BoardVectors.bytes(try #require(step.difference)))
        try state.merge(difference, comparingAll: step.buckets != 0, changes: &changes)
      }
      #expect(state.context == (try BoardVectors.set(step.context)), "\(step.name)")
      #expect(BoardVectors.hash(state.context) == step.contextHash, "\(step.name)")
      #expect(BoardDigest.digest(of: state).hex == step.digest, "\(step.name)")
      #expect(BucketSums.sums(of: state).map { "\($0)" } == step.sums, "\(step.name)")
    }
  }
}
