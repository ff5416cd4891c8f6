import Whiteboard

/// The changes of very large objects that nobody was told of yet.
///
/// To tell of a change is to read the whole object. Where an object has thousands of cells, that would
/// make each small batch about it cost as much as all of them; so such changes are told one at a time,
/// the latest state of one object in each interval.
struct DeferredChanges {
  /// Milliseconds between two of them.
  static let interval: UInt64 = 250
  /// The maximum number of cells of an object whose changes are reported at once.
  static let cells = 4096
  /// The most bytes of values of an object whose changes are told at once.
  static let bytes = 1 << 20

  private var changes: [ObjectID: (change: ObjectChange, member: MemberID?)] = [:]
  private var order: [ObjectID] = []
  private var due: UInt64 = 0

  /// Takes a change that is to be told later.
  /// - Returns: whether it did; else the change is to be told now.
  mutating func keep(
    _ change: ObjectChange,
    of state: BoardState,
    from member: MemberID?
  ) -> Bool {
    switch change {
    case .selected: return false
    case .removed(let id):
      guard let untold = changes.removeValue(forKey: id) else { return false }
      order.removeAll { $0 == id }
      // What nobody was told of needs no telling that it went.
      if case .added = untold.change { return true }
      return false
    case .added(let id), .changed(let id):
      if changes[id] != nil { return true }
      guard let record = state.record(id),
        record.count > Self.cells || record.valueBytes > Self.bytes
      else { return false }
      changes[id] = (change, member)
      order.append(id)
      return true
    }
  }

  /// When the next change is to be told, if any.
  var nextDeadline: UInt64? { order.isEmpty ? nil : due }

  /// The change to tell now, if any.
  mutating func next(_ now: UInt64) -> (change: ObjectChange, member: MemberID?)? {
    guard !order.isEmpty, now >= due else { return nil }
    due = now + Self.interval
    return changes.removeValue(forKey: order.removeFirst())
  }
}
