import Whiteboard

extension ImportedBoard {
  /// Reads a flowchart of Mermaid as forms with labels, and lines that are bound to them.
  init(flowchart text: String) throws(ImportError) {
    let chart = try Flowchart(text)
    var sizes: [Size] = []
    for node in chart.nodes { sizes.append(Self.size(of: node)) }
    let layout = FlowchartLayout(chart, sizes: sizes)
    guard chart.nodes.count + chart.edges.count <= BoardLimits.objects else { throw .tooManyObjects }
    warnings = chart.warnings
    var unused: Set<String> = []
    for (index, node) in chart.nodes.enumerated() {
      var (style, color, width) = (ObjectStyle(form: node.form), UInt32?.none, 2.0)
      for name in ["default"] + node.classes + ["#\(index)"] {
        for (name, value) in chart.styles[name] ?? [] {
          switch (name, ColorNames.color(value)) {
          case ("fill", let fill?): style.fill = fill
          case ("stroke", let stroke?): color = stroke
          case ("color", let letters?): style.textColor = letters
          case ("stroke-dasharray", _): style.lineStyle = .dashed
          case ("stroke-width", _): width = Double(value.replacing("px", with: "")).map { min(max($0, 1), 32) } ?? 2
          default: unused.insert("\(name):\(value)")
          }
        }
      }
      let label = fitting(node.label)
      var draft = ObjectDraft(
        .form(node.form, size: sizes[index], points: [], label: label, lineWidth: width),
        at: layout.center(index)
      )
      (draft.style, draft.color) = (style, color)
      objects.append(draft)
    }
    for property in unused.sorted() { warnings.append("the style “\(property)” is not used") }
    var siblings: [Set<Int>: (count: Int, next: Int)] = [:]
    for edge in chart.edges { siblings[[edge.ends.from, edge.ends.to], default: (0, 0)].count += 1 }
    for (index, edge) in chart.edges.enumerated() where !edge.isHidden {
      let pair: Set = [edge.ends.from, edge.ends.to]
      let (count, position) = siblings[pair] ?? (1, 0)
      siblings[pair] = (count, position + 1)
      // Several lines between the same nodes are beside each other.
      let shift = count > 1 ? (Double(position) / Double(count - 1) - 0.5) * 0.6 : 0
      add(
        edge,
        layout.bends(index),
        sizes,
        shift: shift,
        isSideways: chart.direction == .left || chart.direction == .right
      )
    }
  }

  private mutating func add(_ edge: Flowchart.Edge, _ bends: [Point], _ sizes: [Size], shift: Double, isSideways: Bool)
  {
    let (from, to) = edge.ends
    func anchor(_ node: Int, _ shift: Double) -> Point { isSideways ? Point(x: 0, y: shift) : Point(x: shift, y: 0) }
    func place(_ node: Int, _ anchor: Point) -> Point {
      let center = objects[node].center ?? Point(x: 0, y: 0)
      return Point(x: center.x + anchor.x * sizes[node].width, y: center.y + anchor.y * sizes[node].height)
    }
    var (first, last, bends) = (anchor(from, shift), anchor(to, shift), bends)
    let isLoop = from == to
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
    let form: DrawingForm = edge.marks.end == .arrow ? .arrow : .line
    var draft = ObjectDraft(
      .form(
        form,
        size: Size(width: 0, height: 0),
        points: points.map { Point(x: $0.x - center.x, y: $0.y - center.y) },
        label: fitting(edge.label),
        lineWidth: edge.isThick ? 4 : 2
      ),
      at: center
    )
    var style = ObjectStyle(form: form)
    (style.start, style.end, style.lineStyle) = (edge.marks.start, edge.marks.end, edge.line)
    draft.style = style
    draft.start = ObjectDraft.End(from, at: first, isExact: isLoop)
    draft.end = ObjectDraft.End(to, at: last, isExact: isLoop)
    objects.append(draft)
  }

  /// Returns the size of a form in which the label of a node fits.
  private static func size(of node: Flowchart.Node) -> Size {
    let rows = TextLines.wrapped(node.label, columns: 24, limit: 100)
    let (width, height) = (
      Double(max(BoardPicture.columns(rows), 4)) * BoardPicture.letter.width,
      Double(rows.count) * BoardPicture.letter.height
    )
    return switch node.form {
    case .ellipse: Size(width: width / 0.7 + 24, height: height / 0.7 + 24)
    case .diamond: Size(width: width * 2 + 24, height: height * 2 + 24)
    default: Size(width: width + 32, height: height + 32)
    }
  }
}
