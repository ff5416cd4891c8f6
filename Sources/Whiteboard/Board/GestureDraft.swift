/// The edits of the current gesture, which are shown in a board's cells until the gesture ends.
///
/// The draft stores the previous state of each object that the gesture touches, so that the board can be restored
/// before the edits are applied. The cost depends on the number of edits, not on the size of the board.
struct GestureDraft {
  private(set) var shownCount = 0
  /// The growth of the board due to the operations that are shown in the cells.
  private(set) var growth = BoardGrowth()

  /// The time that the first operation would get if the gesture ended now.
  private let base: UInt64
  private let (objectCount, cellCount, valueBytes): (Int, Int, Int)
  /// The state of each touched object before the gesture; nil if the object was not stored.
  private var originals: [ObjectID: ObjectStore.StoredObject?] = [:]
  /// The touched objects, in the order in which they were first touched.
  private var touched: [ObjectID] = []

  /// Creates a draft without edits.
  init(_ clock: HybridClock, wall: UInt64, over cells: borrowing BoardState) {
    var clock = clock
    base = clock.next(wall: wall, after: [nil])?.first?.time.rawValue ?? 0
    (objectCount, cellCount, valueBytes) = (cells.objectCount, cells.cellCount, cells.valueBytes)
  }

  /// Returns the cells that an object had before the gesture; nil if the gesture created the object or did not change
  /// it.
  func original(of id: ObjectID) -> ObjectRecord? { originals[id]??.record }

  /// Shows the operations of the gesture that are not shown yet in the board's cells.
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

  /// Replaces the value in a cell that the gesture wrote before.
  mutating func rewrite(_ operation: Operation, in cells: inout BoardState) {
    guard let cell = cells.record(operation.object)?[operation.property], cell.value != operation.value else { return }
    cells.objects.overwrite(
      operation.property,
      of: operation.object,
      with: Cell(value: operation.value, time: cell.time, dot: cell.dot)
    )
    measure(cells)
  }

  /// Restores the cells to their state before the gesture.
  func hide(from cells: inout BoardState) {
    for id in touched.reversed() { cells.objects.restore(originals[id] ?? nil, as: id) }
  }

  private mutating func measure(_ cells: borrowing BoardState) {
    growth.objects = cells.objectCount - objectCount
    growth.cells = cells.cellCount - cellCount
    growth.bytes = cells.valueBytes - valueBytes
  }
}
