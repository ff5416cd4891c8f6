import PeerCore

/// The head of a packet's sealed content: a kind and its fields (`Protocol/session.md`, 7.2).
public enum DatagramContent: Equatable, Sendable {
  /// The bytes that follow are a whole message.
  case message
  /// The bytes that follow are one piece of a message.
  case piece(DatagramPiece)
  /// The bytes that follow are a whole message between a member and a relay (11.5).
  case relayMessage
  /// The bytes that follow are one piece of a message between a member and a relay.
  case relayPiece(DatagramPiece)
  /// A probe that tests whether UDP packets reach the other peer.
  case probe(UInt64)
  /// The answer to a probe, with the probe's value.
  case answer(UInt64)

  /// The length in bytes of the head that precedes a piece, including the kind.
  public static let pieceHead = 7
  /// The maximum length in bytes of a message that fits in one packet.
  public static let wholeMessage = Limits.packet - PacketHeader.minimumPacket
  /// The maximum number of pieces of a message (DGM-6).
  public static let maximumPieces = (Limits.datagramMessage + Limits.datagramPiece - 1) / Limits.datagramPiece

  /// The reason for dropping a decrypted packet.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The content is empty, or its kind is unknown.
    case unknownKind(UInt8?)
    /// The content ends before its head is complete, or a probe does not have 8 bytes.
    case length
    /// The count or index of a piece is out of range, or the piece has the wrong length.
    case malformedPiece
  }

  /// Reads the kind at `offset` and moves `offset` to the bytes of the message or piece.
  ///
  /// - Throws: ``DecodingError``; the caller must then drop the packet without an answer.
  public static func read(from bytes: Span<UInt8>, at offset: inout Int) throws(DecodingError) -> DatagramContent {
    guard offset < bytes.count else { throw .unknownKind(nil) }
    let body = offset + 1
    switch bytes[offset] {
    case 0, 4:
      guard bytes.count - body <= Limits.datagramMessage else { throw .length }
      offset = body
      return bytes[body - 1] == 0 ? .message : .relayMessage
    case 1, 5:
      guard bytes.count - body >= 6 else { throw .length }
      let piece = DatagramPiece(
        id: BigEndian.readUInt32(bytes, at: body),
        index: bytes[body + 4],
        count: bytes[body + 5]
      )
      let isRelays = bytes[body - 1] == 5
      guard
        piece.admits(
          byteCount: bytes.count - body - 6,
          ofMessage: isRelays ? Limits.relayDatagram : Limits.datagramMessage
        )
      else { throw .malformedPiece }
      offset = body + 6
      return isRelays ? .relayPiece(piece) : .piece(piece)
    case 2, 3:
      guard bytes.count - body == 8 else { throw .length }
      let value = BigEndian.readUInt64(bytes, at: body)
      offset = bytes.count
      return bytes[body - 1] == 2 ? .probe(value) : .answer(value)
    case let kind: throw .unknownKind(kind)
    }
  }

  /// Appends the head, which precedes the message or piece.
  public func append(to bytes: inout [UInt8]) {
    switch self {
    case .message: bytes.append(0)
    case .relayMessage: bytes.append(4)
    case .piece(let piece):
      bytes.append(1)
      piece.append(to: &bytes)
    case .relayPiece(let piece):
      bytes.append(5)
      piece.append(to: &bytes)
    case .probe(let value):
      bytes.append(2)
      BigEndian.append(value, to: &bytes)
    case .answer(let value):
      bytes.append(3)
      BigEndian.append(value, to: &bytes)
    }
  }
}

/// The position of a piece in its message.
public struct DatagramPiece: Equatable, Sendable {
  /// The sender's number for the message.
  public var id: UInt32
  /// The index of the piece, starting at 0.
  public var index: UInt8
  /// The number of pieces in the message.
  public var count: UInt8

  /// Creates the position of a piece.
  public init(id: UInt32, index: UInt8, count: UInt8) {
    self.id = id
    self.index = index
    self.count = count
  }

  func append(to bytes: inout [UInt8]) {
    BigEndian.append(id, to: &bytes)
    bytes.append(index)
    bytes.append(count)
  }

  /// Returns whether the position is valid for a piece of `byteCount` bytes.
  ///
  /// `limit` is the maximum length of a message in bytes.
  public func admits(byteCount: Int, ofMessage limit: Int = Limits.datagramMessage) -> Bool {
    guard count >= 2, Int(count) <= DatagramContent.maximumPieces, index < count else { return false }
    guard index == count - 1 else { return byteCount == Limits.datagramPiece }
    let before = Int(index) * Limits.datagramPiece
    return byteCount >= 1 && byteCount <= min(Limits.datagramPiece, limit - before)
  }

  /// Returns the range of this piece in a message of `byteCount` bytes.
  ///
  /// The range is empty if the message has no such piece.
  public func range(inMessageOf byteCount: Int) -> Range<Int> {
    let start = min(Int(index) * Limits.datagramPiece, byteCount)
    return start..<min(start + Limits.datagramPiece, byteCount)
  }
}

/// The division of one datagram message into packets (DGM-6).
///
/// Each element describes one packet: the head of its content, and the range of the message's bytes that it contains. A
/// sender can thus encrypt each packet directly from the message.
public struct DatagramCut: RandomAccessCollection, Sendable {
  /// The length of the message in bytes.
  public let byteCount: Int
  /// The message number written in each piece; unused if the message fits in one packet.
  public let id: UInt32
  /// Whether the message is between a member and a relay (11.5).
  public let isRelays: Bool

  /// The error for a message that exceeds 65,536 bytes (DGM-6), or 65,570 between a member and a relay.
  public struct TooLong: Error, Equatable, Sendable {}

  /// Divides a message into packets.
  ///
  /// - Parameters:
  ///   - byteCount: The length of the message in bytes.
  ///   - id: A message number that the sender has not used recently.
  ///   - isRelays: Whether the message is between a member and a relay.
  /// - Throws: ``TooLong`` if the message exceeds the maximum length.
  public init(byteCount: Int, id: UInt32, isRelays: Bool = false) throws(TooLong) {
    guard byteCount <= (isRelays ? Limits.relayDatagram : Limits.datagramMessage) else { throw TooLong() }
    self.byteCount = byteCount
    self.id = id
    self.isRelays = isRelays
  }

  /// The index of the first packet.
  public var startIndex: Int { 0 }

  /// The number of packets, at least 1.
  public var endIndex: Int {
    byteCount <= DatagramContent.wholeMessage ? 1 : (byteCount + Limits.datagramPiece - 1) / Limits.datagramPiece
  }

  /// Returns the head of one packet's content, and the range of the message's bytes in the packet.
  ///
  /// - Precondition: `position` is a valid index, less than `endIndex`.
  public subscript(position: Int) -> (content: DatagramContent, range: Range<Int>) {
    precondition(position >= 0 && position < endIndex, "a position must be less than the number of packets")
    guard endIndex > 1 else { return (isRelays ? .relayMessage : .message, 0..<byteCount) }
    // The initializer limits the number of packets to 60.
    let piece = DatagramPiece(
      id: id,
      index: UInt8(truncatingIfNeeded: position),
      count: UInt8(truncatingIfNeeded: endIndex)
    )
    return (isRelays ? .relayPiece(piece) : .piece(piece), piece.range(inMessageOf: byteCount))
  }
}

/// The payload of an ACK frame: the number of the last message part received (MSG-4).
public enum Acknowledgement {
  /// Decodes the payload of an ACK frame.
  ///
  /// The caller must check that a part with this number was sent.
  ///
  /// - Returns: The number of the last part that the other side received.
  /// - Throws: `malformed` if the payload is not exactly one integer in its shortest encoding; the caller must then
  ///   close the link (FRM-4).
  public static func read(payload: Span<UInt8>) throws(MessagePart.DecodingError) -> UInt64 {
    var offset = 0
    let sequence: UInt64?
    do { sequence = try Varint.read(from: payload, at: &offset) } catch { throw .malformed }
    guard let sequence, offset == payload.count else { throw .malformed }
    return sequence
  }

  /// Appends the payload of an ACK frame for the parts up to `sequence`.
  public static func append(_ sequence: UInt64, to bytes: inout [UInt8]) { Varint.append(sequence, to: &bytes) }
}

/// The plaintext header of a sealed packet (`Protocol/session.md`, 7).
///
/// The header is also the associated data of the encryption.
public struct PacketHeader: Equatable, Sendable {
  /// The packet version that this implementation supports.
  public static let version: UInt8 = 1
  /// The length of a header in bytes.
  public static let length = 18
  /// The length in bytes of the authentication tag at the end of a packet.
  public static let tagLength = 16
  /// The minimum length of a packet in bytes: a header, a kind and a tag (DGM-2).
  public static let minimumPacket = length + 1 + tagLength
  /// The maximum length of a received packet in bytes (DGM-2).
  public static let maximumPacket = 1_500

  /// The number of the key that seals the packet; a link has several keys in succession (DGM-1).
  public var epoch: UInt8
  /// The identifier of the link and direction to which the packet belongs.
  ///
  /// The value is the 8 bytes of 7.1, read as a big-endian integer.
  public var keyID: UInt64
  /// The packet's number within its epoch.
  public var counter: UInt64

  /// The reason for dropping a packet before decryption.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The packet has fewer than 35 bytes or more than 1,500.
    case length(Int)
    /// The packet has an unsupported version.
    case version(UInt8)
  }

  /// Creates a packet header.
  @inlinable public init(epoch: UInt8, keyID: UInt64, counter: UInt64) {
    self.epoch = epoch
    self.keyID = keyID
    self.counter = counter
  }

  /// Reads the header of a whole packet.
  ///
  /// - Throws: ``DecodingError``; the caller must then drop the packet without an answer.
  @inlinable public static func read(packet: Span<UInt8>) throws(DecodingError) -> PacketHeader {
    guard packet.count >= minimumPacket, packet.count <= maximumPacket else { throw .length(packet.count) }
    guard packet[0] == version else { throw .version(packet[0]) }
    return PacketHeader(
      epoch: packet[1],
      keyID: BigEndian.readUInt64(packet, at: 2),
      counter: BigEndian.readUInt64(packet, at: 10)
    )
  }

  /// Appends the header to `bytes`.
  @inlinable public func append(to bytes: inout [UInt8]) {
    bytes.append(Self.version)
    bytes.append(epoch)
    BigEndian.append(keyID, to: &bytes)
    BigEndian.append(counter, to: &bytes)
  }
}

@usableFromInline enum BigEndian {
  @inlinable static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    var shift = value.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// At least 8 bytes must follow `offset`.
  @inlinable static func readUInt64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in offset..<offset + 8 { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  /// At least 4 bytes must follow `offset`.
  @inlinable static func readUInt32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in offset..<offset + 4 { value = value << 8 | UInt32(bytes[index]) }
    return value
  }
}
