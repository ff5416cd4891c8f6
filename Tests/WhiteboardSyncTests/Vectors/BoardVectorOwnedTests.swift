import BoardWorlds
import Testing

@testable import Whiteboard
@testable import WhiteboardSync

/// Records, grants and revocations of an owned board, as in the board's vectors.
@Suite struct BoardVectorOwnedTests {
  private static let vectors = BoardVectors.file.owned
  private let verifier = P256SignatureVerifier()
  private let board: BoardID

  init() throws { board = try BoardVectors.board(Self.vectors.board) }

  private func word(of error: any Error) -> String? { (error as? CodecError)?.code ?? (error as? ReplicaError)?.code }

  private func refuse(_ vector: BoardVectors.Refused, _ read: ([UInt8]) throws -> Void) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    do {
      try read(bytes)
      Issue.record("accepted, but expected the error \(vector.error)")
    } catch { #expect(word(of: error) == vector.error) }
  }

  @Test("[AUT-9] the id of a board belongs to its owner") func owner() throws {
    let owner = BoardOwner(
      salt: try BoardVectors.bytes(Self.vectors.salt),
      key: try BoardVectors.bytes(Self.vectors.owner)
    )
    #expect(owner.board == board && board.isOwned)
  }

  @Test("[AUT-12] a record decodes as in its vector", arguments: vectors.records.valid) func record(
    vector: BoardVectors.Record
  ) throws {
    let record = try AuthorRecord(BoardVectors.bytes(vector.hex))
    try record.verify(board: board, with: verifier)
    #expect(record.incarnation.description == vector.incarnation)
    #expect(Hexadecimal.encode(record.member.bytes) == vector.member)
    #expect(record.role.rawValue == vector.role)
    let made = try #require(
      AuthorRecord(
        board: board,
        nonce: Array(record.bytes[17..<33]),
        role: record.role,
        grant: record.grant,
        key: VectorKey(of: record.member)
      )
    )
    #expect(made.bytes.dropLast(64) == record.bytes.dropLast(64))
    #expect(made.incarnation == record.incarnation)
  }

  @Test("[AUT-12] an invalid record is rejected", arguments: vectors.records.invalid) func refusedRecord(
    vector: BoardVectors.Refused
  ) throws { try refuse(vector) { try AuthorRecord($0).verify(board: board, with: verifier) } }

  @Test("[AUT-11] a grant decodes as in its vector") func grants() throws {
    let key = try VectorKey(of: #require(MemberID(bytes: BoardVectors.bytes(Self.vectors.grants.holder)))).publicKey
    for vector in Self.vectors.grants.valid {
      let bytes = try BoardVectors.bytes(vector.hex)
      let grant = try Grant(for: key, bytes)
      try grant.verify(board: board, with: verifier)
      #expect(grant.rights(of: key)?.byte ?? 0 == vector.rights && grant.bytes == bytes)
    }
    for vector in Self.vectors.grants.invalid {
      try refuse(vector) { try Grant(for: key, $0).verify(board: board, with: verifier) }
    }
  }

  @Test("[AUT-13] a revocation decodes as in its vector", arguments: vectors.revocations.valid) func revocation(
    vector: BoardVectors.Owned.Taken
  ) throws {
    let bytes = try BoardVectors.bytes(vector.hex)
    let revocation = try Revocation(bytes)
    try revocation.verify(board: board, with: verifier)
    #expect(Hexadecimal.encode(revocation.member.bytes) == vector.member)
    #expect("\(revocation.serial)" == vector.serial && revocation.bytes == bytes)
    let counted = revocation.counted.sorted { $0.key < $1.key }
    #expect(counted.map { [$0.key.description, "\($0.value)"] } == vector.counted)
  }

  @Test("[AUT-13] an invalid revocation is rejected", arguments: vectors.revocations.invalid) func refusedRevocation(
    vector: BoardVectors.Refused
  ) throws { try refuse(vector) { try Revocation($0).verify(board: board, with: verifier) } }

  @Test("[AUT-14] several revocations together give the limits of the vectors, in any order") func limits() throws {
    let limits = Self.vectors.revocations.limits
    let record = try AuthorRecord(BoardVectors.bytes(limits.record))
    for set in limits.sets {
      let some = try set.revocations.map { name in
        let vector = try #require(Self.vectors.revocations.valid.first { $0.name == name })
        return try Revocation(BoardVectors.bytes(vector.hex))
      }
      for order in [some, some.reversed()] {
        var revocations = Revocations()
        for next in order { _ = revocations.insert(next) }
        #expect(revocations.limit(of: record).map { "\($0)" } == set.limit, "\(set.revocations)")
      }
    }
  }
}
