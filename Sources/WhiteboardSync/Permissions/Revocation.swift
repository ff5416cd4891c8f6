import Whiteboard

/// What takes a member's rights back, signed by the owner of a board or by whom the owner let grant;
/// implements AUT-13.
public struct Revocation: Hashable, Sendable {
  /// The most incarnations that one names.
  static let incarnationLimit = 4096
  /// The most bytes of one.
  static let byteLimit = 1 << 17
  private static let version: UInt8 = 1
  private static let domain = Array("whiteboard-revocation-1\n".utf8)

  /// The board it is for.
  let board: BoardID
  /// Whose rights it takes back.
  public let member: MemberID
  /// The greatest serial of the certificates that it takes back.
  let serial: UInt64
  /// The last sequences that count; others have none.
  let counted: [Incarnation: UInt64]
  /// The signer.
  let issuer: [UInt8]
  /// By what right.
  let grant: Grant
  /// The content without the signature; the same if the revocation is made again.
  let body: [UInt8]
  private let signature: [UInt8]

  /// It as it travels.
  var bytes: [UInt8] { body + signature }

  /// Makes and signs one.
  init(
    of member: MemberID,
    through serial: UInt64,
    counting counted: [Incarnation: UInt64],
    by key: any AuthorKey,
    _ grant: Grant
  ) {
    var writer = ByteWriter()
    writer.byte(Self.version)
    writer.raw(grant.owner.board.bytes)
    writer.raw(member.bytes)
    writer.fixed64(serial)
    writer.count(counted.count)
    for (incarnation, sequence) in counted.sorted(by: { $0.key < $1.key }) {
      writer.incarnation(incarnation)
      writer.fixed64(sequence)
    }
    writer.raw(key.publicKey)
    grant.write(to: &writer)
    body = writer.bytes
    signature = key.signature(of: Self.domain + body)
    board = grant.owner.board
    self.member = member
    self.serial = serial
    self.counted = counted
    issuer = key.publicKey
    self.grant = grant
  }

  /// Reads one; what it says is to be checked by ``verify(board:with:)``.
  /// - Throws: `CodecError` for anything but the canonical form.
  init(_ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == Self.version else { throw .reserved("revocation version") }
    guard let board = BoardID(try reader.take(BoardID.byteCount)),
      let member = MemberID(try reader.take(32))
    else { throw .truncated }
    self.board = board
    self.member = member
    serial = try reader.fixed64()
    guard serial <= BoardLimits.time else { throw .overLimit("serial") }
    let count = try reader.count(upTo: Self.incarnationLimit, "incarnations")
    var counted: [Incarnation: UInt64] = [:]
    var last: Incarnation?
    for _ in 0..<count {
      let incarnation = try reader.incarnation()
      if let last, incarnation <= last { throw .notCanonical("incarnations") }
      last = incarnation
      let sequence = try reader.fixed64()
      guard (1...BoardLimits.sequence).contains(sequence) else { throw .overLimit("sequence") }
      counted[incarnation] = sequence
    }
    self.counted = counted
    issuer = try reader.take(AuthorRecord.keyBytes)
    grant = try Grant(for: issuer, upTo: 1, &reader)
    body = Array(bytes[..<reader.position])
    signature = try reader.take(AuthorRecord.signatureBytes)
    try reader.finish()
  }

  /// Whether the owner of the board signed it.
  var isOwners: Bool { grant.certificates.isEmpty }

  /// Throws where it is another board's, or of somebody who may not say so.
  func verify(board: BoardID, with verifier: any SignatureVerifier) throws(ReplicaError) {
    guard self.board == board else { throw .wrongBoard }
    guard verifier.isKey(issuer) else { throw .wrongKey }
    try grant.verify(board: board, with: verifier)
    guard grant.rights(of: issuer)?.mayGrant ?? false, member != grant.owner.member else {
      throw .notGranted
    }
    guard verifier.isValid(signature, of: Self.domain + body, by: issuer) else {
      throw .wrongSignature
    }
  }

  /// Whether it takes a certificate back: whom the owner let grant is out of others' reach.
  func takesBack(_ certificate: HeldCertificate) -> Bool {
    certificate.holder == member && certificate.serial <= serial
      && (isOwners || !certificate.mayGrant)
  }
}

/// The properties of a certificate that a revocation checks.
struct HeldCertificate: Hashable, Sendable {
  let holder: MemberID
  let serial: UInt64
  let mayGrant: Bool

  init(_ certificate: Certificate) {
    holder = MemberID(publicKey: certificate.holder)
    serial = certificate.serial
    mayGrant = certificate.rights.mayGrant
  }
}
