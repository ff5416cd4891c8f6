import PeerCore
import PeerTestKit
import Whiteboard

/// An author of a later version whose batches are well-formed but otherwise arbitrary.
///
/// It writes unknown properties, values of the wrong shape, arbitrary times, rings of groups, and cells of objects that
/// are never created. It also claims dots of others by purging objects that never existed.
struct Stranger {
  private let incarnation: Incarnation
  private var sequence: UInt64 = 0

  init(_ incarnation: Incarnation) { self.incarnation = incarnation }

  /// Returns a batch about the objects of `state`, or nil if there are none.
  mutating func batch(about state: BoardState, wall: UInt64, _ random: inout SeededGenerator) -> Batch? {
    let ids = state.storedIDs.sorted()
    guard let id = random.element(of: ids) else { return nil }
    var time = HybridTime(wall << 16)
    var operations: [Operation] = []
    let next = Dot(incarnation, sequence + 1)
    switch random.below(9) {
    case 0: operations = [Operation(id, Property(60), Self.value(&random))]
    case 1:
      operations = [
        Operation(id, Property(70, index: random.next()), Self.value(&random)),
        Operation(id, Property(140, dot: next), Self.value(&random)),
      ]
    case 2: operations = [Operation(ObjectID(next), .kind, .unsigned(99))]
    case 3: operations = [Operation(id, .position, .text("over there"))]
    case 4, 5:
      // Use exactly the time of an existing cell.
      let properties: [Property] = [.position, .color, .angle, .deleted, .zIndex]
      let property = properties[random.below(properties.count)]
      guard let cell = state.record(id)?[property], cell.dot.incarnation != incarnation else { return nil }
      time = cell.time
      operations = [Operation(id, property, Self.value(&random))]
    case 6:
      // Two groups that contain each other, and an object in one of them, with a time ahead of every clock.
      let other = Dot(incarnation, sequence + 2)
      time = HybridTime((wall + 4_000_000) << 16)
      operations = [
        Operation(ObjectID(next), .kind, .unsigned(ObjectKind.group.rawValue)),
        Operation(ObjectID(other), .kind, .unsigned(ObjectKind.group.rawValue)),
        Operation(ObjectID(next), .group, .dot(other)), Operation(ObjectID(other), .group, .dot(next)),
        Operation(id, .group, .dot(next)),
      ]
      if random.chance(50) { operations.swapAt(2, 3) }
    case 7:
      // Cells of objects that have not arrived yet, or do not exist.
      let dot = Dot(id.dot.incarnation, id.dot.sequence + UInt64(1 + random.below(40)))
      guard !state.context.contains(dot) else { return nil }
      operations = [Operation(ObjectID(dot), .position, .pair(1, 2))]
    default:
      let dot = Dot(id.dot.incarnation, id.dot.sequence + 1_000_000 + random.next() % 1000)
      operations = [Operation(ObjectID(dot), .purge, .none)]
    }
    let batch = try? Batch(author: incarnation, firstSequence: sequence + 1, time: time, operations: operations)
    sequence += UInt64(batch?.operations.count ?? 0)
    return batch
  }

  static func value(_ random: inout SeededGenerator) -> Value {
    switch random.below(7) {
    case 0: .none
    case 1: .unsigned(random.next())
    case 2: .signed(Int64(truncatingIfNeeded: random.next()))
    case 3: .pair(Int32(truncatingIfNeeded: random.next()), Int32(truncatingIfNeeded: random.next()))
    case 4: .bytes((0..<random.below(40)).map { UInt8($0) })
    case 5: .text("t\(random.below(9))")
    default: .dot(Dot(.random(using: &random), 1 + random.next() % 1000))
    }
  }
}
