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
    // Before freehand lines had a type of their own, lines of several points had the type `draw`.
    let type = tree["type"]?.string ?? ""
    self.type = type == "draw" ? "line" : type
    let angle = tree["angle"]?.number ?? 0
    self.angle = angle.magnitude <= 1e6 ? angle : 0
  }

  /// The type of the element, quoted so that it is safe to display.
  var shownType: String { UntrustedText(type).quoted() }

  var id: String? { tree["id"]?.string }

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

  // MARK: - Style

  var strokeColor: UInt32 { tree["strokeColor"]?.string.flatMap(ColorNames.color) ?? Excalidraw.plain }

  /// The color of the lines or letters; nil for the default color.
  var ownColor: UInt32? { strokeColor == Excalidraw.plain ? nil : strokeColor }

  var opacity: Double { min(max(tree["opacity"]?.number ?? 100, 0), 100) / 100 }

  var fill: UInt32? {
    guard let fill = tree["backgroundColor"]?.string.flatMap(ColorNames.color), fill & 0xFF != 0 else { return nil }
    return fill
  }

  var hasUnknownColor: Bool {
    [tree["strokeColor"], tree["backgroundColor"]].contains { color in
      color?.string.map { !$0.isEmpty && ColorNames.color($0) == nil } ?? false
    }
  }

  /// Whether corners are round, or a line bends smoothly at its points.
  var isRound: Bool {
    if let roundness = tree["roundness"] { return roundness.members != nil }
    return tree["strokeSharpness"]?.string == "round"
  }

  var lineStyle: LineStyle {
    switch tree["strokeStyle"]?.string {
    case "dashed": .dashed
    case "dotted": .dotted
    default: .solid
    }
  }

  var lineWidth: Double {
    let width = (tree["strokeWidth"]?.number ?? 1) * (type == "freedraw" ? Excalidraw.breadth : 1)
    return min(max((width * 64).rounded() / 64, 0.25), BoardLimits.lineWidth)
  }

  /// Returns the pen pressure at each point; empty if no pressure was recorded.
  func pressures(count: Int) -> [UInt8] {
    guard type == "freedraw", tree["simulatePressure"]?.flag != true, let pressures = tree["pressures"]?.numbers,
      pressures.count == count
    else { return [] }
    return pressures.map { UInt8(min(max(($0 * 255).rounded(), 0), 255)) }
  }

  /// Returns an arrowhead, and whether it is only similar to the arrowhead in the file.
  func head(_ key: String) -> (end: LineEnd, isChanged: Bool) {
    // In old files, arrows without this key have an arrowhead at their end.
    guard let value = tree.members?[key] else { return (key == "endArrowhead" ? .arrow : .none, false) }
    guard let name = value.string else { return (.none, false) }
    return switch name {
    case "arrow": (.arrow, false)
    case "triangle": (.triangle, false)
    case "bar": (.bar, false)
    case "dot", "circle": (.dot, false)
    case "circle_outline": (.dot, true)
    case "triangle_outline", "diamond", "diamond_outline": (.triangle, true)
    case "crowfoot_one", "cardinality_one", "cardinality_exactly_one": (.bar, true)
    default: (.arrow, true)
    }
  }

  // MARK: - Words

  var textSize: Double {
    // Old files contain the font like "20px Virgil".
    let old = tree["font"]?.string?.split(separator: "p").first.flatMap { Double($0) }
      .flatMap { $0.isFinite ? $0 : nil }
    let size = (tree["fontSize"]?.number ?? old ?? 20) * rowHeight
    return min(max((size * 64).rounded() / 64, BoardLimits.leastTextSize), BoardLimits.textSize)
  }

  /// The row height as a multiple of the font size. The value is limited, because a board derives the size of letters
  /// from the row height.
  private var rowHeight: Double {
    guard let height = tree["lineHeight"]?.number, height >= 1 else { return Excalidraw.lineHeight }
    return min(height, Excalidraw.lineHeight)
  }

  /// Whether the rows are noticeably closer together on a board than in Excalidraw. The difference is
  /// not noticeable with the line height 1.35 of Excalidraw's font Nunito.
  var losesRowHeight: Bool { (tree["lineHeight"]?.number ?? 0) > 1.4 && tree["text"]?.string?.contains("\n") == true }

  /// The typeface, and whether it is only similar to the typeface in the file.
  var typeface: (face: Typeface, isChanged: Bool) {
    if let old = tree["font"]?.string, tree["fontFamily"] == nil {
      if old.hasSuffix("Cascadia") { return (.code, false) }
      return (old.hasSuffix("Helvetica") ? .plain : .hand, false)
    }
    return switch tree["fontFamily"]?.number ?? 1 {
    case 1, 5: (.hand, false)
    case 2, 6, 9, 10: (.plain, false)
    case 3, 8: (.code, false)
    default: (.plain, true)
    }
  }

  var alignment: TextAlignment? {
    switch tree["textAlign"]?.string {
    case "left": .left
    case "center": .center
    case "right": .right
    default: nil
    }
  }

  /// Returns whether the text is at the top or bottom of a shape, more than half a row from the middle.
  func isAtSide(of shape: ExcalidrawElement) -> Bool {
    guard let vertical = tree["verticalAlign"]?.string, vertical == "top" || vertical == "bottom",
      let own = box, let outer = shape.box
    else { return false }
    return abs(own.center.y - outer.center.y) > textSize / 2
  }

  // MARK: - Links and pictures

  /// An address, or the id of an element.
  enum Link {
    case address(String)
    case object(String)
  }

  var link: Link? {
    guard let link = tree["link"]?.string, !link.isEmpty else { return nil }
    // Excalidraw writes a link to an element as its own web address, followed by a query.
    guard let query = link.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first,
      let id = query.split(separator: "&").first(where: { $0.hasPrefix("element=") })
    else { return .address(link) }
    return .object(String(id.dropFirst("element=".count)))
  }

  /// The part of the picture that is shown, as fractions of its width and height; nil for the whole picture.
  var crop: Rectangle? {
    guard let crop = tree["crop"], let wide = crop["naturalWidth"]?.number, let high = crop["naturalHeight"]?.number,
      let x = crop["x"]?.number, let y = crop["y"]?.number, let width = crop["width"]?.number,
      let height = crop["height"]?.number, wide > 0, high > 0
    else { return nil }
    func share(_ value: Double, _ whole: Double) -> Double { min(max(value / whole, 0), 1) }
    let least = Point(x: share(x, wide), y: share(y, high))
    let greatest = Point(x: share(x + width, wide), y: share(y + height, high))
    guard least.x < greatest.x, least.y < greatest.y else { return nil }
    return Rectangle(least, greatest)
  }

  /// Returns a value that this program stored in `customData`, because Excalidraw has no field for the value.
  func own(_ key: String) -> JSONTree? { tree["customData"]?["whiteboard"]?[key] }

  // MARK: - Points

  var points: [Point]? {
    guard let x = tree["x"]?.number, let y = tree["y"]?.number else { return nil }
    var offsets: [Point] = []
    if let list = tree["points"]?.list {
      for element in list {
        guard let pair = element.numbers, pair.count >= 2 else { return nil }
        offsets.append(Point(x: pair[0], y: pair[1]))
      }
    } else if type != "freedraw", tree.members?["points"] == nil {
      // In old files, lines of two points have only a size.
      offsets = [Point(x: 0, y: 0), Point(x: tree["width"]?.number ?? 0, y: tree["height"]?.number ?? 0)]
    }
    let points = offsets.map { Point(x: x + $0.x, y: y + $0.y) }
    guard !points.isEmpty,
      points.allSatisfy({ abs($0.x) < BoardLimits.coordinate && abs($0.y) < BoardLimits.coordinate })
    else { return nil }
    return points
  }

  static func bounds(_ points: [Point]) -> Rectangle? {
    points.reduce(nil) { $0?.union(Rectangle($1, $1)) ?? Rectangle($1, $1) }
  }

  func turned(_ place: Point, around middle: Point) -> Point {
    guard angle != 0 else { return place }
    let rotation = Rotation(steps: (try? FixedPoint.angleSteps(angle)) ?? 0)
    let (x, y) = (place.x - middle.x, place.y - middle.y)
    return Point(
      x: middle.x + x * rotation.cosine - y * rotation.sine,
      y: middle.y + x * rotation.sine + y * rotation.cosine
    )
  }
}
