import Whiteboard

/// The computed values with which a canvas draws a form. A class, because a snapshot is large and a board has many
/// forms.
final class FormShape: Sendable {
  /// A part of the form as straight lines, in the form's own board units relative to its center.
  struct Part: Sendable {
    let points: [Point]
    /// Fewer points, for a form of a few dots.
    let coarse: [Point]
    let isClosed: Bool

    fileprivate init(_ outline: Outline) {
      points = outline.points(steps: 24)
      coarse = outline.points(steps: 4)
      isClosed = outline.isClosed
    }
  }

  let form: DrawingForm?
  let line: Part
  let ends: [Part]
  /// The box of the line without its width.
  let box: Rectangle
  /// The box around `box` after its rotation and scaling, in board units.
  let corners: Rectangle
  /// The box around all visible parts of the form, in board units.
  let bounds: Rectangle
  let label: TextLayout?
  let center: Point
  let scale: Double
  let rotation: Rotation
  let lineWidth: Double
  let lineStyle: LineStyle
  let fill: CellFill?
  let isVisible: Bool
  /// The number of bytes of the label.
  let letterCount: Int

  init?(_ snapshot: ObjectSnapshot) {
    guard let outline = snapshot.outline else { return nil }
    form = snapshot.form
    line = Part(outline)
    ends = snapshot.endMarks.map { Part($0) }
    box = outline.box
    corners = snapshot.shown(box)
    bounds = snapshot.formBounds
    label = TextLayout(snapshot)
    (center, scale, rotation) = (snapshot.centerPosition, snapshot.scale, snapshot.rotation)
    lineWidth = snapshot.lineWidth ?? ObjectDefaults.lineWidth
    lineStyle = snapshot.style.lineStyle
    fill = outline.isClosed ? CellFill(snapshot.style) : nil
    isVisible = snapshot.style.opacity > 0
    letterCount = snapshot.text?.utf8.count ?? 0
  }

  /// Whether the sides of the form's box are parallel to the sides of the screen.
  var isUpright: Bool { rotation.sine == 0 || rotation.cosine == 0 }

  /// The maximum distance from the center, in dots, at which few points are enough: the error is a tenth of a dot.
  private static let coarseReach = 4.0

  func dots(of part: Part, in viewport: Viewport, _ grid: DotGrid) -> [Point] {
    let reach = max(box.greatest.x - box.center.x, box.greatest.y - box.center.y) * scale * viewport.scale
    return (reach <= Self.coarseReach ? part.coarse : part.points).map { point in
      let place = Point(
        x: center.x + scale * (point.x * rotation.cosine - point.y * rotation.sine),
        y: center.y + scale * (point.x * rotation.sine + point.y * rotation.cosine)
      )
      let dot = viewport.dot(of: place)
      return Point(x: dot.x * grid.factor, y: dot.y * grid.factor)
    }
  }
}

/// An area inside a closed line, in dots.
struct DotPolygon: Sendable {
  private let points: [Point]
  private let rows: (Double, Double)
  private var crossings: [Double] = []

  init(_ points: [Point]) {
    self.points = points
    rows = points.reduce((.infinity, -.infinity)) { (min($0.0, $1.y), max($0.1, $1.y)) }
  }

  /// Appends the dots that the area covers in a row of dots, by the even-odd rule, within a range.
  mutating func addSpans(atRow row: Double, within columns: Range<Int>, to spans: inout [Range<Int>]) {
    guard rows.0 <= row, row < rows.1, var last = points.last else { return }
    crossings.removeAll(keepingCapacity: true)
    for point in points {
      defer { last = point }
      guard (last.y > row) != (point.y > row) else { continue }
      crossings.append(last.x + (point.x - last.x) * (row - last.y) / (point.y - last.y))
    }
    crossings.sort()
    for index in stride(from: 1, to: crossings.count, by: 2) {
      func whole(_ value: Double) -> Int { Int(min(max(value.rounded(), -1e6), 1e6)) }
      let (first, end) = (whole(crossings[index - 1]), whole(crossings[index]))
      let span = (first..<max(end, first)).clamped(to: columns)
      if !span.isEmpty { spans.append(span) }
    }
  }
}

/// The color inside a form or behind a text, on a terminal.
struct CellFill: Hashable, Sendable {
  let rgb: UInt32
  let opacity: Double

  /// The lowest opacity at which a fill hides the objects behind it.
  private static let hiding = 0.5

  init?(_ style: ObjectStyle) {
    guard let fill = PageColor(fill: style.fill), style.opacity > 0 else { return nil }
    rgb = fill.rgb
    opacity = fill.opacity * style.opacity
  }

  var isHiding: Bool { opacity >= Self.hiding }

  func seen(on ground: UInt32) -> UInt32 { PageColor(rgb: rgb, opacity: opacity).blended(with: ground) }
}
