/// A parser of colors in the notations that imported files use.
enum ColorNames {
  /// Returns the color `0xRRGGBBAA` for `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa` or one of a few names; nil for other
  /// text.
  static func color(_ text: String) -> UInt32? {
    if let known = names[text.lowercased()] { return known }
    guard text.utf8.first == UInt8(ascii: "#") else { return nil }
    var digits = Array(text.utf8.dropFirst())
    guard digits.allSatisfy(isHexadecimal) else { return nil }
    if digits.count == 3 || digits.count == 4 { digits = digits.flatMap { [$0, $0] } }
    guard digits.count == 6 || digits.count == 8,
      let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    return digits.count == 6 ? number << 8 | 0xFF : number
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  /// The color names that are accepted besides hexadecimal colors.
  private static let names: [String: UInt32] = [
    "transparent": 0, "black": 0x0000_00FF, "white": 0xFFFF_FFFF, "red": 0xFF00_00FF, "green": 0x0080_00FF,
    "blue": 0x0000_FFFF, "yellow": 0xFFFF_00FF, "orange": 0xFFA5_00FF, "purple": 0x8000_80FF, "pink": 0xFFC0_CBFF,
    "gray": 0x8080_80FF, "grey": 0x8080_80FF, "brown": 0xA52A_2AFF, "cyan": 0x00FF_FFFF, "magenta": 0xFF00_FFFF,
  ]
}
