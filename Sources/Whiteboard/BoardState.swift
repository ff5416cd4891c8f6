/// The cells of a board and what its replica has seen: everything that replicas agree on.
///
/// A value with a join: `apply` and `merge` may run in any order and any number of times, and states
/// of equal context are equal (SYN-1, SYN-2). There is no queue of operations that wait.
public struct BoardState: Sendable {
  /// What has been seen.
  public private(set) var context = Context()
  package private(set) var records: [ObjectID: ObjectRecord] = [:]
  /// Objects of which cells are here and the create operation is not.
  package private(set) var orphans: Set<ObjectID> = []
  /// How many cells there are.
  public private(set) var cellCount = 0
  /// How many bytes their values have.
  public private(set) var valueBytes = 0
  /// Grows whenever a batch or an answer was applied that told something new.
  public private(set) var revision: UInt64 = 0

  /// An empty board.
  public init() {}

  /// How many objects are stored, the deleted ones and the orphans included.
  public var objectCount: Int { records.count }

  /// The cells of an object, or nil where there is none, or it was purged.
  package func record(_ id: ObjectID) -> ObjectRecord? { records[id] }

  /// Applies one batch, whole; what it holds that was seen before changes nothing (SYN-3).
  ///
  /// `changes` collects what became of which object.
  ///
  /// - Throws: `BoardError.boardFull` where it would pass the storage limits; nothing is applied.
  public mutating func apply(
    _ batch: Batch,
    changes: inout ChangeLog
  ) throws(BoardError) {
    let mayBeSeen = context.entries[batch.author]?.overlaps(batch.sequences) ?? false
    guard hasRoom(for: batch, mayBeSeen: mayBeSeen) else { throw .boardFull }
    // What this batch purged. Added to the context together at its end: one by one, in descending
    // order, each would move all the ranges after it.
    var purged = DotSet()
    for (index, operation) in batch.operations.enumerated() {
      let dot = batch.dot(at: index)
      if mayBeSeen, context.contains(dot) { continue }
      // Seen and not here is the tombstone. It may be the dot of a later operation of this batch.
      if !purged.isEmpty, purged.contains(dot) { continue }
      if operation.property == .purge {
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
    if context.entries[batch.author]?.contains(batch.sequences) != true {
      context.insert(batch.sequences, of: batch.author)
      revision += 1
    }
    context.formUnion(purged)
    // A dot that was seen and created nothing never will: what hangs on it is dropped everywhere.
    // Only dots of this batch came in, so that only they are looked at.
    for index in batch.operations.indices where !orphans.isEmpty {
      let id = ObjectID(batch.dot(at: index))
      if orphans.contains(id) { remove(id, changes: &changes) }
    }
  }

  /// Whether a batch fits, by the most that it could add.
  private func hasRoom(for batch: Batch, mayBeSeen: Bool) -> Bool {
    let known = context.entries[batch.author]
    var objects = 0
    var cells = 0
    var bytes = 0
    var incarnations = known == nil ? 1 : 0
    var ranges = known?.touches(batch.sequences) ?? false ? 0 : 1
    for (index, operation) in batch.operations.enumerated() {
      if mayBeSeen, context.contains(batch.dot(at: index)) { continue }
      if operation.property == .purge {
        guard !context.contains(operation.object.dot) else { continue }
        ranges += 1
        if context.entries[operation.object.dot.incarnation] == nil { incarnations += 1 }
        continue
      }
      guard let record = records[operation.object] else {
        objects += 1
        cells += 1
        bytes += operation.value.length
        continue
      }
      let old = record[operation.property]
      if old == nil { cells += 1 }
      bytes += max(0, operation.value.length - (old?.value.length ?? 0))
    }
    return hasRoom(
      objects: objects,
      cells: cells,
      bytes: bytes,
      incarnations: incarnations,
      ranges: ranges
    )
  }

  /// What a replica of context `since` lacks; with an empty context, everything.
  ///
  /// Of the objects in `buckets`, bit *i* for bucket *i*, all cells, whatever the context (SYN-42).
  /// - Complexity: O(cells).
  public func difference(since: Context, buckets: UInt16 = 0) -> Difference {
    var difference = Difference(context: context)
    for (id, record) in records {
      if !orphans.contains(id) { difference.living.insert(id.dot) }
      var entry = Difference.Entry(object: id)
      let isWhole = buckets != 0 && buckets & (1 << id.bucket) != 0
      for known in record.entries where isWhole || !since.contains(known.cell.dot) {
        entry.properties.append(known.property)
        entry.cells.append(known.cell)
      }
      if !entry.cells.isEmpty { difference.entries.append(entry) }
    }
    difference.entries.sort { $0.object < $1.object }
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
    let purged = records.keys.filter {
      difference.context.contains($0.dot) && !difference.living.contains($0.dot)
    }
    var joined = context
    joined.formUnion(difference.context)
    guard joined.entries.count <= BoardLimits.incarnations,
      joined.rangeCount <= BoardLimits.ranges,
      hasRoom(for: difference, without: purged, comparingAll: comparingAll)
    else { throw .boardFull }
    for id in purged { remove(id, changes: &changes) }
    for entry in difference.entries {
      for (property, cell) in zip(entry.properties, entry.cells)
      where comparingAll || !context.contains(cell.dot) {
        write(cell, at: property, of: entry.object, changes: &changes)
      }
    }
    if comparingAll || !context.isSuperset(of: difference.context) {
      context = joined
      revision += 1
    }
    for id in orphans where context.contains(id.dot) { remove(id, changes: &changes) }
  }

  /// Whether what an answer adds to the objects that it does not purge fits.
  private func hasRoom(
    for difference: Difference,
    without purged: [ObjectID],
    comparingAll: Bool
  ) -> Bool {
    var objects = -purged.count
    var cells = 0
    var bytes = 0
    for id in purged {
      cells -= records[id]?.count ?? 0
      bytes -= records[id]?.valueBytes ?? 0
    }
    for entry in difference.entries {
      let record = records[entry.object]
      // Seen and not here: it was purged, and nothing of it is kept.
      if record == nil, context.contains(entry.object.dot) { continue }
      if record == nil { objects += 1 }
      for (property, cell) in zip(entry.properties, entry.cells)
      where comparingAll || !context.contains(cell.dot) {
        guard let old = record?[property] else {
          cells += 1
          bytes += cell.value.length
          continue
        }
        if cell.beats(old) { bytes += cell.value.length - old.value.length }
      }
    }
    return hasRoom(objects: objects, cells: cells, bytes: bytes, incarnations: 0, ranges: 0)
  }

  /// Whether so much more can be kept; asks for the most that it could become.
  package func hasRoom(
    objects: Int,
    cells: Int,
    bytes: Int,
    incarnations: Int,
    ranges: Int
  ) -> Bool {
    records.count + objects <= BoardLimits.storedObjects
      && cellCount + cells <= BoardLimits.storedCells
      && valueBytes + bytes <= BoardLimits.storedBytes
      && context.entries.count + incarnations <= BoardLimits.incarnations
      && context.rangeCount + ranges <= BoardLimits.ranges
  }

  private mutating func write(
    _ cell: Cell,
    at property: Property,
    of id: ObjectID,
    changes: inout ChangeLog
  ) {
    if records[id] == nil {
      // Seen and not here is what a purge leaves: it beats every later write (SYN-8).
      guard !context.contains(id.dot) else { return }
      records[id] = ObjectRecord()
      orphans.insert(id)
    }
    changes.willChange(id, self)
    let before = records[id]?.valueBytes ?? 0
    let outcome = records[id, default: ObjectRecord()].write(cell, at: property)
    valueBytes += (records[id]?.valueBytes ?? 0) - before
    if outcome == .added { cellCount += 1 }
    if outcome != .beaten { changes.didChange(id, property) }
    if property == .kind { orphans.remove(id) }
  }

  private mutating func remove(_ id: ObjectID, changes: inout ChangeLog) {
    guard records[id] != nil else { return }
    changes.willChange(id, self)
    if let record = records.removeValue(forKey: id) {
      cellCount -= record.count
      valueBytes -= record.valueBytes
    }
    orphans.remove(id)
    changes.didRemove(id)
  }
}

/// What one replica sends another that lacks something: the answer to a context.
public struct Difference: Hashable, Sendable {
  /// The cells of one object that the other lacks.
  public struct Entry: Hashable, Sendable {
    /// The object.
    public let object: ObjectID
    /// The properties, ascending.
    public var properties: [Property] = []
    /// The cells, one for each property.
    public var cells: [Cell] = []

    /// An entry without cells.
    public init(object: ObjectID) { self.object = object }
  }

  /// What the sender has seen.
  public var context: Context
  /// The ids of the objects it holds; what is in `context` and not here was purged.
  public var living = DotSet()
  /// The cells, by ascending object id.
  public var entries: [Entry] = []

  /// An answer of nothing but a context.
  public init(context: Context) { self.context = context }

  /// Throws where the parts contradict each other, so that no honest replica can have sent them.
  package func validate() throws(CodecError) {
    guard context.isSuperset(of: living) else { throw .inconsistent("living") }
    for entry in entries {
      guard living.contains(entry.object.dot) || !context.contains(entry.object.dot) else {
        throw .inconsistent("purged object")
      }
      for (property, cell) in zip(entry.properties, entry.cells) {
        guard context.contains(cell.dot) else { throw .inconsistent("cell beyond the context") }
        guard property != .purge else { throw .reserved("purge") }
        try Operation(entry.object, property, cell.value).validate(as: cell.dot)
      }
    }
  }
}
