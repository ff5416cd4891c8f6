import NIOCore
import PeerWire

/// Assembles the messages that one peer sends from their parts (MSG-1 to MSG-3).
///
/// The inbox exists as long as the delivery state of the two peers, over any number of links (3.4).
struct MessageInbox {
  enum Outcome: Equatable {
    /// The part completes no message, or was received before.
    case incomplete
    /// The part begins a message of `total` bytes in several parts.
    case began(total: Int)
    /// `isRelays` states whether the message is between a member and a relay (11.2).
    ///
    /// `isSplit` states whether it came in several parts.
    case completed([UInt8], isRelays: Bool, isSplit: Bool)
  }

  /// A received part, with the data that acknowledgements need.
  struct Part: Equatable {
    var outcome: Outcome
    /// The number of the message's bytes in this part.
    var byteCount: Int
    /// Whether the sender wants an immediate acknowledgement (MSG-4).
    var wantsAcknowledgement: Bool
  }

  /// The reason for closing the link.
  struct Violation: Error, Equatable {
    var code: CloseCode
    var message: String
  }

  private var assembler = MessageAssembler()
  /// The parts received so far of an incomplete message.
  private var partial: [UInt8] = []
  /// Whether the incomplete message is between a member and a relay (11.2).
  private var isPartialRelays = false

  var received: UInt64 { assembler.received }

  /// Receives the payload of a MESSAGE frame.
  ///
  /// If it breaks a rule, throws and does not change the state.
  mutating func receive(_ payload: ByteBuffer) throws(Violation) -> Part {
    var offset = 0
    let part: MessagePart
    do throws(MessagePart.DecodingError) {
      part = try MessagePart.read(from: payload.readableBytesUInt8Span, at: &offset)
    } catch {
      let code: CloseCode = if case .tooLarge = error { .tooLarge } else { .protocolError }
      throw Violation(code: code, message: CloseMessage.invalid(error))
    }
    let count = payload.readableBytes - offset
    let step: MessageAssembler.Outcome
    do throws(MessageAssembler.AssemblyError) { step = try assembler.receive(part, byteCount: count) } catch {
      throw Violation(code: .protocolError, message: CloseMessage.invalid(error))
    }
    return Part(
      outcome: outcome(of: step, part, payload, offset, count),
      byteCount: count,
      wantsAcknowledgement: part.wantsAcknowledgement
    )
  }

  private mutating func outcome(
    of step: MessageAssembler.Outcome,
    _ part: MessagePart,
    _ payload: ByteBuffer,
    _ offset: Int,
    _ count: Int
  ) -> Outcome {
    let bytes = payload.readableBytesView.dropFirst(offset)
    switch step {
    case .duplicate: return .incomplete
    case .whole:
      let message = payload.withUnsafeReadableBytes { source in
        [UInt8](unsafeUninitializedCapacity: count) { target, initialized in
          UnsafeMutableRawBufferPointer(target).copyMemory(from: UnsafeRawBufferPointer(rebasing: source[offset...]))
          initialized = count
        }
      }
      return .completed(message, isRelays: part.isRelays, isSplit: false)
    case .begin(let total):
      isPartialRelays = part.isRelays
      partial = Array(bytes)
      return .began(total: total)
    case .append:
      // Reserve the memory only now. The link is read again only if there is room for the whole message (MSG-5).
      partial.reserveCapacity(assembler.total)
      partial.append(contentsOf: bytes)
      return .incomplete
    case .finish:
      partial.append(contentsOf: bytes)
      let message = partial
      partial = []
      return .completed(message, isRelays: isPartialRelays, isSplit: true)
    }
  }
}
