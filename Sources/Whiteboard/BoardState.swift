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
    let count = batch.operations.count
    let bytes = batch.operations.reduce(0) { $0 + $1.value.length }
    // Every purge may add an incarnation and a range to the context, as the author may.
    guard
      hasRoom(
        objects: count,
        cells: count,
        bytes: bytes,
        incarnations: count + 1,
        ranges: count + 1
      )
    else { throw .boardFull }
    var mayBeSeen = context.entries[batch.author]?.overlaps(batch.sequences) ?? false
    for (index, operation) in batch.operations.enumerated() {
      let dot = batch.dot(at: index)
      if mayBeSeen, context.contains(dot) { continue }
      if operation.property == .purge {
        remove(operation.object, changes: &changes)
        // Seen and not here is the tombstone. It may be the dot of a later operation of this batch.
        context.insert(operation.object.dot)
        mayBeSeen = true
      } else {
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
    if !orphans.isEmpty { dropImpossibleOrphans(changes: &changes) }
  }

  /// What a replica of context `since` lacks; with an empty context, everything.
  ///
  /// - Complexity: O(cells).
  public func difference(since: Context) -> Difference {
    var difference = Difference(context: context)
    for (id, record) in records {
      if !orphans.contains(id) { difference.living.insert(id.dot) }
      var entry = Difference.Entry(object: id)
      for (property, cell) in zip(record.properties, record.cells)
      where !since.contains(cell.dot) {
        entry.properties.append(property)
        entry.cells.append(cell)
      }
      if !entry.cells.isEmpty { difference.entries.append(entry) }
    }
    difference.entries.sort { $0.object < $1.object }
    return difference
  }

  /// Joins the whole of another replica's answer (SYN-5, SYN-6).
  ///
  /// `changes` collects what became of which object.
  ///
  /// - Throws: `BoardError.boardFull` where it would pass the storage limits; nothing is applied.
  public mutating func merge(
    _ difference: Difference,
    changes: inout ChangeLog
  ) throws(BoardError) {
    var cells = 0
    var bytes = 0
    for entry in difference.entries {
      cells += entry.cells.count
      for cell in entry.cells { bytes += cell.value.length }
    }
    let incarnations = difference.context.entries.keys.reduce(0) {
      $0 + (context.entries[$1] == nil ? 1 : 0)
    }
    guard
      hasRoom(
        objects: difference.entries.count,
        cells: cells,
        bytes: bytes,
        incarnations: incarnations,
        ranges: difference.context.rangeCount
      )
    else { throw .boardFull }
    // Seen by the sender and not living there: purged, which is final.
    for id in records.keys
    where difference.context.contains(id.dot) && !difference.living.contains(id.dot) {
      remove(id, changes: &changes)
    }
    for entry in difference.entries {
      for (property, cell) in zip(entry.properties, entry.cells)
      where !context.contains(cell.dot) {
        write(cell, at: property, of: entry.object, changes: &changes)
      }
    }
    if !context.isSuperset(of: difference.context) {
      context.formUnion(difference.context)
      revision += 1
    }
    if !orphans.isEmpty { dropImpossibleOrphans(changes: &changes) }
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
      cellCount -= record.cells.count
      valueBytes -= record.valueBytes
    }
    orphans.remove(id)
    changes.didRemove(id)
  }

  /// A dot that was seen and created nothing never will: what hangs on it is dropped everywhere.
  private mutating func dropImpossibleOrphans(changes: inout ChangeLog) {
    for id in orphans where context.contains(id.dot) { remove(id, changes: &changes) }
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

/// The cells of one object, sorted by property.
package struct ObjectRecord: Hashable, Sendable {
  package private(set) var properties: [Property] = []
  package private(set) var cells: [Cell] = []
  /// How many bytes the values have.
  package private(set) var valueBytes = 0

  /// What became of a write.
  package enum Outcome {
    /// There was no such cell.
    case added
    /// It beat the cell that was there.
    case won
    /// The cell that was there beat it.
    case beaten
  }

  package subscript(property: Property) -> Cell? {
    let index = firstIndex(atOrAfter: property)
    return index < properties.count && properties[index] == property ? cells[index] : nil
  }

  package mutating func write(_ cell: Cell, at property: Property) -> Outcome {
    let index = firstIndex(atOrAfter: property)
    guard index < properties.count, properties[index] == property else {
      properties.insert(property, at: index)
      cells.insert(cell, at: index)
      valueBytes += cell.value.length
      return .added
    }
    guard cell.beats(cells[index]) else { return .beaten }
    valueBytes += cell.value.length - cells[index].value.length
    cells[index] = cell
    return .won
  }

  /// The indices of the cells whose property has this number.
  package func indices(of number: UInt16) -> Range<Int> {
    var end = firstIndex(atOrAfterNumber: number)
    let start = end
    while end < properties.count, properties[end].number == number { end += 1 }
    return start..<end
  }

  private func firstIndex(atOrAfter property: Property) -> Int {
    if let last = properties.last, last < property { return properties.count }
    var low = 0
    var high = properties.count
    while low < high {
      let middle = (low + high) / 2
      if properties[middle] < property { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func firstIndex(atOrAfterNumber number: UInt16) -> Int {
    var low = 0
    var high = properties.count
    while low < high {
      let middle = (low + high) / 2
      if properties[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
