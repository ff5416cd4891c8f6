import PeerSession
import WhiteboardSync

/// The key of this peer's identity, as the board signs with it.
struct IdentityKey: AuthorKey {
  let identity: PeerIdentity

  /// The public key, uncompressed.
  var publicKey: [UInt8] { identity.publicKeyX963 }

  /// *r* and *s* of the signature.
  func signature(of bytes: [UInt8]) -> [UInt8] { identity.rawSignature(of: bytes) }
}
