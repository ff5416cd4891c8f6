/// The types of frame this version knows (`Protocol/session.md`, 2).
public enum FrameType: UInt8, Sendable, CaseIterable {
  case hello = 0x01
  case close = 0x02
  case accept = 0x03
  case codeProof = 0x04
  case sasCommit = 0x05
  case sasNonce = 0x06
  case sasReveal = 0x07
  case members = 0x10
  case kick = 0x11
  case addresses = 0x12
  case bulkRequest = 0x13
  case attach = 0x20
  case attached = 0x21
  case resourceOffer = 0x22
  case resourceAccept = 0x23
  case resourceStart = 0x24
  case resourceEnd = 0x25
  case resourceDone = 0x26
  case resourceCancel = 0x27
  case streamOpen = 0x28
  case streamReset = 0x29
  case message = 0x40
  case ack = 0x41
  case ping = 0x42
  case pong = 0x43
  case datagram = 0x44
  case chunk = 0x50
  case streamData = 0x51
  case streamFin = 0x52

  /// Whether the payload is a JSON object (FRM-5).
  public var isControl: Bool { rawValue < 0x40 }
}

/// Why bytes are not a frame.
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

  /// Reads the header at `offset` and moves `offset` to the payload.
  ///
  /// The length is checked against `limit` before anything is awaited, so a caller never buffers for
  /// a frame that it would refuse.
  ///
  /// - Returns: `nil` when more bytes are needed; `offset` is then unchanged.
  /// - Throws: ``FrameError`` when the link must be closed.
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
