/// How many colours a terminal shows.
package enum ColorDepth: String, Hashable, Sendable, CaseIterable {
  /// None: shapes and attributes must do.
  case none
  /// The sixteen of old.
  case sixteen = "16"
  /// The palette of 256.
  case palette = "256"
  /// All.
  case full = "24bit"
}

/// Which of a terminal's colours looks most like one of ours.
enum PaletteColor {
  /// The index in the palette of 256: of the cube of colours or the ramp of greys.
  ///
  /// The sixteen before them are whatever the person made them, and so are never chosen.
  static func index256(_ rgb: UInt32) -> UInt8 {
    UInt8(16 + nearest(rgb, among: fixed))
  }

  /// The index in the palette of sixteen colors.
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

  /// From 16 on: a cube of six steps, then 24 greys.
  static let fixedColors: [UInt32] = {
    let steps: [UInt32] = [0, 95, 135, 175, 215, 255]
    let cube = steps.flatMap { red in
      steps.flatMap { green in steps.map { blue in red << 16 | green << 8 | blue } }
    }
    return cube + (0..<24).map { (8 + 10 * $0) * 0x01_0101 }
  }()

  /// xterm's own, which most terminals come near to.
  static let sixteenColors: [UInt32] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
    0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
  ]
}
