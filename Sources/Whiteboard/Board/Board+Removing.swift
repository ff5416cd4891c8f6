/// Deleting, undeleting and purging objects (BRD-23, SYN-8).
extension Board {
  /// Deletes an object, or a group with all objects in it.
  ///
  /// Other members' later edits of the object are still merged, although it is not shown.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ id: ObjectID) throws(BoardError) { try delete([id]) }

  /// Deletes objects, and groups with all objects in them.
  ///
  /// If one of them cannot be deleted, none is.
  ///
  /// An object whose `deleted` cell is frozen is purged instead (BRD-36).
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      // Check all locks before any object is deleted.
      let targets = try state.targets(ids)
      for id in targets { try requireWritable(id) }
      for id in targets + state.groups(among: ids) {
        if isFrozen(.deleted, of: id) {
          try stage(id, .purge, .none)
        } else {
          try write(id, .deleted, .unsigned(1))
        }
      }
    }
  }

  /// Restores a deleted object, or a deleted group with all objects that were deleted with it.
  ///
  /// A locked object is restored too, because users cannot unlock a deleted object.
  ///
  /// - Throws: `unknownObject` if the object is unknown or purged; `notDeleted`; `held`.
  public func undelete(_ id: ObjectID) throws(BoardError) {
    try gesture { () throws(BoardError) in
      guard let record = state.record(id), let kind = record.kind, kind.isShown || kind == .group
      else { throw .unknownObject(id) }
      guard record.isDeleted, let deletion = record[.deleted] else { throw .notDeleted(id) }
      var ids = [id]
      if kind == .group {
        ids = deleted(with: deletion)
      }
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
  /// The object must be deleted or have a frozen cell (BRD-36).
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
  ///   - author: The member whose objects are removed; all incarnations of the member count.
  ///   - most: The maximum number of objects to remove; at most `BoardLimits.operationsPerBatch`.
  /// - Returns: The number of objects removed. If it is less than `most`, none is left.
  /// - Throws: `viewer`.
  /// - Complexity: O(*n*) in the stored objects.
  package func purge(madeBy author: MemberID, atMost most: Int) throws(BoardError) -> Int {
    var ids: [ObjectID] = []
    for id in state.storedIDs where authors[id.dot.incarnation] == author {
      // A settings object may hold values that other members set.
      guard let kind = state.record(id)?.kind, kind != .settings else { continue }
      ids.append(id)
    }
    ids.sort()
    let removed = ids.prefix(most)
    try gesture { () throws(BoardError) in
      for id in removed { try stage(id, .purge, .none) }
    }
    return removed.count
  }

  /// Returns the objects that were deleted by the same gesture as the cell `deletion`, by ascending
  /// id.
  private func deleted(with deletion: Cell) -> [ObjectID] {
    var cells: [(id: ObjectID, cell: Cell)] = []
    for id in state.storedIDs {
      guard let record = state.record(id), record.isDeleted, let cell = record[.deleted],
        cell.dot.incarnation == deletion.dot.incarnation,
        record.kind.map({ $0.isShown || $0 == .group }) ?? false
      else { continue }
      cells.append((id, cell))
    }
    cells.sort { $0.cell.dot < $1.cell.dot }
    guard let middle = cells.firstIndex(where: { $0.cell.dot == deletion.dot }) else { return [] }
    // A deletion that overwrites a time far ahead of the wall clock gets another time than the rest
    // of its gesture (BRD-32). So it is assigned to the gesture that wrote the deletions with
    // neighboring sequence numbers.
    let latest = wallClock + BoardLimits.drift
    let isFar = cells.map { $0.cell.time.milliseconds > latest }
    let isNext = cells.indices.map {
      $0 > 0 && cells[$0].cell.dot.sequence == cells[$0 - 1].cell.dot.sequence + 1
    }
    var near = middle
    while isFar[near], isNext[near] { near -= 1 }
    let offset = cells[near].cell.offset
    var isDeleted = cells.indices.map {
      $0 == middle || !isFar[$0] && cells[$0].cell.offset == offset
    }
    for index in cells.indices where isFar[index] && isNext[index] && isDeleted[index - 1] {
      isDeleted[index] = true
    }
    for index in cells.indices.reversed() where isNext[index] && isDeleted[index] {
      if isFar[index - 1] { isDeleted[index - 1] = true }
    }
    return cells.indices.filter { isDeleted[$0] }.map { cells[$0].id }.sorted()
  }
}

/// The times at which this replica first saw each object as deleted, by a monotonic clock.
///
/// The time in the deletion cannot be used, because the wall clock of its author may be wrong. An
/// object deleted by a clock in 1970 would be purged at once, and one deleted by a clock in 2046
/// would stay for decades.
public struct DeletionAges: Sendable {
  private struct Sighting {
    let deletion: Dot
    let since: UInt64
  }

  private var seen: [ObjectID: Sighting] = [:]

  /// Creates the record of ages for a board that was not inspected yet.
  public init() {}

  /// Records the objects that are deleted now, and returns those that this replica has seen as
  /// deleted for at least `BoardLimits.purgeDelay`.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - uptime: The time in milliseconds, by a clock that never goes back.
  ///   - kept: The objects that a local undo may restore.
  /// - Returns: The ids of the objects that may be purged, in ascending order.
  /// - Complexity: O(*n* log *n*) in the stored objects.
  public mutating func purgeable(
    on board: Board,
    at uptime: UInt64,
    excluding kept: Set<ObjectID> = []
  ) -> [ObjectID] {
    var now: [ObjectID: Sighting] = [:]
    for id in board.state.storedIDs {
      guard let record = board.state.record(id), record.kind != nil, record.isDeleted,
        let deletion = record[.deleted]?.dot
      else { continue }
      let known = seen[id].flatMap { $0.deletion == deletion ? $0 : nil }
      now[id] = known ?? Sighting(deletion: deletion, since: uptime)
    }
    seen = now
    return now.filter { uptime - min($0.value.since, uptime) >= BoardLimits.purgeDelay }
      .keys.filter { !kept.contains($0) }.sorted()
  }
}

extension Cell {
  /// The difference between the time and the sequence number.
  ///
  /// Times and sequence numbers increase together within a batch (BRD-11). So the offset is the
  /// same for all cells of one batch, and for the batches that one author writes within one
  /// millisecond.
  fileprivate var offset: UInt64 { time.rawValue &- dot.sequence }
}
