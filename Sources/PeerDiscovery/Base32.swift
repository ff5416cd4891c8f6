/// Base32 of RFC 4648 in lower case and without padding, the text form of every identifier.
enum Base32 {
  private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Returns the number of base32 characters that encode `byteCount` bytes.
  static func length(ofBytes byteCount: Int) -> Int { (byteCount * 8 + 4) / 5 }

  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(length(ofBytes: bytes.count))
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    for byte in bytes {
      accumulator = (accumulator & 0x1f) << 8 | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int(accumulator >> bits & 0x1f)])
      }
    }
    if bits > 0 { text.append(alphabet[Int(accumulator << (5 - bits) & 0x1f)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a text to exactly `byteCount` bytes; returns nil if it is not their canonical text.
  ///
  /// Upper-case letters, padding, a wrong length and unused bits that are not zero are invalid, so
  /// every value has exactly one text.
  static func decode(_ text: some Sequence<UInt8>, byteCount: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(byteCount)
    var accumulator: UInt32 = 0
    var bits: UInt32 = 0
    var count = 0
    let expected = length(ofBytes: byteCount)
    for character in text {
      count += 1
      guard count <= expected, let digit = digit(character) else { return nil }
      accumulator = (accumulator & 0xff) << 5 | digit
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: accumulator >> bits))
      }
    }
    guard count == expected, accumulator & ((1 << bits) - 1) == 0 else { return nil }
    return bytes
  }

  private static func digit(_ character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a"))
    case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(character - UInt8(ascii: "2")) + 26
    default: nil
    }
  }
}
