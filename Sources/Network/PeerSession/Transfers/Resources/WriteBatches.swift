import Crypto
import NIOCore
import PeerWire

/// Gathers the received bytes of a resource into batches for the disk. The owner writes one batch at a time, and stores
/// the hash of a batch before it takes the next batch. At most two batches are therefore in memory: the batch being
/// written, and the batch being gathered.
struct WriteBatches {
  struct Batch: Sendable {
    var pieces: [ByteBuffer]
    var offset: Int
    var hash: SHA256
  }

  static let batchSize = 8 * Limits.framePayload
  var hash: SHA256
  private(set) var submittedBytes: Int
  private var pending: [ByteBuffer] = []
  private var pendingBytes = 0

  init(at offset: Int = 0, after hash: SHA256 = SHA256()) {
    submittedBytes = offset
    self.hash = hash
  }

  var isBatchFull: Bool { pendingBytes >= Self.batchSize }

  /// A batch without bytes at the current position; writing it only returns the hash.
  var emptyBatch: Batch { Batch(pieces: [], offset: submittedBytes, hash: hash) }

  mutating func append(_ pieces: [ByteBuffer], byteCount: Int) {
    pending += pieces
    pendingBytes += byteCount
  }

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

/// Measures how fast the bytes of an incoming transfer arrive (RES-7). A transfer is slow only if both the window and a
/// number of checks have passed. Suspending the receiver therefore does not make a transfer slow. The endpoint checks
/// at each ``interval``.
struct TransferPace: Sendable {
  enum Verdict: Equatable, Sendable {
    case sufficient
    case silent
    case slow
  }

  private struct Mark {
    var time: Duration
    var bytes: Int
  }

  static let interval = Duration.seconds(10)
  /// The period in which at least ``minimumBytes`` must arrive.
  static let window = Duration.seconds(60)
  static let minimumBytes = 16_384
  /// The number of checks that span ``window``.
  private static let markLimit = 7

  private var lastHeard: Duration
  private var marks: [Mark]

  init(now: Duration) {
    lastHeard = now
    marks = [Mark(time: now, bytes: 0)]
  }

  mutating func restart(now: Duration, bytes: Int) {
    lastHeard = now
    marks = [Mark(time: now, bytes: bytes)]
  }

  mutating func frameReceived(now: Duration) { lastHeard = now }

  /// If `isReceiverBusy` is true, the receiver's own disk delays the transfer, so the window restarts.
  mutating func check(now: Duration, bytes: Int, isReceiverBusy: Bool) -> Verdict {
    if isReceiverBusy {
      restart(now: now, bytes: bytes)
      return .sufficient
    }
    if now - lastHeard >= Self.window { return .silent }
    marks.append(Mark(time: now, bytes: bytes))
    if marks.count > Self.markLimit { marks.removeFirst() }
    guard marks.count == Self.markLimit, let first = marks.first, now - first.time >= Self.window,
      bytes - first.bytes < Self.minimumBytes
    else { return .sufficient }
    // If no bytes arrived in the window, the transfer is stalled even if a frame without bytes arrived.
    return bytes == first.bytes ? .silent : .slow
  }
}
