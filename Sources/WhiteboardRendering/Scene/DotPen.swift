/// The pen that draws lines of dots, with its width, color and gaps.
struct DotPen: Sendable {
  /// How broad a line is, in dots, where a pen was pressed so hard.
  let breadths: PenBreadth
  /// The result of ``DotLayer/dot(_:)`` for a color.
  let color: UInt32
  /// The longest stretch that a hand draws between two points (``InkCurve/stretch``), in dots.
  let stretch: Double
  /// The gaps in its lines.
  var dashes = Dashes.none
}

/// How many dots broad a pen draws.
struct PenBreadth: Sendable {
  /// Its breadth in dots of a ``Viewport``, as broad as it is on the board.
  let dots: Double
  /// The style of lines.
  let style: DotStyle

  /// The most that a line has.
  private static let limit = 256.0

  /// Where a pen was pressed so hard; 0 where that is not known.
  subscript(pressure: UInt8) -> Int {
    style.breadth(dots * InkCurve.breadth(atPressure: pressure), limit: Self.limit)
  }
}

/// The gaps that distinguish lines if there are no colors.
struct Dashes: Hashable, Sendable {
  /// Each bit is a dot that is drawn, from the lowest on.
  let bits: UInt32
  /// How many of the bits count, before they come again.
  let count: Int

  static let none = Dashes(bits: 1, count: 1)

  /// Whether a line is drawn so many dots from its beginning.
  func isDrawn(at distance: Double) -> Bool {
    bits >> UInt32(Int(min(distance, 1e9)) % count) & 1 == 1
  }
}

/// The mark of a pen: the dots of a disc.
struct Nib: Sendable {
  /// Dots across.
  let breadth: Int
  /// What is added to a coordinate so that cutting off its fraction gives the first dot of the nib.
  ///
  /// Points often lie where dots meet, for mice tell cells. A quarter of a dot there and half a dot on
  /// nibs of even breadth keep the end of a round thing from being one dot that sticks out. The large
  /// number makes all that could be in view positive: so, the fraction is cut off downwards.
  let bias: Double
  /// Of a nib broader than two dots: for each row where it begins and ends.
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

  /// How far a pen moves until it is pressed again: so little that a line has smooth edges.
  var spacing: Double { max(1, Double(breadth) / 8) }
}
