/// How colours are written: `#rrggbb` or `#rrggbbaa`.
package enum ColorText {
  /// The colour with all eight digits.
  package static func text(_ color: UInt32) -> String {
    let digits = String(color, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Reads a colour as `0xRRGGBBAA`, opaque where it has six digits; nil if it is none.
  static func color(_ text: some StringProtocol) -> UInt32? {
    guard text.utf8.first == UInt8(ascii: "#"), isColor(text.utf8.dropFirst()),
      let number = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    return text.utf8.count == 7 ? number << 8 | 0xFF : number
  }

  /// Whether what stands after a `#` is a colour up to the next blank or the end.
  static func isColor(_ bytes: some Collection<UInt8>) -> Bool {
    let word = bytes.prefix(9).prefix { !CommandParser.isBlank($0) }
    return (word.count == 6 || word.count == 8) && word.allSatisfy(isHexadecimal)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}
