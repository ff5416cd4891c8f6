/// The operations of the current gesture, in order, before times are assigned to them. A gesture writes each cell only
/// once: a later write of the same cell replaces the earlier write.
struct StagedOperations {
  private struct Address: Hashable {
    let object: ObjectID
    let property: Property
  }

  let author: Incarnation
  let firstSequence: UInt64
  private(set) var label: String?
  private(set) var operations: [Operation] = []
  /// For each operation, a time that the operation's own time must exceed.
  private(set) var floors: [HybridTime?] = []
  private(set) var valueBytes = 0
  /// The operations that were replaced by later writes of the same cells, with their indices in `operations`.
  private var replaced: [(index: Int, former: Operation)] = []
  /// For each cell, the index of its write in `operations`.
  private var indices: [Address: Int] = [:]

  init(author: Incarnation, firstSequence: UInt64, label: String?) {
    self.author = author
    self.firstSequence = firstSequence
    self.label = label
  }

  var nextDot: Dot { dot(at: operations.count) }

  func dot(at index: Int) -> Dot { Dot(author, firstSequence + UInt64(index)) }

  func hasMove(of game: ObjectID) -> Bool {
    operations.contains { $0.object == game && $0.property.number == Property.moveNumber }
  }

  mutating func setLabel(_ label: String?) { if self.label == nil, operations.isEmpty { self.label = label } }

  mutating func replace(with operation: Operation) -> Int? {
    let address = Address(object: operation.object, property: operation.property)
    guard let index = indices[address] else { return nil }
    replaced.append((index, operations[index]))
    operations[index] = operation
    return index
  }

  struct Savepoint {
    fileprivate let operationCount: Int
    fileprivate let replacedCount: Int
    fileprivate let label: String?
    fileprivate let valueBytes: Int
  }

  var savepoint: Savepoint {
    Savepoint(operationCount: operations.count, replacedCount: replaced.count, label: label, valueBytes: valueBytes)
  }

  mutating func roll(backTo point: Savepoint) {
    for (index, former) in replaced[point.replacedCount...].reversed() { operations[index] = former }
    replaced.removeSubrange(point.replacedCount...)
    for operation in operations[point.operationCount...] {
      indices[Address(object: operation.object, property: operation.property)] = nil
    }
    operations.removeSubrange(point.operationCount...)
    floors.removeSubrange(point.operationCount...)
    (label, valueBytes) = (point.label, point.valueBytes)
  }

  func requireRoom() throws(BoardError) {
    guard operations.count < BoardLimits.operationsPerGesture else { throw .tooManyOperations }
    guard firstSequence <= BoardLimits.sequence - UInt64(BoardLimits.operationsPerGesture) else { throw .boardFull }
  }

  /// Returns an upper bound of the growth that the gesture and one more operation cause, minus the growth that the
  /// shown state already includes.
  func growth(with operation: Operation, alreadyShown shown: BoardGrowth) -> BoardGrowth {
    let count = operations.count + 1
    return BoardGrowth(
      objects: count - shown.objects,
      cells: count - shown.cells,
      bytes: valueBytes + operation.value.length - shown.bytes,
      incarnations: min(count, BoardLimits.operationsPerBatch) + 1,
      ranges: min(count, BoardLimits.operationsPerBatch) + 1
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

  /// Returns the operations as one batch. The operations become several batches if they are too many for one batch, or
  /// if some of them overwrite times that are far ahead of the wall clock (BRD-32).
  func batches(_ clock: inout HybridClock, wall: UInt64) -> [Batch] {
    guard let runs = clock.next(wall: wall, after: floors) else {
      preconditionFailure("operations were already checked when they were staged")
    }
    var batches: [Batch] = []
    var first = 0
    for run in runs {
      for piece in Array(operations[first..<first + run.count]).batches(length: { $0.value.length }) {
        guard
          let batch = try? Batch(
            author: author,
            firstSequence: firstSequence + UInt64(first + piece.startIndex),
            time: HybridTime(run.time.rawValue + UInt64(piece.startIndex)),
            operations: Array(piece)
          )
        else { preconditionFailure("operations were already checked when they were staged") }
        batches.append(batch)
      }
      first += run.count
    }
    return batches
  }
}

/// The edits of the current gesture, which are shown in a board's cells until the gesture ends. The draft stores the
/// previous state of each object that the gesture touches, so that the board can be restored before the edits are
/// applied. The cost depends on the number of edits, not on the size of the board.
struct GestureDraft {
  private(set) var shownCount = 0
  private(set) var growth = BoardGrowth()

  /// The time that the first operation would get if the gesture ended now.
  private let base: UInt64
  private let (objectCount, cellCount, valueBytes): (Int, Int, Int)
  /// The state of each touched object before the gesture; nil if the object was not stored.
  private var originals: [ObjectID: ObjectStore.StoredObject?] = [:]
  /// The touched objects, in the order in which the gesture first touched them.
  private var touched: [ObjectID] = []

  init(_ clock: HybridClock, wall: UInt64, over cells: borrowing BoardState) {
    var clock = clock
    base = clock.next(wall: wall, after: [nil])?.first?.time.rawValue ?? 0
    (objectCount, cellCount, valueBytes) = (cells.objectCount, cells.cellCount, cells.valueBytes)
  }

  /// Returns the cells that an object had before the gesture; nil if the gesture created the object or did not change
  /// it.
  func original(of id: ObjectID) -> ObjectRecord? { originals[id]??.record }

  mutating func show(_ staged: borrowing StagedOperations, in cells: inout BoardState) {
    for index in shownCount..<staged.operations.count {
      show(staged.operations[index], as: staged.dot(at: index), after: staged.floors[index], in: &cells)
    }
  }

  /// The gesture must not have written the cell before; the operation's time must exceed `floor`.
  private mutating func show(_ operation: Operation, as dot: Dot, after floor: HybridTime?, in cells: inout BoardState)
  {
    let id = operation.object
    if originals[id] == nil {
      originals[id] = .some(cells.objects.stored(id))
      touched.append(id)
    }
    if operation.property.isPurge {
      cells.objects.restore(nil, as: id)
    } else {
      let time = max(base + UInt64(shownCount), floor.map { $0.rawValue + 1 } ?? 0)
      cells.objects.overwrite(
        operation.property,
        of: id,
        with: Cell(value: operation.value, time: HybridTime(min(time, BoardLimits.time)), dot: dot)
      )
    }
    shownCount += 1
    measure(cells)
  }

  mutating func rewrite(_ operation: Operation, in cells: inout BoardState) {
    guard let cell = cells.record(operation.object)?[operation.property], cell.value != operation.value else { return }
    cells.objects.overwrite(
      operation.property,
      of: operation.object,
      with: Cell(value: operation.value, time: cell.time, dot: cell.dot)
    )
    measure(cells)
  }

  func hide(from cells: inout BoardState) {
    for id in touched.reversed() { cells.objects.restore(originals[id] ?? nil, as: id) }
  }

  private mutating func measure(_ cells: borrowing BoardState) {
    growth.objects = cells.objectCount - objectCount
    growth.cells = cells.cellCount - cellCount
    growth.bytes = cells.valueBytes - valueBytes
  }
}
