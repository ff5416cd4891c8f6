extension Board {
  /// Erases parts of a stroke.
  ///
  /// A stroke with no remaining parts is deleted.
  /// - Parameters:
  ///   - id: The stroke.
  ///   - spans: The parts to erase, in units of 1/16 of the distance between consecutive points.
  /// - Throws: `unknownObject`, `wrongKind`, `held`, `locked`, `unfinished`, `outOfRange` for a span beyond the stroke
  ///   or of length zero, `tooLong` if the stroke has too many erasures.
  public func erase(_ id: ObjectID, spans: [ClosedRange<Int>]) throws(BoardError) {
    try requireErasable(id)
    let points = state.record(id)?.points.count ?? 0
    // For a stroke of one point, the first step erases the point.
    let end = max(1, (points - 1) * StrokeSpans.steps)
    guard spans.allSatisfy({ $0.lowerBound >= 0 && $0.upperBound <= end && $0.lowerBound < $0.upperBound }) else {
      throw .outOfRange("spans")
    }
    try gesture("erase") { () throws(BoardError) in _ = try erase(StrokeSpans(spans), of: id) }
  }

  /// Erases everything under an eraser that moves along a path.
  ///
  /// A stroke with no remaining parts is deleted. A form is deleted if the eraser touches its line.
  ///
  /// The eraser touches a stroke if it reaches the center line of the stroke. Strokes are skipped if they are locked,
  /// or if another member holds them or is still drawing them.
  ///
  /// - Parameters:
  ///   - path: The positions of the eraser; at least one.
  ///   - radius: Half the width of the eraser, in board units.
  /// - Returns: The strokes that lost a part, and the deleted forms, from back to front.
  /// - Throws: `outOfRange`, `empty`, `tooLong`, `tooManyOperations`, `boardFull`.
  @discardableResult public func erase(along path: [Point], radius: Double) throws(BoardError) -> [ObjectID] {
    guard !path.isEmpty else { throw .empty }
    guard path.count <= BoardLimits.eraserPoints else { throw .tooLong("path") }
    guard radius >= 0, radius < BoardLimits.coordinate else { throw .outOfRange("radius") }
    for place in path { _ = try FixedPoint.position(place) }
    return try gesture("erase") { () throws(BoardError) in
      var touched: [ObjectID] = []
      for id in objectIDs where state.record(id)?.kind == .drawing {
        guard (try? requireErasable(id)) != nil, let record = state.shown(id) else { continue }
        if record.form != nil {
          guard record.isLineTouched(by: path, radius: radius) else { continue }
          try stageEnds(boundTo: [id])
          try write(id, .deleted, .unsigned(1))
          touched.append(id)
          continue
        }
        let spans = Eraser(path, radius: radius, over: record).spans
        if try erase(spans, of: id) { touched.append(id) }
      }
      return touched
    }
  }

  private func requireErasable(_ id: ObjectID) throws(BoardError) {
    try requireWritable(id, asKind: .drawing)
    try requireTransformable(id)
  }

  private func erase(_ spans: StrokeSpans, of id: ObjectID) throws(BoardError) -> Bool {
    guard let record = state.record(id) else { return false }
    let isBeingDrawn = !record.isFinished && id.dot.incarnation == incarnation
    switch try Erasure(spans, of: record, isBeingDrawn: isBeingDrawn) {
    case .nothing: return false
    case .wholeStroke: try stage(id, .deleted, .unsigned(1))
    case .parts(let values): for value in values { try stage(id, .erasure(nextDot()), value) }
    }
    return true
  }
}

extension ObjectRecord {
  fileprivate func isLineTouched(by path: [Point], radius: Double) -> Bool {
    let placement = placement(points: nil)
    guard let outline = outline(placement.size) else { return false }
    let lines = Segment.lines(outline.points().map(placement.shown))
    return Segment.lines(path).contains { way in lines.contains { $0.part(within: radius, of: way) != nil } }
  }
}

enum Erasure: Equatable {
  case nothing
  case wholeStroke
  /// Some visible parts are erased; the caller must write the associated values as erasures.
  case parts([Value])

  init(_ spans: StrokeSpans, of record: ObjectRecord, isBeingDrawn: Bool) throws(BoardError) {
    let before = record.erased
    let count = record.points.count
    let rest = before.union(spans).rest(ofPoints: count)
    // Delete a stroke without visible parts, because users can neither see nor select it. Such a stroke can exist if
    // two members each erased one half.
    guard !rest.isEmpty || spans.ranges.isEmpty || isBeingDrawn else {
      self = .wholeStroke
      return
    }
    guard rest != before.rest(ofPoints: count) else {
      self = .nothing
      return
    }
    let cells = record.entries(of: Property.erasureNumber, upTo: BoardLimits.erasuresPerStroke)
    let values = spans.values
    let bytes = cells.reduce(0) { $0 + $1.cell.value.length }
    guard cells.count + values.count <= BoardLimits.erasuresPerStroke,
      values.reduce(bytes, { $0 + $1.length }) <= BoardLimits.erasureBytes
    else { throw .tooLong("erasures") }
    self = .parts(values)
  }
}

/// An eraser that moves along a path over one stroke, in the stroke's own coordinates.
struct Eraser {
  private let points: [Point]
  private let path: [Segment]
  private let radius: Double

  init(_ path: [Point], radius: Double, over record: ObjectRecord) {
    let ink = record.points
    let middle = InkBounds(ink)?.center ?? Point(x: 0, y: 0)
    let placement = record.placement(points: ink)
    points = ink.map { Point(x: $0.point.x - middle.x, y: $0.point.y - middle.y) }
    let places = path.map(placement.offset)
    self.path = zip(places, places.dropFirst() + places.suffix(1)).map(Segment.init)
    self.radius = radius / placement.scale
  }

  /// The parts of the stroke under the eraser, with ends rounded to the nearest step, each at least one step long.
  var spans: StrokeSpans {
    guard let around = path.map({ Rectangle($0.from, $0.to) }).reduced({ $0.union($1) }) else { return StrokeSpans() }
    let reach = around.widened(by: radius)
    guard points.count > 1 else {
      let isUnder = points.first.map { place in path.contains { $0.distance(to: place) <= radius } }
      return isUnder ?? false ? StrokeSpans([0...1]) : StrokeSpans()
    }
    var parts: [ClosedRange<Double>] = []
    for (index, (from, to)) in zip(points, points.dropFirst()).enumerated() where Rectangle(from, to).touches(reach) {
      for stretch in path {
        guard let part = Segment(from: from, to: to).part(within: radius, of: stretch) else { continue }
        let first = Double(index)
        parts.append(first + part.lowerBound...first + part.upperBound)
      }
    }
    return StrokeSpans(joined(parts).map(span))
  }

  /// Returns the parts, with parts that touch merged into one part. Otherwise, each part would be rounded up to a whole
  /// step.
  private func joined(_ parts: [ClosedRange<Double>]) -> [ClosedRange<Double>] {
    parts.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, part in
      guard let last = joined.last, part.lowerBound <= last.upperBound else {
        joined.append(part)
        return
      }
      joined[joined.count - 1] = last.lowerBound...max(last.upperBound, part.upperBound)
    }
  }

  private func span(_ part: ClosedRange<Double>) -> ClosedRange<Int> {
    let steps = Double(StrokeSpans.steps)
    let start = Int((part.lowerBound * steps).rounded())
    let end = Int((part.upperBound * steps).rounded())
    guard start == end else { return start...end }
    let middle = Int((part.lowerBound + part.upperBound) / 2 * steps)
    let step = min(middle, (points.count - 1) * StrokeSpans.steps - 1)
    return step...step + 1
  }
}

extension Array {
  fileprivate func reduced(_ combine: (Element, Element) -> Element) -> Element? {
    guard let first else { return nil }
    return dropFirst().reduce(first, combine)
  }
}
