/// An index of the objects on a board by the group that their `group` cells name, even if that group does not exist
/// (BRD-26).
///
/// Finding the members of a group takes O(log *n*) time, where *n* is the number of grouped objects, plus O(1) for each
/// member.
struct GroupIndex: Sendable {
  private struct Entry: Sendable {
    let group: ObjectID
    let member: ObjectID

    func isBefore(_ other: Entry) -> Bool { group == other.group ? member < other.member : group < other.group }
  }

  private var entries = ChunkedSortedArray<Entry>()

  /// Returns the objects whose `group` cells name this group, in ascending order of id.
  func members(of group: ObjectID) -> [ObjectID] {
    var members: [ObjectID] = []
    var position = entries.position { $0.group < group }
    while let entry = entries[position], entry.group == group {
      members.append(entry.member)
      position = entries.position(after: position)
    }
    return members
  }

  /// Adds an object, if its cells assign it to a group.
  mutating func insert(_ id: ObjectID, _ record: ObjectRecord) {
    guard let entry = Self.entry(id, record) else { return }
    entries.insert(entry, at: entries.position { $0.isBefore(entry) })
  }

  /// Removes an object.
  ///
  /// `record` must be the cells with which the object was added.
  mutating func remove(_ id: ObjectID, _ record: ObjectRecord) {
    guard let entry = Self.entry(id, record) else { return }
    entries.remove(at: entries.position { $0.isBefore(entry) })
  }

  private static func entry(_ id: ObjectID, _ record: ObjectRecord) -> Entry? {
    guard case .dot(let dot)? = record[.group]?.value else { return nil }
    return Entry(group: ObjectID(dot), member: id)
  }
}
