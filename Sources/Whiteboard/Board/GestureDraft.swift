/// The edits of a gesture under way, shown in a board's cells until the gesture ends.
///
/// It remembers the objects as they were, so that the agreed cells can be restored before anything is
/// applied. The cost depends on the edits, not on the size of the board.
struct GestureDraft {
  /// The number of operations that the cells show.
  private(set) var shownCount = 0
  /// What the board holds more because of them.
  private(set) var growth = BoardGrowth()

  /// The time of the first operation if the gesture ended now.
  private let base: UInt64
  private let (objectCount, cellCount, valueBytes): (Int, Int, Int)
  /// Each object that was touched, as it was before; nil if it was not stored.
  private var originals: [ObjectID: BoardState.StoredObject?] = [:]
  /// These objects in the order of the first touches.
  private var touched: [ObjectID] = []

  /// A draft without edits.
  /// - Parameters:
  ///   - clock: The clock that will give the operations their times.
  ///   - wall: The wall clock, in milliseconds since 1970.
  ///   - cells: The agreed cells.
  init(_ clock: HybridClock, wall: UInt64, over cells: borrowing BoardState) {
    var clock = clock
    base = clock.next(wall: wall, after: [nil])?.first?.time.rawValue ?? 0
    (objectCount, cellCount, valueBytes) = (cells.objectCount, cells.cellCount, cells.valueBytes)
  }

  /// The cells of an object before the gesture; nil if the gesture did not touch or created it.
  func original(of id: ObjectID) -> ObjectRecord? { originals[id]??.record }

  /// Shows the next operation.
  /// - Parameters:
  ///   - operation: The operation, on a cell that the gesture did not write before.
  ///   - dot: The dot that it will have.
  ///   - floor: The time that it must be later than.
  ///   - cells: The board's cells.
  mutating func show(
    _ operation: Operation,
    as dot: Dot,
    after floor: HybridTime?,
    in cells: inout BoardState
  ) {
    let id = operation.object
    if originals[id] == nil {
      originals[id] = .some(cells.stored(id))
      touched.append(id)
    }
    if operation.property.isPurge {
      cells.store(nil, as: id)
    } else {
      let time = max(base + UInt64(shownCount), floor.map { $0.rawValue + 1 } ?? 0)
      cells.overwrite(
        operation.property,
        of: id,
        with: Cell(
          value: operation.value,
          time: HybridTime(min(time, BoardLimits.time)),
          dot: dot
        )
      )
    }
    shownCount += 1
    measure(cells)
  }

  /// Shows another value in a cell that the gesture wrote before.
  mutating func rewrite(_ operation: Operation, in cells: inout BoardState) {
    guard let cell = cells.record(operation.object)?[operation.property],
      cell.value != operation.value
    else { return }
    cells.overwrite(
      operation.property,
      of: operation.object,
      with: Cell(value: operation.value, time: cell.time, dot: cell.dot)
    )
    measure(cells)
  }

  /// Makes the cells what they were before the gesture.
  func hide(from cells: inout BoardState) {
    for id in touched.reversed() { cells.store(originals[id] ?? nil, as: id) }
  }

  private mutating func measure(_ cells: borrowing BoardState) {
    growth.objects = cells.objectCount - objectCount
    growth.cells = cells.cellCount - cellCount
    growth.bytes = cells.valueBytes - valueBytes
  }
}
