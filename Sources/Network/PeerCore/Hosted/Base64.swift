package enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    return values
  }()

  package static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    append(bytes[...], to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  package static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
    // Reserve room for some bytes that the caller appends after the base64 text. Otherwise, appending the first of them
    // would double the capacity.
    text.reserveCapacity(text.count + (bytes.count + 2) / 3 * 4 + min(bytes.count, 4096))
    var start = bytes.startIndex
    while start + 3 <= bytes.endIndex {
      let bits = Int(bytes[start]) << 16 | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2])
      text.append(digits[bits >> 18])
      text.append(digits[bits >> 12 & 63])
      text.append(digits[bits >> 6 & 63])
      text.append(digits[bits & 63])
      start += 3
    }
    guard start < bytes.endIndex else { return }
    let second = start + 1 < bytes.endIndex ? Int(bytes[start + 1]) : nil
    let bits = Int(bytes[start]) << 16 | (second ?? 0) << 8
    text.append(digits[bits >> 18])
    text.append(digits[bits >> 12 & 63])
    text.append(second == nil ? padding : digits[bits >> 6 & 63])
    text.append(padding)
  }

  /// Decodes base64 text; the padding is optional. Returns nil if the text is malformed.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let all = Array(text.utf8)
    let padded = all.suffix(2).count { $0 == padding }
    let digits = all.dropLast(padded)
    guard digits.count % 4 != 1, padded == 0 || all.count % 4 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for digit in digits {
      let value = values[Int(digit)]
      guard value < 64 else { return nil }
      bits = (bits << 6 | UInt32(value)) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      }
    }
    return bytes
  }

  /// Decodes canonical base64 text with padding; returns nil if the text has another form, or more than `maximum`
  /// bytes.
  package static func decodeCanonical(_ text: String, maximum: Int) -> [UInt8]? {
    guard text.utf8.count <= (maximum + 2) / 3 * 4, let bytes = decode(text), bytes.count <= maximum,
      encode(bytes) == text
    else { return nil }
    return bytes
  }
}
