import PeerCore

/// The head of a MESSAGE frame's payload (`Protocol/session.md`, 6).
public struct MessagePart: Equatable, Sendable {
  /// The part's sequence number, starting at 1 (MSG-2).
  public var sequence: UInt64
  /// Whether the part begins a message.
  public var isFirst: Bool
  /// Whether the part ends a message.
  public var isLast: Bool
  /// Whether the sender asks for an immediate acknowledgement (MSG-4).
  public var wantsAcknowledgement: Bool
  /// Whether the message is between a member and a relay (11.2); set only in a first part.
  public var isRelays: Bool
  /// The length of the whole message in bytes; present in the first part of a message that has several parts.
  public var total: Int?

  /// The reason why a payload is not a message part.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The payload ends within the head, or an integer in the head is malformed.
    case malformed
    /// A flag is unknown, or is not allowed in this part.
    case unknownFlags(UInt8)
    /// The sequence number is 0 (MSG-2).
    case zeroSequence
    /// `total` exceeds the maximum length of a message (MSG-1).
    case tooLarge(UInt64)
    /// A part that is neither first nor last has no bytes (MSG-1).
    case empty
  }

  /// Creates the head of a message part.
  @inlinable public init(
    sequence: UInt64,
    isFirst: Bool,
    isLast: Bool,
    wantsAcknowledgement: Bool = false,
    isRelays: Bool = false,
    total: Int? = nil
  ) {
    self.sequence = sequence
    self.isFirst = isFirst
    self.isLast = isLast
    self.wantsAcknowledgement = wantsAcknowledgement
    self.isRelays = isRelays
    self.total = total
  }

  /// The flags as one byte.
  @inlinable public var flags: UInt8 {
    (isFirst ? 1 : 0) | (isLast ? 2 : 0) | (wantsAcknowledgement ? 4 : 0) | (isRelays ? 8 : 0)
  }

  /// Reads the head at `offset` and moves `offset` to the bytes of the part.
  ///
  /// - Throws: ``DecodingError``; the caller must then close the link (FRM-4).
  @inlinable public static func read(from bytes: Span<UInt8>, at offset: inout Int) throws(DecodingError) -> MessagePart
  {
    let sequence: UInt64?
    do { sequence = try Varint.read(from: bytes, at: &offset) } catch { throw .malformed }
    guard let sequence, offset < bytes.count else { throw .malformed }
    guard sequence > 0 else { throw .zeroSequence }
    let flags = bytes[offset]
    offset += 1
    guard flags & ~15 == 0, flags & 9 != 8 else { throw .unknownFlags(flags) }
    var part = MessagePart(
      sequence: sequence,
      isFirst: flags & 1 != 0,
      isLast: flags & 2 != 0,
      wantsAcknowledgement: flags & 4 != 0,
      isRelays: flags & 8 != 0
    )
    if part.isFirst && !part.isLast {
      let total: UInt64?
      do { total = try Varint.read(from: bytes, at: &offset) } catch { throw .malformed }
      guard let total else { throw .malformed }
      let limit = part.isRelays ? RelayMessage.maximumLength : Limits.message
      guard total <= UInt64(limit) else { throw .tooLarge(total) }
      part.total = Int(total)
    }
    if !part.isFirst && !part.isLast && offset == bytes.count { throw .empty }
    return part
  }

  /// Appends the head; the caller then appends the bytes of the part.
  public func append(to bytes: inout [UInt8]) {
    Varint.append(sequence, to: &bytes)
    bytes.append(flags)
    if let total { Varint.append(UInt64(total), to: &bytes) }
  }
}
