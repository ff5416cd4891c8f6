/// Replacing objects that have a frozen cell: one whose time is so great that no write can follow
/// it (BRD-36).
extension Board {
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
