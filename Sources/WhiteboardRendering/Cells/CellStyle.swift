/// The color of a cell: the terminal's default color or an RGB color.
package struct CellColor: Hashable, Sendable {
  /// The color `0xRRGGBB`, or all ones for the terminal's default.
  let bits: UInt32

  private init(bits: UInt32) { self.bits = bits }

  /// The terminal's default foreground or background color.
  package static let terminal = CellColor(bits: .max)

  package init(rgb: UInt32) { bits = rgb & 0xFF_FFFF }

  /// The color `0xRRGGBB`; nil for the terminal's default.
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

  /// The terminal's default style.
  package static let plain = CellStyle()
}

package struct ScreenCell: Hashable, Sendable {
  package var glyph: Glyph
  package var style: CellStyle

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

  /// Creates the glyph for an entry in the screen's table of clusters.
  init(cluster index: Int) { bits = Self.cluster | UInt32(truncatingIfNeeded: index) }

  /// The index in the screen's table of clusters; nil if the glyph is not a cluster.
  var clusterIndex: Int? { bits & Self.cluster == 0 ? nil : Int(bits & ~Self.cluster) }

  package static let space = Glyph(" ")
  /// The right half of the wide character in the previous cell.
  package static let continuation = Glyph(bits: 0)
  /// Returns the braille pattern whose dots are the set bits of `mask`, in Unicode's numbering.
  static func braille(_ mask: UInt8) -> Glyph { Glyph(bits: 0x2800 + UInt32(mask)) }
}
