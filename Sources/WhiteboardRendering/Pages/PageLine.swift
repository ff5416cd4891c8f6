import Whiteboard

/// A smooth line that is as broad everywhere.
package struct PageLine: Hashable, Sendable {
  /// How broad it is.
  package let width: Double
  /// The start of the line.
  package let start: Point
  /// Its pieces; a dot has none.
  package let pieces: [InkCurve.Piece]

  /// A line of these pieces.
  package init(width: Double, start: Point, pieces: [InkCurve.Piece]) {
    self.width = width
    self.start = start
    self.pieces = pieces
  }

  /// What is left of a drawing as lines around its centre, neither scaled nor turned.
  ///
  /// A line is one where the pen was pressed alike, or that is not known; else there are several, one after the
  /// other.
  static func lines(of snapshot: ObjectSnapshot, width: Double) -> [PageLine] {
    snapshot.inkLines.flatMap { line -> [PageLine] in
      guard let curve = InkCurve(line.points) else { return [] }
      var lines: [PageLine] = []
      var start = curve.start
      var first = 0
      // A dot has no pieces, and is as broad as its one point.
      repeat {
        let level = level(line.pressures, curve.targets, first)
        let end =
          (first..<curve.pieces.count)
          .first { Self.level(line.pressures, curve.targets, $0) != level } ?? curve.pieces.count
        let pieces = Array(curve.pieces[first..<end])
        lines.append(
          PageLine(
            width: width * InkCurve.breadth(atPressure: level),
            start: start,
            pieces: pieces
          )
        )
        start = pieces.last?.end ?? start
        first = end
      } while first < curve.pieces.count
      return lines
    }
  }

  /// How hard the pen was pressed on a piece, in few steps, so that lines are long.
  private static func level(_ pressures: [UInt8], _ targets: [Int], _ piece: Int) -> UInt8 {
    let pressure = pressures[piece < targets.count ? targets[piece] : 0]
    return pressure == 0 ? 0 : max(1, pressure / 12 * 12)
  }
}
