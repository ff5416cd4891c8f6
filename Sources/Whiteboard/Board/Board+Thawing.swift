/// Replacing objects whose cells hold the greatest time there is (BRD-36).
extension Board {
  /// Whether no write can follow that of a cell.
  func isFrozen(_ property: Property, of id: ObjectID) -> Bool {
    state.record(id)?[property].map { !$0.time.canBeFollowed } ?? false
  }

  /// Whether no write can follow that of a cell which any member may write.
  func isFrozen(_ id: ObjectID) -> Bool {
    state.record(id)?.entries.contains {
      $0.property.right == .anyone && !$0.cell.time.canBeFollowed
    } ?? false
  }

  /// Purges an object and creates one with the same content, which is not locked, deleted or selected.
  ///
  /// It is part of the gesture under way. Undo leaves it: a purge cannot be undone.
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
