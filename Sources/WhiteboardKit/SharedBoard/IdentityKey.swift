import PeerSession
import WhiteboardSync

/// The key with which the local peer signs changes of a board.
package struct IdentityKey: AuthorKey {
  let identity: PeerIdentity

  /// Creates the signing key of an identity.
  package init(identity: PeerIdentity) { self.identity = identity }

  /// The public key in uncompressed X9.63 form.
  package var publicKey: [UInt8] { identity.publicKeyX963 }

  /// Signs bytes; returns *r* and *s* of the signature.
  package func signature(of bytes: [UInt8]) -> [UInt8] { identity.rawSignature(of: bytes) }
}
