/// The change of one object.
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

/// Collects, over one or more batches applied to one board, which objects changed and how.
public struct ChangeLog: Sendable {
  private struct Entry {
    let object: ObjectID
    /// The index of the object on the board at that time.
    let place: UInt32
    /// Whether users saw it before; nil while nothing changed that decides it.
    var wasVisible: Bool?
    var content = false
    var selection = false
    /// Whether a cell changed that decides whether it is a group, and in which group it is.
    var grouping = false
    /// Whether it was a group that went.
    var wasGroup = false
    /// Whether it held settings of the board that went.
    var wasSettings = false
  }

  /// In the order of the first touches.
  private var entries: [Entry] = []

  /// A log of nothing.
  public init() {}

  /// Whether nothing was touched.
  public var isEmpty: Bool { entries.isEmpty }

  /// Makes room for as many objects more.
  mutating func reserve(_ more: Int) {
    // Only in the beginning: afterwards the array grows as it should.
    if entries.isEmpty { entries.reserveCapacity(more) }
  }

  /// The place here of an object that is about to change, which `mark` tells the next time; `place` is
  /// its place on the board.
  ///
  /// A mark that another log left is known by the object that is at its place here, so that marks
  /// need not be taken back.
  mutating func place(of id: ObjectID, at place: Int, _ mark: inout UInt32) -> Int {
    let known = Int(mark)
    if known < entries.count, entries[known].object == id { return known }
    mark = UInt32(truncatingIfNeeded: entries.count)
    entries.append(Entry(object: id, place: UInt32(truncatingIfNeeded: place)))
    return entries.count - 1
  }

  /// Records the visibility of an object before a change that affects it.
  mutating func visibilityWillChange(at place: Int, _ isVisible: Bool) {
    if entries[place].wasVisible == nil { entries[place].wasVisible = isVisible }
  }

  mutating func didChange(at place: Int, _ property: Property) {
    if property.isSelection {
      entries[place].selection = true
    } else {
      entries[place].content = true
      if property.concernsIndexes { entries[place].grouping = true }
    }
  }

  mutating func didRemove(at place: Int, _ kind: ObjectKind?) {
    entries[place].content = true
    entries[place].grouping = true
    if kind == .group { entries[place].wasGroup = true }
    if kind == .settings { entries[place].wasSettings = true }
  }

  /// Whether objects that hold settings of the board were touched.
  func touchesSettings(in state: BoardState) -> Bool {
    entries.contains {
      $0.wasSettings
        || (!state.isTold($0.object) && state.record($0.object)?.kind == .settings)
    }
  }

  /// What changed from the first touch to `state`, in the order of the first touches.
  ///
  /// Where a group changed, so did the objects in it: users are not told of the group itself.
  public func changes(in state: BoardState) -> [ObjectChange] {
    var result: [ObjectChange] = []
    result.reserveCapacity(entries.count)
    var groups: Set<ObjectID> = []
    for entry in entries {
      let id = entry.object
      let isVisible = state.isTold(id, near: Int(entry.place))
      let wasVisible = entry.wasVisible ?? isVisible
      if !isVisible {
        if wasVisible { result.append(.removed(id)) }
        // A group itself is never told.
        if entry.grouping, entry.wasGroup || state.record(id)?.kind == .group {
          groups.insert(id)
        }
        continue
      }
      if !wasVisible {
        result.append(.added(id))
      } else if entry.content {
        result.append(.changed(id))
      }
      if entry.selection { result.append(.selected(id)) }
    }
    guard !groups.isEmpty else { return result }
    let told = Set(result)
    for id in state.objects(below: groups) where state.isTold(id) {
      guard !told.contains(.added(id)), !told.contains(.changed(id)) else { continue }
      result.append(.changed(id))
    }
    return result
  }
}

extension Property {
  /// Whether a write may decide whether users see the object; where in doubt, it may.
  var decidesVisibility: Bool {
    switch number {
    case 0...2, 4...6, 9, 10, 64, 128...131: false
    default: true
    }
  }
}
