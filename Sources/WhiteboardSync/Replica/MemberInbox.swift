import Whiteboard

/// A queue of one member's messages that wait because the first of them cannot be handled yet.
///
/// The first message waits for one of two reasons: its signatures are being verified, or it purges an object and the
/// batches of the object's author have not arrived yet (BRD-39). Later messages wait behind it, so that messages are
/// handled in order of arrival.
struct MemberInbox {
  /// The first message, and the reason why it waits.
  private enum First {
    /// The bytes of a message whose signatures are being verified.
    case unverified([UInt8], VerificationState)
    /// A batch that purges an object too early, and the time when it arrived. It is already part of the link's chain.
    case early(EncodedBatch, since: UInt64)
  }

  static let earlyTimeout: UInt64 = 5000
  /// The number of waiting bytes at which an early batch does not wait any longer.
  static let earlyByteLimit = 4 << 20
  /// The number of waiting bytes at which no more messages are accepted while signatures are being verified.
  static let byteLimit = 16 << 20
  /// The number of bytes that are counted for each message in addition to its size.
  private static let overhead = 64

  private var first: First?
  private var others: [[UInt8]] = []
  /// The index of the next message in `others`.
  ///
  /// The messages before it were removed.
  private var start = 0
  private var byteCount = 0

  /// Whether the first message waits.
  ///
  /// New messages must then wait behind it.
  var isWaiting: Bool { first != nil }

  var isVerifying: Bool { if case .unverified = first { true } else { false } }

  var earlyBatch: EncodedBatch? { if case .early(let batch, _) = first { batch } else { nil } }

  /// The time when the early batch has waited for too long; nil if there is none.
  var deadline: UInt64? {
    guard case .early(_, let since) = first else { return nil }
    return since + Self.earlyTimeout
  }

  /// Returns whether the early batch has waited for too long, or too many bytes wait behind it.
  func isOverdue(_ now: UInt64) -> Bool { byteCount >= Self.earlyByteLimit || deadline.map { now >= $0 } ?? false }

  // MARK: - Adding

  /// Sets the first message, which waits until its signatures are verified.
  mutating func wait(_ message: [UInt8], for verification: VerificationState) {
    first = .unverified(message, verification)
  }

  /// Sets the first message: a batch that waits for the batches of another author.
  mutating func wait(_ batch: EncodedBatch, since: UInt64) { first = .early(batch, since: since) }

  /// Adds a message at the end; returns whether there was room for the message.
  ///
  /// Below the limit, one message of any size is accepted.
  mutating func append(_ message: [UInt8]) -> Bool {
    guard byteCount < Self.byteLimit || !isVerifying else { return false }
    byteCount += message.count + Self.overhead
    others.append(message)
    return true
  }

  // MARK: - Removing

  /// Records the result of a check for the first message; when all its results are known, removes the message and
  /// returns them.
  mutating func didVerify(_ id: VerificationID, isValid: Bool) -> (message: [UInt8], verification: VerificationState)? {
    guard case .unverified(let message, var verification) = first else { return nil }
    // Clear the property, so that `verification` has one reference and is not copied.
    first = nil
    guard verification.didVerify(id, isValid: isValid), !verification.isPending else {
      first = .unverified(message, verification)
      return nil
    }
    return (message, verification)
  }

  mutating func removeEarlyBatch() { if case .early = first { first = nil } }

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
