/// The colours of a page: those of the board, as far as they can be seen on its paper.
struct PageInk: Hashable, Sendable {
  /// A colour and its opacity, each from 0 to 1.
  struct Color: Hashable, Sendable {
    let red: Double
    let green: Double
    let blue: Double
    let opacity: Double

    /// A colour `0xRRGGBB`.
    init(rgb: UInt32, opacity: Double = 1) {
      red = Double(rgb >> 16 & 0xFF) / 255
      green = Double(rgb >> 8 & 0xFF) / 255
      blue = Double(rgb & 0xFF) / 255
      self.opacity = opacity
    }
  }

  /// `0xRRGGBB` of what is written without a colour of its own: black on light paper, white on dark.
  let plain: UInt32
  private let paper: UInt32

  /// How much lighter one of two colours has to be for both to be told apart (WCAG's contrast).
  private static let leastContrast = 1.2

  /// The ink for some paper; what lies open is taken for white.
  init(paper: UInt32?) {
    self.paper = (paper ?? 0xFFFFFF) & 0xFF_FFFF
    plain = Self.luminance(self.paper) > 0.179 ? 0x000000 : 0xFFFFFF
  }

  /// The colour of an object, `0xRRGGBBAA`: its own, unless that is the paper's; black, which nobody chose on a
  /// dark terminal, is plain ink.
  func color(_ rgba: UInt32?) -> Color {
    guard let rgba else { return Color(rgb: plain) }
    let rgb = rgba >> 8
    let isPlain = rgb == 0 || Self.contrast(rgb, paper) < Self.leastContrast
    return Color(rgb: isPlain ? plain : rgb, opacity: Double(rgba & 0xFF) / 255)
  }

  private static func contrast(_ one: UInt32, _ other: UInt32) -> Double {
    let (first, second) = (luminance(one), luminance(other))
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
  }

  /// How light a colour is, nearly: a square stands for sRGB's curve.
  private static func luminance(_ rgb: UInt32) -> Double {
    let color = Color(rgb: rgb)
    return 0.2126 * color.red * color.red + 0.7152 * color.green * color.green
      + 0.0722 * color.blue * color.blue
  }
}
