/// The colors that a terminal can show.
package enum ColorDepth: String, Hashable, Sendable, CaseIterable {
  /// No colors, only shapes and attributes.
  case none
  /// The 16 ANSI colors.
  case sixteen = "16"
  /// The palette of 256 colors.
  case palette = "256"
  /// All 24-bit colors.
  case full = "24bit"
}

/// A namespace for finding the palette color that looks most like a given color.
enum PaletteColor {
  /// Returns the index in the 256-color palette: in its color cube or its gray ramp.
  ///
  /// The first 16 colors are never chosen, because users can redefine them.
  static func index256(_ rgb: UInt32) -> UInt8 { UInt8(16 + nearest(rgb, among: fixed)) }

  /// Returns the index in the palette of sixteen colors.
  static func index16(_ rgb: UInt32) -> UInt8 { UInt8(nearest(rgb, among: sixteen)) }

  private static func nearest(_ rgb: UInt32, among colors: [PerceivedColor]) -> Int {
    let wanted = PerceivedColor(rgb)
    var (best, least) = (0, Double.infinity)
    for index in colors.indices {
      let distance = wanted.squareDistance(to: colors[index])
      if distance < least { (best, least) = (index, distance) }
    }
    return best
  }

  private static let fixed = fixedColors.map { PerceivedColor($0) }
  private static let sixteen = sixteenColors.map { PerceivedColor($0) }

  /// The colors with index 16 and above: a color cube with six steps per channel, then 24 grays.
  static let fixedColors: [UInt32] = {
    let steps: [UInt32] = [0, 95, 135, 175, 215, 255]
    let cube = steps.flatMap { red in steps.flatMap { green in steps.map { blue in red << 16 | green << 8 | blue } } }
    return cube + (0..<24).map { (8 + 10 * $0) * 0x01_0101 }
  }()

  /// The default colors of xterm, which are similar to those of most terminals.
  static let sixteenColors: [UInt32] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
    0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
  ]
}
