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

/// Which of a terminal's colours is nearest to one of ours.
enum PaletteColor {
  /// The index in the palette of 256: of the cube of colours or the ramp of greys.
  static func index256(_ rgb: UInt32) -> UInt8 {
    let (red, green, blue) = channels(rgb)
    let cube = [red, green, blue].map(nearestStep)
    let grey = min(max(((red + green + blue) / 3 - 3) / 10, 0), 23)
    let greyValue = 8 + 10 * grey
    let cubeValues = cube.map { steps[$0] }
    let cubeDistance = distance((red, green, blue), (cubeValues[0], cubeValues[1], cubeValues[2]))
    let greyDistance = distance((red, green, blue), (greyValue, greyValue, greyValue))
    return greyDistance < cubeDistance
      ? UInt8(232 + grey) : UInt8(16 + 36 * cube[0] + 6 * cube[1] + cube[2])
  }

  /// The index among the sixteen.
  static func index16(_ rgb: UInt32) -> UInt8 {
    var best = 0
    var least = Int.max
    for (index, candidate) in sixteen.enumerated() {
      let distance = distance(channels(rgb), channels(candidate))
      if distance < least { (best, least) = (index, distance) }
    }
    return UInt8(best)
  }

  private static let steps = [0, 95, 135, 175, 215, 255]

  /// xterm's own, which most terminals come near to.
  private static let sixteen: [UInt32] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
    0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
  ]

  private static func channels(_ rgb: UInt32) -> (Int, Int, Int) {
    (Int(rgb >> 16 & 0xFF), Int(rgb >> 8 & 0xFF), Int(rgb & 0xFF))
  }

  private static func nearestStep(_ value: Int) -> Int {
    steps.indices.min { abs(steps[$0] - value) < abs(steps[$1] - value) } ?? 0
  }

  /// A distance that weighs green more, as eyes do.
  private static func distance(_ one: (Int, Int, Int), _ other: (Int, Int, Int)) -> Int {
    let (red, green, blue) = (one.0 - other.0, one.1 - other.1, one.2 - other.2)
    return 2 * red * red + 4 * green * green + 3 * blue * blue
  }
}
