/// Unsigned LEB128 integers in their shortest encoding (`vint`, rule FRM-2).
public enum Varint {
  /// The maximum length of an encoded 64-bit integer in bytes.
  public static let maximumLength = 10

  /// The reason why bytes are not a valid integer.
  public enum DecodingError: Error, Equatable, Sendable {
    /// The encoding is longer than the value needs.
    case notShortest
    /// The value needs more than 64 bits.
    case overflow
  }

  /// Returns the length of the encoded `value` in bytes.
  @inlinable public static func length(of value: UInt64) -> Int {
    value < 0x80 ? 1 : (70 - (value | 1).leadingZeroBitCount) / 7
  }

  /// Appends the shortest encoding of `value`.
  @inlinable public static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Reads one integer at `offset` and moves `offset` past it.
  ///
  /// - Returns: The value; `nil`, with `offset` unchanged, if the bytes end before the end of the integer.
  /// - Throws: ``DecodingError`` as soon as the bytes cannot be the start of a valid integer.
  @inlinable public static func read(from bytes: Span<UInt8>, at offset: inout Int) throws(DecodingError) -> UInt64? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    var position = offset
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if shift == 63 && byte > 1 { throw .overflow }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 {
        if byte == 0 && shift > 0 { throw .notShortest }
        offset = position
        return value
      }
      shift += 7
    }
    return nil
  }
}
