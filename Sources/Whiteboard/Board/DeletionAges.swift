/// The times at which this replica first saw each object as deleted, measured by a monotonic clock.
///
/// The time in the deletion itself cannot be used, because the wall clock of its author may be wrong. With a clock in
/// 1970, the object would be purged immediately. With a clock in 2046, it would stay for decades.
public struct DeletionAges: Sendable {
  private struct Sighting {
    let deletion: Dot
    let since: UInt64
  }

  private var seen: [ObjectID: Sighting] = [:]

  /// Creates an empty record for a board that has not been inspected yet.
  public init() {}

  /// Records the objects that are deleted now, and returns those that this replica has seen as deleted for at least
  /// `BoardLimits.purgeDelay`.
  ///
  /// - Parameters:
  ///   - board: The board.
  ///   - uptime: The time in milliseconds, from a monotonic clock.
  ///   - kept: The objects that a local undo may restore.
  /// - Returns: The ids of the objects that may be purged, in ascending order.
  /// - Complexity: O(*n* log *n*), where *n* is the number of stored objects.
  public mutating func purgeable(on board: Board, at uptime: UInt64, excluding kept: Set<ObjectID> = []) -> [ObjectID] {
    var now: [ObjectID: Sighting] = [:]
    for id in board.state.storedIDs {
      guard let record = board.state.record(id), record.kind != nil, record.isDeleted,
        let deletion = record[.deleted]?.dot
      else { continue }
      let known = seen[id].flatMap { $0.deletion == deletion ? $0 : nil }
      now[id] = known ?? Sighting(deletion: deletion, since: uptime)
    }
    seen = now
    return now.filter { uptime - min($0.value.since, uptime) >= BoardLimits.purgeDelay }.keys.filter {
      !kept.contains($0)
    }.sorted()
  }
}
