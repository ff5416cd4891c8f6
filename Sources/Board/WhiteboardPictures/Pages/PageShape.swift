import CCairo
import Whiteboard
import WhiteboardRendering

/// The outlines of a form in board coordinates, clipped to the coordinates that cairo can represent.
struct PageShape {
  private let snapshot: ObjectSnapshot
  private let region: Rectangle
  private let scale: Double

  init(_ snapshot: ObjectSnapshot, _ region: Rectangle, _ scale: Double) {
    self.snapshot = snapshot
    self.region = region
    self.scale = scale
  }

  /// The number of lines for each curve that cairo does not draw itself.
  private static let steps = 64
  /// The maximum number of dashes of one object; a line that would have more is drawn without gaps.
  private static let dashLimit = 100_000.0

  func fill(_ outline: Outline, on page: OpaquePointer, _ color: PageColor) {
    color.set(on: page)
    fill(outline, on: page)
  }

  private func fill(_ outline: Outline, on page: OpaquePointer) {
    cairo_set_fill_rule(page, CAIRO_FILL_RULE_EVEN_ODD)
    let room = room(1_000_000)
    if isInside(outline, room) {
      trace(outline, on: page)
    } else {
      for (index, point) in room.clipped(outline.points(steps: Self.steps).map(shown)).enumerated() {
        if index == 0 { cairo_move_to(page, point.x, point.y) } else { cairo_line_to(page, point.x, point.y) }
      }
    }
    cairo_close_path(page)
    cairo_fill(page)
  }

  func draw(_ form: PageOutline, on page: OpaquePointer) {
    cairo_set_line_cap(page, CAIRO_LINE_CAP_ROUND)
    cairo_set_line_join(page, CAIRO_LINE_JOIN_ROUND)
    cairo_set_line_width(page, form.width * snapshot.scale)
    // Without a group, a translucent line would be darker where its ends overlap it.
    let isGroup = form.color.opacity < 1
    if isGroup { cairo_push_group(page) }
    form.color.set(on: page, isCovering: isGroup)
    if form.dashes.isEmpty { stroke(form.outline, on: page) } else { strokeDashed(form, on: page) }
    for end in form.ends { if end.isClosed { fill(end, on: page) } else { stroke(end, on: page) } }
    guard isGroup else { return }
    cairo_pop_group_to_source(page)
    cairo_paint_with_alpha(page, form.color.opacity)
  }

  private func stroke(_ outline: Outline, on page: OpaquePointer) {
    let room = room(1_000_000)
    if isInside(outline, room) {
      trace(outline, on: page)
      if outline.isClosed { cairo_close_path(page) }
    } else {
      var last: Point?
      let points = outline.points(steps: Self.steps).map(shown)
      for (from, to) in zip(points, points.dropFirst()) {
        guard let (first, end) = room.part(from: from, to: to) else { continue }
        if first != last { cairo_move_to(page, first.x, first.y) }
        cairo_line_to(page, end.x, end.y)
        last = end
      }
    }
    cairo_stroke(page)
  }

  /// Draws only the dashes near the page, because a line can have millions of them.
  private func strokeDashed(_ form: PageOutline, on page: OpaquePointer) {
    let dashes = form.dashes.map { $0 * snapshot.scale }
    let period = dashes.reduce(0, +)
    let room = room(form.width * snapshot.scale * scale + 1)
    let points = form.outline.points(steps: Self.steps).map(shown)
    let parts = zip(points, points.dropFirst()).map { room.part(from: $0, to: $1) }
    let length = parts.reduce(0) { $0 + ($1.map { Self.length($0.0, $0.1) } ?? 0) }
    guard period > 0, length / period <= Self.dashLimit else { return stroke(form.outline, on: page) }
    var (travelled, last) = (0.0, Point?.none)
    for (index, part) in parts.enumerated() {
      let (from, to) = (points[index], points[index + 1])
      if let (first, end) = part {
        if first != last {
          cairo_stroke(page)
          let offset = (travelled + Self.length(from, first)).truncatingRemainder(dividingBy: period)
          cairo_set_dash(page, dashes, Int32(dashes.count), offset)
          cairo_move_to(page, first.x, first.y)
        }
        cairo_line_to(page, end.x, end.y)
        last = end
      }
      travelled += Self.length(from, to)
    }
    cairo_stroke(page)
    cairo_set_dash(page, nil, 0, 0)
  }

  // MARK: - Paths

  private func trace(_ outline: Outline, on page: OpaquePointer) {
    let start = shown(outline.start)
    cairo_move_to(page, start.x, start.y)
    for piece in outline.pieces {
      switch piece {
      case .line(let end):
        let end = shown(end)
        cairo_line_to(page, end.x, end.y)
      case .curve(let first, let second, let end):
        let (first, second, end) = (shown(first), shown(second), shown(end))
        cairo_curve_to(page, first.x, first.y, second.x, second.y, end.x, end.y)
      }
    }
  }

  private func shown(_ offset: Point) -> Point {
    let rotation = snapshot.rotation
    return snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine)
  }

  /// Returns the region in board units, widened by a margin in pixels.
  private func room(_ margin: Double) -> Rectangle {
    let margin = margin / scale
    return region.widened(by: margin)
  }

  private func isInside(_ outline: Outline, _ room: Rectangle) -> Bool { room.contains(snapshot.shown(outline.box)) }

  private static func length(_ from: Point, _ to: Point) -> Double {
    let (x, y) = (to.x - from.x, to.y - from.y)
    return (x * x + y * y).squareRoot()
  }
}

extension Rectangle {
  /// Returns the part of a polygon inside the rectangle (algorithm of Sutherland and Hodgman).
  fileprivate func clipped(_ polygon: [Point]) -> [Point] {
    let sides: [(Point) -> Double] = [
      { $0.x - least.x }, { greatest.x - $0.x }, { $0.y - least.y }, { greatest.y - $0.y },
    ]
    return sides.reduce(polygon) { points, room in
      guard var last = points.last else { return [] }
      return points.flatMap { point -> [Point] in
        defer { last = point }
        let (before, here) = (room(last), room(point))
        guard (before < 0) != (here < 0) else { return here < 0 ? [] : [point] }
        let share = before / (before - here)
        let crossing = Point(x: last.x + (point.x - last.x) * share, y: last.y + (point.y - last.y) * share)
        return here < 0 ? [crossing] : [crossing, point]
      }
    }
  }
}
