/// The stored objects of a board with their cells. Each method that changes an object also updates the totals, the set
/// of orphans, and the indexes. The store does not know the context. `BoardState` decides which cells are valid.
struct ObjectStore: Sendable {
  /// The objects that have cells, but no `kind` cell, because their create operation has not arrived yet.
  private(set) var orphans: Set<ObjectID> = []
  private(set) var groups = ReferenceIndex { record in
    guard case .dot(let dot)? = record[.group]?.value else { return [] }
    return [ObjectID(dot)]
  }
  private(set) var bindings = ReferenceIndex { record in
    let ends = [Binding(record[.startBinding]?.value)?.target, Binding(record[.endBinding]?.value)?.target]
    return ends[0] == ends[1] ? ends.prefix(1).compactMap { $0 } : ends.compactMap { $0 }
  }
  /// The objects of each frame; a frame itself is listed under `everyFrame`.
  private(set) var frames = ReferenceIndex { record in
    if record.form == .frame { return [everyFrame] }
    guard case .dot(let dot)? = record[.frame]?.value else { return [] }
    return [ObjectID(dot)]
  }
  /// An id that no object has, because no replica reaches the last sequence.
  static let everyFrame = ObjectID(Dot(Incarnation(1), BoardLimits.sequence))
  /// Four lists: the chat lines, photos, deleted objects and selected objects, each under an id that no object has.
  private(set) var lists = ReferenceIndex { record in
    guard let kind = record.kind else { return [] }
    var lists = kind == .chat ? [everyChatLine] : kind == .photo ? [everyPhoto] : []
    if record.isDeleted { lists.append(everyDeletion) }
    if record.selection != nil { lists.append(everySelection) }
    return lists
  }
  static let everyChatLine = ObjectID(Dot(Incarnation(2), BoardLimits.sequence))
  static let everyPhoto = ObjectID(Dot(Incarnation(3), BoardLimits.sequence))
  static let everyDeletion = ObjectID(Dot(Incarnation(4), BoardLimits.sequence))
  static let everySelection = ObjectID(Dot(Incarnation(5), BoardLimits.sequence))
  private(set) var settings = SettingsIndex()
  private(set) var shownCount = 0
  private(set) var cellCount = 0
  private(set) var valueBytes = 0

  // These three arrays are parallel: for each object its id, its cells, and its mark in the latest change log. Their
  // order has no meaning. When an object is removed, the last object moves to its index.
  private(set) var ids: [ObjectID] = []
  private(set) var records = PiecewiseArray<ObjectRecord>()
  private var marks: [UInt32] = []
  private var table = ObjectTable()

  func index(of id: ObjectID) -> Int? { table.find(id, in: ids) }

  func record(_ id: ObjectID) -> ObjectRecord? {
    guard let index = table.find(id, in: ids) else { return nil }
    return records[index]
  }

  mutating func reserve(_ count: Int) {
    ids.reserveCapacity(count)
    marks.reserveCapacity(count)
    table.reserve(count)
  }

  // MARK: - Recorded changes

  /// Writes a cell, unless the stored cell beats it; returns whether the object changed.
  mutating func write(_ cell: Cell, at property: Property, of id: ObjectID, at known: Int?, changes: inout ChangeLog)
    -> Bool
  {
    let index = known ?? append(id)
    let entry = changes.place(of: id, at: index, &marks[index])
    if known == nil {
      changes.visibilityWillChange(at: entry, false)
      if !property.isKind { orphans.insert(id) }
    } else if property.decidesVisibility {
      changes.visibilityWillChange(at: entry, records[index].isReported)
      if property.isKind { orphans.remove(id) }
    }
    let before = records[index].valueBytes
    if property.concernsIndexes { unlist(id, records[index]) }
    let outcome = records[index].write(cell, at: property)
    if property.concernsIndexes { list(id, records[index]) }
    guard outcome != .beaten else { return false }
    valueBytes += records[index].valueBytes - before
    if outcome == .added { cellCount += 1 }
    changes.didChange(at: entry, property)
    return true
  }

  /// Adds an object that is not stored, with cells in ascending order of property.
  mutating func add(_ id: ObjectID, _ cells: [PropertyCell], changes: inout ChangeLog) {
    let index = append(id, ObjectRecord(ascending: cells))
    let entry = changes.place(of: id, at: index, &marks[index])
    changes.visibilityWillChange(at: entry, false)
    for cell in cells { changes.didChange(at: entry, cell.property) }
    list(id, records[index])
    if !cells.contains(where: { $0.property.isKind }) { orphans.insert(id) }
    cellCount += cells.count
    valueBytes += records[index].valueBytes
  }

  mutating func remove(_ id: ObjectID, changes: inout ChangeLog) {
    guard let index = table.find(id, in: ids) else { return }
    let entry = changes.place(of: id, at: index, &marks[index])
    changes.visibilityWillChange(at: entry, records[index].isReported)
    changes.didRemove(at: entry, records[index].kind)
    cellCount -= records[index].count
    valueBytes -= records[index].valueBytes
    orphans.remove(id)
    unlist(id, records[index])
    removeIndex(index)
  }

  /// Removes the cells for which `isRemoved` returns true; returns whether any cell was removed. Objects stay stored,
  /// even if they have no cells left. O(*n*) in the number of cells of all objects.
  mutating func removeCells(changes: inout ChangeLog, where isRemoved: (ObjectID, PropertyCell) -> Bool) -> Bool {
    var isAny = false
    for index in ids.indices {
      let id = ids[index]
      let cells = records[index].entries
      guard cells.contains(where: { isRemoved(id, $0) }) else { continue }
      isAny = true
      let (kind, bytes) = (records[index].kind, records[index].valueBytes)
      let entry = changes.place(of: id, at: index, &marks[index])
      changes.visibilityWillChange(at: entry, records[index].isReported)
      let rest = cells.filter { !isRemoved(id, $0) }
      for cell in cells where isRemoved(id, cell) {
        changes.didChange(at: entry, cell.property)
        if cell.property.isKind {
          changes.didRemove(at: entry, kind)
          orphans.insert(id)
        }
      }
      unlist(id, records[index])
      records[index] = ObjectRecord(ascending: rest)
      list(id, records[index])
      cellCount -= cells.count - rest.count
      valueBytes -= bytes - records[index].valueBytes
    }
    return isAny
  }

  mutating func removeEmpty(changes: inout ChangeLog) {
    for id in ids.filter({ record($0)?.count == 0 }) { remove(id, changes: &changes) }
  }

  // MARK: - Unrecorded changes, for the gesture in progress

  struct StoredObject: Sendable {
    let record: ObjectRecord
    fileprivate let mark: UInt32
  }

  func stored(_ id: ObjectID) -> StoredObject? {
    table.find(id, in: ids).map { StoredObject(record: records[$0], mark: marks[$0]) }
  }

  /// Restores an object to an earlier state, or removes it, without recording a change.
  mutating func restore(_ object: StoredObject?, as id: ObjectID) {
    let known = table.find(id, in: ids)
    if let known {
      cellCount -= records[known].count
      valueBytes -= records[known].valueBytes
      unlist(id, records[known])
    }
    guard let object else {
      if let known { removeIndex(known) }
      orphans.remove(id)
      return
    }
    let index = known ?? append(id)
    records[index] = object.record
    marks[index] = object.mark
    cellCount += object.record.count
    valueBytes += object.record.valueBytes
    list(id, object.record)
    setOrphan(id, object.record)
  }

  /// Overwrites a cell unconditionally, without recording a change.
  mutating func overwrite(_ property: Property, of id: ObjectID, with cell: Cell) {
    let index = table.find(id, in: ids) ?? append(id)
    let (count, bytes) = (records[index].count, records[index].valueBytes)
    if property.concernsIndexes { unlist(id, records[index]) }
    records[index].overwrite(property, with: cell)
    if property.concernsIndexes { list(id, records[index]) }
    cellCount += records[index].count - count
    valueBytes += records[index].valueBytes - bytes
    if property.isKind || records[index].count == 1 { setOrphan(id, records[index]) }
  }

  // MARK: - Arrays and indexes

  private mutating func append(_ id: ObjectID, _ record: ObjectRecord = ObjectRecord()) -> Int {
    ids.append(id)
    records.append(record)
    marks.append(0)
    table.appended(to: ids)
    return ids.count - 1
  }

  private mutating func removeIndex(_ index: Int) {
    table.willSwapRemove(index, of: ids)
    ids.swapAt(index, ids.count - 1)
    ids.removeLast()
    records.swapAt(index, records.count - 1)
    records.removeLast()
    marks.swapAt(index, marks.count - 1)
    marks.removeLast()
  }

  private mutating func list(_ id: ObjectID, _ record: ObjectRecord) {
    if record.isShown { shownCount += 1 }
    lists.insert(id, record)
    settings.insert(id, record)
    groups.insert(id, record)
    bindings.insert(id, record)
    frames.insert(id, record)
  }

  private mutating func unlist(_ id: ObjectID, _ record: ObjectRecord) {
    if record.isShown { shownCount -= 1 }
    lists.remove(id, record)
    settings.remove(id, record)
    groups.remove(id, record)
    bindings.remove(id, record)
    frames.remove(id, record)
  }

  private mutating func setOrphan(_ id: ObjectID, _ record: ObjectRecord) {
    if record[.kind] == nil { orphans.insert(id) } else { orphans.remove(id) }
  }
}

/// The objects of a board with their cells, in no particular order.
package struct ObjectRecords: Sequence {
  package let keys: [ObjectID]
  /// The cells of each object, at the same index as its id.
  package let values: PiecewiseArray<ObjectRecord>

  package var isEmpty: Bool { keys.isEmpty }

  package var count: Int { keys.count }

  package func makeIterator() -> AnyIterator<(key: ObjectID, value: ObjectRecord)> {
    var next = 0
    return AnyIterator {
      guard next < keys.count else { return nil }
      defer { next += 1 }
      return (keys[next], values[next])
    }
  }
}

/// An array in pieces. Copies share the pieces that did not change, so the first change of a copy costs one piece, not
/// all elements. A board is copied to be encoded on another thread while it changes.
package struct PiecewiseArray<Element: Sendable>: MutableCollection, RandomAccessCollection, Sendable {
  private static var pieceLength: Int { 256 }

  /// All pieces except the last piece are full, and no piece is empty.
  private var pieces: [[Element]] = []
  package private(set) var count = 0

  package var startIndex: Int { 0 }

  package var endIndex: Int { count }

  package subscript(index: Int) -> Element {
    _read { yield pieces[index / Self.pieceLength][index % Self.pieceLength] }
    _modify { yield &pieces[index / Self.pieceLength][index % Self.pieceLength] }
  }

  mutating func append(_ element: Element) {
    if count % Self.pieceLength == 0 { pieces.append([]) }
    pieces[pieces.count - 1].append(element)
    count += 1
  }

  mutating func removeLast() {
    pieces[pieces.count - 1].removeLast()
    if pieces[pieces.count - 1].isEmpty { pieces.removeLast() }
    count -= 1
  }
}

/// An index from an object, such as a group (BRD-26), to the objects on the board whose cells name it. The named object
/// need not exist. Finding the members of a group, or the lines that are bound to an object, takes O(log *n*) time plus
/// O(1) for each member or line. *n* is the number of entries.
struct ReferenceIndex: Sendable {
  private struct Entry: Sendable {
    let group: ObjectID
    let member: ObjectID

    func isBefore(_ other: Entry) -> Bool { group == other.group ? member < other.member : group < other.group }
  }

  private var entries = ChunkedSortedArray<Entry>()
  private let named: @Sendable (ObjectRecord) -> [ObjectID]

  /// `named` returns the objects that an object's cells name, each once.
  init(_ named: @escaping @Sendable (ObjectRecord) -> [ObjectID]) { self.named = named }

  var isEmpty: Bool { entries.count == 0 }

  /// Returns the members of a group, in ascending order of id.
  func members(of group: ObjectID) -> [ObjectID] {
    var members: [ObjectID] = []
    var position = entries.position { $0.group < group }
    while let entry = entries[position], entry.group == group {
      members.append(entry.member)
      position = entries.position(after: position)
    }
    return members
  }

  mutating func insert(_ id: ObjectID, _ record: ObjectRecord) {
    for entry in entries(of: id, record) { entries.insert(entry, at: entries.position { $0.isBefore(entry) }) }
  }

  /// `record` must be the cells with which the object was added.
  mutating func remove(_ id: ObjectID, _ record: ObjectRecord) {
    for entry in entries(of: id, record) { entries.remove(at: entries.position { $0.isBefore(entry) }) }
  }

  private func entries(of id: ObjectID, _ record: ObjectRecord) -> [Entry] {
    named(record).map { Entry(group: $0, member: id) }
  }
}

/// An open-addressing hash table that finds the index of an object in an array of ids. Peers choose ids and could
/// choose many with the same hash. The hash therefore has a secret seed that differs in each run of the program. The
/// seed does not affect anything that leaves the board.
struct ObjectTable: Sendable {
  private let seed = UInt64(truncatingIfNeeded: Hasher().finalize())

  /// A slot is 0 if it is free; otherwise, it is the index in the array plus 1. At least half of the slots are free.
  private var places: [UInt32] = []

  func find(_ id: ObjectID, in ids: [ObjectID]) -> Int? {
    guard !places.isEmpty else { return nil }
    let mask = places.count - 1
    var probe = hash(id) & mask
    while true {
      let place = Int(places[probe])
      guard place > 0 else { return nil }
      if ids[place - 1] == id { return place - 1 }
      probe = (probe + 1) & mask
    }
  }

  mutating func reserve(_ count: Int) {
    guard places.isEmpty, count > 0 else { return }
    var size = 16
    while size < count * 2 { size *= 2 }
    places = Array(repeating: 0, count: size)
  }

  /// Adds the last id of `ids`, which must be new.
  mutating func appended(to ids: [ObjectID]) {
    if ids.count * 2 > places.count {
      places = Array(repeating: 0, count: max(16, places.count * 2))
      for place in ids.indices { add(place, ids) }
    } else {
      add(ids.count - 1, ids)
    }
  }

  private mutating func add(_ place: Int, _ ids: [ObjectID]) {
    let mask = places.count - 1
    var probe = hash(ids[place]) & mask
    while places[probe] != 0 { probe = (probe + 1) & mask }
    places[probe] = UInt32(place + 1)
  }

  mutating func willSwapRemove(_ place: Int, of ids: [ObjectID]) {
    let mask = places.count - 1
    var hole = probe(of: place, ids, mask)
    var next = (hole + 1) & mask
    // Move back entries that were inserted past the removed entry, because a search ends at a free slot.
    while places[next] != 0 {
      let home = hash(ids[Int(places[next]) - 1]) & mask
      if (next - home) & mask >= (next - hole) & mask {
        places[hole] = places[next]
        hole = next
      }
      next = (next + 1) & mask
    }
    places[hole] = 0
    if place != ids.count - 1 { places[probe(of: ids.count - 1, ids, mask)] = UInt32(place + 1) }
  }

  /// The search begins at the slot for the hash of the id at that index.
  private func probe(of place: Int, _ ids: [ObjectID], _ mask: Int) -> Int {
    var probe = hash(ids[place]) & mask
    while places[probe] != UInt32(place + 1) { probe = (probe + 1) & mask }
    return probe
  }

  private func hash(_ id: ObjectID) -> Int {
    let mixed = BucketHash.mix(id.dot.incarnation.rawValue ^ BucketHash.mix(id.dot.sequence ^ seed))
    return Int(truncatingIfNeeded: mixed)
  }
}
