/// What colours look like on a page.
package struct PageInk {
  /// What has no colour of its own, and black: dark on light paper, light on dark.
  package let plain: UInt32

  /// The ink that shows on paper of this colour, `0xRRGGBB`; nil is taken to be light.
  package init(on paper: UInt32?) {
    let paper = paper ?? 0xFFFFFF
    let (red, green, blue) = (paper >> 16 & 0xFF, paper >> 8 & 0xFF, paper & 0xFF)
    // How bright it looks, in thousandths of 255.
    let brightness = 299 * red + 587 * green + 114 * blue
    plain = brightness > 127_500 ? 0x000000 : 0xFFFFFF
  }

  /// A colour of the board, `0xRRGGBBAA`, as it shows.
  package func color(_ rgba: UInt32?) -> (rgb: UInt32, opacity: Double) {
    guard let rgba else { return (plain, 1) }
    return (rgba >> 8 == 0 ? plain : rgba >> 8, Double(rgba & 0xFF) / 255)
  }

  /// The attributes that paint with a colour; what is seen through is one thing, however often it
  /// crosses itself.
  func paint(_ rgba: UInt32?, _ attribute: String) -> String {
    let (rgb, opacity) = color(rgba)
    let seen = opacity < 1 ? " opacity=\"\(XML.number(opacity))\"" : ""
    return "\(attribute)=\"\(XML.color(rgb))\"\(seen)"
  }
}
