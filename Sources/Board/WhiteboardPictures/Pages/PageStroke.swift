import CCairo
import Whiteboard
import WhiteboardRendering

/// A stroke as curves in board coordinates, clipped to the coordinates that cairo can represent.
struct PageStroke {
  private let lines: [PageLine]
  /// The area of the board whose coordinates cairo can represent, in board units.
  private let room: Rectangle

  init(_ lines: [PageLine], of snapshot: ObjectSnapshot, _ region: Rectangle, _ scale: Double) {
    self.lines = lines.map { $0.shown(by: snapshot) }
    let margin = 1_000_000 / scale
    room = region.widened(by: margin)
  }

  func draw(on page: OpaquePointer, _ color: PageColor) {
    cairo_set_line_cap(page, CAIRO_LINE_CAP_ROUND)
    cairo_set_line_join(page, CAIRO_LINE_JOIN_ROUND)
    // Lines overlap. Draw them as a group, so that the overlaps are not visible in a transparent stroke.
    let isGroup = color.opacity < 1 && (lines.count > 1 || lines[0].pieces.count > Self.pieceLimit)
    if isGroup { cairo_push_group(page) }
    color.set(on: page, isCovering: isGroup)
    for line in lines {
      cairo_set_line_width(page, line.width)
      trace(line, on: page)
      cairo_stroke(page)
    }
    guard isGroup else { return }
    cairo_pop_group_to_source(page)
    cairo_paint_with_alpha(page, color.opacity)
  }

  /// The number of pieces that are drawn together. The time for one path can grow faster than its length, because each
  /// piece can cross all others.
  private static let pieceLimit = 256

  /// Adds a line to the path, and draws the path when it is long; a line without pieces is a dot.
  private func trace(_ line: PageLine, on page: OpaquePointer) {
    if line.pieces.isEmpty, room.holds(line.start) {
      cairo_move_to(page, line.start.x, line.start.y)
      cairo_line_to(page, line.start.x, line.start.y)
    }
    var last = line.start
    var needsStart = true
    for (index, piece) in line.pieces.enumerated() {
      if index % Self.pieceLimit == 0, index > 0 {
        cairo_stroke(page)
        needsStart = true
      }
      if needsStart, room.holds(last) { cairo_move_to(page, last.x, last.y) }
      add(piece, from: last, on: page)
      // If a piece ends out of range, the next piece cannot continue from its end.
      needsStart = !room.holds(piece.end)
      last = piece.end
    }
  }

  private func add(_ piece: InkCurve.Piece, from start: Point, on page: OpaquePointer) {
    if case .curve(let control, let end) = piece, room.holds(start), room.holds(control), room.holds(end) {
      // Convert the quadratic curve to a cubic curve.
      func towards(_ place: Point) -> Point {
        Point(x: (place.x + 2 * control.x) / 3, y: (place.y + 2 * control.y) / 3)
      }
      let (first, second) = (towards(start), towards(end))
      cairo_curve_to(page, first.x, first.y, second.x, second.y, end.x, end.y)
      return
    }
    guard let (first, last) = room.part(from: start, to: piece.end) else { return }
    if first != start { cairo_move_to(page, first.x, first.y) }
    cairo_line_to(page, last.x, last.y)
  }
}

extension PageLine {
  fileprivate func shown(by snapshot: ObjectSnapshot) -> PageLine {
    let rotation = snapshot.rotation
    func shown(_ offset: Point) -> Point { snapshot.shown(offset, sine: rotation.sine, cosine: rotation.cosine) }
    return PageLine(
      width: width * snapshot.scale,
      start: shown(start),
      pieces: pieces.map { piece in
        switch piece {
        case .line(let end): .line(to: shown(end))
        case .curve(let control, let end): .curve(towards: shown(control), to: shown(end))
        }
      }
    )
  }
}

extension Rectangle {
  fileprivate func holds(_ place: Point) -> Bool {
    (least.x...greatest.x).contains(place.x) && (least.y...greatest.y).contains(place.y)
  }

  /// Returns the part of a line inside the rectangle (algorithm of Liang and Barsky); nil if there is none.
  func part(from start: Point, to end: Point) -> (Point, Point)? {
    let (dx, dy) = (end.x - start.x, end.y - start.y)
    var (first, last) = (0.0, 1.0)
    for (slope, room) in [
      (-dx, start.x - least.x), (dx, greatest.x - start.x), (-dy, start.y - least.y), (dy, greatest.y - start.y),
    ] {
      if slope == 0 {
        if room < 0 { return nil }
      } else if slope < 0 {
        first = max(first, room / slope)
      } else {
        last = min(last, room / slope)
      }
    }
    guard first <= last else { return nil }
    func place(_ share: Double, _ whole: Point, at exact: Double) -> Point {
      share == exact ? whole : Point(x: start.x + dx * share, y: start.y + dy * share)
    }
    return (place(first, start, at: 0), place(last, end, at: 1))
  }
}
