import Whiteboard
import WhiteboardSync

/// A key of a simulated world, which signs by hashing, thousands of times faster than P-256.
///
/// The public key is enough to sign. Simulated members sign for others only if a test requires it.
package struct SimulatedKey: AuthorKey {
  /// The public key, 65 bytes.
  package let publicKey: [UInt8]

  /// Creates a key; the same number gives the same key.
  package init(_ number: UInt64) { publicKey = [4] + Self.stretch(number &+ 0x9E37) }

  /// Returns a signature of 64 bytes.
  package func signature(of bytes: [UInt8]) -> [UInt8] { Self.signature(of: bytes, by: publicKey) }

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

package struct SimulatedVerifier: SignatureVerifier {
  package init() {}

  /// Returns whether bytes have the length and the first byte of a key.
  package func isKey(_ bytes: [UInt8]) -> Bool { bytes.count == 65 && bytes[0] == 4 }

  package func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    signature == SimulatedKey.signature(of: bytes, by: key)
  }
}

/// An enumeration instead of `any AuthorKey`, because Embedded Swift has no existential types.
package enum WorldKey: AuthorKey {
  case simulated(SimulatedKey)
  case real(RealKey)

  /// Creates a key; the same number gives the same key.
  init(_ number: UInt64, isReal: Bool) {
    self = isReal ? .real(RealKey(UInt8(truncatingIfNeeded: number))) : .simulated(SimulatedKey(number))
  }

  package var publicKey: [UInt8] {
    switch self {
    case .simulated(let key): key.publicKey
    case .real(let key): key.publicKey
    }
  }

  package func signature(of bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .simulated(let key): key.signature(of: bytes)
    case .real(let key): key.signature(of: bytes)
    }
  }
}

struct WorldVerifier: SignatureVerifier {
  let isReal: Bool

  func isKey(_ bytes: [UInt8]) -> Bool { isReal ? RealKey.verifier.isKey(bytes) : SimulatedVerifier().isKey(bytes) }

  func isValid(_ signature: [UInt8], of bytes: [UInt8], by key: [UInt8]) -> Bool {
    isReal
      ? RealKey.verifier.isValid(signature, of: bytes, by: key)
      : SimulatedVerifier().isValid(signature, of: bytes, by: key)
  }
}
