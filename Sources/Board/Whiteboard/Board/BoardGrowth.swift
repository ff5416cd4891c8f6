package struct BoardGrowth: Hashable, Sendable {
  /// The number of additional objects, including orphans.
  package var objects = 0
  package var cells = 0
  /// The number of additional bytes in values.
  package var bytes = 0
  package var incarnations = 0
  package var ranges = 0
}

extension BoardState {
  /// The arguments are upper bounds.
  package func hasRoom(objects: Int, cells: Int, bytes: Int, incarnations: Int, ranges: Int) -> Bool {
    objectCount + objects <= BoardLimits.storedObjects && cellCount + cells <= BoardLimits.storedCells
      && valueBytes + bytes <= BoardLimits.storedBytes
      && context.incarnationCount + incarnations <= BoardLimits.incarnations
      && context.rangeCount + ranges <= BoardLimits.ranges
  }

  func hasRoom(for growth: BoardGrowth) -> Bool {
    hasRoom(
      objects: growth.objects,
      cells: growth.cells,
      bytes: growth.bytes,
      incarnations: growth.incarnations,
      ranges: growth.ranges
    )
  }

  /// The exact growth is computed only near a limit.
  func hasRoom(for batch: Batch) -> Bool {
    let count = batch.operations.count
    var bytes = 0
    for operation in batch.operations { bytes += operation.value.length }
    return hasRoom(objects: count, cells: count, bytes: bytes, incarnations: count + 1, ranges: count + 1)
      || hasRoom(for: growth(with: batch))
  }

  /// The exact growth is computed only near a limit.
  func hasRoom(for difference: Difference, without purged: [ObjectID], comparingAll: Bool) -> Bool {
    var cells = 0
    var bytes = 0
    for entry in difference.entries {
      cells += entry.cells.count
      for known in entry.cells { bytes += known.cell.value.length }
    }
    return hasRoom(
      objects: difference.entries.count,
      cells: cells,
      bytes: bytes,
      incarnations: difference.context.incarnationCount,
      ranges: difference.context.rangeCount
    ) || hasRoom(for: growth(with: difference, without: purged, comparingAll: comparingAll))
  }

  private struct Trial {
    let known: ObjectRecord?
    var isHere: Bool
    var isCreated: Bool
    var cells: Int
    var bytes: Int
    var written: [Property: Cell] = [:]

    init(_ known: ObjectRecord?) {
      self.known = known
      isHere = known != nil
      isCreated = known?[.kind] != nil
      cells = known?.count ?? 0
      bytes = known?.valueBytes ?? 0
    }

    mutating func write(_ cell: Cell, at property: Property) {
      isHere = true
      if property.isKind { isCreated = true }
      if let old = written[property] ?? known?[property] {
        guard cell.beats(old) else { return }
        bytes += cell.value.length - old.value.length
      } else {
        cells += 1
        bytes += cell.value.length
      }
      written[property] = cell
    }

    mutating func remove() {
      isHere = false
      cells = 0
      bytes = 0
    }
  }

  /// Returns the exact growth. About O(*n*), where *n* is the number of operations.
  package func growth(with batch: Batch) -> BoardGrowth {
    var trials: [ObjectID: Trial] = [:]
    var seen = DotSet()
    for (index, operation) in batch.operations.enumerated() {
      let dot = batch.dot(at: index)
      let id = operation.object
      if context.contains(dot) || seen.contains(dot) { continue }
      if operation.property.isPurge {
        trials[id, default: Trial(record(id))].remove()
        seen.insert(id.dot)
      } else if !seen.contains(id.dot) {
        let isHere = trials[id]?.isHere ?? (record(id) != nil)
        guard isHere || !context.contains(id.dot) else { continue }
        let time = HybridTime(batch.time.rawValue + UInt64(index))
        trials[id, default: Trial(record(id))].write(
          Cell(value: operation.value, time: time, dot: dot),
          at: operation.property
        )
      }
    }
    for index in batch.operations.indices {
      let id = ObjectID(batch.dot(at: index))
      guard trials[id] != nil || orphans.contains(id) else { continue }
      if trials[id, default: Trial(record(id))].isCreated { continue }
      trials[id]?.remove()
    }
    seen.insert(batch.sequences, of: batch.author)
    var growth = BoardGrowth()
    (growth.incarnations, growth.ranges) = context.growth(with: seen)
    for trial in trials.values {
      growth.objects += (trial.isHere ? 1 : 0) - (trial.known == nil ? 0 : 1)
      growth.cells += trial.cells - (trial.known?.count ?? 0)
      growth.bytes += trial.bytes - (trial.known?.valueBytes ?? 0)
    }
    return growth
  }

  /// Returns the exact growth. O(*n*), where *n* is the number of cells in the answer.
  package func growth(with difference: Difference, without purged: [ObjectID], comparingAll: Bool) -> BoardGrowth {
    var growth = BoardGrowth()
    (growth.incarnations, growth.ranges) = context.growth(with: difference.context)
    // Orphans are removed too if their ids enter the context without a create operation (SYN-4).
    var gone = Set(purged)
    for id in orphans where difference.context.contains(id.dot) { gone.insert(id) }
    for entry in difference.entries {
      let known = record(entry.object)
      // If the context contains the id of an object that is not stored, the object was purged, and none of its cells is
      // stored.
      if known == nil, context.contains(entry.object.dot) { continue }
      var added = BoardGrowth(objects: known == nil ? 1 : 0)
      var isMerged = false
      var isCreated = known != nil && !orphans.contains(entry.object)
      for new in entry.cells where comparingAll || !context.contains(new.cell.dot) {
        let (property, cell) = (new.property, new.cell)
        isMerged = true
        if property.isKind { isCreated = true }
        if let old = known?[property] {
          if cell.beats(old) { added.bytes += cell.value.length - old.value.length }
        } else {
          added.cells += 1
          added.bytes += cell.value.length
        }
      }
      guard isMerged, isCreated || !difference.context.contains(entry.object.dot) else { continue }
      gone.remove(entry.object)
      growth.objects += added.objects
      growth.cells += added.cells
      growth.bytes += added.bytes
    }
    for id in gone {
      guard let record = record(id) else { continue }
      growth.objects -= 1
      growth.cells -= record.count
      growth.bytes -= record.valueBytes
    }
    return growth
  }
}
