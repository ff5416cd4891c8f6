/// The operations of the current gesture, in order, before times are assigned to them.
///
/// A gesture writes each cell only once: a later write of the same cell replaces the earlier one.
struct StagedOperations {
  private struct Address: Hashable {
    let object: ObjectID
    let property: Property
  }

  let author: Incarnation
  /// The sequence number of the first operation.
  let firstSequence: UInt64
  private(set) var label: String?
  private(set) var operations: [Operation] = []
  /// For each operation, a time that the operation's own time must exceed.
  private(set) var floors: [HybridTime?] = []
  /// The number of bytes in the values of the operations.
  private(set) var valueBytes = 0
  /// The index in `operations` of the operation that writes each cell.
  private var indices: [Address: Int] = [:]

  /// Creates the operations of a gesture that begins now.
  init(author: Incarnation, firstSequence: UInt64, label: String?) {
    self.author = author
    self.firstSequence = firstSequence
    self.label = label
  }

  /// The dot of the next operation.
  var nextDot: Dot { dot(at: operations.count) }

  /// Returns the dot of an operation.
  func dot(at index: Int) -> Dot { Dot(author, firstSequence + UInt64(index)) }

  func hasMove(of game: ObjectID) -> Bool {
    operations.contains { $0.object == game && $0.property.number == Property.moveNumber }
  }

  /// Sets the label of the gesture, if it has neither a label nor operations yet.
  mutating func setLabel(_ label: String?) { if self.label == nil, operations.isEmpty { self.label = label } }

  /// Replaces the earlier operation that writes the same cell, and returns its index; nil if there is none.
  mutating func replace(with operation: Operation) -> Int? {
    let address = Address(object: operation.object, property: operation.property)
    guard let index = indices[address] else { return nil }
    operations[index] = operation
    return index
  }

  /// Throws an error if one more operation does not fit in a batch; throws `tooManyOperations`, `boardFull` if no
  /// sequence number is left.
  func requireRoom(for operation: Operation) throws(BoardError) {
    guard operations.count < BoardLimits.operationsPerBatch,
      valueBytes + operation.value.length <= BoardLimits.batchBytes * 3 / 4
    else { throw .tooManyOperations }
    guard firstSequence <= BoardLimits.sequence - UInt64(BoardLimits.operationsPerBatch) else { throw .boardFull }
  }

  /// Returns an upper bound of the growth by the gesture and one more operation, without the growth that is already
  /// shown.
  func growth(with operation: Operation, alreadyShown shown: BoardGrowth) -> BoardGrowth {
    let count = operations.count + 1
    return BoardGrowth(
      objects: count - shown.objects,
      cells: count - shown.cells,
      bytes: valueBytes + operation.value.length - shown.bytes,
      incarnations: count + 1,
      ranges: count + 1
    )
  }

  /// The gesture must not have written the operation's cell before; the operation's own time must exceed `floor`.
  mutating func append(_ operation: Operation, after floor: HybridTime?) {
    let address = Address(object: operation.object, property: operation.property)
    indices[address] = operations.count
    operations.append(operation)
    floors.append(floor)
    valueBytes += operation.value.length
  }

  /// Returns the operations as one batch.
  ///
  /// If operations overwrite times that are far ahead of the wall clock, there are several batches (BRD-32).
  func batches(_ clock: inout HybridClock, wall: UInt64) -> [Batch] {
    guard let runs = clock.next(wall: wall, after: floors) else {
      preconditionFailure("operations were already checked when they were staged")
    }
    var batches: [Batch] = []
    var first = 0
    for run in runs {
      guard
        let batch = try? Batch(
          author: author,
          firstSequence: firstSequence + UInt64(first),
          time: run.time,
          operations: Array(operations[first..<first + run.count])
        )
      else { preconditionFailure("operations were already checked when they were staged") }
      batches.append(batch)
      first += run.count
    }
    return batches
  }
}
