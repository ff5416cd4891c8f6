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
