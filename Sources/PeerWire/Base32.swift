/// Base32 of RFC 4648 in lower case and without padding, the text form of every identifier.
///
/// One value has one text: capitals, padding, white space and bits left over are refused.
public enum Base32 {
  /// The reason why a text is not base32.
  public enum DecodingError: Error, Equatable, Sendable {
    /// No number of bytes has a text of this length, or not the number that was asked for.
    case length(Int)
    /// A byte that is not one of the 32 characters, and where.
    case character(UInt8, at: Int)
    /// The last character carries bits that belong to no byte.
    case trailingBits
  }

  /// Returns the number of characters for `byteCount` bytes.
  @inlinable
  public static func length(ofBytes byteCount: Int) -> Int {
    byteCount / 5 * 8 + (byteCount % 5 * 8 + 4) / 5
  }

  /// Writes bytes as text.
  public static func encode(_ bytes: Span<UInt8>) -> String {
    String(unsafeUninitializedCapacity: length(ofBytes: bytes.count)) { text in
      var accumulator: UInt32 = 0
      var bits: UInt32 = 0
      var count = 0
      func append(_ digit: UInt32) {
        text[count] = UInt8(truncatingIfNeeded: digit < 26 ? digit + 0x61 : digit - 26 + 0x32)
        count += 1
      }
      for index in 0..<bytes.count {
        accumulator = (accumulator & 0x1F) << 8 | UInt32(bytes[index])
        bits += 8
        while bits >= 5 {
          bits -= 5
          append(accumulator >> bits & 0x1F)
        }
      }
      if bits > 0 { append(accumulator << (5 - bits) & 0x1F) }
      return count
    }
  }

  /// Writes bytes as text.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// Reads a text.
  ///
  /// - Parameters:
  ///   - text: The characters; a caller bounds them by `byteCount` or before.
  ///   - byteCount: How many bytes it must be; checked before anything is allocated.
  /// - Returns: The bytes.
  /// - Throws: ``DecodingError`` for every text that ``encode(_:)-([UInt8])`` does not write.
  public static func decode(
    _ text: Span<UInt8>,
    byteCount: Int? = nil
  ) throws(DecodingError) -> [UInt8] {
    if let byteCount, text.count != length(ofBytes: byteCount) { throw .length(text.count) }
    switch text.count % 8 {
    case 1, 3, 6: throw .length(text.count)
    default: break
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 8 * 5 + 4)
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    for index in 0..<text.count {
      let digit: UInt32
      switch text[index] {
      case 0x61...0x7A: digit = UInt32(text[index]) - 0x61
      case 0x32...0x37: digit = UInt32(text[index]) - 0x32 + 26
      case let other: throw .character(other, at: index)
      }
      accumulator = (accumulator & 0xFF) << 5 | digit
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> bits))
      }
    }
    guard accumulator & ((1 << bits) - 1) == 0 else { throw .trailingBits }
    return bytes
  }

  /// Reads a text.
  ///
  /// - Throws: ``DecodingError``, as ``decode(_:byteCount:)-(Span<UInt8>,_)`` does.
  public static func decode(
    _ text: String,
    byteCount: Int? = nil
  ) throws(DecodingError) -> [UInt8] {
    try decode(text.utf8Span.span, byteCount: byteCount)
  }
}
