import Whiteboard

/// The background of a terminal, if it is known.
package enum Paper: String, Hashable, Sendable, CaseIterable {
  /// The background is unknown, so lines must be visible on light and dark backgrounds.
  case unknown
  case dark, light

  /// The range of lightness in which a color is visible on the background, from 0 to 1.
  fileprivate var lightness: ClosedRange<Double> {
    switch self {
    case .unknown: 0.45...0.93
    case .dark: 0.45...1
    case .light: 0...0.78
    }
  }
}

extension Paper {
  /// Classifies a background color `0xRRGGBB`; nil means that it is unknown.
  package init(_ background: UInt32?) {
    guard let rgb = background else {
      self = .unknown
      return
    }
    // The perceived brightness (ITU-R BT.601), times 1,000.
    let light = (rgb >> 16 & 0xFF) * 299 + (rgb >> 8 & 0xFF) * 587 + (rgb & 0xFF) * 114
    self = light < 128_000 ? .dark : .light
  }
}

enum InkColor {
  /// Returns the color that shows a board color `0xRRGGBBAA` on a terminal. A missing color, or a color close to black
  /// or white, becomes the terminal's default color, which is visible on every background. Other colors are made
  /// lighter or darker if they would not be visible.
  static func shown(_ rgba: UInt32?, on paper: Paper) -> CellColor {
    guard let rgba else { return .terminal }
    let rgb = rgba >> 8
    let seen = PerceivedColor(rgb)
    let range = paper.lightness
    if range.contains(seen.lightness), !isPaper(seen) { return CellColor(rgb: rgb) }
    if isPaper(seen) { return .terminal }
    // Mix the color with white or black in small steps until it is visible.
    let isDark = seen.lightness < range.lowerBound
    for share in 1...16 {
      let mixed = mixed(rgb, with: isDark ? 255 : 0, share: share)
      if range.contains(PerceivedColor(mixed).lightness) { return CellColor(rgb: mixed) }
    }
    return .terminal
  }

  /// The smallest difference in lightness between letters or lines and the fill behind them.
  private static let leastContrast = 0.25

  /// Returns a style whose foreground can be seen on its background: black or white if its own color cannot be seen.
  static func readable(_ style: CellStyle) -> CellStyle {
    guard let background = style.background.rgb else { return style }
    let ground = PerceivedColor(background).lightness
    if let rgb = style.foreground.rgb, abs(PerceivedColor(rgb).lightness - ground) >= leastContrast { return style }
    var readable = style
    readable.foreground = CellColor(rgb: ground > 0.6 ? 0x000000 : 0xFFFFFF)
    return readable
  }

  private static func isPaper(_ color: PerceivedColor) -> Bool {
    color.chroma < 0.04 && !(0.3...0.95).contains(color.lightness)
  }

  private static func mixed(_ rgb: UInt32, with channel: Int, share: Int) -> UInt32 {
    [16, 8, 0].reduce(UInt32(0)) { result, shift in
      let own = Int(rgb >> UInt32(shift) & 0xFF)
      return result << 8 | UInt32((own * (16 - share) + channel * share) / 16)
    }
  }

  /// Returns the pattern of gaps that replaces a line's color on a terminal without colors. Each sixth of the color
  /// wheel has its own pattern.
  static func dashes(_ rgba: UInt32?) -> Dashes {
    guard let rgba, case let rgb = rgba >> 8, PerceivedColor(rgb).chroma >= 0.04 else { return .none }
    let (red, green, blue) = (rgb >> 16 & 0xFF, rgb >> 8 & 0xFF, rgb & 0xFF)
    return switch (red >= green, green >= blue, blue >= red) {
    case (true, true, _): Dashes(bits: 0xFF, count: 12)
    case (false, true, false): Dashes(bits: 0xF, count: 8)
    case (false, true, true): Dashes(bits: 0x3, count: 6)
    case (false, false, _): Dashes(bits: 0x30FF, count: 18)
    case (true, false, true): Dashes(bits: 0x3FFF, count: 18)
    case (true, false, false): Dashes(bits: 0xC_30FF, count: 24)
    }
  }
}
