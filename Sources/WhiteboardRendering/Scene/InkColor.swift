import Whiteboard

/// The background of a terminal, as far as it is known.
package enum Paper: String, Hashable, Sendable, CaseIterable {
  /// Not known: what is drawn must be seen on either.
  case unknown
  /// Light letters on a dark ground.
  case dark
  /// Dark letters on a light ground.
  case light

  /// How light a colour may be that is to be seen on it, from 0 to 1.
  fileprivate var lightness: ClosedRange<Double> {
    switch self {
    case .unknown: 0.45...0.93
    case .dark: 0.45...1
    case .light: 0...0.78
    }
  }
}

extension Paper {
  /// The ground of a colour, `0xRRGGBB`; nil is not known.
  package init(_ background: UInt32?) {
    guard let rgb = background else {
      self = .unknown
      return
    }
    // How light it is to the eye (ITU-R BT.601).
    let light = (rgb >> 16 & 0xFF) * 299 + (rgb >> 8 & 0xFF) * 587 + (rgb & 0xFF) * 114
    self = light < 128_000 ? .dark : .light
  }
}

/// The colours of a board as a terminal shows them.
enum InkColor {
  /// A colour of the board, `0xRRGGBBAA`.
  ///
  /// What has none of its own, and what is black or white or nearly, is as the terminal writes, so that
  /// it is seen on whatever ground; other colours are made lighter or darker where they would not be.
  static func shown(_ rgba: UInt32?, on paper: Paper) -> CellColor {
    guard let rgba else { return .terminal }
    let rgb = rgba >> 8
    let seen = PerceivedColor(rgb)
    let range = paper.lightness
    if range.contains(seen.lightness), !isPaper(seen) { return CellColor(rgb: rgb) }
    if isPaper(seen) { return .terminal }
    // Mixed with white or black in small steps until it is seen.
    let isDark = seen.lightness < range.lowerBound
    for share in 1...16 {
      let mixed = mixed(rgb, with: isDark ? 255 : 0, share: share)
      if range.contains(PerceivedColor(mixed).lightness) { return CellColor(rgb: mixed) }
    }
    return .terminal
  }

  /// Whether it is black or white, or nearly.
  private static func isPaper(_ color: PerceivedColor) -> Bool {
    color.chroma < 0.04 && !(0.3...0.95).contains(color.lightness)
  }

  private static func mixed(_ rgb: UInt32, with channel: Int, share: Int) -> UInt32 {
    [16, 8, 0].reduce(UInt32(0)) { result, shift in
      let own = Int(rgb >> UInt32(shift) & 0xFF)
      return result << 8 | UInt32((own * (16 - share) + channel * share) / 16)
    }
  }

  /// Which gaps a line has where there are no colours: one kind for each sixth of the wheel of hues.
  static func dashes(_ rgba: UInt32?) -> Dashes {
    guard let rgba, case let rgb = rgba >> 8, PerceivedColor(rgb).chroma >= 0.04 else {
      return .none
    }
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
