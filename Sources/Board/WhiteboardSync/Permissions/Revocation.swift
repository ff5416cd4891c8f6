import PeerCore
import Whiteboard

/// A revocation of a member's rights.
///
/// A revocation is signed by the owner of the board, or by another member that may grant rights.
///
/// Implements AUT-13.
public struct Revocation: Hashable, Sendable {
  static let incarnationLimit = 4096
  static let byteLimit = 1 << 17
  private static let version: UInt8 = 1
  private static let domain = Array("whiteboard-revocation-1\n".utf8)

  let board: BoardID
  /// The member whose rights are revoked.
  public let member: MemberID
  let serial: UInt64
  /// For each incarnation, the last sequence number that remains valid. No changes by other incarnations of the member
  /// remain valid.
  let counted: [Incarnation: UInt64]
  let issuer: [UInt8]
  let grant: Grant
  /// The content without the signature; equal revocations have equal content.
  let body: [UInt8]
  private var signature: [UInt8]

  var bytes: [UInt8] { body + signature }

  static func make(
    of member: MemberID,
    through serial: UInt64,
    counting counted: [Incarnation: UInt64],
    _ grant: Grant,
    _ signer: inout Signer
  ) -> Signed<Revocation> {
    var revocation = Revocation(of: member, through: serial, counting: counted, grant, signer)
    let signature = signer.sign(domain + revocation.body)
    revocation.fill(signature.value)
    return Signed(value: revocation, request: signature.request)
  }

  mutating func fill(_ signature: [UInt8]) { self.signature = signature }

  private init(
    of member: MemberID,
    through serial: UInt64,
    counting counted: [Incarnation: UInt64],
    _ grant: Grant,
    _ signer: Signer
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
    writer.raw(signer.publicKey)
    grant.write(to: &writer)
    body = writer.bytes
    signature = []
    board = grant.owner.board
    self.member = member
    self.serial = serial
    self.counted = counted
    issuer = signer.publicKey
    self.grant = grant
  }

  /// ``verify(board:with:)`` checks the content. Throws `CodecError` unless the bytes are the canonical encoding.
  init(_ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    guard try reader.byte() == Self.version else { throw .reserved("revocation version") }
    guard let board = BoardID(bytes: try reader.take(BoardID.byteCount)),
      let member = MemberID(bytes: try reader.take(MemberID.byteCount))
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

  var isOwners: Bool { grant.certificates.isEmpty }

  func verify(board: BoardID, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard self.board == board else { throw .wrongBoard }
    guard verifier.isKey(issuer) else { throw .wrongKey }
    try grant.verify(board: board, with: verifier)
    guard grant.rights(of: issuer)?.mayGrant ?? false, member != grant.owner.member else { throw .notGranted }
    guard verifier.isValid(signature, of: Self.domain + body, by: issuer) else { throw .wrongSignature }
  }

  /// Only the owner can revoke a certificate that gives the right to grant.
  func takesBack(_ certificate: HeldCertificate) -> Bool {
    certificate.holder == member && certificate.serial <= serial && (isOwners || !certificate.mayGrant)
  }
}

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

/// All revocations on a board, whose effect does not depend on their order; implements AUT-14.
struct Revocations {
  static let limit = 4096

  private let room: Int

  /// All revocations, in order of arrival.
  private(set) var all: [Revocation] = []
  private var known: Set<Bytes32> = []
  /// The effective revocations, by the member whose rights they revoke.
  private var counting: [MemberID: [Revocation]] = [:]

  init(room: Int = limit) { self.room = room }

  var isEmpty: Bool { all.isEmpty }

  var isFull: Bool { all.count >= room }

  /// Returns whether there is room for a revocation by the local member; a quarter of the room is reserved for members
  /// that are not guests.
  func hasRoom(forGuest isGuest: Bool) -> Bool { all.count < (isGuest ? room / 4 * 3 : room) }

  func contains(_ revocation: Revocation) -> Bool { known.contains(.sha256(revocation.body)) }

  /// Adds a verified revocation. Returns whether the revocation is new and there was room for it. If the owner revokes
  /// the right of another issuer to grant rights, revocations by that issuer become void.
  mutating func insert(_ revocation: Revocation) -> Bool {
    guard !isFull, known.insert(.sha256(revocation.body)).inserted else { return false }
    all.append(revocation)
    counting = [:]
    let owners = all.filter { $0.isOwners }
    for next in all {
      let isVoid = next.grant.certificates.contains { certificate in
        owners.contains { $0.takesBack(HeldCertificate(certificate)) }
      }
      if !isVoid { counting[next.member, default: []].append(next) }
    }
    return true
  }

  /// Returns the last sequence number of an incarnation that remains valid; nil if none of its changes are revoked.
  func limit(of record: AuthorRecord) -> UInt64? {
    guard !counting.isEmpty else { return nil }
    var least: UInt64?
    for held in record.certificates {
      for revocation in counting[held.holder] ?? [] where revocation.takesBack(held) {
        let counted = revocation.counted[record.incarnation] ?? 0
        least = min(least ?? counted, counted)
      }
    }
    return least
  }

  func takeBack(_ grant: Grant) -> Bool {
    grant.certificates.contains { certificate in
      let held = HeldCertificate(certificate)
      return counting[held.holder]?.contains { $0.takesBack(held) } ?? false
    }
  }

  func serial(of member: MemberID) -> UInt64? { counting[member]?.map { $0.serial }.max() }
}
