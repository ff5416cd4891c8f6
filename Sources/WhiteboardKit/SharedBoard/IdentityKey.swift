import PeerSession
import WhiteboardSync

/// The key of this peer's identity, as the board signs with it.
package struct IdentityKey: AuthorKey {
  let identity: PeerIdentity

  /// The key of an identity.
  package init(identity: PeerIdentity) { self.identity = identity }

  /// The public key, uncompressed.
  package var publicKey: [UInt8] { identity.publicKeyX963 }

  /// *r* and *s* of the signature.
  package func signature(of bytes: [UInt8]) -> [UInt8] { identity.rawSignature(of: bytes) }
}
