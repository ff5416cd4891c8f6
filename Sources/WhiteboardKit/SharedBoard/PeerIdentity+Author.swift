import PeerSession
import WhiteboardSync

/// The key of a peer also signs the changes that the peer makes on boards (AUT-3).
extension PeerIdentity: AuthorKey {
  /// The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  public var publicKey: [UInt8] { publicKeyX963 }

  /// Signs with ECDSA and SHA-256.
  ///
  /// - Returns: *r* and *s* of the signature, 32 bytes each.
  public func signature(of bytes: [UInt8]) -> [UInt8] { rawSignature(of: bytes) }
}
