import Whiteboard

/// Who writes here: makes the records of our incarnations, and signs heads and answers.
///
/// Not `Sendable`: it belongs to one replica.
public final class Author {
  /// The board it writes on.
  public let board: BoardID
  /// Who it is to the others.
  public let member: MemberID
  /// What it may do.
  public let role: Role

  private let key: any AuthorKey
  private var random: any RandomNumberGenerator
  private var records: [Incarnation: AuthorRecord] = [:]

  /// An author with no incarnation yet.
  ///
  /// - Parameters:
  ///   - board: the board it writes on.
  ///   - key: who it is.
  ///   - role: what it takes itself to be.
  ///   - random: draws nonces; others must not be able to foretell them, since who knows an
  ///     incarnation before it is told can claim its dots (BRD-25).
  public init(
    board: BoardID,
    key: any AuthorKey,
    role: Role = .editor,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.board = board
    self.key = key
    self.role = role
    self.random = random
    member = MemberID(publicKey: key.publicKey)
  }

  /// Makes a new incarnation, with its record (AUT-2).
  package func makeIncarnation() -> Incarnation {
    while true {
      let nonce = (0..<AuthorRecord.nonceBytes / 8).flatMap { _ in
        let bits = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
      }
      guard let record = AuthorRecord(board: board, nonce: nonce, role: role, key: key) else {
        continue
      }
      records[record.incarnation] = record
      return record.incarnation
    }
  }

  /// The record of an incarnation that was made here.
  package func record(of incarnation: Incarnation) -> AuthorRecord {
    guard let record = records[incarnation] else {
      preconditionFailure("every incarnation of ours is made with its record")
    }
    return record
  }

  /// Signs where a chain of ours stands (AUT-7).
  package func sign(_ chain: BatchChain) -> SignedHead {
    SignedHead(
      sequence: chain.sequence,
      hash: chain.hash,
      signature: key.signature(of: SignedHead.text(of: chain, on: board))
    )
  }

  /// Signs the text of an answer (SYN-29).
  func signature(ofAnswer text: [UInt8]) -> [UInt8] { key.signature(of: text) }
}
