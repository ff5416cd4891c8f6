import Whiteboard

/// The local author of a board: makes the records of the local incarnations, and signs heads and answers.
///
/// With a local key it signs at once. Otherwise the replica requests each signature with
/// ``ReplicaAction/sign(_:)``. An author is not `Sendable`; it belongs to one replica.
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
  private var signer: Signer
  private var random: any RandomNumberGenerator
  private var records: [Incarnation: AuthorRecord] = [:]
  /// The requests for the missing signatures of records.
  private var unsigned: [Incarnation: SigningID] = [:]

  /// Creates an author that signs with a local key.
  ///
  /// - Parameters:
  ///   - board: The board it writes on.
  ///   - key: The key of the author.
  ///   - role: The requested role; on an owned board the author is a viewer until it has a grant.
  ///   - grant: The grant of the role on an owned board, if it is known.
  ///   - random: Generates nonces. They must be unpredictable, because a peer that knows an incarnation before
  ///     its introduction can claim its dots (BRD-25).
  public convenience init(
    board: BoardID,
    key: any AuthorKey,
    role: Role = .editor,
    grant: Grant? = nil,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.init(board, Signer(key), role, grant, random)
  }

  /// Creates an author whose signatures the owner of the replica makes.
  ///
  /// - Parameters:
  ///   - board: The board it writes on.
  ///   - publicKey: The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  ///   - role: The requested role; on an owned board the author is a viewer until it has a grant.
  ///   - grant: The grant of the role on an owned board, if it is known.
  ///   - random: Generates nonces, which must be unpredictable (BRD-25).
  public convenience init(
    board: BoardID,
    publicKey: [UInt8],
    role: Role = .editor,
    grant: Grant? = nil,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    self.init(board, Signer(publicKey: publicKey), role, grant, random)
  }

  private init(
    _ board: BoardID,
    _ signer: Signer,
    _ role: Role,
    _ grant: Grant?,
    _ random: any RandomNumberGenerator
  ) {
    self.board = board
    self.signer = signer
    wanted = role
    self.grant = grant
    self.random = random
    member = MemberID(publicKey: signer.publicKey)
  }

  /// The public key.
  var publicKey: [UInt8] { signer.publicKey }

  // MARK: - Records

  /// Makes a new incarnation, with its record (AUT-2).
  package func makeIncarnation() -> Incarnation {
    while true {
      let nonce = (0..<AuthorRecord.nonceBytes / 8).flatMap { _ in
        let bits = random.next()
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
      }
      guard
        let record = AuthorRecord.make(
          board: board,
          nonce: nonce,
          role: role,
          grant: grant,
          &signer
        )
      else { continue }
      let incarnation = record.value.incarnation
      records[incarnation] = record.value
      unsigned[incarnation] = record.request
      return incarnation
    }
  }

  /// Returns the record of a local incarnation; its signature may be missing.
  package func record(of incarnation: Incarnation) -> AuthorRecord {
    guard let record = records[incarnation] else {
      preconditionFailure("every local incarnation has a record")
    }
    return record
  }

  /// Returns the place of the signature in the bytes of a record, if it is missing.
  /// - Parameters:
  ///   - record: The record, local or not.
  ///   - trailing: The number of other bytes behind the record.
  /// - Returns: The place, or nothing.
  func gaps(in record: AuthorRecord, trailing: Int = 0) -> [SignatureGap] {
    unsigned[record.incarnation].map { [SignatureGap($0, trailing: trailing)] } ?? []
  }

  /// Whether a record lacks its signature.
  var hasUnsignedRecord: Bool { !unsigned.isEmpty }

  /// Writes under a record that was made elsewhere, to replay a recording.
  package func adopt(_ record: AuthorRecord) {
    records[record.incarnation] = record
    if let grant = record.grant { adopt(grant) }
  }

  // MARK: - Signing

  /// Signs some bytes, or requests the signature.
  func sign(_ bytes: [UInt8]) -> Signed<[UInt8]> { signer.sign(bytes) }

  /// Signs the head of a local chain, or requests the signature (AUT-7).
  func signHead(of chain: BatchChain) -> Signed<SignedHead> {
    let signature = signer.sign(SignedHead.text(of: chain, on: board))
    return Signed(
      value: SignedHead(
        sequence: chain.sequence,
        hash: chain.hash,
        signature: signature.value
      ),
      request: signature.request
    )
  }

  /// Signs the head of a local chain with the local key (AUT-7).
  package func sign(_ chain: BatchChain) -> SignedHead { signHead(of: chain).complete }

  /// Whether a requested signature is missing.
  var isAwaitingSignature: Bool { signer.isPending }

  /// Removes and returns the requests that the owner has not received yet.
  func removeSigningRequests() -> [SigningRequest] { signer.removeNewRequests() }

  /// Notes that the owner made a requested signature, and fills it in if it is that of a record.
  /// - Returns: Whether it was requested, and the record that is complete now, if any.
  func didSign(_ id: SigningID, _ signature: [UInt8]) -> (wasPending: Bool, AuthorRecord?) {
    guard signer.didSign(id) else { return (false, nil) }
    guard let incarnation = unsigned.first(where: { $0.value == id })?.key else {
      return (true, nil)
    }
    unsigned[incarnation] = nil
    records[incarnation]?.fill(signature)
    return (true, records[incarnation])
  }

  // MARK: - Permissions

  /// Whether it may make others editors.
  var mayGrant: Bool { grant?.rights(of: publicKey)?.mayGrant ?? false }

  /// Replaces the author's grant.
  func adopt(_ grant: Grant) { self.grant = grant }

  /// The rights that a grant gives the author, if any.
  func rights(in grant: Grant) -> Rights? { grant.rights(of: publicKey) }

  /// Grants rights to the owner of a key; the signature at its end may be missing.
  func makeGrant(_ rights: Rights, to holder: [UInt8], serial: UInt64) -> Signed<Grant>? {
    guard let grant, mayGrant else { return nil }
    let certificate = Certificate.make(for: holder, rights, serial: serial, on: board, &signer)
    return Signed(
      value: Grant(grant.owner, grant.certificates + [certificate.value]),
      request: certificate.request
    )
  }

  /// Grants rights to the owner of a key, signed with the local key.
  package func grant(_ rights: Rights, to holder: [UInt8], serial: UInt64) -> Grant? {
    makeGrant(rights, to: holder, serial: serial)?.complete
  }

  /// Revokes the rights of a member; the signature at its end may be missing.
  func makeRevocation(
    of member: MemberID,
    through serial: UInt64,
    counting counted: [Incarnation: UInt64]
  ) -> Signed<Revocation>? {
    guard let grant, mayGrant else { return nil }
    return Revocation.make(of: member, through: serial, counting: counted, grant, &signer)
  }

}
