import Crypto
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
  static let keyBytes = 65
  static let signatureBytes = 64
  static let nonceBytes = 16
  package static let byteLimit = 512

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
  /// The key of the member that granted the role on an open board; nil if no member granted the role.
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

  /// The nonce has 16 unpredictable bytes. If the incarnation would be 0, returns nil, and another nonce is needed.
  init?(board: BoardID, nonce: [UInt8], role: Role, grant: Grant? = nil, key: some AuthorKey) {
    var signer = Signer(key)
    guard let record = Self.make(board: board, nonce: nonce, role: role, grant: grant, &signer) else { return nil }
    self = record.value
  }

  /// Signs the record or requests the signature. Returns nil if the incarnation would be 0.
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

  /// Creates and signs a record of an open board, with an incarnation in `range`; a smaller range needs more attempts.
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

  private static func number(of body: ArraySlice<UInt8>) -> UInt64 {
    let hash = Bytes32.sha256(incarnationDomain + body).bytes
    return hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// ``verify(board:with:)`` checks the content.
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

/// A key that signs for an author.
public protocol AuthorKey: Sendable {
  /// The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  var publicKey: [UInt8] { get }

  /// Signs with ECDSA and SHA-256.
  /// - Returns: *r* and *s*, 32 bytes each.
  func signature(of bytes: [UInt8]) -> [UInt8]
}

/// A verifier of keys and signatures.
///
/// Simulations use a faster algorithm than P-256.
public protocol SignatureVerifier {
  /// Returns whether these 65 bytes are a valid public key.
  func isKey(_ bytes: [UInt8]) -> Bool

  /// Returns whether the owner of `key` signed `bytes`.
  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool
}

/// Functions instead of `any SignatureVerifier`, because Embedded Swift has no existential types.
package struct LocalVerifier {
  let isKey: ([UInt8]) -> Bool
  /// The arguments are the signature, the signed bytes and the key.
  let isValid: ([UInt8], [UInt8], [UInt8]) -> Bool

  package init(_ verifier: some SignatureVerifier) {
    isKey = { verifier.isKey($0) }
    isValid = { verifier.isValid($0, of: $1, by: $2) }
  }
}

extension Bytes32 {
  package static func sha256(_ bytes: [UInt8]) -> Bytes32 {
    guard let hash = SHA256.hash(data: bytes).withUnsafeBytes({ Bytes32($0) }) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    return hash
  }
}

extension MemberID {
  /// The prefix of a P-256 key in its DER `SubjectPublicKeyInfo`.
  private static let keyPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// The key is uncompressed, as in SEC 1 (AUT-3).
  package init(publicKey: [UInt8]) { self.init(Bytes32.sha256(Self.keyPrefix + publicKey)) }
}

/// The head of a chain, signed by its author, which proves the author of all batches up to this head (AUT-7).
package struct SignedHead: Hashable, Sendable {
  private static let domain = Array("whiteboard-head-1\n".utf8)

  /// The sequence number of the last operation; 0 if the chain is empty.
  package let sequence: UInt64
  package let hash: Bytes32
  package let signature: [UInt8]

  package init(sequence: UInt64, hash: Bytes32, signature: [UInt8]) {
    self.sequence = sequence
    self.hash = hash
    self.signature = signature
  }

  package init(_ reader: inout ByteReader) throws(CodecError) {
    sequence = try reader.varint(upTo: BoardLimits.sequence, "sequence")
    guard let hash = Bytes32(try reader.take(32)) else { throw .truncated }
    self.hash = hash
    signature = try reader.take(AuthorRecord.signatureBytes)
  }

  package func write(to writer: inout ByteWriter) {
    writer.varint(sequence)
    writer.raw(hash.bytes)
    writer.raw(signature)
  }

  var byteCount: Int {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes.count
  }

  static func text(of chain: BatchChain, on board: BoardID) -> [UInt8] {
    var text = ByteWriter()
    text.raw(domain)
    text.raw(board.bytes)
    text.incarnation(chain.incarnation)
    text.fixed64(chain.sequence)
    text.raw(chain.hash.bytes)
    return text.bytes
  }

  func verify(by record: AuthorRecord, with verifier: some SignatureVerifier) throws(ReplicaError) {
    let chain = BatchChain(record.incarnation, sequence: sequence, hash: hash)
    guard verifier.isValid(signature, of: Self.text(of: chain, on: record.board), by: record.key) else {
      throw .wrongSignature
    }
  }
}
