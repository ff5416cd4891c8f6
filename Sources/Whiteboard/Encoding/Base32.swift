/// Base32 coding of bytes (RFC 4648), in lower case and without padding.
///
/// Only the canonical form is accepted.
package enum Base32 {
  private static let alphabet: [UInt8] = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

  /// Returns the base32 text of `bytes`.
  ///
  /// Unused bits of the last character are zero.
  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 8 + 4) / 5)
    var buffer: UInt32 = 0
    var bits = 0
    for byte in bytes {
      buffer = (buffer << 8) | UInt32(byte)
      bits += 8
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[Int((buffer >> UInt32(bits)) & 31)])
      }
      buffer &= (1 << UInt32(bits)) - 1
    }
    if bits > 0 {
      text.append(alphabet[Int((buffer << UInt32(5 - bits)) & 31)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes `count` bytes; nil if `text` is not their canonical base32 text.
  package static func decode(_ text: some StringProtocol, count: Int) -> [UInt8]? {
    let characters = text.utf8
    guard characters.count == (count * 8 + 4) / 5 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var buffer: UInt32 = 0
    var bits = 0
    for character in characters {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): digit = character - UInt8(ascii: "a")
      case UInt8(ascii: "2")...UInt8(ascii: "7"): digit = character - UInt8(ascii: "2") + 26
      default: return nil
      }
      buffer = (buffer << 5) | UInt32(digit)
      bits += 5
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        buffer &= (1 << UInt32(bits)) - 1
      }
    }
    guard buffer == 0, bytes.count == count else { return nil }
    return bytes
  }
}
