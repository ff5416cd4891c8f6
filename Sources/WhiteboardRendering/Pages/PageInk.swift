/// A colour on a page and how little of what is behind it shows through, from 0 to 1.
package struct PageColor: Hashable, Sendable {
  /// `0xRRGGBB`.
  package let rgb: UInt32
  /// 1 covers what is behind.
  package let opacity: Double

  /// A colour; what is above its 24 bits does not count.
  package init(rgb: UInt32, opacity: Double = 1) {
    self.rgb = rgb & 0xFF_FFFF
    self.opacity = opacity
  }
}

/// The colours of a page: those of the board, as far as they can be seen on its paper.
package struct PageInk: Hashable, Sendable {
  /// `0xRRGGBB` of what is written without a colour of its own: black on light paper, white on dark.
  package let plain: UInt32
  private let paper: UInt32

  /// How much lighter one of two colours has to be for both to be told apart (WCAG's contrast).
  private static let leastContrast = 1.2

  /// The ink for some paper, `0xRRGGBB`; what lies open is taken for white.
  package init(paper: UInt32?) {
    self.paper = (paper ?? 0xFFFFFF) & 0xFF_FFFF
    plain = Self.luminance(self.paper) > 0.179 ? 0x000000 : 0xFFFFFF
  }

  /// The colour of an object, `0xRRGGBBAA`: its own, unless that is the paper's; black, which nobody chose on a
  /// dark terminal, is plain ink.
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

  /// How light a colour is, nearly: a square stands for sRGB's curve.
  private static func luminance(_ rgb: UInt32) -> Double {
    func square(_ shift: UInt32) -> Double {
      let channel = Double(rgb >> shift & 0xFF) / 255
      return channel * channel
    }
    return 0.2126 * square(16) + 0.7152 * square(8) + 0.0722 * square(0)
  }
}
