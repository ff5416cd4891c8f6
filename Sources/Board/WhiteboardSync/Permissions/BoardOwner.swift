import PeerCore
import Whiteboard

/// The owner of a board.
///
/// The id of the board is computed from the owner's key and the salt, so that every member can verify the owner.
/// Implements AUT-9.
public struct BoardOwner: Hashable, Sendable {
  /// The number of bytes in the salt.
  public static let saltBytes = 8
  /// The first bytes of the ids of owned boards.
  static let prefix: [UInt8] = [0x6F, 0x77]
  private static let domain = Array("whiteboard-owner-1\n".utf8)

  /// The salt, which distinguishes several boards of one owner.
  public let salt: [UInt8]
  /// The owner's public key.
  public let key: [UInt8]

  /// Creates the owner of a board from a salt of eight bytes and the owner's key.
  public init(salt: [UInt8], key: [UInt8]) {
    precondition(
      salt.count == Self.saltBytes && key.count == AuthorRecord.keyBytes,
      "a salt has 8 bytes, and a public key has 65 bytes"
    )
    self.salt = salt
    self.key = key
  }

  /// Returns a random salt.
  public static func randomSalt() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<saltBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  init(_ reader: inout ByteReader) throws(CodecError) {
    salt = try reader.take(Self.saltBytes)
    key = try reader.take(AuthorRecord.keyBytes)
  }

  func write(to writer: inout ByteWriter) {
    writer.raw(salt)
    writer.raw(key)
  }

  /// The id of the board.
  public var board: BoardID {
    let hash = Bytes32.sha256(Self.domain + salt + key).bytes
    guard let board = BoardID(bytes: Self.prefix + hash.prefix(BoardID.byteCount - Self.prefix.count)) else {
      preconditionFailure("a board id has 16 bytes")
    }
    return board
  }

  /// The member id of the owner.
  public var member: MemberID { MemberID(publicKey: key) }
}

extension BoardID {
  /// Whether the board has an owner that decides which members may write (AUT-9).
  ///
  /// On other boards, every member may write.
  public var isOwned: Bool { bytes.starts(with: BoardOwner.prefix) }

  /// Returns whether the id names this member as the host of an open board (MEM-14 of `Protocol/session.md`).
  public func names(_ host: MemberID) -> Bool {
    !isOwned && bytes == Self.bytes(naming: host, salt: Array(bytes.prefix(4)))
  }

  /// The salt has four bytes.
  static func bytes(naming host: MemberID, salt: [UInt8]) -> [UInt8] {
    let hash = Bytes32.sha256(Array("whiteboard-p2p host 1\0".utf8) + salt + host.bytes).bytes
    return salt + hash.prefix(10) + [0x68, 0x6F]
  }
}

/// The chain of certificates from the owner of a board to a member.
///
/// The owner's own grant has no certificates. The first certificate is signed by the owner. A second certificate is
/// signed by the holder of the first certificate. Implements AUT-11.
public struct Grant: Hashable, Sendable {
  static let certificateLimit = 2

  /// The owner of the board.
  public let owner: BoardOwner
  /// The certificates.
  ///
  /// The first certificate is signed by the owner.
  public let certificates: [Certificate]

  /// Creates the grant of the owner itself, which has no certificates.
  public init(owner: BoardOwner) { self.init(owner, []) }

  init(_ owner: BoardOwner, _ certificates: [Certificate]) {
    self.owner = owner
    self.certificates = certificates
  }

  init(for holder: [UInt8], upTo limit: Int = certificateLimit, _ reader: inout ByteReader) throws(CodecError) {
    owner = try BoardOwner(&reader)
    let count = Int(try reader.byte())
    guard count <= limit else { throw .reserved("certificates") }
    var certificates: [Certificate] = []
    for index in 0..<count {
      let key = index == count - 1 ? holder : try reader.take(AuthorRecord.keyBytes)
      certificates.append(try Certificate(for: key, &reader))
    }
    self.certificates = certificates
  }

  /// The grant must fill `bytes`.
  init(for holder: [UInt8], _ bytes: [UInt8]) throws(CodecError) {
    var reader = ByteReader(bytes)
    try self.init(for: holder, &reader)
    try reader.finish()
  }

  func write(to writer: inout ByteWriter) {
    owner.write(to: &writer)
    writer.byte(UInt8(certificates.count))
    for (index, certificate) in certificates.enumerated() {
      if index < certificates.count - 1 { writer.raw(certificate.holder) }
      certificate.write(to: &writer)
    }
  }

  var bytes: [UInt8] {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes
  }

  func rights(of key: [UInt8]) -> Rights? {
    guard let last = certificates.last else { return key == owner.key ? .owner : nil }
    return last.holder == key ? last.rights : nil
  }

  func verify(board: BoardID, with verifier: some SignatureVerifier) throws(ReplicaError) {
    guard verifier.isKey(owner.key), certificates.allSatisfy({ verifier.isKey($0.holder) }) else { throw .wrongKey }
    guard owner.board == board else { throw .notOwner }
    var issuer = (key: owner.key, rights: Rights.owner)
    for (index, certificate) in certificates.enumerated() {
      // Only the owner can give the right to grant. Other issuers can only make members editors.
      guard issuer.rights.mayGrant, index == 0 || certificate.rights == .editor else { throw .notGranted }
      guard certificate.isSigned(by: issuer.key, on: board, verifier) else { throw .wrongSignature }
      issuer = (certificate.holder, certificate.rights)
    }
  }
}

/// The id of a board and of its session: 16 bytes.
///
/// Records, heads and answers are signed together with the id of the board, so they are not valid on another board.
public struct BoardID: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}
