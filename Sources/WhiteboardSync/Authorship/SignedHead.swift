import PeerCore
import Whiteboard

/// The head of a chain, signed by its author.
///
/// It proves the author of all batches up to this head (AUT-7).
package struct SignedHead: Hashable, Sendable {
  private static let domain = Array("whiteboard-head-1\n".utf8)

  /// The sequence number of the last operation; 0 if the chain is empty.
  package let sequence: UInt64
  /// The chain hash after the last operation.
  package let hash: Bytes32
  package let signature: [UInt8]

  package init(sequence: UInt64, hash: Bytes32, signature: [UInt8]) {
    self.sequence = sequence
    self.hash = hash
    self.signature = signature
  }

  package init(_ reader: inout ByteReader) throws(CodecError) {
    sequence = try reader.varint(upTo: BoardLimits.sequence, "sequence")
    guard let hash = Bytes32(try reader.take(32)) else { throw .truncated }
    self.hash = hash
    signature = try reader.take(AuthorRecord.signatureBytes)
  }

  package func write(to writer: inout ByteWriter) {
    writer.varint(sequence)
    writer.raw(hash.bytes)
    writer.raw(signature)
  }

  /// The number of bytes that ``write(to:)`` writes.
  var byteCount: Int {
    var writer = ByteWriter()
    write(to: &writer)
    return writer.bytes.count
  }

  /// Returns the bytes that the signature of a chain head covers.
  static func text(of chain: BatchChain, on board: BoardID) -> [UInt8] {
    var text = ByteWriter()
    text.raw(domain)
    text.raw(board.bytes)
    text.incarnation(chain.incarnation)
    text.fixed64(chain.sequence)
    text.raw(chain.hash.bytes)
    return text.bytes
  }

  /// Throws an error if the author of a record did not sign this head.
  func verify(by record: AuthorRecord, with verifier: some SignatureVerifier) throws(ReplicaError) {
    let chain = BatchChain(record.incarnation, sequence: sequence, hash: hash)
    guard verifier.isValid(signature, of: Self.text(of: chain, on: record.board), by: record.key) else {
      throw .wrongSignature
    }
  }
}
