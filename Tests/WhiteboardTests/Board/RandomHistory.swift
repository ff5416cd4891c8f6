import PeerTestKit

@testable import Whiteboard

/// Three replicas that apply random batches and merge each other's states.
///
/// They have few objects, many of them settings objects and groups.
struct RandomHistory {
  private(set) var states = Array(repeating: BoardState(), count: 3)
  private(set) var changes = ChangeLog()
  private var random: SeededGenerator
  private var written: [UInt64] = [0, 0, 0]

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  /// Changes one replica; returns the index of the replica.
  mutating func step() throws -> Int {
    let index = random.below(states.count)
    changes = ChangeLog()
    switch random.below(40) {
    case 0: states[index].limit([Incarnation(1): UInt64(random.below(60) + 5)], changes: &changes)
    case 1...7:
      let (isRepair, replacing) = (random.chance(30), random.chance(20))
      try states[index].merge(
        states[random.below(states.count)].difference(since: random.chance(50) ? states[index].context : Context()),
        comparingAll: isRepair,
        replacing: isRepair && replacing ? UInt16.random(in: 0...UInt16.max, using: &random) : 0,
        changes: &changes
      )
    default: try states[index].apply(batch(), changes: &changes)
    }
    return index
  }

  /// Shows an edit of a gesture in a replica, calls `body` with the state, and hides the edit again.
  mutating func showing(in index: Int, _ body: (BoardState) -> Void) {
    let author = random.below(3)
    let operation = operation(Dot(Incarnation(UInt64(author + 1)), written[author] + 1))
    guard !operation.property.isPurge else { return }
    let before = states[index].objects.stored(operation.object)
    let time = HybridTime(UInt64(random.below(1000)))
    states[index].objects.overwrite(
      operation.property,
      of: operation.object,
      with: Cell(value: operation.value, time: time, dot: Dot(Incarnation(UInt64(author + 1)), written[author] + 1))
    )
    body(states[index])
    states[index].objects.restore(before, as: operation.object)
  }

  private mutating func batch() -> Batch {
    let author = random.below(3)
    let first = written[author] + 1
    let count = 1 + random.below(4)
    written[author] += UInt64(count)
    return Batch(
      validated: (0..<UInt64(count)).map { operation(Dot(Incarnation(UInt64(author + 1)), first + $0)) },
      author: Incarnation(UInt64(author + 1)),
      firstSequence: first,
      time: HybridTime(UInt64(random.below(1000)))
    )
  }

  private mutating func object() -> ObjectID {
    let author = random.below(3)
    let last = max(1, Int(written[author]))
    // Use recent objects, so that they get several cells.
    let sequence = last - random.below(min(last, 24))
    return ObjectID(Dot(Incarnation(UInt64(author + 1)), UInt64(sequence)))
  }

  private mutating func operation(_ dot: Dot) -> Operation {
    let kinds: [ObjectKind] = [.settings, .settings, .group, .group, .text]
    switch random.below(12) {
    case 0...4:
      let kind = kinds[random.below(kinds.count)]
      return Operation(ObjectID(dot), .kind, .unsigned(kind.rawValue))
    case 5: return Operation(object(), .deleted, .unsigned(UInt64(random.below(2))))
    case 6 where random.chance(20): return Operation(object(), .purge, .none)
    case 6, 7, 8:
      let isDot = random.chance(85)
      return Operation(object(), .group, isDot ? .dot(object().dot) : .none)
    default:
      let properties: [Property] = [.title, .background, .grid, .language]
      let values: [Value] = [.text("a"), .text("b"), .unsigned(1), .unsigned(2), .none]
      return Operation(object(), properties[random.below(properties.count)], values[random.below(values.count)])
    }
  }
}
