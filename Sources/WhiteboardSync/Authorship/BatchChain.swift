import Crypto
import Whiteboard

/// The head of the chain of one incarnation's batches, which its next batch extends.
///
/// Each hash covers the one before. A signature of the last hash therefore covers every batch;
/// implements AUT-6.
public struct BatchChain: Hashable, Sendable {
  private static let domain = Array("whiteboard-chain-1\n".utf8)

  /// The incarnation that wrote the batches.
  public let incarnation: Incarnation
  /// The sequence of the last operation; 0 if there is none.
  public private(set) var sequence: UInt64
  /// The hash after the last operation, which the next hash covers.
  private var hashed: [UInt8]

  /// The hash after the last operation.
  public var hash: Bytes32 {
    guard let hash = Bytes32(hashed) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
    return hash
  }

  /// Creates the empty chain of an incarnation.
  public init(_ incarnation: Incarnation) {
    self.incarnation = incarnation
    sequence = 0
    var start = ByteWriter()
    start.raw(Self.domain)
    start.incarnation(incarnation)
    hashed = Bytes32.sha256(start.bytes).bytes
  }

  /// Creates a chain with the head that its author states.
  package init(_ incarnation: Incarnation, sequence: UInt64, hash: Bytes32) {
    self.incarnation = incarnation
    self.sequence = sequence
    hashed = hash.bytes
  }

  /// Adds the next batch, in its full form, whose last operation has that sequence.
  /// - Complexity: One SHA-256 of the batch.
  public mutating func append(_ batch: [UInt8], through last: UInt64) {
    var next = SHA256()
    // One update costs less than two. The buffer has room for both parts, and no pointer leaves its
    // closure.
    withUnsafeTemporaryAllocation(byteCount: hashed.count + batch.count, alignment: 1) { bytes in
      hashed.withUnsafeBytes { bytes.copyMemory(from: $0) }
      batch.withUnsafeBytes {
        UnsafeMutableRawBufferPointer(rebasing: bytes[hashed.count...]).copyMemory(from: $0)
      }
      next.update(bufferPointer: UnsafeRawBufferPointer(bytes))
    }
    next.finalize().withUnsafeBytes { digest in
      hashed.withUnsafeMutableBytes { $0.copyMemory(from: digest) }
    }
    sequence = last
  }
}
