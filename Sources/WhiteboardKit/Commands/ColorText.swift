/// The text form of colors: `#rrggbb` or `#rrggbbaa`.
package enum ColorText {
  /// Returns the text of a color `0xRRGGBBAA`, with eight digits.
  package static func text(_ color: UInt32) -> String {
    let digits = String(color, radix: 16)
    return "#" + String(repeating: "0", count: 8 - digits.count) + digits
  }
}
