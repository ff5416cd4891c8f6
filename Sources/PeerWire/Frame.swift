/// The types of frame this version knows (`Protocol/session.md`, 2).
///
/// Numbers in brackets are its sections.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// The purpose of a control link, and the introduction of its sender (3.1).
  case hello = 0x01
  /// The end of a link, and why (3.6).
  case close = 0x02
  /// The dialler is in (3.3).
  case accept = 0x03
  /// The dialler's proof that it knows the code (4.2).
  case codeProof = 0x04
  /// The dialler's commitment to its nonce (4.3).
  case sasCommit = 0x05
  /// The listener's nonce (4.3).
  case sasNonce = 0x06
  /// The dialler's nonce (4.3).
  case sasReveal = 0x07
  /// Members that the receiver may not know (MEM-1).
  case members = 0x10
  /// The host's order to drop a peer (MEM-3).
  case kick = 0x11
  /// The sender's new addresses (MEM-4).
  case addresses = 0x12
  /// The wish that the other side dials bulk links (8.1).
  case bulkRequest = 0x13
  /// The host's word that the sender is a relay of the session (11.1).
  case relayGrant = 0x14
  /// The control link of a bulk link (8.1).
  case attach = 0x20
  /// The answer to a good ATTACH (8.1).
  case attached = 0x21
  /// A sender's offer of a resource (8.2).
  case resourceOffer = 0x22
  /// The offset at which the receiver resumes (8.2).
  case resourceAccept = 0x23
  /// The offset at which the sender begins (RES-2).
  case resourceStart = 0x24
  /// The hash of the whole (8.2).
  case resourceEnd = 0x25
  /// The receiver has it, whole and verified (8.2).
  case resourceDone = 0x26
  /// The end of a transfer that is not whole (RES-4).
  case resourceCancel = 0x27
  /// The start of a byte stream (8.3).
  case streamOpen = 0x28
  /// The abrupt end of a byte stream (8.3).
  case streamReset = 0x29
  /// A message or a part of one (6).
  case message = 0x40
  /// An acknowledgement of messages (MSG-4).
  case ack = 0x41
  /// A question whether the other side is there (LIV-1).
  case ping = 0x42
  /// The answer to PING (LIV-1).
  case pong = 0x43
  /// A datagram where UDP does not pass (DGM-9).
  case datagram = 0x44
  /// A datagram by way of a relay where UDP does not pass (11.4).
  case relayDatagram = 0x45
  /// Bytes of a file (8.2).
  case chunk = 0x50
  /// Bytes of a stream (8.3).
  case streamData = 0x51
  /// The end of one direction of a stream (8.3).
  case streamFin = 0x52

  /// Whether the payload is a JSON object (FRM-5).
  public var isControl: Bool { rawValue < 0x40 }
}

/// The reason why bytes are not a frame.
public enum FrameError: Error, Equatable, Sendable {
  /// The length is not a shortest-form integer (FRM-2).
  case malformedLength
  /// The length is over what the link allows now (FRM-1).
  case tooLarge(length: UInt64, limit: Int)
  /// A type below 0x80 that this version does not know (FRM-3).
  case unknownType(UInt8)
}

/// The head of one frame, and where its payload lies.
public struct FrameHeader: Equatable, Sendable {
  /// The type, or `nil` for one that must be skipped (FRM-3).
  public var type: FrameType?
  /// The payload's length in bytes.
  public var length: Int

  /// The most bytes a header takes.
  public static let maximumLength = 1 + Varint.maximumLength

  /// Reads the header at `offset` and moves `offset` to the payload, which need not be there yet.
  ///
  /// The length is checked against `limit` before anything is awaited, so a caller never buffers for
  /// a frame that it would refuse.
  ///
  /// - Parameters:
  ///   - bytes: What has arrived.
  ///   - offset: Where the header begins.
  ///   - limit: The longest payload that is allowed now, also of a frame that is skipped.
  /// - Returns: `nil` when more bytes are needed; `offset` is then unchanged.
  /// - Throws: ``FrameError`` when the link must be closed, as soon as the bytes at hand tell.
  @inlinable
  public static func read(
    from bytes: Span<UInt8>,
    at offset: inout Int,
    limit: Int
  ) throws(FrameError) -> FrameHeader? {
    guard offset < bytes.count else { return nil }
    let raw = bytes[offset]
    let type = FrameType(rawValue: raw)
    if type == nil && raw < 0x80 { throw .unknownType(raw) }
    var position = offset + 1
    let length: UInt64?
    do {
      length = try Varint.read(from: bytes, at: &position)
    } catch {
      throw .malformedLength
    }
    guard let length else { return nil }
    guard length <= UInt64(limit) else { throw .tooLarge(length: length, limit: limit) }
    offset = position
    return FrameHeader(type: type, length: Int(length))
  }

  /// Creates a header.
  @inlinable
  public init(type: FrameType?, length: Int) {
    self.type = type
    self.length = length
  }
}
