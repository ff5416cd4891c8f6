import Whiteboard

/// The local author of a board, which creates the records of its incarnations, and signs heads and answers.
///
/// An author with a local key signs immediately. Otherwise, the replica requests each signature with
/// ``ReplicaAction/sign(_:)``. An author is not `Sendable`; it belongs to one replica.
public final class Author {
  /// The board that the author writes on.
  public let board: BoardID
  /// The member id of the author.
  public let member: MemberID
  /// The author's role.
  ///
  /// On an owned board, the grant limits the role.
  public var role: Role {
    guard board.isOwned else { return wanted }
    guard let rights = grant?.rights(of: publicKey) else { return .viewer }
    return rights.allow(wanted) ? wanted : .editor
  }
  private(set) var grant: Grant?

  /// The requested role, which a grant may limit.
  private let wanted: Role
  private var signer: Signer
  private let random: () -> UInt64
  private var records: [Incarnation: AuthorRecord] = [:]
  private var unsigned: [Incarnation: SigningID] = [:]

  /// Creates an author that signs with a local key.
  ///
  /// - Parameters:
  ///   - board: The board that the author writes on.
  ///   - key: The key of the author.
  ///   - role: The requested role. On an owned board, the author is a viewer until it has a grant.
  ///   - grant: The grant of the role on an owned board; nil if it is unknown.
  ///   - random: Generates nonces. The nonces must be unpredictable, because a peer that knows an incarnation before
  ///     its introduction can claim its dots (BRD-25).
  public convenience init(
    board: BoardID,
    key: some AuthorKey,
    role: Role = .editor,
    grant: Grant? = nil,
    random: some RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    var random = random
    self.init(board, Signer(key), role, grant) { random.next() }
  }

  /// Creates an author without a local key.
  ///
  /// The replica requests its signatures from the owner of the replica.
  ///
  /// - Parameters:
  ///   - board: The board that the author writes on.
  ///   - publicKey: The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  ///   - role: The requested role. On an owned board, the author is a viewer until it has a grant.
  ///   - grant: The grant of the role on an owned board; nil if it is unknown.
  ///   - random: Generates nonces, which must be unpredictable (BRD-25).
  public convenience init(
    board: BoardID,
    publicKey: [UInt8],
    role: Role = .editor,
    grant: Grant? = nil,
    random: some RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    var random = random
    self.init(board, Signer(publicKey: publicKey), role, grant) { random.next() }
  }

  private init(_ board: BoardID, _ signer: Signer, _ role: Role, _ grant: Grant?, _ random: @escaping () -> UInt64) {
    self.board = board
    self.signer = signer
    wanted = role
    self.grant = grant
    self.random = random
    member = MemberID(publicKey: signer.publicKey)
  }

  var publicKey: [UInt8] { signer.publicKey }

  // MARK: - Records

  package func makeIncarnation() -> Incarnation {
    while true {
      let nonce = (0..<AuthorRecord.nonceBytes / 8).flatMap { _ in
        let bits = random()
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
      }
      guard let record = AuthorRecord.make(board: board, nonce: nonce, role: role, grant: grant, &signer) else {
        continue
      }
      let incarnation = record.value.incarnation
      records[incarnation] = record.value
      unsigned[incarnation] = record.request
      return incarnation
    }
  }

  /// The record's signature may still be missing.
  package func record(of incarnation: Incarnation) -> AuthorRecord {
    guard let record = records[incarnation] else { preconditionFailure("every local incarnation has a record") }
    return record
  }

  func gaps(in record: AuthorRecord, trailing: Int = 0) -> [SignatureGap] {
    unsigned[record.incarnation].map { [SignatureGap($0, trailing: trailing)] } ?? []
  }

  var hasUnsignedRecord: Bool { !unsigned.isEmpty }

  package func adopt(_ record: AuthorRecord) {
    records[record.incarnation] = record
    if let grant = record.grant { adopt(grant) }
  }

  // MARK: - Signing

  func sign(_ bytes: [UInt8]) -> Signed<[UInt8]> { signer.sign(bytes) }

  /// Requests the signature if there is no local key (AUT-7).
  func signHead(of chain: BatchChain) -> Signed<SignedHead> {
    let signature = signer.sign(SignedHead.text(of: chain, on: board))
    return Signed(
      value: SignedHead(sequence: chain.sequence, hash: chain.hash, signature: signature.value),
      request: signature.request
    )
  }

  /// The author must have a local key (AUT-7).
  package func sign(_ chain: BatchChain) -> SignedHead { signHead(of: chain).complete }

  var hasLocalKey: Bool { signer.isLocal }
  /// Signs with the local key, on any thread; nil if there is no local key.
  var signature: (@Sendable ([UInt8]) -> [UInt8])? { signer.signature }
  var isAwaitingSignature: Bool { signer.isPending }

  var hasSigningRequests: Bool { signer.hasNewRequests }

  func removeSigningRequests() -> [SigningRequest] { signer.removeNewRequests() }

  /// Handles a signature from the owner. Returns whether its request was pending, and the record that is complete now,
  /// if the signature belongs to a record.
  func didSign(_ id: SigningID, _ signature: [UInt8]) -> (wasPending: Bool, AuthorRecord?) {
    guard signer.didSign(id) else { return (false, nil) }
    guard let incarnation = unsigned.first(where: { $0.value == id })?.key else { return (true, nil) }
    unsigned[incarnation] = nil
    records[incarnation]?.fill(signature)
    return (true, records[incarnation])
  }

  // MARK: - Permissions

  var mayGrant: Bool { grant?.rights(of: publicKey)?.mayGrant ?? false }

  func adopt(_ grant: Grant) { self.grant = grant }

  func rights(in grant: Grant) -> Rights? { grant.rights(of: publicKey) }

  /// Returns a signed grant; nil if the local member may not grant rights. If there is no local key, the signature at
  /// the end of the result is still missing.
  func makeGrant(_ rights: Rights, to holder: [UInt8], serial: UInt64) -> Signed<Grant>? {
    guard let grant, mayGrant else { return nil }
    let certificate = Certificate.make(for: holder, rights, serial: serial, on: board, &signer)
    return Signed(value: Grant(grant.owner, grant.certificates + [certificate.value]), request: certificate.request)
  }

  /// The author must have a local key.
  package func grant(_ rights: Rights, to holder: [UInt8], serial: UInt64) -> Grant? {
    makeGrant(rights, to: holder, serial: serial)?.complete
  }

  /// Returns a signed revocation; nil if the local member may not revoke rights. If there is no local key, the
  /// signature at the end of the result is still missing.
  func makeRevocation(of member: MemberID, through serial: UInt64, counting counted: [Incarnation: UInt64]) -> Signed<
    Revocation
  >? {
    guard let grant, mayGrant else { return nil }
    return Revocation.make(of: member, through: serial, counting: counted, grant, &signer)
  }

}

/// A renaming of incarnations that keeps their order. The order decides between simultaneous writes, and sorts letters
/// that were typed at the same position. Therefore the renaming changes nothing else on the board.
package struct IncarnationRenaming {
  private let renamed: (Incarnation) -> Incarnation

  package init(_ renamed: @escaping (Incarnation) -> Incarnation) { self.renamed = renamed }

  private func dot(_ dot: Dot) -> Dot { Dot(renamed(dot.incarnation), dot.sequence) }

  private func object(_ id: ObjectID) -> ObjectID { ObjectID(dot(id.dot)) }

  private func property(_ property: Property) -> Property {
    property.dot.map { Property(property.number, dot: dot($0)) } ?? property
  }

  private func value(_ value: Value, of property: Property) -> Value {
    switch value {
    case .dot(let found): .dot(dot(found))
    case .bytes(let bytes): TextTree.renaming(bytes, of: property.number, dot) ?? value
    default: value
    }
  }

  /// Returns a batch with renamed incarnations, new values and a new time. Throws if these values do not form a batch.
  package func batch(_ batch: Batch, _ time: HybridTime, _ changed: (Property, Value) -> Value) throws(CodecError)
    -> Batch
  {
    try Batch(
      author: renamed(batch.author),
      firstSequence: batch.firstSequence,
      time: time,
      operations: batch.operations.map { operation in
        Operation(
          object(operation.object),
          property(operation.property),
          value(changed(operation.property, operation.value), of: operation.property)
        )
      }
    )
  }

  package func dots(_ dots: DotSet) -> DotSet {
    var result = DotSet()
    for incarnation in dots.incarnations {
      for range in dots[incarnation].ranges { result.insert(range, of: renamed(incarnation)) }
    }
    return result
  }

  package func difference(_ difference: Difference, _ changed: (Property, Value, HybridTime) -> (Value, HybridTime))
    -> Difference
  {
    var result = Difference(context: dots(difference.context))
    result.living = dots(difference.living)
    result.entries = difference.entries.map { entry in
      Difference.Entry(
        object: object(entry.object),
        cells: entry.cells.map { found in
          let (next, time) = changed(found.property, found.cell.value, found.cell.time)
          return PropertyCell(
            property(found.property),
            Cell(value: value(next, of: found.property), time: time, dot: dot(found.cell.dot))
          )
        }
      )
    }
    return result
  }
}
