/// The cells of a board and what its replica has seen: everything that replicas agree on.
///
/// A value with a join: `apply` and `merge` may run in any order and any number of times, and states
/// of equal context are equal (SYN-1, SYN-2). There is no queue of operations that wait.
public struct BoardState: Sendable {
  /// What has been seen.
  public private(set) var context = Context()
  /// Objects of which cells are here and the create operation is not.
  package private(set) var orphans: Set<ObjectID> = []
  /// Objects that have a group cell, whatever it says.
  package private(set) var grouped: Set<ObjectID> = []
  /// Objects of kind settings, deleted ones included.
  package private(set) var settingsObjects: Set<ObjectID> = []
  /// How many cells there are.
  public private(set) var cellCount = 0
  /// How many bytes their values have.
  public private(set) var valueBytes = 0
  /// Grows whenever a batch or an answer was applied that told something new.
  public private(set) var revision: UInt64 = 0

  // Objects by place: an id, its cells and its mark in the latest change log. The places have no
  // order that means anything; where one is freed the last object moves there.
  private var ids: [ObjectID] = []
  private var cells: [ObjectRecord] = []
  private var marks: [UInt32] = []
  private var table = ObjectTable()

  /// An empty board.
  public init() {}

  /// How many objects are stored, the deleted ones and the orphans included.
  public var objectCount: Int { ids.count }

  /// All objects and their cells, in no order.
  package var records: ObjectRecords { ObjectRecords(keys: ids, values: cells) }

  /// The cells of an object, or nil where there is none, or it was purged.
  package func record(_ id: ObjectID) -> ObjectRecord? {
    guard let place = table.find(id, in: ids) else { return nil }
    return cells[place]
  }

  /// Whether users see the object: created, not deleted, and, where it is a chat line, complete.
  public func isVisible(_ id: ObjectID) -> Bool {
    guard let place = table.find(id, in: ids) else { return false }
    return cells[place].isVisible
  }

  /// Whether changes tell of it: what users see on the board or in the chat.
  func isTold(_ id: ObjectID) -> Bool {
    guard let place = table.find(id, in: ids) else { return false }
    return cells[place].isTold
  }

  /// The same of an object that is likely at a place still.
  func isTold(_ id: ObjectID, near place: Int) -> Bool {
    place < ids.count && ids[place] == id ? cells[place].isTold : isTold(id)
  }

  /// Applies one batch, whole; what it holds that was seen before changes nothing (SYN-3).
  ///
  /// `changes` collects what became of which object.
  ///
  /// - Throws: `BoardError.boardFull` where it would pass the storage limits; nothing is applied.
  public mutating func apply(
    _ batch: Batch,
    changes: inout ChangeLog
  ) throws(BoardError) {
    guard hasRoom(for: batch) else { throw .boardFull }
    changes.reserve(batch.operations.count)
    let sequences = batch.sequences
    let mayBeSeen = context.overlaps(sequences, of: batch.author)
    // What this batch purged. Added to the context together at its end: one by one, in descending
    // order, each would move all the ranges after it.
    var purged = DotSet()
    for index in batch.operations.indices {
      let operation = batch.operations[index]
      let dot = batch.dot(at: index)
      if mayBeSeen, context.contains(dot) { continue }
      // Seen and not here is the tombstone. It may be the dot of a later operation of this batch.
      if !purged.isEmpty, purged.contains(dot) { continue }
      if operation.property.isPurge {
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
    // A dot that was seen and created nothing never will: what hangs on it is dropped everywhere.
    // Only dots of this batch came in, so that only they are looked at.
    for index in batch.operations.indices {
      let id = ObjectID(batch.dot(at: index))
      if orphans.contains(id) { remove(id, changes: &changes) }
    }
  }

  /// What a replica of context `since` lacks; with an empty context, everything.
  ///
  /// Of the objects in `buckets`, bit *i* for bucket *i*, all cells, whatever the context (SYN-42).
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

  /// Joins the whole of another replica's answer (SYN-5, SYN-6).
  ///
  /// `changes` collects what became of which object. In a repair `comparingAll` has each cell compared
  /// with the one that is here, also where its dot was seen (SYN-42).
  ///
  /// - Throws: `BoardError.boardFull` where it would pass the storage limits; nothing is applied.
  public mutating func merge(
    _ difference: Difference,
    comparingAll: Bool = false,
    changes: inout ChangeLog
  ) throws(BoardError) {
    // Seen by the sender and not living there: purged, which is final.
    let purged = ids.filter {
      difference.context.contains($0.dot) && !difference.living.contains($0.dot)
    }
    guard hasRoom(for: difference, without: purged, comparingAll: comparingAll) else {
      throw .boardFull
    }
    for id in purged { remove(id, changes: &changes) }
    if ids.isEmpty { reserve(difference.entries.count) }
    var isNews = !context.isSuperset(of: difference.context)
    for entry in difference.entries {
      guard table.find(entry.object, in: ids) != nil else {
        if add(entry, comparingAll: comparingAll, changes: &changes) { isNews = true }
        continue
      }
      for known in entry.cells where comparingAll || !context.contains(known.cell.dot) {
        if write(known.cell, at: known.property, of: entry.object, changes: &changes) {
          isNews = true
        }
      }
    }
    if isNews || !purged.isEmpty {
      context.formUnion(difference.context)
      revision += 1
    }
    for id in orphans where context.contains(id.dot) { remove(id, changes: &changes) }
  }

  /// Writes a cell that was not seen; whether it changed anything.
  @discardableResult
  private mutating func write(
    _ cell: Cell,
    at property: Property,
    of id: ObjectID,
    changes: inout ChangeLog
  ) -> Bool {
    let known = table.find(id, in: ids)
    // Seen and not here is what a purge leaves: it beats every later write (SYN-8).
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
    let outcome = cells[place].write(cell, at: property)
    guard outcome != .beaten else { return false }
    valueBytes += cells[place].valueBytes - before
    if outcome == .added {
      cellCount += 1
      note(property, cell.value, of: id)
    } else if property.isKind {
      settingsObjects.remove(id)
      note(property, cell.value, of: id)
    }
    changes.didChange(at: entry, property)
    return true
  }

  /// Adds an object that is not here, with what was not seen of it; whether there was anything.
  private mutating func add(
    _ entry: Difference.Entry,
    comparingAll: Bool,
    changes: inout ChangeLog
  ) -> Bool {
    // Seen and not here is what a purge leaves: it beats every later write (SYN-8).
    guard !context.contains(entry.object.dot) else { return false }
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
      note(known.property, known.cell.value, of: entry.object)
    }
    if !unseen.contains(where: { $0.property.isKind }) { orphans.insert(entry.object) }
    cellCount += unseen.count
    valueBytes += cells[place].valueBytes
    return true
  }

  /// Knows the objects that are looked for among all the others.
  private mutating func note(_ property: Property, _ value: Value, of id: ObjectID) {
    if property == .group {
      grouped.insert(id)
    } else if property.isKind, value == .unsigned(ObjectKind.settings.rawValue) {
      settingsObjects.insert(id)
    }
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
    changes.didRemove(at: entry, isGroup: cells[place].kind == .group)
    cellCount -= cells[place].count
    valueBytes -= cells[place].valueBytes
    orphans.remove(id)
    grouped.remove(id)
    settingsObjects.remove(id)
    table.willSwapRemove(place, of: ids)
    ids.swapAt(place, ids.count - 1)
    ids.removeLast()
    cells.swapAt(place, cells.count - 1)
    cells.removeLast()
    marks.swapAt(place, marks.count - 1)
    marks.removeLast()
  }
}

/// The objects of a board with their cells, in no order.
package struct ObjectRecords: Sequence {
  /// The ids.
  package let keys: [ObjectID]
  /// The cells of each.
  package let values: [ObjectRecord]

  /// Whether there are none.
  package var isEmpty: Bool { keys.isEmpty }

  /// How many there are.
  package var count: Int { keys.count }

  /// Begins a walk over them.
  package func makeIterator() -> AnyIterator<(key: ObjectID, value: ObjectRecord)> {
    var next = 0
    return AnyIterator {
      guard next < keys.count else { return nil }
      defer { next += 1 }
      return (keys[next], values[next])
    }
  }
}
