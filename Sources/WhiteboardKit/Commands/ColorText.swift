/// The text form of colors: `#rrggbb` or `#rrggbbaa`.
package enum ColorText {
  /// Returns the text of a color `0xRRGGBBAA`, with eight digits.
  package static func text(_ color: UInt32) -> String {
    let digits = String(color, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }

  /// Returns the color `0xRRGGBBAA` of a text that ``text(_:)`` returned; nil for any other text.
  package static func rgba(of text: String) -> UInt32? {
    text.hasPrefix("#") && text.utf8.count == 9 ? UInt32(text.dropFirst(), radix: 16) : nil
  }
}

extension ColorText {
  /// Parses a color as `0xRRGGBBAA`; nil if the text is not a color.
  ///
  /// A color with six digits is opaque.
  static func color(_ text: some StringProtocol) -> UInt32? {
    guard text.utf8.first == UInt8(ascii: "#"), isColor(text.utf8.dropFirst()),
      let number = UInt32(text.dropFirst(), radix: 16)
    else { return nil }
    return text.utf8.count == 7 ? number << 8 | 0xFF : number
  }

  /// Returns whether the bytes after a `#` are the digits of a color.
  ///
  /// The digits must end at a space or at the end of the line.
  static func isColor(_ bytes: some Collection<UInt8>) -> Bool {
    let word = bytes.prefix(9).prefix { !CommandParser.isBlank($0) }
    return (word.count == 6 || word.count == 8) && word.allSatisfy(isHexadecimal)
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}
