import Whiteboard

/// Where the chain of one incarnation's batches stands: what its next batch follows on.
///
/// Each hash takes in the one before, so that who signs the last of them has signed every batch;
/// implements AUT-6.
package struct BatchChain: Hashable, Sendable {
  private static let domain = Array("whiteboard-chain-1\n".utf8)

  /// Whose chain it is.
  package let incarnation: Incarnation
  /// The sequence of the last operation, or 0.
  package private(set) var sequence: UInt64
  /// The hash after it.
  package private(set) var hash: Bytes32

  /// The chain of an incarnation that wrote nothing yet.
  package init(_ incarnation: Incarnation) {
    self.incarnation = incarnation
    sequence = 0
    var start = ByteWriter()
    start.raw(Self.domain)
    start.incarnation(incarnation)
    hash = .sha256(start.bytes)
  }

  /// A chain as its author says it stands.
  package init(_ incarnation: Incarnation, sequence: UInt64, hash: Bytes32) {
    self.incarnation = incarnation
    self.sequence = sequence
    self.hash = hash
  }

  /// Takes in the next batch, in its full form, whose last operation has that sequence.
  package mutating func append(_ batch: [UInt8], through last: UInt64) {
    hash = .sha256(hash.bytes + batch)
    sequence = last
  }
}
