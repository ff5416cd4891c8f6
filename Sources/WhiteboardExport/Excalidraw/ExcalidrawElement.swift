import Whiteboard
import WhiteboardRendering

/// One element of a drawing of Excalidraw, read as it says of itself.
struct ExcalidrawElement {
  /// The position and size of an element before rotation.
  struct Box {
    let corner: Point
    let size: Size

    /// The middle, about which it is turned.
    var center: Point { Point(x: corner.x + size.width / 2, y: corner.y + size.height / 2) }
  }

  let tree: JSONTree
  /// The type of the element.
  let type: String
  /// Radians clockwise.
  let angle: Double

  init(_ tree: JSONTree) {
    self.tree = tree
    type = tree["type"]?.string ?? ""
    let angle = tree["angle"]?.number ?? 0
    self.angle = angle.magnitude <= 1e6 ? angle : 0
  }

  /// The type, safe for display.
  var shownType: String { TerminalText.quoted(type) }

  /// The box of the element; nil if it does not fit on a board.
  var box: Box? {
    guard let x = tree["x"]?.number, let y = tree["y"]?.number else { return nil }
    // Shapes that were drawn from the right or from below have negative sizes in old files.
    let (width, height) = (tree["width"]?.number ?? 0, tree["height"]?.number ?? 0)
    let box = Box(
      corner: Point(x: min(x, x + width), y: min(y, y + height)),
      size: Size(width: width.magnitude, height: height.magnitude)
    )
    let limit = BoardLimits.coordinate
    guard x.magnitude < limit, y.magnitude < limit, width.magnitude < limit,
      height.magnitude < limit, box.center.x.magnitude < limit, box.center.y.magnitude < limit
    else { return nil }
    return box
  }

  /// The colour of lines or words that can be seen.
  struct Color {
    /// `0xRRGGBBAA`; nil for that of what has none of its own.
    let own: UInt32?
  }

  /// The colour of its lines; nil if they cannot be seen.
  var color: Color? {
    let stroke = tree["strokeColor"]?.string.flatMap(ColorNames.color) ?? Excalidraw.plain
    let opacity = min(max(tree["opacity"]?.number ?? 100, 0), 100) / 100
    let alpha = UInt32((Double(stroke & 0xFF) * opacity).rounded())
    guard alpha > 0 else { return nil }
    let color = stroke & 0xFFFF_FF00 | alpha
    return Color(own: color == Excalidraw.plain ? nil : color)
  }

  /// Whether something fills it.
  var isFilled: Bool {
    guard let fill = tree["backgroundColor"]?.string.flatMap(ColorNames.color) else { return false }
    return fill & 0xFF != 0
  }

  /// How broad its lines show.
  var lineWidth: Double {
    let width = (tree["strokeWidth"]?.number ?? 1) * (type == "freedraw" ? Excalidraw.breadth : 1)
    return min(max((width * 64).rounded() / 64, 0.25), BoardLimits.lineWidth)
  }

  /// The pen pressure at each point; empty if it was not recorded.
  func pressures(count: Int) -> [UInt8] {
    guard type == "freedraw", tree["simulatePressure"]?.flag != true,
      let pressures = tree["pressures"]?.numbers, pressures.count == count
    else { return [] }
    return pressures.map { UInt8(min(max(($0 * 255).rounded(), 0), 255)) }
  }

  /// A place after the element was turned about its middle, which heads of arrows do not move.
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

  /// The line that draws it, before it is turned; nil if it has none.
  func outline(_ box: Box) -> [Point]? {
    let (corner, size, center) = (box.corner, box.size, box.center)
    let (right, bottom) = (corner.x + size.width, corner.y + size.height)
    switch type {
    case "rectangle":
      return [
        corner, Point(x: right, y: corner.y), Point(x: right, y: bottom),
        Point(x: corner.x, y: bottom), corner,
      ]
    case "diamond":
      let top = Point(x: center.x, y: corner.y)
      return [
        top, Point(x: right, y: center.y), Point(x: center.x, y: bottom),
        Point(x: corner.x, y: center.y), top,
      ]
    case "ellipse": return Self.ellipse(center, size)
    default:
      guard let line = points else { return nil }
      guard type == "arrow" || type == "line" else { return line }
      return withHeads(line)
    }
  }

  /// The rectangle around points; nil if there are none.
  static func bounds(_ points: [Point]) -> Rectangle? {
    points.reduce(nil) { $0?.union(Rectangle($1, $1)) ?? Rectangle($1, $1) }
  }

  private static func ellipse(_ center: Point, _ size: Size) -> [Point] {
    let count: UInt64 = 64
    return (0...count).map { step in
      let rotation = Rotation(steps: step * 4096 / count)
      return Point(
        x: center.x + rotation.cosine * size.width / 2,
        y: center.y + rotation.sine * size.height / 2
      )
    }
  }

  private var points: [Point]? {
    guard let x = tree["x"]?.number, let y = tree["y"]?.number,
      let list = tree["points"]?.list, !list.isEmpty
    else { return nil }
    let limit = BoardLimits.coordinate
    let points = list.compactMap { element -> Point? in
      guard let pair = element.numbers, pair.count >= 2, abs(x + pair[0]) < limit,
        abs(y + pair[1]) < limit
      else { return nil }
      return Point(x: x + pair[0], y: y + pair[1])
    }
    return points.count == list.count ? points : nil
  }

  /// The line with what is at its ends, in one go as a pen would draw it.
  private func withHeads(_ line: [Point]) -> [Point] {
    var line = line
    if tree["endArrowhead"]?.string != nil { line += Self.head(of: line) }
    if tree["startArrowhead"]?.string != nil {
      line = Array(Self.head(of: line.reversed()).reversed()) + line
    }
    return line
  }

  /// From the end of a line to one barb, back, to the other and back.
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
