import Crypto
import PeerCore
import Whiteboard

/// A key that signs for an author.
public protocol AuthorKey {
  /// The public key: P-256, uncompressed as in SEC 1, 65 bytes.
  var publicKey: [UInt8] { get }

  /// Signs with ECDSA and SHA-256.
  /// - Returns: *r* and *s*, 32 bytes each.
  func signature(of bytes: [UInt8]) -> [UInt8]
}

/// A verifier of keys and signatures.
///
/// Simulations use a faster algorithm than P-256.
public protocol SignatureVerifier {
  /// Returns whether these 65 bytes are a valid public key.
  func isKey(_ bytes: [UInt8]) -> Bool

  /// Returns whether the owner of `key` signed `bytes`.
  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool
}

/// Functions instead of `any SignatureVerifier`, because Embedded Swift has no existential types.
package struct LocalVerifier {
  let isKey: ([UInt8]) -> Bool
  /// Takes a signature, the signed bytes and the key.
  let isValid: ([UInt8], [UInt8], [UInt8]) -> Bool

  package init(_ verifier: some SignatureVerifier) {
    isKey = { verifier.isKey($0) }
    isValid = { verifier.isValid($0, of: $1, by: $2) }
  }
}

extension Bytes32 {
  package static func sha256(_ bytes: [UInt8]) -> Bytes32 {
    guard let hash = SHA256.hash(data: bytes).withUnsafeBytes({ Bytes32($0) }) else {
      preconditionFailure("a SHA-256 hash has 32 bytes")
    }
    return hash
  }
}

extension MemberID {
  /// The prefix of a P-256 key in its DER `SubjectPublicKeyInfo`.
  private static let keyPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Creates the member id of a public key (AUT-3).
  ///
  /// The key is uncompressed, as in SEC 1.
  package init(publicKey: [UInt8]) { self.init(Bytes32.sha256(Self.keyPrefix + publicKey)) }
}
