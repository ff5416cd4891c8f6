/// Deleting, bringing back, and removing for good (BRD-23, SYN-8).
extension Board {
  /// Deletes an object, or a group with all in it; edits that others make meanwhile are kept in it,
  /// unseen.
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ id: ObjectID) throws(BoardError) { try delete([id]) }

  /// Deletes objects, and groups with all in them: all of them, or none.
  ///
  /// An object that cannot be marked as deleted any more is purged (BRD-36).
  /// - Throws: `unknownObject`, `held`, `locked`.
  public func delete(_ ids: [ObjectID]) throws(BoardError) {
    try gesture { () throws(BoardError) in
      // The locks are asked before anything goes.
      let targets = try targets(ids)
      for id in targets { try requireWritable(id) }
      for id in targets + groups(among: ids) {
        if isFrozen(.deleted, of: id) {
          try stage(id, .purge, .none)
        } else {
          try write(id, .deleted, .unsigned(1))
        }
      }
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

  /// Removes an object that is deleted, or that has a frozen cell (BRD-36), for good and on every
  /// replica (SYN-8).
  /// - Throws: `unknownObject` where it is not here, or purged; `notDeleted`.
  public func purge(_ id: ObjectID) throws(BoardError) {
    guard let record = state.record(id), record.kind != nil else { throw .unknownObject(id) }
    guard record.isDeleted || isFrozen(id) else { throw .notDeleted(id) }
    try write(id, .purge, .none)
  }

  /// Removes objects that a member made, for good and on every replica, whether or not they are
  /// deleted, locked or held (SYN-8).
  ///
  /// - Parameters:
  ///   - author: Who made them, under whatever incarnations.
  ///   - most: How many at once, at most as many as a batch has operations.
  /// - Returns: How many were removed; fewer than `most` if none is left.
  /// - Throws: `viewer`.
  /// - Complexity: O(*n*) in the objects that are stored.
  package func purge(madeBy author: MemberID, atMost most: Int) throws(BoardError) -> Int {
    var ids: [ObjectID] = []
    for id in state.storedIDs where authors[id.dot.incarnation] == author {
      // Settings objects may hold what others set.
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

  /// The objects that one gesture deleted, that of `deletion` included, ascending.
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
    // Objects whose last write lay far ahead were deleted at separate times (BRD-32). Such a
    // deletion belongs to the gesture of its neighbors.
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

/// The times since which this replica has seen objects as deleted, by a monotonic clock.
///
/// The time of the deletion itself is useless if the wall clock of its author was wrong. An object
/// deleted by a clock in 1970 would be purged at once, and one deleted by a clock in 2046 never.
public struct DeletionAges: Sendable {
  private struct Sighting {
    let deletion: Dot
    let since: UInt64
  }

  private var seen: [ObjectID: Sighting] = [:]

  /// Creates the ages for a board that was not inspected yet.
  public init() {}

  /// Records the objects that are deleted now, and returns those deleted for
  /// `BoardLimits.purgeDelay`.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - uptime: Milliseconds of a clock that never goes back.
  ///   - kept: The objects that a local undo would bring back.
  /// - Returns: The ids of the objects that may be purged, ascending.
  /// - Complexity: O(*n* log *n*) in the objects that are stored.
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
  /// The difference between time and sequence.
  ///
  /// It is the same for all cells of one batch, and for the batches of one author within one
  /// millisecond, because sequences and times increase together (BRD-11).
  fileprivate var offset: UInt64 { time.rawValue &- dot.sequence }
}
