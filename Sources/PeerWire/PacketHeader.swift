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

/// Reads and appends fixed-width integers in big-endian byte order.
@usableFromInline enum BigEndian {
  @inlinable static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
    var shift = value.bitWidth
    while shift > 0 {
      shift -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  /// Reads a big-endian integer at `offset`.
  ///
  /// - Precondition: At least 8 bytes follow `offset`.
  @inlinable static func readUInt64(_ bytes: Span<UInt8>, at offset: Int) -> UInt64 {
    var value: UInt64 = 0
    for index in offset..<offset + 8 { value = value << 8 | UInt64(bytes[index]) }
    return value
  }

  /// Reads a big-endian integer at `offset`.
  ///
  /// - Precondition: At least 4 bytes follow `offset`.
  @inlinable static func readUInt32(_ bytes: Span<UInt8>, at offset: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in offset..<offset + 4 { value = value << 8 | UInt32(bytes[index]) }
    return value
  }
}
