import PeerCore

extension BoardReplica {
  /// Returns the member to which an incarnation belongs; nil if its author record is unknown.
  public func member(of incarnation: Incarnation) -> MemberID? { authors[incarnation] }

  /// Returns the member that has an object selected (BRD-22); nil if the object is not selected.
  ///
  /// The member may be offline. A selection is valid only if it was written by the member that it names, and if a later
  /// selection can follow.
  public func selection(of id: ObjectID) -> MemberID? {
    guard let record = state.record(id), let member = record.selection, let cell = record[.selection],
      cell.time.canBeFollowed, authors[cell.dot.incarnation] == member
    else { return nil }
    return member
  }

  func writeSelection(of id: ObjectID) throws(BoardError) {
    guard selection(of: id) != member else { return }
    // A cell that names the local member is not valid if another member wrote it, so write it again.
    try stageAlone(id, .selection, .bytes(member.bytes))
  }

  /// Returns the member that holds an object (BRD-22): the member that selected the object, while that member is online
  /// and has a lease on the object.
  public func holder(of id: ObjectID) -> MemberID? {
    guard let winner = selection(of: id) else { return nil }
    if winner == member { return winner }
    return presentMembers.contains(winner) && leases.holds(id, winner, uptime) ? winner : nil
  }

  func requireWritable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    try requireSelectable(id, asKind: kind)
    if let record = state.record(id), record.isLocked { throw .locked(id) }
  }

  func requireText(_ id: ObjectID) throws(BoardError) {
    try requireWritable(id)
    guard state.record(id)?.hasText == true else { throw .wrongKind(id) }
  }

  func requireSelectable(_ id: ObjectID, asKind kind: ObjectKind? = nil) throws(BoardError) {
    guard state.isShown(id), let record = state.record(id) else { throw .unknownObject(id) }
    if let kind, record.kind != kind { throw .wrongKind(id) }
    try requireFree(id)
  }

  func requireFree(_ id: ObjectID) throws(BoardError) {
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
  }

  func requireTransformable(_ id: ObjectID) throws(BoardError) {
    try requireWritable(id)
    if let record = state.record(id), record.kind == .drawing, !record.isFinished, id.dot.incarnation != incarnation,
      presentIncarnations.contains(id.dot.incarnation)
    {
      throw .unfinished(id)
    }
  }

  // MARK: - Leases on selected objects

  package func noteSelections(in batch: Batch) {
    let author = authors[batch.author]
    var last: ObjectID?
    for operation in batch.operations {
      let id = operation.object
      if operation.property.isSelection {
        leases.selected(id, by: selection(of: id), uptime)
      } else if let author, id != last {
        last = id
        if selection(of: id) == author { leases.edited(id, by: author, uptime) }
      }
    }
  }

  package func noteSelections(in difference: Difference) {
    for entry in difference.entries where entry.cells.contains(where: { $0.property.isSelection }) {
      leases.selected(entry.object, by: selection(of: entry.object), uptime)
    }
  }

  /// Returns the objects on which a lease has ended since the last call.
  package func removeEndedLeases() -> [ObjectID] { leases.removeEnded(uptime) }

  /// The time when ``removeEndedLeases()`` must be called next; nil if there are no leases.
  package var nextLeaseEnd: UInt64? { leases.nextEnd }

  // MARK: - Limits of clocks and storage

  /// Returns whether the cell of this property is frozen: its time is so late that no write can follow it.
  func isFrozen(_ property: Property, of id: ObjectID) -> Bool {
    state.record(id)?[property].map { !$0.time.canBeFollowed } ?? false
  }

  /// Returns whether a cell that any member may write has a time so late that no write can follow it (BRD-36).
  func isFrozen(_ id: ObjectID) -> Bool {
    state.record(id)?.entries.contains { $0.property.right == .anyone && !$0.cell.time.canBeFollowed } ?? false
  }

  /// Throws an error if a write of this cell would be refused. The object may be deleted.
  func requireChangeable(_ id: ObjectID, _ property: Property, isUnlocked: Bool) throws(BoardError) {
    if let holder = holder(of: id), holder != member { throw .held(id, by: holder) }
    guard let record = state.record(id) else { return }
    if record.isLocked, !isUnlocked, property != .lock { throw .locked(id) }
    if let cell = record[property], !cell.time.canBeFollowed { throw .clockExhausted }
  }

  /// Throws an error if values of these lengths might not fit on the board. The check is as strict as for staged
  /// operations.
  func requireRoom(values lengths: [Int]) throws(BoardError) {
    let perBatch = min(lengths.count, BoardLimits.operationsPerBatch)
    guard
      state.hasRoom(
        objects: lengths.count,
        cells: lengths.count,
        bytes: lengths.reduce(0, +),
        incarnations: perBatch + 1,
        ranges: perBatch + 1
      )
    else { throw .boardFull }
  }
}

extension BoardReplica {
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

  /// `points` are relative to the position of the object.
  func stagePoints(_ points: [Point], of id: ObjectID) throws(BoardError) {
    guard points.count <= BoardLimits.pointCells else { throw .tooLong("line") }
    for (index, point) in points.enumerated() {
      try stage(id, .point(key: PointKeys.first(index)), try FixedPoint.position(point))
    }
  }

  /// Changes the points of a line or arrow to `values`. Points at the start and the end that stay equal keep their
  /// keys.
  func writePoints(_ values: [Value], of id: ObjectID) throws(BoardError) {
    guard !values.isEmpty else { throw .empty }
    let cells = state.record(id)?.entries(of: Property.pointNumber, upTo: BoardLimits.pointCells) ?? []
    let old = cells.filter { $0.cell.value.shape == Value.pair(0, 0).shape }
    guard cells.count - old.count + max(values.count, old.count) <= BoardLimits.pointCells else {
      throw .tooLong("line")
    }
    let room = min(values.count, old.count)
    var start = 0
    while start < room, old[start].cell.value == values[start] { start += 1 }
    var end = 0
    while end < room - start, old[old.count - 1 - end].cell.value == values[values.count - 1 - end] { end += 1 }
    let (before, after) = (old[start..<old.count - end], values[start..<values.count - end])
    for (cell, value) in zip(before, after) { try write(id, cell.property, value) }
    for cell in before.dropFirst(after.count) { try write(id, cell.property, .none) }
    let added = after.dropFirst(before.count)
    guard !added.isEmpty else { return }
    let last = start + before.count
    let keys = PointKeys.between(
      last > 0 ? old[last - 1].property.index : nil,
      last < old.count ? old[last].property.index : nil,
      count: added.count,
      jitter: nextDot()
    )
    guard let keys else { throw .tooLong("line") }
    for (key, value) in zip(keys, added) { try stage(id, .point(key: key), value) }
  }

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

  /// Purges an object, and creates a new object with the same content; returns the new object. The new object is not
  /// locked, deleted or selected. Throws `tooManyOperations`, `tooLong`, `boardFull`. The changes are part of the
  /// current gesture, and cannot be undone, because a purge cannot be undone.
  @discardableResult func replaceFrozen(_ id: ObjectID) throws(BoardError) -> ObjectID {
    guard let record = state.record(id), let kind = record.kind else { throw .unknownObject(id) }
    let plan = try RestorePlan(replacing: id, record, as: incarnation)
    let copy = try create(kind)
    for (_, change) in plan.changes {
      if case .write(.lock, _) = change { continue }
      try RestorePlan.stage(change, of: copy, insteadOf: id, on: self)
    }
    try stage(id, .purge, .none)
    return copy
  }
}

/// The keys of the points of lines and arrows, which determine their order (BRD-50).
enum PointKeys {
  private static let step: UInt64 = 1 << 32

  static func first(_ index: Int) -> UInt64 { UInt64(index + 1) * step }

  /// Returns keys in ascending order between two others; nil if there is no room. The dot makes it unlikely that two
  /// members use the same key.
  static func between(_ lower: UInt64?, _ upper: UInt64?, count: Int, jitter dot: Dot) -> [UInt64]? {
    let low = lower ?? 0
    let high = upper ?? min(low, .max - UInt64(count + 1) * step) + UInt64(count + 1) * step
    let gap = high > low ? (high - low) / UInt64(count + 1) : 0
    guard gap > 1 else { return nil }
    let shift = (dot.incarnation.rawValue ^ dot.sequence) % max(1, gap / 2)
    return (1...UInt64(count)).map { low + $0 * gap + shift }
  }
}
