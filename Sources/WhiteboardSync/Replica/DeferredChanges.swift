import Whiteboard

/// The changes of very large objects that have not been reported yet.
///
/// A report contains a snapshot of the whole object. If an object has thousands of cells, reporting each small batch
/// would cost as much as reporting the whole object. So changes of large objects are reported one at a time, and each
/// report contains the latest state of one object.
struct DeferredChanges {
  /// The time between two deferred reports, in milliseconds.
  static let interval: UInt64 = 250
  /// The maximum number of cells of an object whose changes are reported immediately.
  static let cells = 4096
  /// The maximum size of the values of an object whose changes are reported immediately, in bytes.
  static let bytes = 1 << 20

  private var changes: [ObjectID: (change: ObjectChange, member: MemberID?)] = [:]
  private var order: [ObjectID] = []
  private var due: UInt64 = 0

  /// Adds a change if it must not be reported now.
  /// - Returns: Whether the change was added or dropped. If not, the caller reports it now.
  mutating func append(_ change: ObjectChange, of state: BoardState, from member: MemberID?) -> Bool {
    switch change {
    case .selected: return false
    case .removed(let id):
      guard let pending = changes.removeValue(forKey: id) else { return false }
      order.removeAll { $0 == id }
      // If the object was never reported, do not report its removal either.
      if case .added = pending.change { return true }
      return false
    case .added(let id), .changed(let id):
      if changes[id] != nil { return true }
      guard let record = state.record(id), record.count > Self.cells || record.valueBytes > Self.bytes else {
        return false
      }
      changes[id] = (change, member)
      order.append(id)
      return true
    }
  }

  /// The time when the next change is due; nil if there is none.
  var nextDeadline: UInt64? { order.isEmpty ? nil : due }

  /// Removes and returns the next change, if it is due.
  mutating func removeNext(_ now: UInt64) -> (change: ObjectChange, member: MemberID?)? {
    guard !order.isEmpty, now >= due else { return nil }
    due = now + Self.interval
    return changes.removeValue(forKey: order.removeFirst())
  }
}
