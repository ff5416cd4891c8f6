import Whiteboard
import WhiteboardSync

/// Sends a board more than it can hold. Checks that the board stays within its limits, and that a refused batch changes
/// nothing (I12).
struct Flood {
  /// The number of worlds for each flood; a flood takes as long as a hundred other worlds.
  static let every: UInt64 = 2048

  private let world: BoardWorld

  init(_ world: BoardWorld) { self.world = world }

  func run() throws(BoardWorld.Failure) {
    world.tally[.floods] += 1
    try fill("objects") { number throws(CodecError) in
      // Cells of 4096 objects that are never created.
      try Batch(
        author: Incarnation(7),
        firstSequence: number * 4096 + 1,
        time: HybridTime(number),
        operations: (1...4096).map {
          Operation(ObjectID(Dot(Incarnation(8), number * 4096 + $0)), .position, .pair(1, 1))
        }
      )
    }
    try fill("bytes") { number throws(CodecError) in
      try Batch(
        author: Incarnation(7),
        firstSequence: number * 15 + 1,
        time: HybridTime(number),
        operations: (0..<15).map {
          Operation(
            ObjectID(Dot(Incarnation(8), 1)),
            Property(70, index: number * 15 + $0),
            .bytes([UInt8](repeating: 1, count: BoardLimits.valueBytes))
          )
        }
      )
    }
    try fill("ranges") { number throws(CodecError) in
      // Every second dot, so that each dot is a range of its own.
      try Batch(
        author: Incarnation(7),
        firstSequence: number * 2 + 1,
        time: HybridTime(number),
        operations: [Operation(ObjectID(Dot(Incarnation(8), 1)), .position, .pair(1, 1))]
      )
    }
    try fill("incarnations") { number throws(CodecError) in
      try Batch(
        author: Incarnation(number + 10),
        firstSequence: 1,
        time: HybridTime(number),
        operations: [Operation(ObjectID(Dot(Incarnation(8), 1)), .position, .pair(1, 1))]
      )
    }
  }

  /// Applies batches until one is refused, and checks that the refused batch changed nothing.
  private func fill(_ what: String, _ batch: (UInt64) throws(CodecError) -> Batch) throws(BoardWorld.Failure) {
    var state = BoardState()
    var changes = ChangeLog()
    for number in UInt64(0)...(2 << 20) {
      let next: Batch
      do throws(CodecError) { next = try batch(number) } catch {
        throw world.fail("I12", "the flood of \(what) is not legal: \(error)")
      }
      // Compares only counts, because a copy of the ranges would cause each insertion to copy all ranges.
      let before = (state.context.rangeCount, state.cellCount, state.revision)
      do throws(BoardError) { try state.apply(next, changes: &changes) } catch {
        guard before == (state.context.rangeCount, state.cellCount, state.revision) else {
          throw world.fail("I12", "a batch that was refused for its \(what) changed the board")
        }
        return
      }
      changes = ChangeLog()
      guard state.objectCount <= BoardLimits.storedObjects, state.cellCount <= BoardLimits.storedCells,
        state.valueBytes <= BoardLimits.storedBytes, state.context.rangeCount <= BoardLimits.ranges,
        state.context.incarnationCount <= BoardLimits.incarnations
      else { throw world.fail("I12", "the board exceeds a limit in the flood of \(what)") }
    }
    throw world.fail("I12", "\(what) never end")
  }
}
