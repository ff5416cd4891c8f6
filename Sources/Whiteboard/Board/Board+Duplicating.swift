/// Copying objects.
extension Board {
  /// Copies objects, and groups with all objects in them, in front of all objects.
  ///
  /// A copy has the same kind and appearance as its original: a text is one run, a drawing is a
  /// finished stroke with the committed points and the erasures, a photo refers to the same asset,
  /// and a game starts again without its moves. If all objects of a group are copied, the copies
  /// form a new group; otherwise the copies belong to no group. Copies are not selected.
  ///
  /// - Parameters:
  ///   - ids: The objects and groups to copy. Objects that are held or locked can be copied.
  ///   - offset: The distance of each copy from its original.
  /// - Returns: The copy of each object, and of each group that was copied as a whole.
  /// - Throws: `unknownObject`, `outOfRange`, `tooManyOperations`, `boardFull`. If it throws,
  ///   nothing is copied.
  @discardableResult
  public func duplicate(
    _ ids: [ObjectID],
    by offset: Point = Point(x: 16, y: 16)
  ) throws(BoardError) -> [ObjectID: ObjectID] {
    try gesture("duplicate") { () throws(BoardError) in
      let originals = Set(try state.targets(ids))
      var copies: [ObjectID: ObjectID] = [:]
      for group in Set(state.groups(among: ids)).union(groups(within: originals)).sorted() {
        copies[group] = try create(.group)
      }
      for id in objectIDs where originals.contains(id) {
        guard let record = state.record(id), let kind = record.kind else { continue }
        let copy = try create(kind)
        copies[id] = copy
        try stageZIndex(copy)
        try copyCells(of: record, to: copy, by: offset)
      }
      for (original, copy) in copies.sorted(by: { $0.key < $1.key }) {
        // An inner group that shows only one object is not copied.
        let copied = state.groups(of: original).lazy.compactMap { copies[$0] }.first
        guard let copied else { continue }
        try stage(copy, .group, .dot(copied.dot))
      }
      return copies
    }
  }

  /// Returns the groups of two or more shown objects whose objects are all in `objects`.
  private func groups(within objects: Set<ObjectID>) -> Set<ObjectID> {
    let around = Set(objects.flatMap { state.groups(of: $0) })
    let whole = state.contents(of: around).filter { _, contents in
      let members = contents.filter(state.isShown)
      return members.count > 1 && objects.isSuperset(of: members)
    }
    return Set(whole.keys)
  }

  private func copyCells(
    of record: ObjectRecord,
    to copy: ObjectID,
    by offset: Point
  ) throws(BoardError) {
    let center = record.center
    try stage(
      copy,
      .position,
      try FixedPoint.position(Point(x: center.x + offset.x, y: center.y + offset.y))
    )
    let plain: [Property] = [
      .scale, .angle, .size, .color, .lineWidth, .lock, .asset, .game, .setup,
    ]
    for property in plain {
      if let cell = record[property] { try stage(copy, property, cell.value) }
    }
    switch record.kind {
    case .some(.text): try stageText(record.text, of: copy)
    case .some(.drawing):
      let ink = record.points
      try stageInk(ink, to: copy, first: 0)
      try stage(copy, .end, .unsigned(UInt64(ink.count)))
      for value in record.erased.values { try stage(copy, .erasure(nextDot()), value) }
    default: break
    }
  }
}
