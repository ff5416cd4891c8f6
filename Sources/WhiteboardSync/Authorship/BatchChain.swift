import Crypto
import PeerCore
import Whiteboard

/// The head of the hash chain of one incarnation's batches.
///
/// The next batch extends the chain.
///
/// Each hash covers the previous one. A signature of the last hash therefore covers every batch. Implements AUT-6.
public struct BatchChain: Hashable, Sendable {
  private static let domain = Array("whiteboard-chain-1\n".utf8)

  /// The incarnation that wrote the batches.
  public let incarnation: Incarnation
  /// The sequence number of the last operation; 0 if the chain is empty.
  public private(set) var sequence: UInt64
  /// The hash after the last operation.
  ///
  /// The next hash covers it.
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

  /// Creates a chain that continues from a head stated by its author.
  package init(_ incarnation: Incarnation, sequence: UInt64, hash: Bytes32) {
    self.incarnation = incarnation
    self.sequence = sequence
    hashed = hash.bytes
  }

  /// Adds the next batch, given in its full form.
  ///
  /// `sequence` is the sequence number of its last operation.
  /// - Complexity: One SHA-256 of the batch.
  public mutating func append(_ batch: [UInt8], through last: UInt64) {
    var next = SHA256()
    // One call of `update` is faster than two. The buffer has room for both parts, and no pointer escapes the closure.
    withUnsafeTemporaryAllocation(byteCount: hashed.count + batch.count, alignment: 1) { bytes in
      hashed.withUnsafeBytes { bytes.copyMemory(from: $0) }
      batch.withUnsafeBytes { UnsafeMutableRawBufferPointer(rebasing: bytes[hashed.count...]).copyMemory(from: $0) }
      next.update(bufferPointer: UnsafeRawBufferPointer(bytes))
    }
    next.finalize().withUnsafeBytes { digest in hashed.withUnsafeMutableBytes { $0.copyMemory(from: digest) } }
    sequence = last
  }
}
