/// A reported change of one object.
public enum ObjectChange: Hashable, Sendable {
  /// The object became visible: it was created, undeleted, or completed.
  case added(ObjectID)
  /// A property of the object other than its selection changed.
  case changed(ObjectID)
  /// The object was deleted or purged.
  case removed(ObjectID)
  case selected(ObjectID)
}

/// A record of the changed objects of a board, and their changes, while batches are applied.
public struct ChangeLog: Sendable {
  private struct Entry {
    let object: ObjectID
    /// The index of the object on the board when the entry was added.
    let place: UInt32
    /// Whether the object was visible before; nil until a change may affect its visibility.
    var wasVisible: Bool?
    var content = false
    var selection = false
    /// Whether the object is a group, or a cell that determines the object's group changed.
    var grouping = false
    var wasGroup = false
    /// Whether the object held settings of the board and was removed.
    var wasSettings = false
  }

  /// The entries, in the order in which objects first changed.
  private var entries: [Entry] = []

  /// Creates an empty log.
  public init() {}

  /// Whether no object changed.
  public var isEmpty: Bool { entries.isEmpty }

  mutating func reserve(_ more: Int) {
    // Reserve only at the start; later, the array should grow geometrically.
    if entries.isEmpty { entries.reserveCapacity(more) }
  }

  /// Returns the index of the entry of an object that is about to change, and adds the entry if needed. `mark` caches
  /// the index between calls. Marks from an earlier log need no reset: such a mark is recognized, because the entry at
  /// its index belongs to another object.
  mutating func place(of id: ObjectID, at place: Int, _ mark: inout UInt32) -> Int {
    let known = Int(mark)
    if known < entries.count, entries[known].object == id { return known }
    mark = UInt32(truncatingIfNeeded: entries.count)
    entries.append(Entry(object: id, place: UInt32(truncatingIfNeeded: place)))
    return entries.count - 1
  }

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

  func touchesSettings(in state: BoardState) -> Bool {
    entries.contains { $0.wasSettings || (!state.isReported($0.object) && state.record($0.object)?.kind == .settings) }
  }

  /// Returns the recorded changes, in the order in which objects first changed.
  ///
  /// `state` is the state after the changes.
  ///
  /// If a group changed, the objects in it are reported as changed, and not the group itself.
  public func changes(in state: BoardState) -> [ObjectChange] {
    var result: [ObjectChange] = []
    result.reserveCapacity(entries.count)
    var groups: Set<ObjectID> = []
    for entry in entries {
      let id = entry.object
      let isVisible = state.isReported(id, near: Int(entry.place))
      let wasVisible = entry.wasVisible ?? isVisible
      if !isVisible {
        if wasVisible { result.append(.removed(id)) }
        // Do not report groups themselves.
        if entry.grouping, entry.wasGroup || state.record(id)?.kind == .group { groups.insert(id) }
        continue
      }
      if !wasVisible { result.append(.added(id)) } else if entry.content { result.append(.changed(id)) }
      if entry.selection { result.append(.selected(id)) }
    }
    var others = groups.isEmpty ? [] : state.objects(below: groups).filter { state.isReported($0) }
    // The position of a bound end of a line depends on the object to which the end is bound.
    others += state.lines(boundTo: entries.lazy.filter { $0.content || $0.wasVisible != nil }.map { $0.object })
    // A change of a frame can change which objects belong to it.
    for entry in entries where entry.grouping || entry.wasVisible != nil {
      others += state.objects.frames.members(of: entry.object).filter { state.isReported($0) }
    }
    guard !others.isEmpty else { return result }
    var reported = Set(result)
    for id in others where !reported.contains(.added(id)) && reported.insert(.changed(id)).inserted {
      result.append(.changed(id))
    }
    return result
  }
}

extension Property {
  /// Whether a write of this property may affect the visibility of an object; true if the effect is unknown.
  var decidesVisibility: Bool {
    switch number {
    case 0...2, 4...6, 9, 10, 27...45, 64, 65, 128...132: false
    default: true
    }
  }
}
