import Whiteboard
import WhiteboardRendering

/// A line of ink as the data of SVG paths.
enum SVGStroke {
  /// A path and how broad it is.
  struct Path: Hashable {
    let width: Double
    let data: String
  }

  /// The paths of a line: one, or where the pressure was recorded one after the other, each as broad as
  /// the pen was there.
  static func paths(_ line: ObjectSnapshot.InkLine, width: Double) -> [Path] {
    guard let curve = InkCurve(line.points) else { return [] }
    guard line.pressures.contains(where: { $0 != 0 }), !curve.pieces.isEmpty else {
      return [Path(width: width, data: data(from: curve.start, curve.pieces[...]))]
    }
    var paths: [Path] = []
    var start = curve.start
    var index = 0
    while index < curve.pieces.count {
      let level = level(line.pressures[curve.targets[index]])
      let end =
        curve.pieces[index...].indices.first {
          self.level(line.pressures[curve.targets[$0]]) != level
        }
        ?? curve.pieces.count
      let breadth = InkCurve.breadth(atPressure: level)
      paths.append(
        Path(width: width * breadth, data: data(from: start, curve.pieces[index..<end]))
      )
      start = curve.pieces[end - 1].end
      index = end
    }
    return paths
  }

  /// A pressure in few steps, so that paths are long.
  private static func level(_ pressure: UInt8) -> UInt8 {
    pressure == 0 ? 0 : max(1, pressure / 12 * 12)
  }

  private static func data(from start: Point, _ pieces: ArraySlice<InkCurve.Piece>) -> String {
    // A dot is a line of no length with round ends.
    guard !pieces.isEmpty else { return "M\(text(start))h0" }
    var data = "M\(text(start))"
    for piece in pieces {
      switch piece {
      case .line(let end): data += "L\(text(end))"
      case .curve(let control, let end): data += "Q\(text(control)) \(text(end))"
      }
    }
    return data
  }

  private static func text(_ point: Point) -> String {
    "\(XML.number(point.x)) \(XML.number(point.y))"
  }
}
