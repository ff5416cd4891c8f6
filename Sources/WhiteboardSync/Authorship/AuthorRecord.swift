import Whiteboard

/// The role of a member on a board, fixed for one incarnation (AUT-4).
public enum Role: UInt8, Hashable, Sendable {
  /// Writes, asks and answers.
  case editor = 1
  /// Looks on: what it writes counts nowhere, and it vouches for nothing.
  case viewer = 2
  /// Writes, asks and answers; is always there.
  case relay = 3

  /// Whether operations under this role count.
  public var mayWrite: Bool { self != .viewer }
}

/// Whose an incarnation is and what it may do, signed by its author; implements AUT-1 to AUT-3 and AUT-12.
public struct AuthorRecord: Hashable, Sendable {
  /// Bytes of a public key.
  static let keyBytes = 65
  /// Bytes of a signature.
  static let signatureBytes = 64
  /// Bytes of the nonce.
  static let nonceBytes = 16
  /// The most bytes of a record.
  package static let byteLimit = 512

  /// The version on boards that are open, and on owned ones.
  private static func version(on board: BoardID) -> UInt8 { board.isOwned ? 2 : 1 }
  private static let domain = Array("whiteboard-record-1\n".utf8)
  private static let grantDomain = Array("whiteboard-grant-1\n".utf8)
  private static let incarnationDomain = Array("whiteboard-incarnation-1\n".utf8)

  /// The board it is for.
  public let board: BoardID
  /// The author's public key.
  public let key: [UInt8]
  /// The role of the incarnation.
  public let role: Role
  /// The key of who granted the role on an open board, where somebody did.
  public let granter: [UInt8]?
  /// The grant of the role on an owned board; a viewer needs none.
  public let grant: Grant?
  /// The certificates of that.
  let certificates: [HeldCertificate]
  /// The incarnation that it makes (AUT-2).
  public let incarnation: Incarnation
  /// Whose it is (AUT-3).
  public let member: MemberID
  /// The record as it travels.
  public let bytes: [UInt8]

  private let nonce: [UInt8]
  /// The signature of the author.
  package let signature: [UInt8]
  private let granterSignature: [UInt8]?

  /// Makes and signs a record; nil if the incarnation would be 0, and another nonce is needed.
  ///
  /// - Parameters:
  ///   - board: the board it is for.
  ///   - nonce: 16 bytes that nobody can foretell.
  ///   - role: what the incarnation may do.
  ///   - grant: where that comes from, on an owned board; none for a viewer.
  ///   - key: the author's.
  init?(board: BoardID, nonce: [UInt8], role: Role, grant: Grant? = nil, key: any AuthorKey) {
    var body = board.bytes + nonce + key.publicKey + [role.rawValue]
    if board.isOwned {
      precondition(grant != nil || !role.mayWrite, "who writes on an owned board was granted it")
      if let grant, role.mayWrite { body += grant.bytes }
    } else {
      body.append(0)
    }
    let version = Self.version(on: board)
    let signature = key.signature(of: Self.domain + [version] + body)
    precondition(
      key.publicKey.count == Self.keyBytes && signature.count == Self.signatureBytes,
      "a key has 65 bytes and a signature 64"
    )
    // Its own form, read back: a record that we could not read would be a broken invariant.
    guard let record = try? AuthorRecord([version] + body + signature) else { return nil }
    self = record
  }

  /// Makes and signs a record of an open board whose incarnation is one of some.
  ///
  /// - Parameters:
  ///   - board: The board it is for.
  ///   - role: What the incarnation may do.
  ///   - key: The author's.
  ///   - range: The incarnations; so many of all that there are, so many tries it takes.
  ///   - random: Where nonces come from.
  /// - Returns: The record.
  package static func make(
    board: BoardID,
    role: Role,
    key: any AuthorKey,
    in range: ClosedRange<UInt64>,
    using random: inout some RandomNumberGenerator
  ) -> AuthorRecord {
    precondition(!board.isOwned, "on an owned board a role is granted")
    while true {
      let nonce = (0..<nonceBytes).map { _ in UInt8.random(in: 0...255, using: &random) }
      // What the signature does not change.
      let body = board.bytes + nonce + key.publicKey + [role.rawValue, 0]
      guard range.contains(number(of: body[...])),
        let record = AuthorRecord(board: board, nonce: nonce, role: role, key: key)
      else { continue }
      return record
    }
  }

  /// The number of the incarnation that the body of a record makes (AUT-2).
  private static func number(of body: ArraySlice<UInt8>) -> UInt64 {
    let hash = Bytes32.sha256(incarnationDomain + body).bytes
    return hash.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Reads a record; what it says is to be checked by ``verify(board:with:)``.
  /// - Throws: `CodecError` for anything but the form.
  package init(_ bytes: [UInt8]) throws(CodecError) {
    guard bytes.count <= Self.byteLimit else { throw .overLimit("record") }
    var reader = ByteReader(bytes)
    let version = try reader.byte()
    guard let board = BoardID(try reader.take(BoardID.byteCount)) else { throw .truncated }
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
    guard let incarnation = Incarnation(exactly: Self.number(of: body)) else {
      throw .reserved("incarnation")
    }
    self.board = board
    self.role = role
    self.incarnation = incarnation
    self.bytes = bytes
    member = MemberID(publicKey: key)
  }

  private static func granted(
    _ role: Role,
    to key: [UInt8],
    on board: BoardID,
    _ reader: inout ByteReader
  ) throws(CodecError) -> (granter: [UInt8]?, grant: Grant?) {
    if board.isOwned { return (nil, role.mayWrite ? try Grant(for: key, &reader) : nil) }
    switch try reader.byte() {
    case 0: return (nil, nil)
    case 1: return (try reader.take(keyBytes), nil)
    default: throw .reserved("granted")
    }
  }

  /// Throws where the record is another board's, or was not signed by whom it names.
  package func verify(
    board: BoardID,
    with verifier: any SignatureVerifier
  ) throws(ReplicaError) {
    guard self.board == board else { throw .wrongBoard }
    guard verifier.isKey(key), granter.map(verifier.isKey) ?? true else { throw .wrongKey }
    if let grant {
      try grant.verify(board: board, with: verifier)
      guard let rights = grant.rights(of: key), rights.allow(role) else { throw .notGranted }
    }
    let signed = bytes.prefix(
      bytes.count - Self.signatureBytes * (granterSignature == nil ? 1 : 2)
    )
    guard verifier.isValid(signature, of: Self.domain + signed, by: key) else {
      throw .wrongSignature
    }
    if let granter, let granterSignature {
      let granted = Self.grantDomain + board.bytes + nonce + key + [role.rawValue]
      guard verifier.isValid(granterSignature, of: granted, by: granter) else {
        throw .wrongSignature
      }
    }
  }
}
