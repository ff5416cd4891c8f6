import Crypto
import PeerCore
import Whiteboard

/// A verifier of ECDSA signatures on P-256 with SHA-256, as AUT-1 requires.
public struct P256SignatureVerifier: SignatureVerifier {
  /// Creates a verifier.
  public init() {}

  /// Returns whether the bytes are a point on the curve in uncompressed form.
  public func isKey(_ bytes: [UInt8]) -> Bool {
    bytes.count == AuthorRecord.keyBytes && bytes.first == 4
      && (try? P256.Signing.PublicKey(x963Representation: bytes)) != nil
  }

  /// Returns whether the signature is valid.
  public func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    guard let key = try? P256.Signing.PublicKey(x963Representation: key),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
    else { return false }
    return key.isValidSignature(signature, for: bytes)
  }
}

extension Replica {
  /// Creates a replica of an empty board without other members, with a new incarnation of `author`.
  ///
  /// An author belongs to one replica. Use ``restore(_:now:isWhole:)`` to load a stored board.
  ///
  /// - Parameters:
  ///   - author: The local author.
  ///   - now: The time.
  ///   - verifier: Verifies signatures immediately; nil if the owner verifies them (see ``ReplicaAction/verify(_:)``).
  public convenience init(author: Author, now: Moment, verifier: (any SignatureVerifier)? = P256SignatureVerifier()) {
    self.init(author: author, now: now, localVerifier: verifier.map { LocalVerifier($0) })
  }
}
