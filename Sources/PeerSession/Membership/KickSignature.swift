import Crypto
import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerWire

/// The host's signature on a removal, so that any member can pass the removal on (MEM-11).
struct KickSignature: Equatable, Sendable {
  /// The maximum number of bytes of a key: a P-256 SubjectPublicKeyInfo has 91.
  private static let maximumKey = 128
  /// The maximum number of bytes of a signature: a DER signature on P-256 has at most 72.
  private static let maximumSignature = 80

  /// The DER SubjectPublicKeyInfo of the signer.
  var key: [UInt8]
  /// The ECDSA signature on P-256 with SHA-256, in DER.
  var bytes: [UInt8]

  init(by identity: PeerIdentity, session: SessionID, peer: PeerID, reason: UntrustedText) {
    key = identity.publicKeyDER
    bytes = identity.sign(Self.signedBytes(session: session, signer: identity.peerID, peer: peer, reason: reason))
  }

  func isValid(session: SessionID, host: PeerID, peer: PeerID, reason: UntrustedText) -> Bool {
    let signed = Self.signedBytes(session: session, signer: host, peer: peer, reason: reason)
    guard PeerID(spki: key) == host, let publicKey = try? P256.Signing.PublicKey(derRepresentation: key),
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: bytes)
    else { return false }
    return publicKey.isValidSignature(signature, for: signed)
  }

  static func signedBytes(session: SessionID, signer: PeerID, peer: PeerID, reason: UntrustedText) -> [UInt8] {
    var bytes = Array("whiteboard-p2p kick 1\0".utf8)
    bytes += session.bytes
    bytes += signer.bytes
    bytes += peer.bytes
    bytes += Array(reason.raw.utf8)
    return bytes
  }
}

extension KickSignature: Codable {
  enum CodingKeys: String, CodingKey {
    case key
    case signature
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    key = try container.base64(.key, maximum: Self.maximumKey)
    bytes = try container.base64(.signature, maximum: Self.maximumSignature)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Base64.encode(key), forKey: .key)
    try container.encode(Base64.encode(bytes), forKey: .signature)
  }
}
