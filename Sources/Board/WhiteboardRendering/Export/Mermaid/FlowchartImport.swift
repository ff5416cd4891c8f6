import PeerCore
import Whiteboard

extension ImportedBoard {
  init(flowchart text: String) throws(ImportError) {
    let chart = try Flowchart(text)
    var sizes: [Size] = []
    for node in chart.nodes { sizes.append(Self.size(of: node)) }
    let places = FlowchartPlaces(chart, sizes: sizes)
    guard chart.nodes.count + chart.edges.count <= BoardLimits.objects else { throw .tooManyObjects }
    warnings = chart.warnings
    var unused: Set<String> = []
    // A frame is behind its boxes, and behind the frames inside it.
    let order = chart.nodes.indices.sorted {
      let (one, other) = (chart.depth(of: $0), chart.depth(of: $1))
      return one == other ? $0 < $1 : one < other
    }
    var positions = Array(repeating: 0, count: order.count)
    for (position, index) in order.enumerated() {
      positions[index] = position
      let node = chart.nodes[index]
      var look = FlowchartLook(ObjectStyle(form: node.form))
      for name in (node.form == .frame ? [] : ["default"]) + node.classes + ["#\(index)"] {
        look.apply(chart.styles[name] ?? [], &unused)
      }
      let label = fitting(node.label)
      var draft = ObjectDraft(
        .form(node.form, size: places.sizes[index], points: [], label: label, lineWidth: look.width),
        at: places.centers[index]
      )
      (draft.style, draft.color, draft.link) = (look.style, look.color, node.link)
      if node.form != .frame { draft.frameIndex = node.frame.map { positions[$0] } }
      objects.append(draft)
    }
    var looks: [FlowchartLook] = []
    for edge in chart.edges {
      var style = ObjectStyle(form: edge.marks.end == .arrow ? .arrow : .line)
      (style.start, style.end, style.lineStyle) = (edge.marks.start, edge.marks.end, edge.line)
      var look = FlowchartLook(style)
      if edge.isThick { look.width = 4 }
      look.apply(edge.style, &unused)
      looks.append(look)
    }
    for property in unused.sorted() {
      warnings.append("the style “\(UntrustedText(property).escaped(limit: 80))” is not used")
    }
    var siblings: [Set<Int>: (count: Int, next: Int)] = [:]
    for edge in chart.edges { siblings[[edge.ends.from, edge.ends.to], default: (0, 0)].count += 1 }
    for (index, edge) in chart.edges.enumerated() where !edge.isHidden {
      let pair: Set = [edge.ends.from, edge.ends.to]
      let (count, position) = siblings[pair] ?? (1, 0)
      siblings[pair] = (count, position + 1)
      // Place lines between the same two nodes side by side.
      let shift = count > 1 ? (Double(position) / Double(count - 1) - 0.5) * 0.6 : 0
      let direction = places.frames[index].flatMap { chart.nodes[$0].direction } ?? chart.direction
      var draft = line(
        from: (positions[edge.ends.from], places.sizes[edge.ends.from]),
        to: (positions[edge.ends.to], places.sizes[edge.ends.to]),
        places.bends[index],
        label: fitting(edge.label),
        looks[index],
        shift: shift,
        isSideways: direction == .left || direction == .right
      )
      draft.frameIndex = places.frames[index].map { positions[$0] }
      objects.append(draft)
    }
  }

  private func line(
    from: (index: Int, size: Size),
    to: (index: Int, size: Size),
    _ bends: [Point],
    label: String,
    _ look: FlowchartLook,
    shift: Double,
    isSideways: Bool
  ) -> ObjectDraft {
    let anchor = isSideways ? Point(x: 0, y: shift) : Point(x: shift, y: 0)
    func place(_ node: (index: Int, size: Size), _ anchor: Point) -> Point {
      let center = objects[node.index].center ?? Point(x: 0, y: 0)
      return Point(x: center.x + anchor.x * node.size.width, y: center.y + anchor.y * node.size.height)
    }
    var (first, last, bends) = (anchor, anchor, bends)
    let isLoop = from.index == to.index
    if isLoop {
      // A loop is on the right side of its node.
      (first, last) = (Point(x: 0.5, y: -0.2), Point(x: 0.5, y: 0.2))
      bends = [first, last].map { Point(x: place(from, $0).x + 40, y: place(from, $0).y) }
    }
    let points = [place(from, first)] + bends + [place(to, last)]
    let middle = points.dropFirst().reduce(Rectangle(points[0], points[0])) { $0.union(Rectangle($1, $1)) }.center
    let center = Point(
      x: (middle.x * FixedPoint.unit).rounded() / FixedPoint.unit,
      y: (middle.y * FixedPoint.unit).rounded() / FixedPoint.unit
    )
    let offsets = points.map { $0 - center }
    var draft = ObjectDraft(
      .form(
        look.style.end == .arrow ? .arrow : .line,
        size: Size(width: 0, height: 0),
        points: offsets,
        label: label,
        lineWidth: look.width
      ),
      at: center
    )
    (draft.style, draft.color) = (look.style, look.color)
    draft.start = ObjectDraft.End(from.index, at: first, isExact: isLoop)
    draft.end = ObjectDraft.End(to.index, at: last, isExact: isLoop)
    return draft
  }

  private static func size(of node: Flowchart.Node) -> Size {
    let rows = TextLines.wrapped(node.label, columns: 24, limit: 100)
    let (width, height) = (
      Double(max(BoardPicture.columns(rows), 4)) * BoardPicture.letter.width,
      Double(rows.count) * BoardPicture.letter.height
    )
    return switch node.form {
    case .frame: Size(width: width, height: 0)
    case .ellipse: Size(width: width / 0.7 + 24, height: height / 0.7 + 24)
    case .diamond: Size(width: width * 2 + 24, height: height * 2 + 24)
    default: Size(width: width + 32, height: height + 32)
    }
  }
}

extension Flowchart {
  /// Returns the number of frames around a frame. Returns the maximum for a box, because boxes are in front of frames.
  fileprivate func depth(of index: Int) -> Int {
    guard nodes[index].form == .frame else { return .max }
    var (depth, next) = (0, nodes[index].frame)
    while let frame = next { (depth, next) = (depth + 1, nodes[frame].frame) }
    return depth
  }
}

private struct FlowchartLook {
  var style: ObjectStyle
  var color: UInt32?
  var width = 2.0

  init(_ style: ObjectStyle) { self.style = style }

  /// Applies properties; properties without a meaning on a board are added to `unused`.
  mutating func apply(_ properties: [(name: String, value: String)], _ unused: inout Set<String>) {
    for (name, value) in properties {
      switch (name, ColorNames.color(value)) {
      case ("fill", let fill?): style.fill = fill & 0xFF == 0 ? nil : fill
      case ("fill", nil) where value == "none": style.fill = nil
      case ("stroke", let stroke?): color = stroke
      case ("color", let letters?): style.textColor = letters
      case ("stroke-dasharray", _): style.lineStyle = .dashed
      case ("stroke-width", _): width = Double(value.replacing("px", with: "")).map { min(max($0, 1), 32) } ?? width
      default: unused.insert("\(name):\(value)")
      }
    }
  }
}
