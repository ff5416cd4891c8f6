/// The times at which this replica first saw each object as deleted, measured by a monotonic clock.
///
/// The time in the deletion itself cannot be used, because the wall clock of its author may be wrong. With a clock in
/// 1970, the object would be purged immediately. With a clock in 2046, the object would stay for decades.
public struct DeletionAges: Sendable {
  private struct Sighting {
    let deletion: Dot
    let since: UInt64
  }

  private var seen: [ObjectID: Sighting] = [:]

  /// Creates an empty record for a board that has not been inspected yet.
  public init() {}

  /// Records the objects that are deleted now, and returns the objects that this replica has seen as deleted for at
  /// least `BoardLimits.purgeDelay`.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - uptime: The time in milliseconds, from a monotonic clock.
  ///   - kept: The objects that a local undo may restore.
  /// - Returns: The ids of the objects that may be purged, in ascending order.
  /// - Complexity: O(*n* log *n*), where *n* is the number of deleted objects.
  public mutating func purgeable(on board: Board, at uptime: UInt64, excluding kept: Set<ObjectID> = []) -> [ObjectID] {
    var now: [ObjectID: Sighting] = [:]
    for id in board.state.deletedIDs {
      guard let deletion = board.state.record(id)?[.deleted]?.dot else { continue }
      let known = seen[id].flatMap { $0.deletion == deletion ? $0 : nil }
      now[id] = known ?? Sighting(deletion: deletion, since: uptime)
    }
    seen = now
    return now.filter { uptime - min($0.value.since, uptime) >= BoardLimits.purgeDelay }.keys.filter {
      !kept.contains($0)
    }.sorted()
  }
}

extension BoardState {
  /// Returns the objects that were deleted by the same gesture as the cell `deletion`, in ascending order of id.
  func objects(deletedWith deletion: Cell, wallClock: UInt64) -> [ObjectID] {
    var cells: [(id: ObjectID, cell: Cell)] = []
    for id in deletedIDs {
      guard let record = record(id), let cell = record[.deleted], cell.dot.incarnation == deletion.dot.incarnation,
        record.kind.map({ $0.isShown || $0 == .group }) ?? false
      else { continue }
      cells.append((id, cell))
    }
    cells.sort { $0.cell.dot < $1.cell.dot }
    guard let middle = cells.firstIndex(where: { $0.cell.dot == deletion.dot }) else { return [] }
    // If a deletion overwrites a time far ahead of the wall clock, its own time does not show to which gesture it
    // belongs (BRD-32). Assign such a deletion to the gesture of the deletions with neighboring sequence numbers.
    let latest = wallClock + BoardLimits.drift
    let isFar = cells.map { $0.cell.time.milliseconds > latest }
    let isNext = cells.indices.map { $0 > 0 && cells[$0].cell.dot.sequence == cells[$0 - 1].cell.dot.sequence + 1 }
    var near = middle
    while isFar[near], isNext[near] { near -= 1 }
    let offset = cells[near].cell.offset
    var isDeleted = cells.indices.map { $0 == middle || !isFar[$0] && cells[$0].cell.offset == offset }
    for index in cells.indices where isFar[index] && isNext[index] && isDeleted[index - 1] { isDeleted[index] = true }
    for index in cells.indices.reversed() where isNext[index] && isDeleted[index] {
      if isFar[index - 1] { isDeleted[index - 1] = true }
    }
    return cells.indices.filter { isDeleted[$0] }.map { cells[$0].id }.sorted()
  }
}

extension Cell {
  /// The difference between the time and the sequence number of the cell. Both increase together within a batch
  /// (BRD-11). Therefore the difference is the same for all cells of one batch, and for all batches that one author
  /// writes within one millisecond.
  fileprivate var offset: UInt64 { time.rawValue &- dot.sequence }
}
