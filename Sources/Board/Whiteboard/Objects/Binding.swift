/// The binding of an end of a line or arrow to an object (BRD-52).
public struct Binding: Hashable, Sendable {
  /// The object to which the end is bound.
  public let target: ObjectID
  /// The point in the object at which the end aims, relative to the object's center. 0.5 is the right or lower side of
  /// the object's box, and -0.5 is the left or upper side.
  public let anchor: Point
  /// Whether the end lies exactly at the anchor; otherwise it lies where the line meets the object's outline.
  public let isExact: Bool

  /// The number of steps across the width or the height of an object.
  private static let steps = 4096.0
  /// The greatest coordinate of an anchor.
  private static let bound = 16.0

  /// Creates a binding to an object.
  /// - Parameters:
  ///   - target: The object.
  ///   - anchor: The point at which the end aims; the default is the center. The point is rounded to 1/4096, and kept
  ///     within 16 widths and heights.
  ///   - isExact: Whether the end lies exactly at the anchor.
  public init(to target: ObjectID, at anchor: Point = Point(x: 0, y: 0), isExact: Bool = false) {
    func rounded(_ value: Double) -> Double {
      value.isFinite ? (min(max(value, -Self.bound), Self.bound) * Self.steps).rounded() / Self.steps : 0
    }
    self.target = target
    self.anchor = Point(x: rounded(anchor.x), y: rounded(anchor.y))
    self.isExact = isExact
  }

  init?(_ value: Value?) {
    guard case .bytes(let bytes)? = value else { return nil }
    var reader = ByteReader(bytes)
    do throws(CodecError) {
      let target = ObjectID(Dot(try reader.incarnation(), try reader.sequence()))
      let (x, y) = (try reader.zigzag(), try reader.zigzag())
      let flags = try reader.byte()
      try reader.finish()
      let bound = Int64(Self.bound * Self.steps)
      guard (-bound...bound).contains(x), (-bound...bound).contains(y), flags <= 1 else { return nil }
      self.target = target
      anchor = Point(x: Double(x) / Self.steps, y: Double(y) / Self.steps)
      isExact = flags == 1
    } catch { return nil }
  }

  var value: Value {
    var writer = ByteWriter()
    writer.incarnation(target.dot.incarnation)
    writer.varint(target.dot.sequence)
    writer.zigzag(Int64(anchor.x * Self.steps))
    writer.zigzag(Int64(anchor.y * Self.steps))
    writer.byte(isExact ? 1 : 0)
    return .bytes(writer.bytes)
  }
}

/// One of the two ends of a line or arrow.
public enum LineSide: Hashable, Sendable {
  case start
  case end

  var property: Property { self == .start ? .startBinding : .endBinding }
}

private struct Target {
  let placement: Placement
  let form: DrawingForm?
  let binding: Binding
  /// The distance from the object's outline to the end of the line, in board units.
  let gap: Double

  /// The visible gap between an outline and a line that ends at it, in board units. Half of each line's width is added.
  private static let space = 4.0

  init?(_ binding: Binding?, on state: BoardState, lineWidth: Double) {
    guard let binding, state.isShown(binding.target), let record = state.record(binding.target) else { return nil }
    let form = record.form
    guard form?.hasPoints != true else { return nil }
    self.binding = binding
    self.form = form
    placement = record.placement(points: record.ink)
    let border = form == nil || form == .note ? 0 : record.lineWidth * record.scale / 2
    gap = Self.space + border + lineWidth / 2
  }

  private var anchor: Point {
    Point(x: binding.anchor.x * placement.size.width, y: binding.anchor.y * placement.size.height)
  }

  var place: Point { placement.shown(anchor) }

  /// The position on the board of the end of a line that comes from `start`.
  func end(from start: Point) -> Point {
    guard !binding.isExact else { return place }
    let from = placement.offset(of: start)
    let share = share(from, anchor, gap / placement.scale)
    return placement.shown(Point(x: from.x + (anchor.x - from.x) * share, y: from.y + (anchor.y - from.y) * share))
  }

  /// Returns the fraction of the way between two points at which the outline, moved outward by `gap`, is reached.
  /// Returns 1 if the first point is inside the outline or the second point is outside.
  private func share(_ from: Point, _ to: Point, _ gap: Double) -> Double {
    let (x, y) = (placement.size.width / 2 + gap, placement.size.height / 2 + gap)
    guard x > 0, y > 0 else { return 1 }
    let (start, end) = (Point(x: from.x / x, y: from.y / y), Point(x: to.x / x, y: to.y / y))
    if form == .ellipse {
      let way = end - start
      let (square, half) = (way.x * way.x + way.y * way.y, start.x * way.x + start.y * way.y)
      let rest = start.x * start.x + start.y * start.y - 1
      guard rest > 0, end.x * end.x + end.y * end.y < 1 else { return 1 }
      return (-half - (half * half - square * rest).squareRoot()) / square
    }
    let sides: [Point] =
      form == .diamond
      ? [Point(x: 1, y: 1), Point(x: -1, y: 1), Point(x: 1, y: -1), Point(x: -1, y: -1)]
      : [Point(x: 1, y: 0), Point(x: -1, y: 0), Point(x: 0, y: 1), Point(x: 0, y: -1)]
    var share = -1.0
    for side in sides {
      let (outside, inside) = (start.x * side.x + start.y * side.y - 1, end.x * side.x + end.y * side.y - 1)
      guard inside < 0 else { return 1 }
      if outside > 0 { share = max(share, outside / (outside - inside)) }
    }
    return share < 0 ? 1 : share
  }
}

extension BoardState {
  /// Returns the cells of an object, with the bound ends of a line at the positions where they are shown.
  func shown(_ id: ObjectID) -> ObjectRecord? {
    guard var record = record(id) else { return nil }
    guard !objects.bindings.isEmpty, record.form?.hasPoints == true else { return record }
    let (start, end) = (record.binding(.start), record.binding(.end))
    guard start != nil || end != nil else { return record }
    let width = record.lineWidth * record.scale
    let targets = (Target(start, on: self, lineWidth: width), Target(end, on: self, lineWidth: width))
    guard targets.0 != nil || targets.1 != nil else { return record }
    let points = record.linePoints
    guard points.count > 1 else { return record }
    let own = Placement(
      center: record.origin,
      size: Size(width: 0, height: 0),
      scale: record.scale,
      rotation: Rotation(steps: record.angleSteps)
    )
    // The line comes from the neighboring point, or from the point at which the other end aims.
    let first = points.count > 2 ? own.shown(points[1]) : targets.1?.place ?? own.shown(points[1])
    let last =
      points.count > 2 ? own.shown(points[points.count - 2]) : targets.0?.place ?? own.shown(points[0])
    record.ends = [
      targets.0.map { own.offset(of: $0.end(from: first)) }, targets.1.map { own.offset(of: $0.end(from: last)) },
    ]
    return record
  }

  func lines(boundTo ids: some Sequence<ObjectID>) -> [ObjectID] {
    guard !objects.bindings.isEmpty else { return [] }
    var lines: Set<ObjectID> = []
    for id in ids { lines.formUnion(objects.bindings.members(of: id)) }
    return lines.filter { isShown($0) && record($0)?.form?.hasPoints == true }.sorted()
  }
}

extension ObjectRecord {
  package func binding(_ side: LineSide) -> Binding? {
    form?.hasPoints == true ? Binding(self[side.property]?.value) : nil
  }

  fileprivate func place(of side: LineSide) -> Point? {
    let points = linePoints
    guard form?.hasPoints == true, let point = side == .start ? points.first : points.last else { return nil }
    return origin + Rotation(steps: angleSteps).turned(point) * scale
  }
}

extension Board {
  /// Binds an end of a line or arrow to an object, or releases it.
  ///
  /// A released end stays where it is shown.
  /// - Throws: `unknownObject`, `held`, `locked`, `wrongKind` if `id` is not a line or arrow, or if the target is a
  ///   line or arrow.
  public func bind(_ side: LineSide, of id: ObjectID, to binding: Binding?) throws(BoardError) {
    try gesture { () throws(BoardError) in
      try requireTransformable(id)
      guard let record = state.shown(id), record.form?.hasPoints == true else { throw .wrongKind(id) }
      if let binding {
        guard state.isShown(binding.target), let target = state.record(binding.target) else {
          throw .unknownObject(binding.target)
        }
        guard target.form?.hasPoints != true else { throw .wrongKind(binding.target) }
        return try write(id, side.property, binding.value)
      }
      guard record[side.property] != nil else { return }
      try writePoints(try record.linePoints.values(), of: id)
      try write(id, side.property, .none)
    }
  }

  /// Binds ends of a line or arrow to the frontmost objects in which they lie, if there are any.
  ///
  /// An end is never bound to ink or to a frame, and the two ends are never bound to the same object.
  /// - Throws: The same errors as `bind(_:of:to:)`.
  public func connect(_ sides: [LineSide], of id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      for side in sides {
        guard let record = state.shown(id), let place = record.place(of: side) else { continue }
        guard let target = objectIDs.last(where: { canConnect(id, to: $0, at: place) }) else { continue }
        guard record.binding(side == .start ? .end : .start)?.target != target else { continue }
        try bind(side, of: id, to: binding(to: target, at: place))
      }
    }
  }

  private func canConnect(_ line: ObjectID, to id: ObjectID, at place: Point) -> Bool {
    guard let record = state.record(id), record.ink == nil, record.form?.hasPoints != true else { return false }
    // A frame that was added around objects is in front of them. Without this check, all line ends in the frame would
    // be bound to the frame.
    return id != line && record.form != .frame && record.placement(points: nil).distance(to: place) == 0
  }

  /// Returns a binding to an object that aims at a position on the board; nil if lines cannot be bound to the object.
  public func binding(to id: ObjectID, at place: Point, isExact: Bool = false) -> Binding? {
    guard state.isShown(id), let record = state.record(id), record.form?.hasPoints != true else { return nil }
    let placement = record.placement(points: record.ink)
    guard placement.size.width > 0, placement.size.height > 0 else { return Binding(to: id, isExact: isExact) }
    let offset = placement.offset(of: place)
    return Binding(
      to: id,
      at: Point(x: offset.x / placement.size.width, y: offset.y / placement.size.height),
      isExact: isExact
    )
  }

  /// Before objects are deleted, stages the current positions of the line ends that are bound to them. The ends then
  /// stay where they are.
  func stageEnds(boundTo ids: [ObjectID]) throws(BoardError) {
    let deleted = Set(ids)
    for id in state.lines(boundTo: ids) where !deleted.contains(id) {
      // If the line is held or locked, its end lies where it was stored last.
      guard (try? requireTransformable(id)) != nil, let record = state.shown(id) else { continue }
      try writePoints(try record.linePoints.values(), of: id)
    }
  }
}

extension [Point] {
  func values() throws(BoardError) -> [Value] {
    var values: [Value] = []
    for point in self { values.append(try FixedPoint.position(point)) }
    return values
  }
}
