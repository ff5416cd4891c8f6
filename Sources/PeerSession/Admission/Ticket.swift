import Crypto
import FoundationEssentials

/// Why a ticket does not admit; each says how the link closes (TCK-2).
enum TicketError: Error, Equatable, Sendable {
  /// It does not verify: `protocol-error`.
  case invalid
  /// It verifies, but its signer is not, or not yet, a member here: `unknown-admitter`.
  case unknownAdmitter
}

/// A member's signed word that a peer is in the session (5.2).
struct Ticket: Equatable, Sendable {
  /// Bytes of the key: a P-256 SubjectPublicKeyInfo has 91.
  private static let maximumKey = 128
  /// Bytes of the signature: a DER signature on P-256 has at most 72.
  private static let maximumSignature = 80

  /// Who signed.
  var admitter: PeerID
  /// Its DER SubjectPublicKeyInfo.
  var key: [UInt8]
  /// ECDSA on P-256 with SHA-256, in DER.
  var signature: [UInt8]

  /// Signs that `member` is in `session`.
  static func make(by identity: PeerIdentity, session: SessionID, member: PeerID) -> Ticket {
    let admitter = identity.peerID
    return Ticket(
      admitter: admitter,
      key: identity.publicKeyDER,
      signature: identity.sign(signedBytes(session: session, admitter: admitter, member: member))
    )
  }

  /// Checks that a known member vouches for `member` (TCK-1).
  ///
  /// `member` is the dialler of the link; `isKnownAdmitter` tells whether a peer is the host,
  /// ourselves, or a member we know or have known in this session, and was not kicked.
  ///
  /// - Throws: ``TicketError``.
  func verify(
    session: SessionID,
    member: PeerID,
    isKnownAdmitter: (PeerID) -> Bool
  ) throws(TicketError) {
    let signed = Self.signedBytes(session: session, admitter: admitter, member: member)
    guard PeerID(spki: key) == admitter,
      let publicKey = try? P256.Signing.PublicKey(derRepresentation: key),
      let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature),
      publicKey.isValidSignature(signature, for: signed)
    else { throw .invalid }
    guard isKnownAdmitter(admitter) else { throw .unknownAdmitter }
  }

  static func signedBytes(session: SessionID, admitter: PeerID, member: PeerID) -> [UInt8] {
    Array("whiteboard-p2p ticket 1\0".utf8) + session.bytes + admitter.bytes + member.bytes
  }
}

extension Ticket: Codable {
  private enum CodingKeys: String, CodingKey {
    case admitter
    case key
    case signature
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    admitter = try container.decode(PeerID.self, forKey: .admitter)
    key = try container.base64(.key, maximum: Self.maximumKey)
    signature = try container.base64(.signature, maximum: Self.maximumSignature)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(admitter, forKey: .admitter)
    try container.encode(Base64.encode(key), forKey: .key)
    try container.encode(Base64.encode(signature), forKey: .signature)
  }
}
