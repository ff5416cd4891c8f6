/// The state of a board on one replica: its cells, and the context of what the replica has seen.
///
/// `apply` and `merge` can run in any order and any number of times. States with equal contexts are
/// equal (SYN-1, SYN-2). No operation has to wait for another.
public struct BoardState: Sendable {
  /// The context: a record of all operations that this replica has seen.
  public private(set) var context = Context()
  /// The objects that have cells, but whose create operation has not arrived yet.
  package private(set) var orphans: Set<ObjectID> = []
  /// An index of the objects by the group that their `group` cell names.
  private(set) var groups = GroupIndex()
  /// An index of the visible settings objects and their settings.
  private(set) var settings = SettingsIndex()
  /// The number of cells on the board.
  public private(set) var cellCount = 0
  /// The number of bytes in the values of all cells.
  public private(set) var valueBytes = 0
  /// A number that increases whenever a batch or an answer adds something new.
  public private(set) var revision: UInt64 = 0

  /// For each incarnation whose rights were revoked, the last sequence number that still counts
  /// (AUT-14).
  package private(set) var limits: [Incarnation: UInt64] = [:]

  // Parallel arrays: for each object its id, its cells, and its mark in the latest change log.
  // Their order has no meaning. When an object is removed, the last one takes its index.
  private var ids: [ObjectID] = []
  private var cells: [ObjectRecord] = []
  private var marks: [UInt32] = []
  private var table = ObjectTable()

  /// Creates an empty board.
  public init() {}

  /// The number of stored objects, including deleted ones and orphans.
  public var objectCount: Int { ids.count }

  /// All objects and their cells, in no particular order.
  package var records: ObjectRecords { ObjectRecords(keys: ids, values: cells) }

  /// Returns the cells of an object; nil if the object is unknown or was purged.
  package func record(_ id: ObjectID) -> ObjectRecord? {
    guard let place = table.find(id, in: ids) else { return nil }
    return cells[place]
  }

  /// Returns whether users can see the object: it was created, is not deleted and, if it is a chat
  /// line, is complete.
  public func isVisible(_ id: ObjectID) -> Bool {
    guard let place = table.find(id, in: ids) else { return false }
    return cells[place].isVisible
  }

  /// Returns whether changes of the object are reported: those of objects on the board and of chat
  /// lines.
  func isTold(_ id: ObjectID) -> Bool {
    guard let place = table.find(id, in: ids) else { return false }
    return cells[place].isTold
  }

  /// Returns whether changes of the object are reported.
  ///
  /// `place` is the index at which the object probably still is.
  func isTold(_ id: ObjectID, near place: Int) -> Bool {
    place < ids.count && ids[place] == id ? cells[place].isTold : isTold(id)
  }

  /// Applies all operations of a batch, except those that were seen before (SYN-3).
  ///
  /// `changes` records the objects that changed.
  ///
  /// - Throws: `BoardError.boardFull` if the board would exceed the storage limits. Then nothing is
  ///   applied.
  public mutating func apply(
    _ batch: Batch,
    changes: inout ChangeLog
  ) throws(BoardError) {
    try apply(batch, purgingWithin: [:], changes: &changes)
  }

  /// Applies a batch, but ignores purges of objects whose sequence number is greater than the one
  /// given for their incarnation.
  package mutating func apply(
    _ batch: Batch,
    purgingWithin last: [Incarnation: UInt64],
    changes: inout ChangeLog
  ) throws(BoardError) {
    guard let batch = counted(of: batch) else { return }
    guard hasRoom(for: batch) else { throw .boardFull }
    changes.reserve(batch.operations.count)
    let sequences = batch.sequences
    let mayBeSeen = context.overlaps(sequences, of: batch.author)
    // The ids that this batch purged. They enter the context together at the end, because inserting
    // them one by one in descending order would move all later ranges each time.
    var purged = DotSet()
    for index in batch.operations.indices {
      let operation = batch.operations[index]
      let dot = batch.dot(at: index)
      if mayBeSeen, context.contains(dot) { continue }
      // A purged id may be the dot of a later operation of this batch, which must then be ignored.
      if !purged.isEmpty, purged.contains(dot) { continue }
      if operation.property.isPurge {
        // An id beyond the limit of its incarnation must not enter the context.
        guard counts(operation.object.dot), operation.object.dot.isWithin(last) else { continue }
        remove(operation.object, changes: &changes)
        purged.insert(operation.object.dot)
      } else if purged.isEmpty || !purged.contains(operation.object.dot) {
        write(
          Cell(
            value: operation.value,
            time: HybridTime(batch.time.rawValue + UInt64(index)),
            dot: dot
          ),
          at: operation.property,
          of: operation.object,
          changes: &changes
        )
      }
    }
    if !mayBeSeen || !context[batch.author].contains(sequences) {
      context.insert(sequences, of: batch.author)
      revision += 1
    }
    if !purged.isEmpty { context.formUnion(purged) }
    guard !orphans.isEmpty else { return }
    // An object whose dot is in the context without a create operation will never be created, so
    // every replica drops its cells. Only the dots of this batch are new.
    for index in batch.operations.indices {
      let id = ObjectID(batch.dot(at: index))
      if orphans.contains(id) { remove(id, changes: &changes) }
    }
  }

  /// Returns everything that a replica with the context `since` lacks.
  ///
  /// If `since` is empty, that is the whole state. Objects in `buckets` (bit *i* for bucket *i*)
  /// are included with all cells, whatever the context (SYN-42).
  /// - Complexity: O(cells), and O(*n* log *n*) in the objects.
  public func difference(since: Context, buckets: UInt16 = 0) -> Difference {
    var difference = Difference(context: context)
    let order = ids.indices.sorted { ids[$0] < ids[$1] }
    difference.living = DotSet(
      ascending: order.lazy.map { ids[$0] }.filter { !orphans.contains($0) }.map(\.dot)
    )
    for place in order {
      let id = ids[place]
      let isWhole = buckets != 0 && buckets & (1 << id.bucket) != 0
      let entries = cells[place].entries
      let lacking =
        isWhole || since.isEmpty ? entries : entries.filter { !since.contains($0.cell.dot) }
      if !lacking.isEmpty {
        difference.entries.append(Difference.Entry(object: id, cells: lacking))
      }
    }
    return difference
  }

  /// Merges an answer of another replica (SYN-5, SYN-6).
  ///
  /// - Parameters:
  ///   - difference: The answer.
  ///   - comparingAll: Whether to compare each cell with the stored one, even if its dot is in the
  ///     context. This repairs replicas that diverged (SYN-42).
  ///   - replacing: The buckets in which stored cells are removed first if the sender has seen them
  ///     and no longer has them. The answer must contain all cells of these buckets.
  ///   - changes: Records the objects that changed.
  /// - Throws: `BoardError.boardFull` if the board would exceed the storage limits. Then nothing is
  ///   applied.
  public mutating func merge(
    _ difference: Difference,
    comparingAll: Bool = false,
    replacing: UInt16 = 0,
    changes: inout ChangeLog
  ) throws(BoardError) {
    let difference = counted(of: difference)
    // An id in the sender's context, but not among its living objects, was purged, which is final.
    let purged = ids.filter {
      difference.context.contains($0.dot) && !difference.living.contains($0.dot)
    }
    guard hasRoom(for: difference, without: purged, comparingAll: comparingAll) else {
      throw .boardFull
    }
    for id in purged { remove(id, changes: &changes) }
    let isReplaced =
      replacing != 0
      && drop(&changes) { id, entry in
        replacing & (1 << id.bucket) != 0 && difference.context.contains(entry.cell.dot)
      }
    if ids.isEmpty { reserve(difference.entries.count) }
    var isNews = !context.isSuperset(of: difference.context)
    for entry in difference.entries {
      guard table.find(entry.object, in: ids) != nil else {
        let isReplacing = replacing & (1 << entry.object.bucket) != 0
        if add(entry, comparingAll: comparingAll, isReplacing: isReplacing, changes: &changes) {
          isNews = true
        }
        continue
      }
      for known in entry.cells where comparingAll || !context.contains(known.cell.dot) {
        if write(known.cell, at: known.property, of: entry.object, changes: &changes) {
          isNews = true
        }
      }
    }
    if isReplaced { removeEmpty(&changes) }
    if isNews || isReplaced || !purged.isEmpty {
      context.formUnion(difference.context)
      revision += 1
    }
    for id in orphans where context.contains(id.dot) { remove(id, changes: &changes) }
  }

  // MARK: - Revoked rights

  /// Ignores everything that these incarnations wrote after the given sequence numbers, whether it
  /// has already arrived or arrives later (AUT-14).
  package mutating func limit(_ limits: [Incarnation: UInt64], changes: inout ChangeLog) {
    guard limits != self.limits else { return }
    self.limits = limits
    var isNews = false
    for (incarnation, last) in limits where context.removeAll(after: last, of: incarnation) {
      isNews = true
    }
    guard isNews else { return }
    if drop(&changes, where: { _, entry in !entry.cell.dot.isWithin(limits) }) {
      removeEmpty(&changes)
    }
    revision += 1
  }

  /// Removes incarnations that have neither an object nor a cell on this board from the context.
  ///
  /// - Parameter isKnown: Returns whether to keep an incarnation in any case.
  /// - Returns: The number of incarnations that were removed, and of unknown ones that stay.
  /// - Complexity: O(*n*) in the cells if an incarnation is unknown; otherwise O(*n*) in the
  ///   incarnations.
  package mutating func forgetEmpty(
    unless isKnown: (Incarnation) -> Bool
  ) -> (forgotten: Int, kept: Int) {
    let unknown = Set(context.incarnations.filter { !isKnown($0) })
    guard !unknown.isEmpty else { return (0, 0) }
    var empty = unknown
    for place in ids.indices {
      empty.remove(ids[place].dot.incarnation)
      for entry in cells[place].entries { empty.remove(entry.cell.dot.incarnation) }
    }
    if !empty.isEmpty {
      context.removeAll(of: empty)
      revision += 1
    }
    return (empty.count, unknown.count - empty.count)
  }

  private func counts(_ dot: Dot) -> Bool { limits.isEmpty || dot.isWithin(limits) }

  /// Returns the part of a batch within the limit of its incarnation; nil if there is none.
  private func counted(of batch: Batch) -> Batch? {
    guard !limits.isEmpty, let last = limits[batch.author], batch.sequences.upperBound > last
    else { return batch }
    guard batch.firstSequence <= last else { return nil }
    return Batch(
      validated: Array(batch.operations.prefix(Int(last - batch.firstSequence + 1))),
      author: batch.author,
      firstSequence: batch.firstSequence,
      time: batch.time
    )
  }

  /// Returns the part of an answer within the limits of its incarnations.
  private func counted(of difference: Difference) -> Difference {
    limits.isEmpty ? difference : difference.limited(to: limits)
  }

  /// Removes the cells for which `isDropped` returns true.
  ///
  /// Objects stay, even if they have no cells left.
  /// - Returns: Whether any cell was removed.
  private mutating func drop(
    _ changes: inout ChangeLog,
    where isDropped: (ObjectID, PropertyCell) -> Bool
  ) -> Bool {
    var isAny = false
    for place in ids.indices {
      let id = ids[place]
      let entries = cells[place].entries
      guard entries.contains(where: { isDropped(id, $0) }) else { continue }
      isAny = true
      let (kind, bytes) = (cells[place].kind, cells[place].valueBytes)
      let logged = changes.place(of: id, at: place, &marks[place])
      changes.visibilityWillChange(at: logged, cells[place].isTold)
      let kept = entries.filter { !isDropped(id, $0) }
      for entry in entries where isDropped(id, entry) {
        changes.didChange(at: logged, entry.property)
        if entry.property.isKind {
          changes.didRemove(at: logged, kind)
          orphans.insert(id)
        }
      }
      unlist(id, cells[place])
      cells[place] = ObjectRecord(ascending: kept)
      list(id, cells[place])
      cellCount -= entries.count - kept.count
      valueBytes -= bytes - cells[place].valueBytes
    }
    return isAny
  }

  /// Removes the objects that have no cells left.
  private mutating func removeEmpty(_ changes: inout ChangeLog) {
    for id in ids.filter({ record($0)?.count == 0 }) { remove(id, changes: &changes) }
  }

  /// Writes a cell that was not seen before, and returns whether the board changed.
  @discardableResult
  private mutating func write(
    _ cell: Cell,
    at property: Property,
    of id: ObjectID,
    changes: inout ChangeLog
  ) -> Bool {
    let known = table.find(id, in: ids)
    // An id in the context without an object was purged, which beats every later write (SYN-8).
    if known == nil, context.contains(id.dot) { return false }
    let place = known ?? append(id)
    let entry = changes.place(of: id, at: place, &marks[place])
    if known == nil {
      changes.visibilityWillChange(at: entry, false)
      if !property.isKind { orphans.insert(id) }
    } else if property.decidesVisibility {
      changes.visibilityWillChange(at: entry, cells[place].isTold)
      if property.isKind { orphans.remove(id) }
    }
    let before = cells[place].valueBytes
    if property.concernsIndexes { unlist(id, cells[place]) }
    let outcome = cells[place].write(cell, at: property)
    if property.concernsIndexes { list(id, cells[place]) }
    guard outcome != .beaten else { return false }
    valueBytes += cells[place].valueBytes - before
    if outcome == .added { cellCount += 1 }
    changes.didChange(at: entry, property)
    return true
  }

  /// Adds an unknown object with those of its cells that were not seen before.
  ///
  /// Returns whether there were any.
  private mutating func add(
    _ entry: Difference.Entry,
    comparingAll: Bool,
    isReplacing: Bool,
    changes: inout ChangeLog
  ) -> Bool {
    // An id in the context without an object was purged, which beats every later write (SYN-8). In
    // a replaced bucket, the sender decides which objects exist.
    guard isReplacing || !context.contains(entry.object.dot) else { return false }
    let seen = comparingAll ? Context() : context
    let unseen =
      entry.cells.contains { seen.contains($0.cell.dot) }
      ? entry.cells.filter { !seen.contains($0.cell.dot) } : entry.cells
    guard !unseen.isEmpty else { return false }
    let place = append(entry.object, ObjectRecord(ascending: unseen))
    let logged = changes.place(of: entry.object, at: place, &marks[place])
    changes.visibilityWillChange(at: logged, false)
    for known in unseen {
      changes.didChange(at: logged, known.property)
    }
    list(entry.object, cells[place])
    if !unseen.contains(where: { $0.property.isKind }) { orphans.insert(entry.object) }
    cellCount += unseen.count
    valueBytes += cells[place].valueBytes
    return true
  }

  /// Adds an object with these cells to the indexes of groups and settings.
  private mutating func list(_ id: ObjectID, _ record: ObjectRecord) {
    settings.insert(id, record)
    groups.insert(id, record)
  }

  /// Removes an object with these cells from the indexes of groups and settings.
  private mutating func unlist(_ id: ObjectID, _ record: ObjectRecord) {
    settings.remove(id, record)
    groups.remove(id, record)
  }

  private mutating func reserve(_ count: Int) {
    ids.reserveCapacity(count)
    cells.reserveCapacity(count)
    marks.reserveCapacity(count)
    table.reserve(count)
  }

  private mutating func append(_ id: ObjectID, _ record: ObjectRecord = ObjectRecord()) -> Int {
    ids.append(id)
    cells.append(record)
    marks.append(0)
    table.appended(to: ids)
    return ids.count - 1
  }

  private mutating func remove(_ id: ObjectID, changes: inout ChangeLog) {
    guard let place = table.find(id, in: ids) else { return }
    let entry = changes.place(of: id, at: place, &marks[place])
    changes.visibilityWillChange(at: entry, cells[place].isTold)
    changes.didRemove(at: entry, cells[place].kind)
    cellCount -= cells[place].count
    valueBytes -= cells[place].valueBytes
    orphans.remove(id)
    unlist(id, cells[place])
    removePlace(place)
  }

  private mutating func removePlace(_ place: Int) {
    table.willSwapRemove(place, of: ids)
    ids.swapAt(place, ids.count - 1)
    ids.removeLast()
    cells.swapAt(place, cells.count - 1)
    cells.removeLast()
    marks.swapAt(place, marks.count - 1)
    marks.removeLast()
  }

  // MARK: - Showing a gesture

  /// A stored object with its mark in the latest change log.
  struct StoredObject: Sendable {
    let record: ObjectRecord
    fileprivate let mark: UInt32
  }

  /// Returns an object as it is stored now; nil if it is not stored.
  func stored(_ id: ObjectID) -> StoredObject? {
    table.find(id, in: ids).map { StoredObject(record: cells[$0], mark: marks[$0]) }
  }

  /// Restores an object to an earlier state, or removes it, without recording a change.
  mutating func store(_ object: StoredObject?, as id: ObjectID) {
    let known = table.find(id, in: ids)
    if let known {
      cellCount -= cells[known].count
      valueBytes -= cells[known].valueBytes
      unlist(id, cells[known])
    }
    guard let object else {
      if let known { removePlace(known) }
      orphans.remove(id)
      return
    }
    let place = known ?? append(id)
    cells[place] = object.record
    marks[place] = object.mark
    cellCount += object.record.count
    valueBytes += object.record.valueBytes
    list(id, object.record)
    setOrphan(id, object.record)
  }

  /// Overwrites a cell unconditionally, without adding to the context or recording a change.
  mutating func overwrite(_ property: Property, of id: ObjectID, with cell: Cell) {
    let place = table.find(id, in: ids) ?? append(id)
    let (count, bytes) = (cells[place].count, cells[place].valueBytes)
    if property.concernsIndexes { unlist(id, cells[place]) }
    cells[place].overwrite(property, with: cell)
    if property.concernsIndexes { list(id, cells[place]) }
    cellCount += cells[place].count - count
    valueBytes += cells[place].valueBytes - bytes
    if property.isKind || cells[place].count == 1 { setOrphan(id, cells[place]) }
  }

  private mutating func setOrphan(_ id: ObjectID, _ record: ObjectRecord) {
    if record[.kind] == nil { orphans.insert(id) } else { orphans.remove(id) }
  }
}

/// The objects of a board with their cells, in no particular order.
package struct ObjectRecords: Sequence {
  /// The ids of the objects.
  package let keys: [ObjectID]
  /// The cells of each object, at the same index as its id.
  package let values: [ObjectRecord]

  /// Whether there are no objects.
  package var isEmpty: Bool { keys.isEmpty }

  /// The number of objects.
  package var count: Int { keys.count }

  /// Returns an iterator over the objects and their cells.
  package func makeIterator() -> AnyIterator<(key: ObjectID, value: ObjectRecord)> {
    var next = 0
    return AnyIterator {
      guard next < keys.count else { return nil }
      defer { next += 1 }
      return (keys[next], values[next])
    }
  }
}
