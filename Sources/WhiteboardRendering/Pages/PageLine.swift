import Whiteboard

/// A smooth line of constant width.
package struct PageLine: Hashable, Sendable {
  /// The width of the line in board units.
  package let width: Double
  package let start: Point
  /// The segments of the line; empty for a dot.
  package let pieces: [InkCurve.Piece]

  package init(width: Double, start: Point, pieces: [InkCurve.Piece]) {
    self.width = width
    self.start = start
    self.pieces = pieces
  }

  /// Returns the visible parts of a drawing as lines around its center, without scale and rotation.
  ///
  /// A part whose pen pressure is constant or unknown is one line. Otherwise it is several consecutive lines.
  static func lines(of snapshot: ObjectSnapshot, width: Double) -> [PageLine] {
    snapshot.inkLines.flatMap { line -> [PageLine] in
      guard let curve = InkCurve(line.points) else { return [] }
      var lines: [PageLine] = []
      var start = curve.start
      var first = 0
      // A dot has no segments. The pressure at its only point determines its width.
      repeat {
        let level = level(line.pressures, curve.targets, first)
        let end =
          (first..<curve.pieces.count).first { Self.level(line.pressures, curve.targets, $0) != level }
          ?? curve.pieces.count
        let pieces = Array(curve.pieces[first..<end])
        lines.append(PageLine(width: width * InkCurve.breadth(atPressure: level), start: start, pieces: pieces))
        start = pieces.last?.end ?? start
        first = end
      } while first < curve.pieces.count
      return lines
    }
  }

  /// Returns the pen pressure of a segment, rounded to a few levels to keep lines long.
  private static func level(_ pressures: [UInt8], _ targets: [Int], _ piece: Int) -> UInt8 {
    let pressure = pressures[piece < targets.count ? targets[piece] : 0]
    return pressure == 0 ? 0 : max(1, pressure / 12 * 12)
  }
}
