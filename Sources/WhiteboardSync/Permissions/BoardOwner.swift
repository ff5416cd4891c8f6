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

  /// Returns the bytes of the id that names a host with the given salt of four bytes.
  static func bytes(naming host: MemberID, salt: [UInt8]) -> [UInt8] {
    let hash = Bytes32.sha256(Array("whiteboard-p2p host 1\0".utf8) + salt + host.bytes).bytes
    return salt + hash.prefix(10) + [0x68, 0x6F]
  }
}
