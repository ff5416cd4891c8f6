import Whiteboard

/// Who writes here: makes the records of our incarnations, and signs heads and answers.
///
/// Not `Sendable`: it belongs to one replica.
public final class Author {
  /// The board it writes on.
  public let board: BoardID
  /// The member id of the author.
  public let member: MemberID
  /// The author's role; on an owned board at most the granted one.
  public var role: Role {
    guard board.isOwned else { return wanted }
    guard let rights = grant?.rights(of: publicKey) else { return .viewer }
    return rights.allow(wanted) ? wanted : .editor
  }
  /// The grant of the role, on an owned board.
  private(set) var grant: Grant?

  /// The requested role, which a grant may limit.
  private let wanted: Role
  /// The public key.
  let publicKey: [UInt8]
  private let key: any AuthorKey
  private var random: any RandomNumberGenerator
  private var records: [Incarnation: AuthorRecord] = [:]

  /// An author with no incarnation yet.
  ///
  /// - Parameters:
  ///   - board: the board it writes on.
  ///   - key: who it is.
  ///   - role: what it takes itself to be; on an owned board a viewer until something is granted.
  ///   - grant: where its role on an owned board comes from, where that is known.
  ///   - random: draws nonces; others must not be able to foretell them, since who knows an
  ///     incarnation before it is told can claim its dots (BRD-25).
  public init(
    board: BoardID,
    key: any AuthorKey,
    role: Role = .editor,
    grant: Grant? = nil,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.board = board
    self.key = key
    publicKey = key.publicKey
    wanted = role
    self.grant = grant
    self.random = random
    member = MemberID(publicKey: publicKey)
  }

  /// Makes a new incarnation, with its record (AUT-2).
  package func makeIncarnation() -> Incarnation {
    while true {
      let nonce = (0..<AuthorRecord.nonceBytes / 8).flatMap { _ in
        let bits = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
      }
      guard
        let record = AuthorRecord(
          board: board,
          nonce: nonce,
          role: role,
          grant: grant,
          key: key
        )
      else { continue }
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

  /// Writes under a record that was made elsewhere, as when a recording is acted again.
  package func adopt(_ record: AuthorRecord) {
    records[record.incarnation] = record
    if let grant = record.grant { adopt(grant) }
  }

  /// Signs where a chain of ours stands (AUT-7).
  package func sign(_ chain: BatchChain) -> SignedHead {
    SignedHead(
      sequence: chain.sequence,
      hash: chain.hash,
      signature: key.signature(of: SignedHead.text(of: chain, on: board))
    )
  }

  /// Whether it may make others editors.
  var mayGrant: Bool { grant?.rights(of: publicKey)?.mayGrant ?? false }

  /// Replaces the author's grant.
  func adopt(_ grant: Grant) { self.grant = grant }

  /// The rights that a grant gives the author, if any.
  func rights(in grant: Grant) -> Rights? { grant.rights(of: publicKey) }

  /// Grants something to the owner of a key.
  package func grant(_ rights: Rights, to holder: [UInt8], serial: UInt64) -> Grant? {
    guard let grant, mayGrant else { return nil }
    let certificate = Certificate(for: holder, rights, serial: serial, on: board, by: key)
    return Grant(grant.owner, grant.certificates + [certificate])
  }

  /// Takes back what was granted to a member.
  func revoke(
    _ member: MemberID,
    through serial: UInt64,
    counting counted: [Incarnation: UInt64]
  ) -> Revocation? {
    guard let grant, mayGrant else { return nil }
    return Revocation(of: member, through: serial, counting: counted, by: key, grant)
  }

  /// Signs the text of an answer (SYN-29).
  func signature(ofAnswer text: [UInt8]) -> [UInt8] { key.signature(of: text) }
}
