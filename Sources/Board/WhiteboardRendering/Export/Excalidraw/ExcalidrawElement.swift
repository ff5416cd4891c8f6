import PeerCore
import Whiteboard

struct ExcalidrawElement {
  /// The position and size of an element before rotation.
  struct Box {
    let corner: Point
    let size: Size

    var center: Point { Point(x: corner.x + size.width / 2, y: corner.y + size.height / 2) }
  }

  let tree: JSONTree
  let type: String
  /// The rotation, in radians clockwise.
  let angle: Double

  init(_ tree: JSONTree) {
    self.tree = tree
    type = tree["type"]?.string ?? ""
    let angle = tree["angle"]?.number ?? 0
    self.angle = angle.magnitude <= 1e6 ? angle : 0
  }

  /// The type of the element, quoted so that it is safe to display.
  var shownType: String { UntrustedText(type).quoted() }

  var box: Box? {
    guard let x = tree["x"]?.number, let y = tree["y"]?.number else { return nil }
    // In old files, shapes that were drawn from the right or from below have negative sizes.
    let (width, height) = (tree["width"]?.number ?? 0, tree["height"]?.number ?? 0)
    let box = Box(
      corner: Point(x: min(x, x + width), y: min(y, y + height)),
      size: Size(width: width.magnitude, height: height.magnitude)
    )
    let limit = BoardLimits.coordinate
    guard x.magnitude < limit, y.magnitude < limit, width.magnitude < limit, height.magnitude < limit,
      box.center.x.magnitude < limit, box.center.y.magnitude < limit
    else { return nil }
    return box
  }

  /// The color of visible lines or words.
  struct Color {
    /// The color `0xRRGGBBAA`; nil for the default color.
    let own: UInt32?
  }

  /// The color of the element's lines; nil if they are invisible.
  var color: Color? {
    let stroke = tree["strokeColor"]?.string.flatMap(ColorNames.color) ?? Excalidraw.plain
    let opacity = min(max(tree["opacity"]?.number ?? 100, 0), 100) / 100
    let alpha = UInt32((Double(stroke & 0xFF) * opacity).rounded())
    guard alpha > 0 else { return nil }
    let color = stroke & 0xFFFF_FF00 | alpha
    return Color(own: color == Excalidraw.plain ? nil : color)
  }

  var isFilled: Bool {
    guard let fill = tree["backgroundColor"]?.string.flatMap(ColorNames.color) else { return false }
    return fill & 0xFF != 0
  }

  /// The width with which the element's lines are shown.
  var lineWidth: Double {
    let width = (tree["strokeWidth"]?.number ?? 1) * (type == "freedraw" ? Excalidraw.breadth : 1)
    return min(max((width * 64).rounded() / 64, 0.25), BoardLimits.lineWidth)
  }

  /// Returns the pen pressure at each point; empty if it was not recorded.
  func pressures(count: Int) -> [UInt8] {
    guard type == "freedraw", tree["simulatePressure"]?.flag != true, let pressures = tree["pressures"]?.numbers,
      pressures.count == count
    else { return [] }
    return pressures.map { UInt8(min(max(($0 * 255).rounded(), 0), 255)) }
  }

  /// Returns a point, rotated with the element around its center.
  ///
  /// Arrowheads have no effect on the position of the center.
  func turned(_ place: Point, _ box: Box) -> Point {
    let middle = points.flatMap(Self.bounds)?.center ?? box.center
    let rotation = Rotation(steps: (try? FixedPoint.angleSteps(angle)) ?? 0)
    let (x, y) = (place.x - middle.x, place.y - middle.y)
    return Point(
      x: middle.x + x * rotation.cosine - y * rotation.sine,
      y: middle.y + x * rotation.sine + y * rotation.cosine
    )
  }

  // MARK: - Lines

  /// Returns the outline of the element before its rotation, as one line; nil if the element has no outline.
  func outline(_ box: Box) -> [Point]? {
    let (corner, size, center) = (box.corner, box.size, box.center)
    let (right, bottom) = (corner.x + size.width, corner.y + size.height)
    switch type {
    case "rectangle":
      return [corner, Point(x: right, y: corner.y), Point(x: right, y: bottom), Point(x: corner.x, y: bottom), corner]
    case "diamond":
      let top = Point(x: center.x, y: corner.y)
      return [top, Point(x: right, y: center.y), Point(x: center.x, y: bottom), Point(x: corner.x, y: center.y), top]
    case "ellipse": return Self.ellipse(center, size)
    default:
      guard let line = points else { return nil }
      guard type == "arrow" || type == "line" else { return line }
      return withHeads(line)
    }
  }

  static func bounds(_ points: [Point]) -> Rectangle? {
    points.reduce(nil) { $0?.union(Rectangle($1, $1)) ?? Rectangle($1, $1) }
  }

  private static func ellipse(_ center: Point, _ size: Size) -> [Point] {
    let count: UInt64 = 64
    return (0...count).map { step in
      let rotation = Rotation(steps: step * 4096 / count)
      return Point(x: center.x + rotation.cosine * size.width / 2, y: center.y + rotation.sine * size.height / 2)
    }
  }

  private var points: [Point]? {
    guard let x = tree["x"]?.number, let y = tree["y"]?.number, let list = tree["points"]?.list, !list.isEmpty else {
      return nil
    }
    let limit = BoardLimits.coordinate
    let points = list.compactMap { element -> Point? in
      guard let pair = element.numbers, pair.count >= 2, abs(x + pair[0]) < limit, abs(y + pair[1]) < limit else {
        return nil
      }
      return Point(x: x + pair[0], y: y + pair[1])
    }
    return points.count == list.count ? points : nil
  }

  /// Returns the line with its arrowheads, as one stroke of a pen.
  private func withHeads(_ line: [Point]) -> [Point] {
    var line = line
    if tree["endArrowhead"]?.string != nil { line += Self.head(of: line) }
    if tree["startArrowhead"]?.string != nil { line = Array(Self.head(of: line.reversed()).reversed()) + line }
    return line
  }

  /// Returns an arrowhead as points: from the tip to one barb, back, to the other barb, and back.
  private static func head(of line: [Point]) -> [Point] {
    guard let tip = line.last, let from = line.last(where: { $0 != tip }) else { return [] }
    let (x, y) = (tip.x - from.x, tip.y - from.y)
    let length = (x * x + y * y).squareRoot()
    guard length > 0 else { return [] }
    let reach = min(length * 0.4, 24) / length
    let (ux, uy) = (x * reach, y * reach)
    return [
      Point(x: tip.x - ux - uy * 0.5, y: tip.y - uy + ux * 0.5), tip,
      Point(x: tip.x - ux + uy * 0.5, y: tip.y - uy - ux * 0.5), tip,
    ]
  }
}

/// A parser of colors in the notations that imported files use.
enum ColorNames {
  /// Returns the color `0xRRGGBBAA` for `#rgb`, `#rgba`, `#rrggbb`, `#rrggbbaa` or one of a few names; nil for other
  /// text.
  static func color(_ text: String) -> UInt32? {
    if let known = names[text.lowercased()] { return known }
    guard text.utf8.first == UInt8(ascii: "#") else { return nil }
    var digits = Array(text.utf8.dropFirst())
    guard digits.allSatisfy(isHexadecimal) else { return nil }
    if digits.count == 3 || digits.count == 4 { digits = digits.flatMap { [$0, $0] } }
    guard digits.count == 6 || digits.count == 8,
      let number = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { return nil }
    return digits.count == 6 ? number << 8 | 0xFF : number
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }

  private static let names: [String: UInt32] = [
    "transparent": 0, "black": 0x0000_00FF, "white": 0xFFFF_FFFF, "red": 0xFF00_00FF, "green": 0x0080_00FF,
    "blue": 0x0000_FFFF, "yellow": 0xFFFF_00FF, "orange": 0xFFA5_00FF, "purple": 0x8000_80FF, "pink": 0xFFC0_CBFF,
    "gray": 0x8080_80FF, "grey": 0x8080_80FF, "brown": 0xA52A_2AFF, "cyan": 0x00FF_FFFF, "magenta": 0xFF00_FFFF,
  ]
}
