/// A colour of a cell: the terminal's own, or one of ours.
package struct CellColor: Hashable, Sendable {
  /// `0xRRGGBB`, or all ones for the terminal's own.
  let bits: UInt32

  private init(bits: UInt32) { self.bits = bits }

  /// The terminal's own foreground or background.
  package static let terminal = CellColor(bits: .max)

  /// The colour `0xRRGGBB`.
  package init(rgb: UInt32) { bits = rgb & 0xFF_FFFF }

  /// The colour `0xRRGGBB`; nil for the terminal's own.
  package var rgb: UInt32? { bits == .max ? nil : bits }
}

/// How a cell looks.
package struct CellStyle: Hashable, Sendable {
  /// The attributes of a cell other than its colors.
  package struct Attributes: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let bold = Attributes(rawValue: 1)
    package static let dim = Attributes(rawValue: 2)
    package static let underlined = Attributes(rawValue: 4)
    package static let reversed = Attributes(rawValue: 8)
  }

  /// The colour of the character.
  package var foreground: CellColor
  /// The colour behind it.
  package var background: CellColor
  /// The other attributes.
  package var attributes: Attributes

  /// As the terminal writes by itself, unless said otherwise.
  package init(
    _ foreground: CellColor = .terminal,
    on background: CellColor = .terminal,
    _ attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// As the terminal writes by itself.
  package static let plain = CellStyle()
}

/// One place of the screen.
package struct Cell: Hashable, Sendable {
  /// The glyph of the cell.
  package var glyph: Glyph
  /// How it looks.
  package var style: CellStyle

  package init(_ glyph: Glyph = .space, _ style: CellStyle = .plain) {
    self.glyph = glyph
    self.style = style
  }
}

/// The glyph of a cell: a code point, a cluster of a ``Screen``, or the right half of a wide
/// character.
package struct Glyph: Hashable, Sendable {
  let bits: UInt32

  private static let cluster: UInt32 = 1 << 31

  init(bits: UInt32) { self.bits = bits }

  /// One code point of one column that a terminal shows as it is.
  init(_ scalar: Unicode.Scalar) { bits = scalar.value }

  /// The entry of that index in the screen's table of clusters.
  init(cluster index: Int) { bits = Self.cluster | UInt32(truncatingIfNeeded: index) }

  /// The index in the table of clusters.
  var clusterIndex: Int? { bits & Self.cluster == 0 ? nil : Int(bits & ~Self.cluster) }

  /// Nothing.
  package static let space = Glyph(" ")
  /// The right half of the wide character before it.
  package static let continuation = Glyph(bits: 0)
  /// The pattern of eight dots whose bits are set, as Unicode numbers them.
  static func braille(_ mask: UInt8) -> Glyph { Glyph(bits: 0x2800 + UInt32(mask)) }
}
