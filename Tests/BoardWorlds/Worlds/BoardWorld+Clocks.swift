import PeerTestKit
import Whiteboard

/// Correct and wrong wall clocks, clocks that are set, and the invariants that must hold with them.
extension BoardWorld {
  /// The maximum number of milliseconds by which a correct clock is ahead.
  private static let rightSkew: Int64 = 2000

  func wall(of peer: Peer) -> UInt64 { UInt64(max(0, Int64(clock) + peer.skew)) }

  func setClock(of one: Int) {
    peers[one].skew = newSkew()
    tally[.clocks] += 1
  }

  /// Returns a random skew: half of the clocks are correct, others are off by up to an hour, some by years.
  func newSkew() -> Int64 {
    switch random.below(100) {
    case 0..<6: 631_000_000_000
    case 6..<10: 100_000_000_000
    case 10..<16: -100_000_000_000
    case 16..<19: -Int64(clock)
    case 19..<50: Int64.random(in: -3_600_000...3_600_000, using: &random)
    default: Int64.random(in: 0...Self.rightSkew, using: &random)
    }
  }

  /// Checks that correct clocks assign no times far ahead, except to a write that must follow such a time (I13), and
  /// that a chat line follows all lines that its author has seen (I14).
  func checkTimes(of batches: [Batch], of one: Int, since before: BoardState) throws(Failure) {
    guard batches.contains(where: { !$0.operations.isEmpty }) else { return }
    let limit = (clock + UInt64(Self.rightSkew) + BoardLimits.drift + 1) << 16
    let isRight = (0...Self.rightSkew).contains(peers[one].skew)
    var lines = oracle.lineTimes(in: before)
    var written = Times(before)
    for batch in batches {
      for (index, operation) in batch.operations.enumerated() {
        let time = batch.time.rawValue + UInt64(index)
        let isLine = operation.property == .kind && operation.value == .unsigned(ObjectKind.chat.rawValue)
        if isRight, time > limit {
          let floors = isLine ? lines.values.max().map { [$0] } ?? [] : written.floors(of: operation)
          let follows = floors.contains { floor in floor < time && time <= floor + (BoardLimits.drift + 1) << 16 }
          guard follows else { throw fail("I13", "\(operation) at \(time) is far ahead and follows none of \(floors)") }
          tally[.farAhead] += 1
        }
        if isLine {
          let id = ObjectID(batch.dot(at: index))
          oracle.said(id, after: lines.keys)
          lines[id] = time
        }
        written.note(operation, time)
      }
    }
  }

  /// Checks that each chat line follows the lines that its author had seen (I14).
  func checkChat() throws(Failure) {
    for (number, peer) in peers.enumerated() {
      peer.board.authors = authors
      var places: [ObjectID: Int] = [:]
      for (place, line) in peer.board.chat.enumerated() {
        // No line can follow a line with the last possible time.
        if line.time.rawValue < BoardLimits.time - 10_000 { places[line.id] = place }
      }
      for (line, seen) in oracle.lines {
        guard let place = places[line] else { continue }
        for earlier in seen {
          guard let other = places[earlier] else { continue }
          guard other < place else { throw fail("I14", "on board \(number) the line \(line) stands before \(earlier)") }
          tally[.linesInOrder] += 1
        }
      }
    }
  }

  /// The times of all writes that a new write may have to follow.
  private struct Times {
    private let before: BoardState
    private var written: [ObjectID: [Property: UInt64]] = [:]

    init(_ before: BoardState) { self.before = before }

    mutating func note(_ operation: Operation, _ time: UInt64) {
      written[operation.object, default: [:]][operation.property] = time
    }

    /// The times that a write may have to follow: the latest time of the same cell or, for a setting, of this setting
    /// in any object.
    ///
    /// A move need not follow the latest move of its game, so the times of all moves are returned.
    func floors(of operation: Operation) -> [UInt64] {
      let property = operation.property
      let objects = property.isSetting ? before.storedIDs + Array(written.keys) : [operation.object]
      var times: [UInt64] = []
      for id in objects {
        for entry in before.record(id)?.entries ?? [] where Self.isSame(entry.property, property) {
          times.append(entry.cell.time.rawValue)
        }
        for (other, time) in written[id] ?? [:] where Self.isSame(other, property) { times.append(time) }
      }
      return property.isMove ? times : times.max().map { [$0] } ?? []
    }

    private static func isSame(_ one: Property, _ other: Property) -> Bool {
      one == other || one.number == other.number && one.isMove
    }
  }
}
