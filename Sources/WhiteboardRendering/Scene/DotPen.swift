/// The pen that draws lines of dots, with its width, color and gaps.
struct DotPen: Sendable {
  /// The width of the line in dots, for each pen pressure.
  let breadths: PenBreadth
  /// The pen's color, as returned by ``DotLayer/dot(_:)``.
  let color: UInt32
  /// The gaps in the pen's lines.
  var dashes = Dashes.none
}

/// The width of a pen's line in dots.
struct PenBreadth: Sendable {
  /// The width on the board, in dots of a ``Viewport``.
  let dots: Double
  let style: DotStyle

  /// The maximum width of a line in dots.
  private static let limit = 256.0

  /// The width at a pen pressure; 0 means that the pressure is unknown.
  subscript(pressure: UInt8) -> Int { style.breadth(dots * InkCurve.breadth(atPressure: pressure), limit: Self.limit) }
}

/// The gaps that distinguish lines if there are no colors.
struct Dashes: Hashable, Sendable {
  /// The pattern, from the lowest bit: a set bit is a dot that is drawn.
  let bits: UInt32
  /// The number of bits in the pattern, which repeats.
  let count: Int

  static let none = Dashes(bits: 1, count: 1)

  /// Returns whether the line is drawn at this distance from its start, in dots.
  func isDrawn(at distance: Double) -> Bool { bits >> UInt32(Int(min(distance, 1e9)) % count) & 1 == 1 }
}

/// The tip of a pen: the dots of a disc.
struct Nib: Sendable {
  /// The diameter in dots.
  let breadth: Int
  /// The offset to add to a coordinate; truncating the sum gives the first dot of the nib.
  ///
  /// Points are often exactly between dots, because a mouse reports cells. The added quarter of a dot, or half a dot
  /// for a nib of even width, avoids a single protruding dot at the end of a round shape. The large constant makes
  /// every coordinate in view positive, so that truncation rounds down.
  let bias: Double
  /// The columns of each row, for a nib wider than two dots.
  let rows: [Range<Int>]

  static let origin = 1 << 31

  init(breadth: Int) {
    self.breadth = breadth
    bias = Double(Self.origin) - Double(breadth) / 2 + (breadth % 2 == 0 ? 0.5 : 0.75)
    guard breadth > 2 else {
      rows = []
      return
    }
    let middle = Double(breadth - 1) / 2
    let square = Double(breadth * breadth) / 4
    rows = (0..<breadth).map { row in
      let down = Double(row) - middle
      let reach = (square - down * down).squareRoot()
      return Int((middle - reach).rounded(.up))..<Int((middle + reach).rounded(.down)) + 1
    }
  }

  /// The distance between two imprints of the nib, short enough for smooth edges.
  var spacing: Double { max(1, Double(breadth) / 8) }
}
