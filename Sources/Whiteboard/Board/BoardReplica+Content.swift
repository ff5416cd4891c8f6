/// Staging the content of objects in the current gesture.
extension BoardReplica {
  /// Stages the insertion of `text` at an anchor in a text object.
  func stageRun(_ text: String, at anchor: TextTree.Anchor, of id: ObjectID) throws(BoardError) {
    try stage(id, .run(nextDot()), TextTree.encodeRun(text, at: anchor))
  }

  /// Stages the text of a new object, in runs that each fit in one value.
  func stageText(_ text: String, of id: ObjectID) throws(BoardError) {
    let scalars = Array(text.unicodeScalars)
    var anchor = TextTree.Anchor.root
    var start = 0
    while start < scalars.count {
      let end = min(scalars.count, start + BoardLimits.textBytes)
      var run = String.UnicodeScalarView()
      run.append(contentsOf: scalars[start..<end])
      let dot = nextDot()
      try stageRun(String(run), at: anchor, of: id)
      anchor = .right(TextTree.Element(run: dot, offset: end - start - 1))
      start = end
    }
  }

  /// Stages points of a stroke, in chunks of at most `BoardLimits.pointsPerChunk`.
  func stageInk(_ points: some RandomAccessCollection<InkPoint>, to id: ObjectID, first: Int) throws(BoardError) {
    guard first >= 0, first + points.count <= BoardLimits.pointsPerStroke else { throw .tooLong("stroke") }
    var first = first
    var rest = points[...]
    while !rest.isEmpty {
      let piece = rest.prefix(BoardLimits.pointsPerChunk)
      try stage(id, .ink(first: UInt64(first)), .bytes(InkCoding.encode(piece)))
      first += piece.count
      rest = rest.dropFirst(piece.count)
    }
  }

  /// Purges an object, and creates one with the same content that is not locked, deleted or selected.
  ///
  /// The changes are part of the current gesture. They cannot be undone, because a purge cannot be undone.
  /// - Returns: The new object.
  /// - Throws: `tooManyOperations`, `tooLong`, `boardFull`.
  @discardableResult func replaceFrozen(_ id: ObjectID) throws(BoardError) -> ObjectID {
    guard let record = state.record(id), let kind = record.kind else { throw .unknownObject(id) }
    let plan = try RestorePlan(replacing: id, record, as: incarnation)
    let copy = try create(kind)
    for (_, change) in plan.changes {
      if case .write(.lock, _) = change { continue }
      try RestorePlan.stage(change, of: copy, on: self)
    }
    try stage(id, .purge, .none)
    return copy
  }
}
