import Crypto
import WhiteboardSync

/// A real P-256 key; the same number gives the same key.
package struct RealKey: AuthorKey {
  static var verifier: P256SignatureVerifier { P256SignatureVerifier() }

  private let key: P256.Signing.PrivateKey

  /// Creates a key; the same number gives the same key.
  package init(_ number: UInt8) {
    let bytes = [UInt8](repeating: number &+ 1, count: 32)
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
      preconditionFailure("a small number is a private key")
    }
    self.key = key
  }

  /// The public key, 65 bytes.
  package var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  /// Returns a signature of 64 bytes.
  package func signature(of bytes: [UInt8]) -> [UInt8] {
    guard let signature = try? key.signature(for: bytes) else { preconditionFailure("a P-256 key can sign any bytes") }
    return Array(signature.rawRepresentation)
  }
}
