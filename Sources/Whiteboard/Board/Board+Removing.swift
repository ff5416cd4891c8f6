/// Deleting, undeleting and purging objects (BRD-23, SYN-8).
extension Board {
  /// Deletes an object, or a group with all objects in it.
  ///
  /// Later edits of the object by other members are still merged, although the object is not shown.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ id: ObjectID) throws(BoardError) { try delete([id]) }

  /// Deletes objects, and groups with all objects in them.
  ///
  /// If one of the objects cannot be deleted, no object is deleted. If the time of an object's `deleted` cell is so
  /// late that no write can follow it, the object is purged instead (BRD-36).
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      // Check all locks before deleting any object.
      let targets = try state.targets(ids)
      for id in targets { try requireWritable(id) }
      for id in targets + state.groups(among: ids) {
        if isFrozen(.deleted, of: id) { try stage(id, .purge, .none) } else { try write(id, .deleted, .unsigned(1)) }
      }
    }
  }

  /// Restores a deleted object, or a deleted group with all objects that were deleted with it.
  ///
  /// A lock does not prevent this, because users cannot unlock a deleted object.
  ///
  /// - Throws: `unknownObject` if the object is unknown or purged; `notDeleted`; `held`.
  public func undelete(_ id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      guard let record = state.record(id), let kind = record.kind, kind.isShown || kind == .group else {
        throw .unknownObject(id)
      }
      guard record.isDeleted, let deletion = record[.deleted] else { throw .notDeleted(id) }
      var ids = [id]
      if kind == .group { ids = state.objects(deletedWith: deletion, wallClock: wallClock) }
      for id in ids {
        try requireFree(id)
        if isFrozen(.deleted, of: id), state.record(id)?.kind?.isShown ?? false {
          try replaceFrozen(id)
        } else {
          try write(id, .deleted, .unsigned(0))
        }
      }
    }
  }

  /// Permanently removes an object from every replica (SYN-8).
  ///
  /// The object must be deleted, or must have a cell that can no longer be written, because its time is too late
  /// (BRD-36).
  /// - Throws: `unknownObject` if the object is unknown or purged; `notDeleted`.
  public func purge(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind != nil else { throw .unknownObject(id) }
    guard record.isDeleted || isFrozen(id) else { throw .notDeleted(id) }
    try write(id, .purge, .none)
  }

  /// Permanently removes objects of one author from every replica (SYN-8).
  ///
  /// This includes objects that are locked, held, or not deleted.
  ///
  /// - Parameters:
  ///   - author: The member whose objects are removed. All incarnations of the member are included.
  ///   - most: The maximum number of objects to remove; at most `BoardLimits.operationsPerBatch`.
  /// - Returns: The number of removed objects. If it is less than `most`, all objects of the author are removed.
  /// - Throws: `viewer`.
  /// - Complexity: O(*n*), where *n* is the number of stored objects.
  package func purge(madeBy author: MemberID, atMost most: Int) throws(BoardError) -> Int {
    var ids: [ObjectID] = []
    for id in state.storedIDs where authors[id.dot.incarnation] == author {
      // Keep settings objects, because they may hold values that other members set.
      guard let kind = state.record(id)?.kind, kind != .settings else { continue }
      ids.append(id)
    }
    ids.sort()
    let removed = ids.prefix(most)
    try gesture { () throws(BoardError) in for id in removed { try stage(id, .purge, .none) } }
    return removed.count
  }
}
