import PeerSession
import WhiteboardDocument
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

extension PeerIdentity {
  /// Loads the identity from a data directory of boards; creates the directory and the identity if they are missing.
  ///
  /// If board files are in the directory before it has an identity, they come from elsewhere. Therefore, this function
  /// first creates the secret that marks the program's own files; see ``loadOrCreate(inDirectory:)`` for the rest.
  ///
  /// - Throws: `IdentityError` if the existing file cannot be used or trusted.
  public static func loadOrCreate(forBoardsIn directory: String) throws(IdentityError) -> PeerIdentity {
    _ = DocumentSeal.loadOrCreate(inDirectory: directory)
    return try loadOrCreate(inDirectory: directory)
  }
}
