import Whiteboard

/// A batch that waits for the author of an object that it purges, and the later messages of its member.
struct HeldMessages {
  /// Milliseconds that a batch may wait.
  static let timeout: UInt64 = 5000
  /// The bytes behind a batch at which it waits no longer.
  static let byteLimit = 4 << 20

  let batch: EncodedBatch
  private let since: UInt64
  private(set) var messages: [[UInt8]] = []
  private var byteCount = 0

  init(batch: EncodedBatch, since: UInt64) {
    self.batch = batch
    self.since = since
  }

  /// When the batch has waited for too long.
  var deadline: UInt64 { since + Self.timeout }

  /// Whether so many bytes wait behind the batch that it waits no longer.
  var isFull: Bool { byteCount >= Self.byteLimit }

  mutating func append(_ message: [UInt8]) {
    byteCount += message.count + 64
    messages.append(message)
  }
}
