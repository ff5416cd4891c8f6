/// Checks the parts of one direction's messages and says what to do with the bytes of each.
///
/// It holds no bytes, so that a message in one part costs nothing here: the caller appends, drops
/// or delivers as the outcome says. One value lives as long as the delivery state of a pair of
/// incarnations, over any number of links (3.4). Implements MSG-1 to MSG-3.
public struct MessageAssembler: Equatable, Sendable {
  /// The handling of the bytes of a part.
  public enum Outcome: Equatable, Sendable {
    /// The number was received before: drop them.
    case duplicate
    /// They are a whole message: deliver them.
    case whole
    /// They begin a message of `total` bytes.
    case begin(total: Int)
    /// The bytes continue the current message.
    case append
    /// They end the message that was begun: append and deliver it.
    case finish
  }

  /// The reason for closing the link with `protocol-error`.
  public enum AssemblyError: Error, Equatable, Sendable {
    /// A number is missing before this one (MSG-3).
    case skipped(expected: UInt64, found: UInt64)
    /// A first part before the last one of the message under way.
    case unexpectedFirst
    /// A later part arrived without a current message.
    case missingFirst
    /// The parts hold more than `total`, or a single one more than a message may.
    case tooManyBytes
    /// The last part ends a message that has fewer bytes than `total`.
    case tooFewBytes
  }

  /// The highest number received, 0 before the first; what `resume` carries (RSM-2).
  public private(set) var received: UInt64

  private var unfinished: Unfinished?

  private struct Unfinished: Equatable, Sendable {
    var total: Int
    var count: Int
  }

  /// Creates the state of a pair that has exchanged nothing.
  public init() { received = 0 }

  /// Whether a message was begun and not finished.
  public var isAssembling: Bool { unfinished != nil }

  /// The length of the message that was begun and not finished, in bytes; 0 without one.
  public var total: Int { unfinished?.total ?? 0 }

  /// Takes the next part.
  ///
  /// - Parameters:
  ///   - part: Its head.
  ///   - byteCount: How many bytes follow the head.
  /// - Returns: What to do with those bytes.
  /// - Throws: ``AssemblyError``; the state is then as before.
  public mutating func receive(
    _ part: MessagePart,
    byteCount: Int
  ) throws(AssemblyError) -> Outcome {
    guard part.sequence > received else { return .duplicate }
    guard part.sequence - received == 1 else {
      throw .skipped(expected: received + 1, found: part.sequence)
    }
    let outcome: Outcome
    if part.isFirst {
      guard unfinished == nil else { throw .unexpectedFirst }
      if part.isLast {
        guard byteCount <= Limits.message else { throw .tooManyBytes }
        outcome = .whole
      } else {
        let total = part.total ?? 0
        guard byteCount <= total else { throw .tooManyBytes }
        unfinished = Unfinished(total: total, count: byteCount)
        outcome = .begin(total: total)
      }
    } else {
      guard var message = unfinished else { throw .missingFirst }
      guard byteCount <= message.total - message.count else { throw .tooManyBytes }
      message.count += byteCount
      if part.isLast {
        guard message.count == message.total else { throw .tooFewBytes }
        unfinished = nil
        outcome = .finish
      } else {
        unfinished = message
        outcome = .append
      }
    }
    received = part.sequence
    return outcome
  }
}
