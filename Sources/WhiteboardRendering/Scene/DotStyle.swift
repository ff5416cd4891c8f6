/// The characters that show the dots of a line.
package enum DotStyle: String, Hashable, Sendable, CaseIterable {
  /// Eight dots per cell, the finest style.
  case braille
  /// Two blocks per cell. Blocks are bolder than dots, and each block has one color.
  case half
  case ascii

  /// The dots per cell of this style.
  var grid: DotGrid { self == .half ? .halves : .fine }

  /// Returns the width of a line in dots of this style's grid; `dots` is its width in ``Viewport`` dots.
  ///
  /// Braille dots do not touch, so a line of one dot looks faint. Braille therefore widens thin lines to up to two
  /// dots. If the board is zoomed out, thin lines stay one dot wide, because wider lines would merge. ASCII draws lines
  /// below four dots as one dot, because characters can follow only the shape of thin lines.
  func breadth(_ dots: Double, limit: Double) -> Int {
    let wanted =
      switch self {
      case .braille: max(dots, min(1.6 * dots, 2))
      case .half: dots * grid.factor
      case .ascii: dots < 4 ? 1 : dots
      }
    return Int(min(max(wanted.rounded(), 1), limit))
  }

  /// Returns the cell that shows the dots at a position; nil if there are none.
  func cell(_ dots: DotLayer, _ x: Int, _ y: Int, on background: CellColor) -> ScreenCell? {
    switch self {
    case .braille:
      guard let (mask, color) = dots.cell(x, y) else { return nil }
      return ScreenCell(.braille(mask), CellStyle(color, on: background))
    case .ascii:
      guard let (mask, color) = dots.cell(x, y) else { return nil }
      return ScreenCell(Glyph(DotSign.sign(mask)), CellStyle(color, on: background))
    case .half:
      switch dots.halves(x, y) {
      case (let upper?, let lower?):
        if upper == lower { return ScreenCell(Glyph("█"), CellStyle(upper, on: background)) }
        // If one half has the terminal's default text color, draw that half as the character. The default text color
        // cannot be used as a background color.
        return upper == .terminal
          ? ScreenCell(Glyph("▀"), CellStyle(upper, on: lower)) : ScreenCell(Glyph("▄"), CellStyle(lower, on: upper))
      case (let upper?, nil): return ScreenCell(Glyph("▀"), CellStyle(upper, on: background))
      case (nil, let lower?): return ScreenCell(Glyph("▄"), CellStyle(lower, on: background))
      case (nil, nil): return nil
      }
    }
  }
}

/// A namespace for selecting the ASCII character whose shape is most similar to the dots of a cell.
enum DotSign {
  /// Returns the character for a braille mask with at least one dot.
  static func sign(_ mask: UInt8) -> Unicode.Scalar { signs[Int(mask)] }

  private static let signs: [Unicode.Scalar] = (0..<256).map { choose(UInt8($0)) }

  private static func choose(_ mask: UInt8) -> Unicode.Scalar {
    let left = rows(mask, [0x01, 0x02, 0x04, 0x40])
    let right = rows(mask, [0x08, 0x10, 0x20, 0x80])
    guard let leftTop = left.first, let leftEnd = left.last, let rightTop = right.first, let rightEnd = right.last
    else { return upright(left + right) }
    if mask.nonzeroBitCount >= 7 { return "#" }
    let (top, end) = (min(leftTop, rightTop), max(leftEnd, rightEnd))
    if end == top { return top == 3 ? "_" : "-" }
    if end == top + 1 { return top == 0 ? "'" : top == 1 ? "-" : "." }
    let hasCorner = max(left.count, right.count) >= 3 && !Set(left).isDisjoint(with: right)
    if hasCorner { return mask.nonzeroBitCount >= 6 ? "#" : "+" }
    if rightTop <= leftTop, rightEnd <= leftEnd { return "/" }
    if leftTop <= rightTop, leftEnd <= rightEnd { return "\\" }
    return mask.nonzeroBitCount >= 6 ? "#" : "+"
  }

  /// Returns the character for dots in a single column, given their rows.
  private static func upright(_ rows: [Int]) -> Unicode.Scalar {
    guard let top = rows.first, let end = rows.last else { return " " }
    if end - top >= 2 || (top, end) == (1, 2) { return "|" }
    return end <= 1 ? "'" : "."
  }

  private static func rows(_ mask: UInt8, _ bits: [UInt8]) -> [Int] { bits.indices.filter { mask & bits[$0] != 0 } }
}
