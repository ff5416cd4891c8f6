/// The color of a cell: the terminal's default color or an RGB color.
package struct CellColor: Hashable, Sendable {
  /// The color `0xRRGGBB`, or all ones for the terminal's default.
  let bits: UInt32

  private init(bits: UInt32) { self.bits = bits }

  package static let terminal = CellColor(bits: .max)

  package init(rgb: UInt32) { bits = rgb & 0xFF_FFFF }

  package var rgb: UInt32? { bits == .max ? nil : bits }
}

package struct CellStyle: Hashable, Sendable {
  package struct Attributes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let underlined = Attributes(rawValue: 4)
    package static let reversed = Attributes(rawValue: 8)
  }

  package var foreground: CellColor
  package var background: CellColor
  package var attributes: Attributes

  /// Without arguments, the style is the terminal's default.
  package init(_ foreground: CellColor = .terminal, on background: CellColor = .terminal, _ attributes: Attributes = [])
  {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  package static let plain = CellStyle()
}

package struct ScreenCell: Hashable, Sendable {
  package var glyph: Glyph
  package var style: CellStyle
  /// The number of the cell's address in the screen's table of links, from 1; 0 if the cell has no link.
  var link: UInt16 = 0

  package init(_ glyph: Glyph = .space, _ style: CellStyle = .plain) {
    self.glyph = glyph
    self.style = style
  }
}

/// The glyph of a cell: a code point, a cluster of code points in a ``Screen``, or the right half of a wide character.
package struct Glyph: Hashable, Sendable {
  let bits: UInt32
  private static let cluster: UInt32 = 1 << 31

  init(bits: UInt32) { self.bits = bits }

  /// Creates the glyph of one code point, which must be printable and one column wide.
  init(_ scalar: Unicode.Scalar) { bits = scalar.value }

  init(cluster index: Int) { bits = Self.cluster | UInt32(truncatingIfNeeded: index) }

  var clusterIndex: Int? { bits & Self.cluster == 0 ? nil : Int(bits & ~Self.cluster) }

  package static let space = Glyph(" ")
  /// The right half of the wide character in the previous cell.
  package static let continuation = Glyph(bits: 0)
  /// Returns the braille pattern whose dots are the set bits of `mask`, in Unicode's numbering.
  static func braille(_ mask: UInt8) -> Glyph { Glyph(bits: 0x2800 + UInt32(mask)) }
}

package enum ColorDepth: String, Hashable, Sendable, CaseIterable {
  /// No colors, only shapes and attributes.
  case none
  case sixteen = "16"
  case palette = "256"
  case full = "24bit"
}

/// A namespace for finding the palette color that looks most like a given color.
enum PaletteColor {
  /// Returns the index in the 256-color palette: in its color cube or its gray ramp. The first 16 colors are never
  /// chosen, because users can redefine them.
  static func index256(_ rgb: UInt32) -> UInt8 { UInt8(16 + nearest(rgb, among: fixed)) }

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

  /// The default colors of xterm, which are similar to the default colors of most terminals.
  static let sixteenColors: [UInt32] = [
    0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5, 0x7F7F7F, 0xFF0000, 0x00FF00,
    0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF,
  ]
}

/// A color in the Oklab space (Björn Ottosson 2020), in which equal distances look about equally large.
struct PerceivedColor: Hashable, Sendable {
  /// The lightness, from 0 (black) to 1 (white).
  let lightness: Double
  /// The position between green (negative) and red (positive).
  let a: Double
  /// The position between blue (negative) and yellow (positive).
  let b: Double

  init(_ rgb: UInt32) {
    let red = Self.linear[Int(rgb >> 16 & 0xFF)]
    let green = Self.linear[Int(rgb >> 8 & 0xFF)]
    let blue = Self.linear[Int(rgb & 0xFF)]
    let long = Self.cubeRoot(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
    let medium = Self.cubeRoot(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
    let short = Self.cubeRoot(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
    lightness = 0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short
    a = 1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short
    b = 0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short
  }

  var chroma: Double { (a * a + b * b).squareRoot() }

  func squareDistance(to other: PerceivedColor) -> Double {
    let (l, a, b) = (lightness - other.lightness, a - other.a, b - other.b)
    return l * l + a * a + b * b
  }

  private static let linear: [Double] = (0...255).map { value in
    let share = Double(value) / 255
    guard share > 0.04045 else { return share / 12.92 }
    let base = (share + 0.055) / 1.055
    // Compute base^2.4 as base² times the fifth root of base². Newton's method finds the root.
    var root = 1.0
    for _ in 0..<60 {
      let fourth = root * root * root * root
      root -= (fourth * root - base * base) / (5 * fourth)
    }
    return base * base * root
  }

  private static func cubeRoot(_ value: Double) -> Double {
    guard value > 0 else { return 0 }
    // Start with a third of the exponent; each Newton step doubles the number of correct digits.
    var root = Double(bitPattern: value.bitPattern / 3 + 0x2A9F_7893 << 32)
    for _ in 0..<4 { root -= (root - value / (root * root)) / 3 }
    return root
  }
}
