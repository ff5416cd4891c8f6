/// Deleting, bringing back, and removing for good (BRD-23, SYN-8).
extension Board {
  /// Deletes an object, or a group with all in it; edits that others make meanwhile are kept in it,
  /// unseen.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ id: ObjectID) throws(BoardError) { try delete([id]) }

  /// Deletes objects, and groups with all in them: all of them, or none.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      // The locks are asked before anything goes.
      let targets = try targets(ids)
      for id in targets { try requireWritable(id) }
      for id in targets + groups(among: ids) { try write(id, .deleted, .unsigned(1)) }
    }
  }

  /// Brings a deleted object back, or a deleted group with all that was deleted with it.
  ///
  /// A lock does not keep it away: nobody could open it.
  ///
  /// - Throws: `unknownObject` where it is not here, or purged; `notDeleted`; `held`.
  public func undelete(_ id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      guard let record = state.record(id), let kind = record.kind, kind.isShown || kind == .group
      else { throw .unknownObject(id) }
      guard record.isDeleted, let deletion = record[.deleted] else { throw .notDeleted(id) }
      var ids = [id]
      if kind == .group {
        ids = state.storedIDs.sorted().filter { other in
          guard let record = state.record(other), record.isDeleted,
            record.kind.map({ $0.isShown || $0 == .group }) ?? false
          else { return false }
          return record[.deleted]?.isOfSameBatch(as: deletion) ?? false
        }
      }
      for id in ids {
        try requireFree(id)
        try write(id, .deleted, .unsigned(0))
      }
    }
  }

  /// Removes a deleted object for good, on every replica (SYN-8).
  /// - Throws: `unknownObject` where it is not here, or purged; `notDeleted`.
  public func purge(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind != nil else { throw .unknownObject(id) }
    guard record.isDeleted else { throw .notDeleted(id) }
    try write(id, .purge, .none)
  }

  /// The objects that were deleted before a time and may be purged, but for those in `kept`, which
  /// somebody may yet bring back.
  ///
  /// - Parameters:
  ///   - milliseconds: the time, since 1970; usually `BoardLimits.purgeDelay` ago.
  ///   - kept: the objects that an undo of ours would bring back.
  /// - Returns: the ids, ascending.
  /// - Complexity: O(*n* log *n*) in the objects that are stored.
  public func purgeable(
    before milliseconds: UInt64,
    excluding kept: Set<ObjectID> = []
  ) -> [ObjectID] {
    state.storedIDs.filter { id in
      guard !kept.contains(id), let record = state.record(id), record.kind != nil,
        record.isDeleted, let deletion = record[.deleted]
      else { return false }
      return deletion.time.milliseconds < milliseconds
    }
    .sorted()
  }
}

extension Cell {
  /// Whether both were written by one batch, or by batches of one author in one millisecond: there,
  /// sequences and times run on together (BRD-11).
  fileprivate func isOfSameBatch(as other: Cell) -> Bool {
    dot.incarnation == other.dot.incarnation
      && dot.sequence &- other.dot.sequence == time.rawValue &- other.time.rawValue
  }
}
