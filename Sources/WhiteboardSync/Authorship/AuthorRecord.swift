import PeerCore
import Whiteboard

/// The role of a member on a board.
///
/// An incarnation cannot change its role (AUT-4).
public enum Role: UInt8, Hashable, Sendable {
  /// Can write, send requests and answer them.
  case editor = 1
  /// Can only view the board. Other members ignore changes and answers by a viewer.
  case viewer = 2
  /// Has the rights of an editor. A relay is always online.
  case relay = 3

  /// Whether authors with this role may change the board.
  public var mayWrite: Bool { self != .viewer }
}

/// A signed statement that an incarnation belongs to an author and has a role.
///
/// Implements AUT-1 to AUT-3 and AUT-12.
public struct AuthorRecord: Hashable, Sendable {
  /// The number of bytes in a public key.
  static let keyBytes = 65
  /// The number of bytes in a signature.
  static let signatureBytes = 64
  /// The number of bytes in the nonce.
  static let nonceBytes = 16
  /// The maximum number of bytes in a record.
  package static let byteLimit = 512

  /// Returns the version of records: 1 on open boards, 2 on owned boards.
  private static func version(on board: BoardID) -> UInt8 { board.isOwned ? 2 : 1 }
  private static let domain = Array("whiteboard-record-1\n".utf8)
  private static let grantDomain = Array("whiteboard-grant-1\n".utf8)
  private static let incarnationDomain = Array("whiteboard-incarnation-1\n".utf8)

  /// The board for which the record is valid.
  public let board: BoardID
  /// The author's public key.
  public let key: [UInt8]
  /// The role of the incarnation.
  public let role: Role
  /// The key of the member that granted the role on an open board; nil if no member did.
  public let granter: [UInt8]?
  /// The grant of the role on an owned board; nil for a viewer.
  public let grant: Grant?
  let certificates: [HeldCertificate]
  /// The incarnation, which is computed from the content of the record (AUT-2).
  public let incarnation: Incarnation
  /// The member id of the author (AUT-3).
  public let member: MemberID
  /// The encoded record.
  public private(set) var bytes: [UInt8]

  private let nonce: [UInt8]
  package private(set) var signature: [UInt8]
  private let granterSignature: [UInt8]?

  /// Creates and signs a record with a nonce of 16 unpredictable bytes; nil if the incarnation would be 0.
  ///
  /// In that case, another nonce is needed.
  init?(board: BoardID, nonce: [UInt8], role: Role, grant: Grant? = nil, key: some AuthorKey) {
    var signer = Signer(key)
    guard let record = Self.make(board: board, nonce: nonce, role: role, grant: grant, &signer) else { return nil }
    self = record.value
  }

  /// Creates a record, and signs it or requests the signature; nil if the incarnation would be 0.
  static func make(board: BoardID, nonce: [UInt8], role: Role, grant: Grant?, _ signer: inout Signer) -> Signed<
    AuthorRecord
  >? {
    precondition(signer.publicKey.count == keyBytes, "a public key has 65 bytes")
    var body = board.bytes + nonce + signer.publicKey + [role.rawValue]
    if board.isOwned {
      precondition(grant != nil || !role.mayWrite, "a writer on an owned board needs a grant")
      if let grant, role.mayWrite { body += grant.bytes }
    } else {
      body.append(0)
    }
    guard number(of: body[...]) != 0 else { return nil }
    let signature = signer.sign(domain + [version(on: board)] + body)
    guard let record = try? AuthorRecord([version(on: board)] + body + signature.value) else {
      preconditionFailure("a record that this program created can be decoded")
    }
    return Signed(value: record, request: signature.request)
  }

  mutating func fill(_ signature: [UInt8]) {
    self.signature = signature
    bytes.replaceSubrange((bytes.count - Self.signatureBytes)..., with: signature)
  }

  /// Creates and signs a record of an open board, with an incarnation in the given range; a smaller range needs more
  /// attempts.
  package static func make(
    board: BoardID,
    role: Role,
    key: some AuthorKey,
    in range: ClosedRange<UInt64>,
    using random: inout some RandomNumberGenerator
  ) -> AuthorRecord {
    precondition(!board.isOwned, "on an owned board, only a grant gives a role")
    while true {
      let nonce = (0..<nonceBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
      // The incarnation does not depend on the signature.
      let body = board.bytes + nonce + key.publicKey + [role.rawValue, 0]
      guard range.contains(number(of: body[...])),
        let record = AuthorRecord(board: board, nonce: nonce, role: role, key: key)
      else { continue }
      return record
    }
  }

  /// Returns the number of the incarnation that is computed from the body of a record (AUT-2).
  private static func number(of body: ArraySlice<UInt8>) -> UInt64 {
    let hash = Bytes32.sha256(incarnationDomain + body).bytes
    return hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Decodes a record; throws if the bytes are malformed.
  ///
  /// ``verify(board:with:)`` checks its content.
  package init(_ bytes: [UInt8]) throws(CodecError) {
    guard bytes.count <= Self.byteLimit else { throw .overLimit("record") }
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard let board = BoardID(bytes: try reader.take(BoardID.byteCount)) else { throw .truncated }
    guard version == Self.version(on: board) else { throw .reserved("record version") }
    nonce = try reader.take(Self.nonceBytes)
    key = try reader.take(Self.keyBytes)
    guard let role = Role(rawValue: try reader.byte()) else { throw .reserved("role") }
    (granter, grant) = try Self.granted(role, to: key, on: board, &reader)
    certificates = grant?.certificates.map { HeldCertificate($0) } ?? []
    let body = bytes[1..<(bytes.count - reader.remaining)]
    signature = try reader.take(Self.signatureBytes)
    granterSignature = granter == nil ? nil : try reader.take(Self.signatureBytes)
    try reader.finish()
    guard let incarnation = Incarnation(exactly: Self.number(of: body)) else { throw .reserved("incarnation") }
    self.board = board
    self.role = role
    self.incarnation = incarnation
    self.bytes = bytes
    member = MemberID(publicKey: key)
  }

  private static func granted(_ role: Role, to key: [UInt8], on board: BoardID, _ reader: inout ByteReader)
    throws(CodecError) -> (granter: [UInt8]?, grant: Grant?)
  {
    if board.isOwned { return (nil, role.mayWrite ? try Grant(for: key, &reader) : nil) }
    switch try reader.byte() {
    case 0: return (nil, nil)
    case 1: return (try reader.take(keyBytes), nil)
    default: throw .reserved("granted")
    }
  }

  /// Throws an error if the record is for another board, or if a signature in it is not valid.
  package func verify(board: BoardID, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard self.board == board else { throw .wrongBoard }
    guard verifier.isKey(key), granter.map(verifier.isKey) ?? true else { throw .wrongKey }
    if let grant {
      try grant.verify(board: board, with: verifier)
      guard let rights = grant.rights(of: key), rights.allow(role) else { throw .notGranted }
    }
    let signed = bytes.prefix(bytes.count - Self.signatureBytes * (granterSignature == nil ? 1 : 2))
    guard verifier.isValid(signature, of: Self.domain + signed, by: key) else { throw .wrongSignature }
    if let granter, let granterSignature {
      let granted = Self.grantDomain + board.bytes + nonce + key + [role.rawValue]
      guard verifier.isValid(granterSignature, of: granted, by: granter) else { throw .wrongSignature }
    }
  }
}
