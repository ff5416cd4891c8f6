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

  /// Writes everything that users see of another board to this one, which is empty, as new objects.
  ///
  /// The chat and the moves of games stay behind, since they count for their members. No dot of the
  /// other board is in the context of this one.
  /// - Throws: `boardFull`; nothing is written.
  package func copyContent(of other: BoardState) throws(BoardError) {
    precondition(state.context.isEmpty, "a copy begins with an empty board")
    try restore(other, naming: false)
  }
}
