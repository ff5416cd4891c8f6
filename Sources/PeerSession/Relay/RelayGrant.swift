import Crypto
import PeerCore
import PeerWire

/// The host's signed statement that a peer is a relay of its session (11.1).
///
/// A relay saves it with the session, so that it can continue after a restart.
public struct RelayGrant: Equatable, Sendable {
  /// The maximum number of bytes of a key: a P-256 SubjectPublicKeyInfo has 91.
  private static let maximumKey = 128
  /// The maximum number of bytes of a signature: a DER signature on P-256 has at most 72.
  private static let maximumSignature = 80

  /// The host's DER SubjectPublicKeyInfo.
  public let key: [UInt8]
  /// The ECDSA signature on P-256 with SHA-256, in DER.
  public let signature: [UInt8]

  /// Creates a grant from stored values; ``isValid(session:host:relay:)`` checks it.
  public init(key: [UInt8], signature: [UInt8]) {
    self.key = key
    self.signature = signature
  }

  static func make(by identity: PeerIdentity, session: SessionID, relay: PeerID) -> RelayGrant {
    RelayGrant(key: identity.publicKeyDER, signature: identity.sign(signedBytes(session: session, relay: relay)))
  }

  /// Returns whether the host of the session signed this grant for the given relay (RLY-1).
  public func isValid(session: SessionID, host: PeerID, relay: PeerID) -> Bool {
    guard PeerID(spki: key) == host, let publicKey = try? P256.Signing.PublicKey(derRepresentation: key),
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
    else { return false }
    return publicKey.isValidSignature(signature, for: Self.signedBytes(session: session, relay: relay))
  }

  static func signedBytes(session: SessionID, relay: PeerID) -> [UInt8] {
    Array("whiteboard-p2p relay 1\0".utf8) + session.bytes + relay.bytes
  }
}

extension RelayGrant: ControlPayload {
  static var frameType: FrameType { .relayGrant }

  private enum CodingKeys: String, CodingKey {
    case key
    case signature
  }

  /// Reads the payload of RELAY-GRANT.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    key = try container.base64(.key, maximum: Self.maximumKey)
    signature = try container.base64(.signature, maximum: Self.maximumSignature)
  }

  /// Writes the payload of RELAY-GRANT.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Base64.encode(key), forKey: .key)
    try container.encode(Base64.encode(signature), forKey: .signature)
  }
}
