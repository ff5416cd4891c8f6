import Whiteboard
import WhiteboardRendering

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The frame around the selected objects, at a distance of one cell, and its handles.
struct SelectionFrame: Hashable, Sendable {
  /// The sides of the frame that a resize handle moves: 1 or -1 along each axis, or 0 if it moves no side along that
  /// axis.
  struct Grip: Hashable, Sendable {
    let x: Int
    let y: Int

    var isCorner: Bool { x != 0 && y != 0 }
  }

  enum Handle: Hashable, Sendable {
    case resize(Grip)
    case knob
  }

  struct Resize: Hashable, Sendable {
    let frame: SelectionFrame
    let grip: Grip
    let from: Point
    var to: Point
    /// Whether the center stays where it is, instead of the opposite corner or side.
    var isCentered = false
    /// Whether lines become wider too.
    var scalesLines = false
    /// Whether the width and height of a single form change in proportion. Any other selection always keeps its
    /// proportions.
    var keepsProportions = false

    var pivot: Point { isCentered ? frame.center : frame.place(-grip.x, -grip.y, of: frame.half(scalesLines)) }

    var factor: Double {
      let half = frame.half(scalesLines)
      let (start, pivot) = (frame.place(grip.x, grip.y, of: half), pivot)
      let (x, y) = (start.x - pivot.x, start.y - pivot.y)
      let square = x * x + y * y
      guard square > 0 else { return 1 }
      let moved = (x + to.x - from.x) * x + (y + to.y - from.y) * y
      return min(max(moved / square, 0.01), 100)
    }

    /// Whether the width and the height of a form change independently.
    var isFree: Bool { frame.isForm && !keepsProportions && !scalesLines }

    /// Half of the frame's size after a free resize, and the frame's center.
    var free: (half: Size, center: Point) {
      let (x, y) = (to.x - from.x, to.y - from.y)
      let (turn, half) = (frame.rotation, frame.half(false))
      let sides = isCentered ? 2.0 : 1.0
      func grown(_ half: Double, _ by: Double, _ side: Int) -> Double { max(half + by * Double(side) * sides / 2, 0.5) }
      let size = Size(
        width: grown(half.width, x * turn.cosine + y * turn.sine, grip.x),
        height: grown(half.height, y * turn.cosine - x * turn.sine, grip.y)
      )
      return (size, isCentered ? frame.center : frame.place(grip.x, grip.y, of: size, around: pivot))
    }

    var corners: [Point] {
      if isFree {
        let (half, center) = free
        let size = Size(
          width: half.width + frame.lineInset + frame.margin.width,
          height: half.height + frame.lineInset + frame.margin.height
        )
        return SelectionFrame.cornerDirections.map { frame.place($0, $1, of: size, around: center) }
      }
      let (factor, pivot, half) = (factor, pivot, frame.half(scalesLines))
      let line = scalesLines ? 0 : frame.lineInset
      let center = Point(
        x: pivot.x + (frame.center.x - pivot.x) * factor,
        y: pivot.y + (frame.center.y - pivot.y) * factor
      )
      let size = Size(
        width: half.width * factor + line + frame.margin.width,
        height: half.height * factor + line + frame.margin.height
      )
      return SelectionFrame.cornerDirections.map { frame.place($0, $1, of: size, around: center) }
    }
  }

  /// The corners, clockwise from the top left corner before the rotation.
  let corners: [Point]
  let center: Point
  let grips: [Place<Grip>]
  let knob: Point

  struct Place<Value: Hashable & Sendable>: Hashable, Sendable {
    let value: Value
    let point: Point
  }

  /// Half of the size of the selection along the frame's own axes.
  private let (halfWidth, halfHeight): (Double, Double)
  /// Whether the frame is around a single form with a width and a height of its own.
  private let isForm: Bool
  /// Half of the line width of a single stroke: the distance between its points and its edge.
  private let lineInset: Double
  /// The size of a cell along the frame's own axes.
  private let margin: Size
  private let rotation: Rotation
  private let viewport: Viewport

  private static let cornerDirections = [(-1, -1), (1, -1), (1, 1), (-1, 1)]

  /// Creates the frame around objects; nil without objects. The frame of one object is rotated with it; the frame of
  /// several objects is upright.
  init?(_ snapshots: [ObjectSnapshot], in viewport: Viewport, words: (ObjectID) -> Rectangle?) {
    guard let first = snapshots.first else { return nil }
    self.viewport = viewport
    isForm = snapshots.count == 1 && first.form?.hasPoints == false
    // A game is drawn upright at any angle.
    if snapshots.count == 1, first.kind != .game, first.angle != 0 || words(first.id) == nil {
      rotation = first.rotation
      halfWidth = first.shownSize.width * first.scale / 2
      halfHeight = first.shownSize.height * first.scale / 2
      center = first.centerPosition
      let line = (first.lineWidth ?? 0) * first.scale / 2
      lineInset = first.kind == .drawing && first.form == nil ? min(line, halfWidth, halfHeight) : 0
    } else {
      let areas = snapshots.flatMap { [$0.bounds] + [words($0.id)].compactMap(\.self) }
      let whole = areas.dropFirst().reduce(areas[0]) { $0.union($1) }
      rotation = Rotation(steps: 0)
      halfWidth = (whole.greatest.x - whole.least.x) / 2
      halfHeight = (whole.greatest.y - whole.least.y) / 2
      center = whole.center
      lineInset = 0
    }
    let (cell, sine, cosine) = (viewport.cellWidth, rotation.sine.magnitude, rotation.cosine.magnitude)
    margin = Size(width: cosine * cell + sine * 2 * cell, height: sine * cell + cosine * 2 * cell)
    let outer = Size(width: halfWidth + margin.width, height: halfHeight + margin.height)
    let (turn, middle) = (rotation, center)
    func place(_ x: Double, _ y: Double) -> Point { Self.place(x, y, turn, around: middle) }
    let corners = Self.cornerDirections.map { place(Double($0) * outer.width, Double($1) * outer.height) }
    self.corners = corners
    grips = Self.grips(corners, viewport)
    knob = Self.knob(
      [(0, -1), (0, 1), (1, 0), (-1, 0)].map { x, y in
        place(x * (outer.width + 4 * cell), y * (outer.height + 4 * cell))
      },
      beside: grips,
      corners,
      viewport
    )
  }

  /// A side has a handle in its middle only if there is room for three handles.
  private static func grips(_ corners: [Point], _ viewport: Viewport) -> [Place<Grip>] {
    var grips = zip(cornerDirections, corners).map { Place(value: Grip(x: $0.0.0, y: $0.0.1), point: $0.1) }
    for (index, grip) in [(0, -1), (1, 0), (0, 1), (-1, 0)].enumerated() {
      let (from, to) = (corners[index], corners[(index + 1) % 4])
      let (start, end) = (viewport.cell(of: from), viewport.cell(of: to))
      guard max(abs(start.x - end.x), abs(start.y - end.y)) >= 4 else { continue }
      let middle = Point(x: (from.x + to.x) / 2, y: (from.y + to.y) / 2)
      grips.append(Place(value: Grip(x: grip.0, y: grip.1), point: middle))
    }
    return grips
  }

  /// Returns the first of the given places that is in view. If none of them is in view, but the frame is partly in
  /// view, returns the first place moved into the view.
  private static func knob(_ places: [Point], beside grips: [Place<Grip>], _ corners: [Point], _ viewport: Viewport)
    -> Point
  {
    func isInView(_ place: Point) -> Bool {
      let cell = viewport.cell(of: place)
      return (0..<viewport.columns).contains(cell.x) && (0..<viewport.rows).contains(cell.y)
    }
    if let place = places.first(where: isInView) { return place }
    let around = corners.dropFirst().reduce(Rectangle(corners[0], corners[0])) { $0.union(Rectangle($1, $1)) }
    guard viewport.rectangle.touches(around) else { return places[0] }
    let top = viewport.cell(of: places[0])
    var column = min(max(top.x, 0), viewport.columns - 1)
    let row = min(max(top.y, 0), viewport.rows - 1)
    let occupied = grips.map { viewport.cell(of: $0.point) }
    while occupied.contains(where: { $0.y == row && abs($0.x - column) < 2 }), column + 2 < viewport.columns {
      column += 2
    }
    return viewport.place(atColumn: Double(column) + 0.5, row: Double(row) + 0.5)
  }

  /// Inside the selection, returns only a handle that is exactly at the point.
  func handle(at place: Point) -> Handle? {
    let cell = viewport.cell(of: place)
    let isInside = isInside(place)
    var nearest: (handle: Handle, distance: Int)?
    for (handle, point) in [(Handle.knob, knob)] + grips.map({ (.resize($0.value), $0.point) }) {
      let other = viewport.cell(of: point)
      let distance = max(abs(cell.x - other.x), abs(cell.y - other.y))
      guard distance <= (isInside ? 0 : 1), distance < nearest?.distance ?? .max else { continue }
      nearest = (handle, distance)
    }
    return nearest?.handle
  }

  private func isInside(_ place: Point) -> Bool {
    let (x, y) = (place.x - center.x, place.y - center.y)
    let along = x * rotation.cosine + y * rotation.sine
    let across = y * rotation.cosine - x * rotation.sine
    return along.magnitude <= halfWidth + margin.width / 2 && across.magnitude <= halfHeight + margin.height / 2
  }

  /// If a resize does not scale lines, the size does not include the line width of a single stroke.
  fileprivate func half(_ scalesLines: Bool) -> Size {
    let line = scalesLines ? 0 : lineInset
    return Size(width: halfWidth - line, height: halfHeight - line)
  }

  fileprivate func place(_ x: Int, _ y: Int, of half: Size, around middle: Point? = nil) -> Point {
    Self.place(Double(x) * half.width, Double(y) * half.height, rotation, around: middle ?? center)
  }

  private static func place(_ x: Double, _ y: Double, _ rotation: Rotation, around center: Point) -> Point {
    Point(x: center.x + x * rotation.cosine - y * rotation.sine, y: center.y + x * rotation.sine + y * rotation.cosine)
  }

  func moved(by offset: Point) -> [Point] { corners.map { Point(x: $0.x + offset.x, y: $0.y + offset.y) } }

  func turned(byDegrees degrees: Double) -> [Point] {
    let steps = (degrees / 360 * 4096).rounded()
    let turn = Rotation(steps: UInt64((Int64(steps) % 4096 + 4096) % 4096))
    return corners.map { Self.place($0.x - center.x, $0.y - center.y, turn, around: center) }
  }

  /// Returns the clockwise rotation in degrees if the knob is dragged to a point.
  func degrees(to place: Point) -> Double {
    func angle(_ place: Point) -> Double { atan2(place.y - center.y, place.x - center.x) }
    return (angle(place) - angle(knob)) * 180 / .pi
  }
}
