/// Replacing objects that have a frozen cell: one whose time is so great that no write can follow
/// it (BRD-36).
extension Board {
  /// Returns whether the time of this property's cell is so great that no write can follow it.
  func isFrozen(_ property: Property, of id: ObjectID) -> Bool {
    state.record(id)?[property].map { !$0.time.canBeFollowed } ?? false
  }

  /// Returns whether the object has a frozen cell among the cells that any member may write.
  func isFrozen(_ id: ObjectID) -> Bool {
    state.record(id)?.entries.contains {
      $0.property.right == .anyone && !$0.cell.time.canBeFollowed
    } ?? false
  }

  /// Purges an object and creates one with the same content that is not locked, deleted or
  /// selected.
  ///
  /// The changes are part of the current gesture. Undo does not revert them, because a purge cannot
  /// be undone.
  /// - Throws: `tooManyOperations`, `tooLong`, `boardFull`.
  func replaceFrozen(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), let kind = record.kind else { throw .unknownObject(id) }
    let plan = try RestorePlan(replacing: id, record, as: incarnation)
    let copy = try create(kind)
    for (_, change) in plan.changes {
      if case .write(.lock, _) = change { continue }
      try stage(change, of: copy, [:])
    }
    try stage(id, .purge, .none)
  }
}
