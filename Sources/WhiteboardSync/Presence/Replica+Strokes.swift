import Whiteboard

/// Strokes while they are drawn: what goes out early, and what shows early (SYN-31 to SYN-33).
extension Replica {
  /// Begins a stroke whose points go out while it is drawn.
  public func beginStroke(
    lineWidth: Double = 5,
    color: UInt32? = nil,
    now: Moment
  ) throws(BoardError) -> ObjectID {
    let id = try change(now: now) { (board) throws(BoardError) in
      try board.beginDrawing(lineWidth: lineWidth, color: color)
    }
    strokes[id] = LiveStroke(now: now.uptime)
    return id
  }

  /// Adds points to a stroke: previewed at once, committed every 250 ms or 128 points.
  /// - Throws: `unknownObject` if no such stroke is being drawn here, `outOfRange`, `tooLong`.
  public func extendStroke(
    _ id: ObjectID,
    with points: [Point],
    now: Moment
  ) throws(BoardError) {
    guard var stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count + points.count <= BoardLimits.pointsPerStroke else {
      throw .tooLong("stroke")
    }
    var ink: [InkPoint] = []
    for point in points { ink.append(try InkPoint(point)) }
    begin(now)
    stroke.append(ink)
    strokes[id] = stroke
    advanceStroke(id, now)
    finish(from: nil, now)
  }

  /// Commits the rest of a stroke and finishes it.
  /// - Throws: `unknownObject` if no such stroke is being drawn here, `empty` if it has no
  ///   points; then it goes on.
  public func endStroke(_ id: ObjectID, now: Moment) throws(BoardError) {
    guard let stroke = strokes[id] else { throw .unknownObject(id) }
    guard stroke.count > 0 else { throw .empty }
    try change(now: now) { (board) throws(BoardError) in
      try board.appendInk(stroke.pending, to: id, first: stroke.committed)
      try board.endDrawing(id, count: stroke.count)
    }
    strokes[id] = nil
  }

  /// Everything that shows of a stroke: its committed points, then those of previews.
  public func shownInk(of id: ObjectID) -> [InkPoint] {
    guard let ink = board.snapshot(id)?.ink else { return [] }
    if let stroke = strokes[id] { return ink + stroke.pending }
    return ink + tails.tail(of: id, committed: ink.count)
  }

  func advanceStroke(_ id: ObjectID, _ now: Moment) {
    guard var stroke = strokes[id] else { return }
    if let preview = stroke.preview(now.uptime) {
      datagram(.preview(stroke: id, first: preview.first, points: preview.points))
    }
    if stroke.isCommitDue(now.uptime) {
      do {
        try board.gesture { () throws(BoardError) in
          try board.appendInk(stroke.pending, to: id, first: stroke.committed)
        }
        stroke.didCommit(now.uptime)
      } catch {
        // The stroke was purged, or the board is full: there is nothing to draw on.
        strokes[id] = nil
        return
      }
    }
    strokes[id] = stroke
  }

  func preview(
    _ stroke: ObjectID,
    _ first: Int,
    _ points: [InkPoint],
    from member: MemberID
  ) {
    // Nobody draws in another's name, and what is gone or finished is drawn no more.
    guard stroke.dot.incarnation == peers[member]?.link.record?.incarnation else { return }
    let isHere = board.state.isVisible(stroke)
    var committed = 0
    if isHere {
      guard let record = board.state.record(stroke), record.kind == .drawing,
        !record.isFinished
      else { return }
      committed = record.points.count
    } else {
      guard !board.state.context.contains(stroke.dot) else { return }
    }
    guard
      tails.received(stroke, first: first, points, from: member, committed: committed), isHere
    else { return }
    showTail(of: stroke, committed: committed, member)
  }

  func showTail(of stroke: ObjectID, committed: Int, _ member: MemberID) {
    let tail = tails.tail(of: stroke, committed: committed)
    guard !tail.isEmpty else { return }
    actions.append(
      .preview(
        StrokePreview(stroke: stroke, member: member, first: committed, points: tail)
      )
    )
  }
}
