/// Checks the message parts received from one peer, and decides how to handle the bytes of each part.
///
/// The assembler stores no bytes, so a message in one part is never copied. The caller appends, drops or delivers the
/// bytes according to the outcome. An assembler belongs to the delivery state of a pair of incarnations. This state may
/// span several links (3.4). Implements MSG-1 to MSG-3.
public struct MessageAssembler: Equatable, Sendable {
  /// How to handle the bytes of a part.
  public enum Outcome: Equatable, Sendable {
    /// The part was received before: drop the bytes.
    case duplicate
    /// The bytes are a whole message: deliver them.
    case whole
    /// The bytes begin a message of `total` bytes.
    case begin(total: Int)
    /// The bytes continue the current message.
    case append
    /// The bytes end the current message: append them and deliver the message.
    case finish
  }

  /// The reason for closing the link with `protocol-error`.
  public enum AssemblyError: Error, Equatable, Sendable {
    /// At least one part before this part was not received (MSG-3).
    case skipped(expected: UInt64, found: UInt64)
    /// A first part arrived before the last part of the current message.
    case unexpectedFirst
    /// A later part arrived without a current message.
    case missingFirst
    /// The parts have more bytes than `total`, or a single part exceeds the maximum length of a message.
    case tooManyBytes
    /// The message ended with fewer bytes than `total`.
    case tooFewBytes
  }

  /// The number of the last part received, or 0 if none was received.
  ///
  /// A peer sends this number in `resume` (RSM-2).
  public private(set) var received: UInt64

  private var unfinished: Unfinished?

  private struct Unfinished: Equatable, Sendable {
    var total: Int
    var count: Int
  }

  /// Creates an assembler for two peers that have not exchanged any messages.
  public init() { received = 0 }

  /// Whether the assembler has received the start of a message but not its end.
  public var isAssembling: Bool { unfinished != nil }

  /// The length of the unfinished message in bytes, or 0 if no message is unfinished.
  public var total: Int { unfinished?.total ?? 0 }

  /// Checks the next part.
  ///
  /// - Parameters:
  ///   - part: The head of the part.
  ///   - byteCount: The number of bytes that follow the head.
  /// - Returns: How to handle those bytes.
  /// - Throws: ``AssemblyError``; the state of the assembler is then unchanged.
  public mutating func receive(_ part: MessagePart, byteCount: Int) throws(AssemblyError) -> Outcome {
    guard part.sequence > received else { return .duplicate }
    guard part.sequence - received == 1 else { throw .skipped(expected: received + 1, found: part.sequence) }
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
