/// What the dots of a line become.
package enum DotStyle: String, Hashable, Sendable, CaseIterable {
  /// Eight dots a cell: the finest.
  case braille
  /// Two blocks a cell: bolder, and with a colour each.
  case half
  /// Letters and signs that every terminal has.
  case ascii

  /// The cell that shows these dots, or nil where there are none.
  func cell(_ dots: DotLayer, _ x: Int, _ y: Int, on background: CellColor) -> Cell? {
    guard let (mask, color) = dots.cell(x, y) else { return nil }
    switch self {
    case .braille: return Cell(.braille(mask), CellStyle(color, on: background))
    case .ascii: return Cell(Glyph(Self.sign(mask)), CellStyle(color, on: background))
    case .half:
      switch (dots.half(x, y, isUpper: true), dots.half(x, y, isUpper: false)) {
      case (let upper?, let lower?):
        if upper == lower { return Cell(Glyph("█"), CellStyle(upper, on: background)) }
        // A half in the terminal's own colour must be the character, for no background is that.
        return upper == .terminal
          ? Cell(Glyph("▀"), CellStyle(upper, on: lower))
          : Cell(Glyph("▄"), CellStyle(lower, on: upper))
      case (let upper?, nil): return Cell(Glyph("▀"), CellStyle(upper, on: background))
      case (nil, let lower?): return Cell(Glyph("▄"), CellStyle(lower, on: background))
      case (nil, nil): return nil
      }
    }
  }

  /// The sign whose ink lies most like the dots.
  private static func sign(_ mask: UInt8) -> Unicode.Scalar {
    let (left, right) = (mask & 0x47, mask & 0xB8)
    let (top, bottom) = (mask & 0x09, mask & 0xC0)
    switch mask.nonzeroBitCount {
    case 6...: return "#"
    case _ where left == 0 || right == 0:
      if mask.nonzeroBitCount >= 3 { return "|" }
      if bottom == 0, top != 0 { return "'" }
      return top == 0 ? (mask & 0x36 != 0 && bottom == 0 ? "-" : ".") : ":"
    case _ where mask & 0xE4 == 0: return mask & 0x12 == 0 ? "\"" : "-"
    case _ where mask & 0x1B == 0: return mask & 0x24 == 0 ? "_" : "-"
    case _ where isRising(mask): return "/"
    case _ where isRising(mirrored(mask)): return "\\"
    default: return mask.nonzeroBitCount >= 4 ? "*" : "+"
    }
  }

  /// Whether all dots on the right are above those on the left.
  private static func isRising(_ mask: UInt8) -> Bool {
    let left = rows(mask & 0x47, [0x01, 0x02, 0x04, 0x40])
    let right = rows(mask & 0xB8, [0x08, 0x10, 0x20, 0x80])
    guard let highest = left.min(), let lowest = right.max() else { return false }
    return lowest <= highest && (right.min() ?? 0) < (left.max() ?? 0)
  }

  private static func rows(_ mask: UInt8, _ bits: [UInt8]) -> [Int] {
    bits.indices.filter { mask & bits[$0] != 0 }
  }

  private static func mirrored(_ mask: UInt8) -> UInt8 {
    let pairs: [(UInt8, UInt8)] = [(0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80)]
    return pairs.reduce(0) { result, pair in
      result | (mask & pair.0 != 0 ? pair.1 : 0) | (mask & pair.1 != 0 ? pair.0 : 0)
    }
  }
}
