/// Base32 (RFC 4648) in lower case and without padding, which is the text form of every identifier.
///
/// Each byte sequence has exactly one text form. Decoding rejects capital letters, padding, white space and nonzero
/// unused bits.
public enum Base32 {
  /// The reason why a string is not valid base32.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The length of the string is impossible for base32, or differs from the expected length.
    case length(Int)
    /// The byte at this offset is not one of the 32 characters.
    case character(UInt8, at: Int)
    /// The unused bits of the last character are not zero.
    case trailingBits
  }

  /// Returns the number of base32 characters that encode `byteCount` bytes.
  @inlinable public static func length(ofBytes byteCount: Int) -> Int {
    byteCount / 5 * 8 + (byteCount % 5 * 8 + 4) / 5
  }

  /// Returns the base32 encoding of `bytes`.
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

  /// Returns the base32 encoding of `bytes`.
  public static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

  /// Decodes a base32 string.
  ///
  /// - Parameters:
  ///   - text: The UTF-8 bytes of the string. If `byteCount` is `nil`, the caller must limit their number.
  ///   - byteCount: The expected number of decoded bytes. It is checked before memory is allocated.
  /// - Returns: The decoded bytes.
  /// - Throws: ``DecodingError`` for every string that ``encode(_:)-([UInt8])`` cannot produce.
  public static func decode(_ text: Span<UInt8>, byteCount: Int? = nil) throws(DecodingError) -> [UInt8] {
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

  /// Decodes a base32 string.
  ///
  /// - Throws: ``DecodingError``, in the same cases as ``decode(_:byteCount:)-(Span<UInt8>,_)``.
  @inlinable public static func decode(_ text: some StringProtocol, byteCount: Int? = nil) throws(DecodingError)
    -> [UInt8]
  {
    try decode(Array(text.utf8).span, byteCount: byteCount)
  }
}
