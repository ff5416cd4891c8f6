import Whiteboard

/// What a canvas needs to know of a form in order to draw it.
struct FormShape: Sendable {
  /// A part of the form as straight lines, in the form's own board units relative to its center.
  struct Part: Sendable {
    let points: [Point]
    let isClosed: Bool

    fileprivate init(_ outline: Outline) {
      points = outline.points(steps: 24)
      isClosed = outline.isClosed
    }
  }

  let line: Part
  let ends: [Part]
  /// The box of the line without its width.
  let box: Rectangle
  /// The box of everything that is shown, on the board.
  let bounds: Rectangle
  /// The label as on a page; nil if there is none.
  let label: TextLayout?
  /// Whether the sides of the form's box are parallel to those of the screen.
  let isUpright: Bool

  init?(_ snapshot: ObjectSnapshot) {
    guard let outline = snapshot.outline else { return nil }
    line = Part(outline)
    ends = snapshot.endMarks.map { Part($0) }
    box = outline.box
    bounds = snapshot.formBounds
    label = TextLayout(snapshot)
    let rotation = snapshot.rotation
    isUpright = rotation.sine == 0 || rotation.cosine == 0
  }
}

/// An area inside a closed line, in dots.
struct DotPolygon: Sendable {
  private let points: [Point]

  init(_ points: [Point]) { self.points = points }

  /// Appends the dots that the area covers in a row of dots, by the even-odd rule, within a range.
  func addSpans(atRow row: Double, within columns: Range<Int>, to spans: inout [Range<Int>]) {
    guard var last = points.last else { return }
    var crossings: [Double] = []
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

  /// Returns the color that is seen on a background `0xRRGGBB`.
  func seen(on ground: UInt32) -> UInt32 { PageColor(rgb: rgb, opacity: opacity).blended(with: ground) }
}
