/// Erasing parts of strokes (BRD-29).
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
  /// A stroke with no remaining parts is deleted.
  ///
  /// The eraser touches a stroke if it reaches the middle of the line. Strokes are skipped if they are locked, or if
  /// another member holds them or is still drawing them.
  ///
  /// - Parameters:
  ///   - path: The positions of the eraser; at least one.
  ///   - radius: Half the width of the eraser, in board units.
  /// - Returns: The strokes that lost a part, from back to front.
  /// - Throws: `outOfRange`, `empty`, `tooLong`, `tooManyOperations`, `boardFull`.
  @discardableResult public func erase(along path: [Point], radius: Double) throws(BoardError) -> [ObjectID] {
    guard !path.isEmpty else { throw .empty }
    guard path.count <= BoardLimits.eraserPoints else { throw .tooLong("path") }
    guard radius >= 0, radius < BoardLimits.coordinate else { throw .outOfRange("radius") }
    for place in path { _ = try FixedPoint.position(place) }
    return try gesture("erase") { () throws(BoardError) in
      var touched: [ObjectID] = []
      for id in objectIDs where state.record(id)?.kind == .drawing {
        guard (try? requireErasable(id)) != nil, let record = state.record(id) else { continue }
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

  /// Erases parts of a stroke and returns whether a visible part was removed.
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
