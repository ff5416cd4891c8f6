package struct PageColor: Hashable, Sendable {
  package let rgb: UInt32
  /// The opacity from 0 (transparent) to 1 (opaque).
  package let opacity: Double

  /// Creates a color from the lower 24 bits of `rgb`.
  package init(rgb: UInt32, opacity: Double = 1) {
    self.rgb = rgb & 0xFF_FFFF
    self.opacity = opacity
  }
}

/// The colors of a page: those of the board, adapted to be visible on the background.
package struct PageInk: Hashable, Sendable {
  /// The color `0xRRGGBB` for objects without a color: black on a light background, white on a dark one.
  package let plain: UInt32
  private let paper: UInt32

  /// The minimum contrast between an object and the background, as defined by WCAG.
  private static let leastContrast = 1.2

  /// Creates the colors for a background `0xRRGGBB`; nil is treated as white.
  package init(paper: UInt32?) {
    self.paper = (paper ?? 0xFFFFFF) & 0xFF_FFFF
    plain = Self.luminance(self.paper) > 0.179 ? 0x000000 : 0xFFFFFF
  }

  /// Colors with too little contrast to the background become ``plain``.
  ///
  /// Black becomes ``plain`` too, because terminals also show it in their default text color.
  package func color(_ rgba: UInt32?) -> PageColor {
    guard let rgba else { return PageColor(rgb: plain) }
    let rgb = rgba >> 8
    let isPlain = rgb == 0 || Self.contrast(rgb, paper) < Self.leastContrast
    return PageColor(rgb: isPlain ? plain : rgb, opacity: Double(rgba & 0xFF) / 255)
  }

  private static func contrast(_ one: UInt32, _ other: UInt32) -> Double {
    let (first, second) = (luminance(one), luminance(other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  /// Returns the approximate luminance of a color; squares replace the exact sRGB curve.
  private static func luminance(_ rgb: UInt32) -> Double {
    func square(_ shift: UInt32) -> Double {
      let channel = Double(rgb >> shift & 0xFF) / 255
      return channel * channel
    }
    return 0.2126 * square(16) + 0.7152 * square(8) + 0.0722 * square(0)
  }
}
