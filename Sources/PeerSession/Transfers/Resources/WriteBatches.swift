import Crypto
import NIOCore
import PeerWire

/// Gathers the received bytes of a resource into batches for the disk.
///
/// The owner writes one batch at a time. It stores the batch's hash before it takes the next batch. At most two batches
/// are therefore in memory: one that is being written and one that is being gathered.
struct WriteBatches {
  struct Batch: Sendable {
    var pieces: [ByteBuffer]
    /// The position of the batch's first byte in the file.
    var offset: Int
    /// The hash of all bytes before the batch.
    var hash: SHA256
  }

  /// The size of a full batch in bytes.
  static let batchSize = 8 * Limits.framePayload

  /// The hash of the bytes that were written.
  var hash: SHA256
  /// The number of bytes that are in the file or being written to it.
  private(set) var submittedBytes: Int
  private var pending: [ByteBuffer] = []
  private var pendingBytes = 0

  /// Starts at the given position of the file.
  init(at offset: Int = 0, after hash: SHA256 = SHA256()) {
    submittedBytes = offset
    self.hash = hash
  }

  /// Whether the gathered bytes fill a batch.
  var isBatchFull: Bool { pendingBytes >= Self.batchSize }

  /// A batch without bytes at the current position; writing it only returns the hash.
  var emptyBatch: Batch { Batch(pieces: [], offset: submittedBytes, hash: hash) }

  mutating func append(_ pieces: [ByteBuffer], byteCount: Int) {
    pending += pieces
    pendingBytes += byteCount
  }

  /// Removes and returns the gathered bytes; `nil` if there are none.
  mutating func nextBatch() -> Batch? {
    guard !pending.isEmpty else { return nil }
    defer {
      submittedBytes += pendingBytes
      pending = []
      pendingBytes = 0
    }
    return Batch(pieces: pending, offset: submittedBytes, hash: hash)
  }
}
