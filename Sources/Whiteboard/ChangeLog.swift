/// What became of one object.
public enum ObjectChange: Hashable, Sendable {
  /// It appeared: created, restored, or complete at last.
  case added(ObjectID)
  /// Something other than its selection changed.
  case changed(ObjectID)
  /// It went: deleted or purged.
  case removed(ObjectID)
  /// Its selection changed.
  case selected(ObjectID)
}

/// Collects, over one or more batches, which objects changed and how.
public struct ChangeLog: Sendable {
  private struct Entry {
    let wasVisible: Bool
    var content = false
    var selection = false
  }
  private var entries: [ObjectID: Entry] = [:]
  private var order: [ObjectID] = []

  /// A log of nothing.
  public init() {}

  /// Whether nothing was touched.
  public var isEmpty: Bool { order.isEmpty }

  mutating func willChange(_ id: ObjectID, _ state: borrowing BoardState) {
    guard entries[id] == nil else { return }
    entries[id] = Entry(wasVisible: state.isTold(id))
    order.append(id)
  }

  mutating func didChange(_ id: ObjectID, _ property: Property) {
    if property.isSelection {
      entries[id]?.selection = true
    } else {
      entries[id]?.content = true
    }
  }

  mutating func didRemove(_ id: ObjectID) { entries[id]?.content = true }

  /// What changed from the first touch to `state`, in the order of the first touches.
  public func changes(in state: BoardState) -> [ObjectChange] {
    var result: [ObjectChange] = []
    for id in order {
      guard let entry = entries[id] else { continue }
      let isVisible = state.isTold(id)
      if !isVisible {
        if entry.wasVisible { result.append(.removed(id)) }
        continue
      }
      if !entry.wasVisible {
        result.append(.added(id))
      } else if entry.content {
        result.append(.changed(id))
      }
      if entry.selection { result.append(.selected(id)) }
    }
    return result
  }
}
