/// The clear head of a sealed packet, which is also its associated data (`Protocol/session.md`, 7).
public struct PacketHeader: Equatable, Sendable {
  /// The only version of packets so far.
  public static let version: UInt8 = 1
  /// Bytes in a head.
  public static let length = 18
  /// Bytes in the tag behind the sealed part.
  public static let tagLength = 16
  /// Bytes in the shortest packet: the head, a kind and the tag (DGM-2).
  public static let minimumPacket = length + 1 + tagLength
  /// Bytes in the longest packet that is looked at (DGM-2).
  public static let maximumPacket = 1_500

  /// Which of the link's successive keys seals the packet (DGM-1).
  public var epoch: UInt8
  /// Which link and direction the packet belongs to: the 8 bytes of 7.1, most significant first.
  public var keyID: UInt64
  /// The packet's number within its epoch.
  public var counter: UInt64

  /// The reason why a datagram is dropped unopened.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The packet has fewer than 35 bytes or more than 1,500.
    case length(Int)
    /// Another version.
    case version(UInt8)
  }

  /// Creates a head.
  @inlinable
  public init(epoch: UInt8, keyID: UInt64, counter: UInt64) {
    self.epoch = epoch
    self.keyID = keyID
    self.counter = counter
  }

  /// Reads the head of a whole datagram; the sealed part and the tag follow it.
  ///
  /// - Throws: ``DecodingError``; the datagram is then dropped silently.
  @inlinable
  public static func read(packet: Span<UInt8>) throws(DecodingError) -> PacketHeader {
    guard packet.count >= minimumPacket, packet.count <= maximumPacket else {
      throw .length(packet.count)
    }
    guard packet[0] == version else { throw .version(packet[0]) }
    return PacketHeader(
      epoch: packet[1],
      keyID: BigEndian.readUInt64(packet, at: 2),
      counter: BigEndian.readUInt64(packet, at: 10)
    )
  }

  /// Appends the head.
  @inlinable
  public func append(to bytes: inout [UInt8]) {
    bytes.append(Self.version)
    bytes.append(epoch)
    BigEndian.append(keyID, to: &bytes)
    BigEndian.append(counter, to: &bytes)
  }
}

/// Integers of fixed width, most significant byte first.
@usableFromInline
enum BigEndian {
  @inlinable
  static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    var shift = value.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// - Precondition: 8 bytes are there.
  @inlinable
  static func readUInt64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in offset..<offset + 8 { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  /// - Precondition: 4 bytes are there.
  @inlinable
  static func readUInt32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in offset..<offset + 4 { value = value << 8 | UInt32(bytes[index]) }
    return value
  }
}
