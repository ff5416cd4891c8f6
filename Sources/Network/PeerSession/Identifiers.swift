import PeerCore

/// The identity of a peer: the SHA-256 of its certificate's DER SubjectPublicKeyInfo (LNK-2).
///
/// Ids are compared bytewise (DUP-1). The text has 52 lower-case base32 characters.
public struct PeerID: Identifier, Comparable {
  /// The 32 bytes.
  public let value: Bytes32

  /// Creates an id from its bytes.
  public init(_ value: Bytes32) { self.value = value }

  /// Whether the bytes of `left` come first in lexicographic order.
  public static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

/// The 16-byte identity of a session; for a whiteboard, the board's id.
///
/// The text has 26 lower-case base32 characters.
public struct SessionID: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}

/// The identity of a resource transfer or a stream: 16 bytes chosen by the sender.
///
/// The text has 26 lower-case base32 characters.
public struct TransferID: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates an id from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}

/// A 16-byte secret in the join link of a host that asks its user about newcomers (HEL-9).
///
/// An invitation that contains the pass can use a reserved slot in the host's queue. The pass does not admit its
/// holder. The text has 26 lower-case base32 characters.
public struct InvitationPass: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates a pass from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}

/// A 16-byte secret in a browser link (WEB-5).
///
/// The text has 26 lower-case base32 characters.
public struct GuestSecret: Identifier {
  /// The 16 bytes.
  public let value: Bytes16

  /// Creates a secret from its bytes.
  public init(_ value: Bytes16) { self.value = value }
}

/// One process of a peer in one session: a restarted process is a new incarnation.
///
/// The text has 13 lower-case base32 characters, for the 8 bytes of the number, most significant first.
public struct SessionIncarnation: Identifier {
  /// The number.
  public let value: Bytes8

  /// Creates an incarnation from its bytes.
  public init(_ value: Bytes8) { self.value = value }

  /// The placeholder for a peer whose process no member has reported.
  static let unknown = SessionIncarnation(0)

  /// Creates an incarnation from a number.
  public init(_ number: UInt64) { value = Bytes8(number) }
}

extension Identifier where Self: Codable {
  /// Reads the text.
  ///
  /// - Throws: `DecodingError.dataCorrupted` if the value is not the text of an identifier.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let value = Self(text: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container,
        debugDescription: "not \(Self.textLength) base32 characters"
      )
    }
    self = value
  }

  /// Writes the text.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension PeerID: Codable {}
extension SessionID: Codable {}
extension TransferID: Codable {}
extension InvitationPass: Codable {}
extension GuestSecret: Codable {}
extension SessionIncarnation: Codable {}
