/// The sealed content of a packet, up to the bytes of a message (`Protocol/session.md`, 7.2).
public enum DatagramContent: Equatable, Sendable {
  /// The bytes that follow are a whole message.
  case message
  /// The bytes that follow are a piece of a message.
  case piece(DatagramPiece)
  /// The bytes that follow are a whole message between a member and a relay (11.5).
  case relayMessage
  /// The bytes that follow are a piece of such a message.
  case relayPiece(DatagramPiece)
  /// A question whether packets pass.
  case probe(UInt64)
  /// The answer to a probe, with its 8 bytes.
  case answer(UInt64)

  /// Bytes before a piece's own, the kind among them.
  public static let pieceHead = 7
  /// The longest message that goes in one packet.
  public static let wholeMessage = Limits.packet - PacketHeader.minimumPacket
  /// The most pieces that a message is cut into (DGM-6).
  public static let maximumPieces =
    (Limits.datagramMessage + Limits.datagramPiece - 1) / Limits.datagramPiece

  /// The reason why an opened packet is dropped.
  public enum DecodingError: Error, Equatable, Sendable {
    /// No byte, or a kind that is not known.
    case unknownKind(UInt8?)
    /// The content ends within its head, or a probe is not 8 bytes.
    case length
    /// A count or index out of range, or a piece that is not as long as its place demands.
    case malformedPiece
  }

  /// Reads the kind at `offset` and moves `offset` to the bytes of the message or piece.
  ///
  /// - Throws: ``DecodingError``; the packet is then dropped silently.
  public static func read(
    from bytes: Span<UInt8>,
    at offset: inout Int
  ) throws(DecodingError) -> DatagramContent {
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
    case let kind:
      throw .unknownKind(kind)
    }
  }

  /// Appends the kind and what belongs before the bytes of the message or piece.
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

/// The place of a piece in its message.
public struct DatagramPiece: Equatable, Sendable {
  /// Which message, as its sender numbers those it cuts.
  public var id: UInt32
  /// Which piece, from 0.
  public var index: UInt8
  /// How many there are.
  public var count: UInt8

  /// Creates a place.
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

  /// Whether the place is one that a cut message has, and a piece there has this many bytes.
  ///
  /// `limit` is the longest message.
  public func admits(
    byteCount: Int,
    ofMessage limit: Int = Limits.datagramMessage
  ) -> Bool {
    guard count >= 2, Int(count) <= DatagramContent.maximumPieces, index < count else {
      return false
    }
    guard index == count - 1 else { return byteCount == Limits.datagramPiece }
    let before = Int(index) * Limits.datagramPiece
    return byteCount >= 1 && byteCount <= min(Limits.datagramPiece, limit - before)
  }

  /// Which bytes of a message this piece carries; empty for a place beyond its end.
  public func range(inMessageOf byteCount: Int) -> Range<Int> {
    let start = min(Int(index) * Limits.datagramPiece, byteCount)
    return start..<min(start + Limits.datagramPiece, byteCount)
  }
}

/// How one datagram message is cut into packets (DGM-6).
///
/// A collection of what goes before the bytes of each packet, so that a sender seals straight out of
/// the message.
public struct DatagramCut: RandomAccessCollection, Sendable {
  /// The message's length.
  public let byteCount: Int
  /// The number in the pieces, used only when there is more than one packet.
  public let id: UInt32
  /// Whether the message is between a member and a relay (11.5).
  public let isRelays: Bool

  /// The message is longer than 65,536 bytes (DGM-6), or 65,570 with the head of a relayed one.
  public struct TooLong: Error, Equatable, Sendable {}

  /// Plans the packets of a message.
  ///
  /// - Parameters:
  ///   - byteCount: The message's length.
  ///   - id: A number that the sender has not used lately.
  ///   - isRelays: Whether the message is between a member and a relay.
  /// - Throws: ``TooLong``.
  public init(byteCount: Int, id: UInt32, isRelays: Bool = false) throws(TooLong) {
    guard byteCount <= (isRelays ? Limits.relayDatagram : Limits.datagramMessage) else {
      throw TooLong()
    }
    self.byteCount = byteCount
    self.id = id
    self.isRelays = isRelays
  }

  /// The first packet's index.
  public var startIndex: Int { 0 }

  /// The number of packets, at least 1.
  public var endIndex: Int {
    byteCount <= DatagramContent.wholeMessage
      ? 1 : (byteCount + Limits.datagramPiece - 1) / Limits.datagramPiece
  }

  /// What goes before the bytes of one packet, and which bytes of the message they are.
  ///
  /// - Precondition: the position is less than `endIndex`.
  public subscript(position: Int) -> (content: DatagramContent, range: Range<Int>) {
    precondition(position >= 0 && position < endIndex, "no such packet")
    guard endIndex > 1 else { return (isRelays ? .relayMessage : .message, 0..<byteCount) }
    // At most 60 packets, checked by the initialiser.
    let piece = DatagramPiece(
      id: id,
      index: UInt8(truncatingIfNeeded: position),
      count: UInt8(truncatingIfNeeded: endIndex)
    )
    return (
      isRelays ? .relayPiece(piece) : .piece(piece),
      piece.range(inMessageOf: byteCount)
    )
  }
}
