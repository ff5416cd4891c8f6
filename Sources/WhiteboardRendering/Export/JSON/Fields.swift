import PeerCore
import Whiteboard

/// The members of a JSON object in a board file.
///
/// Each accessor checks the type and range of its value.
struct Fields {
  let tree: JSONTree
  /// The path of the object in the document, for error messages.
  let path: String

  init(_ tree: JSONTree, path: String) throws(ImportError) {
    guard tree.members != nil else { throw .wrongValue(path, expected: "an object") }
    self.tree = tree
    self.path = path
  }

  func wrong(_ key: String, _ expected: String) -> ImportError { .wrongValue("\(path).\(key)", expected: expected) }

  func string(_ key: String) throws(ImportError) -> String {
    guard let string = tree[key]?.string else { throw wrong(key, "a string") }
    return string
  }

  func number(_ key: String, within range: ClosedRange<Double>) throws(ImportError) -> Double {
    guard let number = tree[key]?.number, range.contains(number) else {
      throw wrong(key, "a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  func flagIfAny(_ key: String) throws(ImportError) -> Bool? {
    guard let value = tree[key] else { return nil }
    guard let flag = value.flag else { throw wrong(key, "true or false") }
    return flag
  }

  func stringsIfAny(_ key: String) throws(ImportError) -> [String]? {
    guard let value = tree[key] else { return nil }
    guard let strings = value.strings else { throw wrong(key, "a list of strings") }
    return strings
  }

  func color() throws(ImportError) -> UInt32? {
    guard let value = tree["color"] else { return nil }
    guard let color = value.string.flatMap(ColorNames.color) else { throw wrong("color", "a color like #3060c0ff") }
    return color
  }

  func point(_ key: String) throws(ImportError) -> Point {
    guard let pair = tree[key]?.numbers, let point = Self.point(pair) else {
      throw wrong(key, "a point [x,y] on the board")
    }
    return point
  }

  func size(_ key: String) throws(ImportError) -> Size {
    guard let pair = tree[key]?.numbers, let point = Self.point(pair), point.x >= 0, point.y >= 0 else {
      throw wrong(key, "a size [width,height]")
    }
    return Size(width: point.x, height: point.y)
  }

  func points(_ key: String) throws(ImportError) -> [Point] {
    guard let list = tree[key]?.list, list.count <= BoardLimits.pointsPerStroke else {
      throw wrong(key, "a list of at most \(BoardLimits.pointsPerStroke) points")
    }
    // An offset in a stroke can be as large as the width of a board.
    let limit = BoardLimits.coordinate * 2
    let points = list.compactMap { offset -> Point? in
      guard let pair = offset.numbers, pair.count == 2, pair.allSatisfy({ abs($0) <= limit }) else { return nil }
      return Point(x: pair[0], y: pair[1])
    }
    guard points.count == list.count else { throw wrong(key, "a list of points [x,y]") }
    return points
  }

  func pressures(count: Int) throws(ImportError) -> [UInt8] {
    guard let value = tree["pressures"] else { return [] }
    let pressures = value.numbers?.compactMap { UInt8(exactly: $0) }
    guard let pressures, pressures.count == count else {
      throw wrong("pressures", "a whole number from 0 to 255 for each point")
    }
    return pressures
  }

  /// The value is a list of `[from,to]`, where both numbers are positions along the stroke, counted in points.
  func spans(_ key: String, count: Int) throws(ImportError) -> StrokeSpans {
    guard let value = tree[key] else { return StrokeSpans() }
    let end = Double(max(1, (count - 1) * StrokeSpans.steps))
    let spans = value.list?.compactMap { span -> ClosedRange<Int>? in
      guard let ends = span.numbers, ends.count == 2 else { return nil }
      let (from, to) = (ends[0] * Double(StrokeSpans.steps), ends[1] * Double(StrokeSpans.steps))
      guard from >= 0, from < to, to <= end else { return nil }
      return Int(from.rounded())...Int(to.rounded())
    }
    guard let spans, spans.count == value.list?.count, spans.count <= BoardLimits.erasureSpans else {
      throw wrong(key, "a list of parts [from,to] of the stroke")
    }
    return StrokeSpans(spans)
  }

  private static func point(_ pair: [Double]) -> Point? {
    let range = -BoardLimits.coordinate..<BoardLimits.coordinate
    guard pair.count == 2, pair.allSatisfy(range.contains) else { return nil }
    return Point(x: pair[0], y: pair[1])
  }
}
