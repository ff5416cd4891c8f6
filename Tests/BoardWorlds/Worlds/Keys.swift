import Crypto
import Whiteboard
import WhiteboardSync

/// A key of a simulated world: signs by hashing, thousands of times as fast as P-256.
///
/// Whoever knows the public key can sign; simulated members do so only where a test says so.
package struct SimulatedKey: AuthorKey {
  /// 65 bytes.
  package let publicKey: [UInt8]

  /// The same key for the same number.
  package init(_ number: UInt64) { publicKey = [4] + Self.stretch(number &+ 0x9E37) }

  /// 64 bytes.
  package func signature(of bytes: [UInt8]) -> [UInt8] { Self.signature(of: bytes, by: publicKey) }

  /// What the owner of a public key signs.
  package static func signature(of bytes: [UInt8], by key: [UInt8]) -> [UInt8] {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in key { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    return stretch(hash)
  }

  private static func stretch(_ number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    for index in UInt64(0)..<8 {
      let word = BucketHash.mix(number ^ BucketHash.mix(index))
      for shift in UInt64(0)..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> (8 * shift))) }
    }
    return bytes
  }
}

/// Checks what a `SimulatedKey` signed.
package struct SimulatedVerifier: SignatureVerifier {
  /// The one verifier there is.
  package init() {}

  /// Whether it has the length and the first byte of a key.
  package func isKey(_ bytes: [UInt8]) -> Bool { bytes.count == 65 && bytes[0] == 4 }

  /// Whether the signature holds.
  package func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    signature == SimulatedKey.signature(of: bytes, by: key)
  }
}

/// A real key, the same for the same number.
package struct RealKey: AuthorKey {
  private let key: P256.Signing.PrivateKey

  /// The same key for the same number.
  package init(_ number: UInt8) {
    let bytes = [UInt8](repeating: number &+ 1, count: 32)
    guard let key = try? P256.Signing.PrivateKey(rawRepresentation: bytes) else {
      preconditionFailure("a small number is a private key")
    }
    self.key = key
  }

  /// 65 bytes.
  package var publicKey: [UInt8] { Array(key.publicKey.x963Representation) }

  /// 64 bytes.
  package func signature(of bytes: [UInt8]) -> [UInt8] {
    guard let signature = try? key.signature(for: bytes) else {
      preconditionFailure("a P-256 key signs any bytes")
    }
    return Array(signature.rawRepresentation)
  }
}
