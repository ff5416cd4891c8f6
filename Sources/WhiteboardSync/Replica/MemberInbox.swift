import Whiteboard

/// The messages of one member that wait until the first of them can be handled.
///
/// The first message waits while its signatures are verified, or because it is a batch that purges an object of
/// an author whose batches have not arrived yet (BRD-39). The others wait behind it, so that they are handled in
/// the order in which they arrived.
struct MemberInbox {
  /// The first message, by the reason why it waits.
  private enum First {
    /// The bytes of a message whose signatures are being verified.
    case unverified([UInt8], VerificationState)
    /// A batch that is part of the chain of the link already, and when it arrived.
    case early(EncodedBatch, since: UInt64)
  }

  /// Milliseconds that an early batch may wait.
  static let earlyTimeout: UInt64 = 5000
  /// The bytes behind an early batch at which it waits no longer.
  static let earlyByteLimit = 4 << 20
  /// The bytes behind a message that is being verified at which no more messages have room.
  static let byteLimit = 16 << 20
  /// The number of bytes that each message counts beyond its own.
  private static let overhead = 64

  private var first: First?
  private var others: [[UInt8]] = []
  /// The index of the first of the others; those before it were removed.
  private var start = 0
  private var byteCount = 0

  /// Whether the first message waits, so that those that arrive must wait behind it.
  var isWaiting: Bool { first != nil }

  /// Whether the signatures of the first message are being verified.
  var isVerifying: Bool { if case .unverified = first { true } else { false } }

  /// The early batch that waits, if any.
  var earlyBatch: EncodedBatch? { if case .early(let batch, _) = first { batch } else { nil } }

  /// When an early batch has waited for too long.
  var deadline: UInt64? {
    guard case .early(_, let since) = first else { return nil }
    return since + Self.earlyTimeout
  }

  /// Whether an early batch has waited for too long, or too many bytes wait behind it.
  func isOverdue(_ now: UInt64) -> Bool {
    byteCount >= Self.earlyByteLimit || deadline.map { now >= $0 } ?? false
  }

  // MARK: - Adding

  /// Makes a message wait until its signatures are verified; it is the first.
  mutating func wait(_ message: [UInt8], for verification: VerificationState) {
    first = .unverified(message, verification)
  }

  /// Makes a batch wait for another author; it is the first.
  mutating func wait(_ batch: EncodedBatch, since: UInt64) { first = .early(batch, since: since) }

  /// Adds a message after the others; below the limit, one message of any size is accepted.
  /// - Returns: Whether there was room for it.
  mutating func append(_ message: [UInt8]) -> Bool {
    guard byteCount < Self.byteLimit || !isVerifying else { return false }
    byteCount += message.count + Self.overhead
    others.append(message)
    return true
  }

  // MARK: - Removing

  /// Handles the result of a check for the first message.
  /// - Returns: The message and its results, which is removed, if this was the last check; otherwise nil.
  mutating func didVerify(
    _ id: VerificationID,
    isValid: Bool
  ) -> (message: [UInt8], verification: VerificationState)? {
    guard case .unverified(let message, var verification) = first else { return nil }
    // The copy of the results must be the only one.
    first = nil
    guard verification.didVerify(id, isValid: isValid), !verification.isPending else {
      first = .unverified(message, verification)
      return nil
    }
    return (message, verification)
  }

  /// Removes the early batch, which is handled now.
  mutating func removeEarlyBatch() {
    if case .early = first { first = nil }
  }

  /// Removes and returns the next message, if none waits before it.
  mutating func removeNext() -> [UInt8]? {
    guard first == nil, start < others.count else { return nil }
    let message = others[start]
    others[start] = []
    start += 1
    byteCount -= message.count + Self.overhead
    if start == others.count { (others, start) = ([], 0) }
    return message
  }
}
