import Testing

@testable import Whiteboard

@Suite struct HybridClockTests {
  private let limit = BoardLimits.drift

  /// Far ahead of a wall clock of 1000.
  private let far = HybridTime(9_000_000 << 16)

  @Test func `times increase strictly even if the wall clock stops or goes back a little`() throws {
    var clock = HybridClock()
    var last = HybridTime(0)
    for wall: UInt64 in [1000, 1000, 999, 5, 1001] {
      let runs = clock.next(wall: wall, after: [nil, nil, nil]) ?? []
      try #require(runs.count == 1)
      #expect(runs[0].count == 3)
      #expect(runs[0].time > last)
      last = HybridTime(runs[0].time.rawValue + 2)
    }
  }

  @Test("[BRD-6] an edit is later than the cell it overwrites, and moves no other edit ahead") func bump() {
    var clock = HybridClock()
    #expect(clock.next(wall: 1000, after: [far]) == [.init(count: 1, time: far + 1)])
    #expect(clock.next(wall: 1000, after: [nil]) == [.init(count: 1, time: .wall(1000))])
  }

  @Test("[BRD-7] a remote time within the limit advances the clock, and one beyond it does not") func drift() {
    var clock = HybridClock()
    clock.observe(.wall(1000 + limit), wall: 1000)
    #expect(clock.next(wall: 1000, after: [nil])?[0].time == .wall(1000 + limit) + 1)
    var other = HybridClock()
    other.observe(.wall(1000 + limit) + 1, wall: 1000)
    other.observe(HybridTime(BoardLimits.time), wall: 1000)
    #expect(other.next(wall: 1000, after: [nil])?[0].time == .wall(1000))
  }

  @Test("[BRD-7] a clock that was years ahead and was corrected assigns correct times again") func setRight() {
    var clock = HybridClock()
    #expect(clock.next(wall: 9_000_000_000, after: [nil])?[0].time == .wall(9_000_000_000))
    #expect(clock.next(wall: 1000, after: [nil])?[0].time == .wall(1000))
  }

  @Test("[BRD-32] only the operations that follow a far time get far times") func runs() {
    var clock = HybridClock()
    let runs = clock.next(wall: 1000, after: [nil, .wall(2000), far, nil, nil])
    #expect(
      runs == [
        .init(count: 2, time: .wall(2000) + 1), .init(count: 1, time: far + 1),
        // The times continue as if all operations were one batch.
        .init(count: 2, time: .wall(2000) + 4),
      ]
    )
    #expect(clock.next(wall: 1000, after: [nil])?[0].time == .wall(2000) + 6)
  }

  @Test("[BRD-32] far times share a batch only if none of them moves ahead beyond the limit") func farRuns() {
    var clock = HybridClock()
    let floors: [HybridTime?] = [far, far + 5, far - 1, far + 1 + limit << 16, far]
    #expect(
      clock.next(wall: 1000, after: floors) == [
        .init(count: 3, time: far + 6), .init(count: 1, time: far + 2 + limit << 16), .init(count: 1, time: far + 1),
      ]
    )
  }

  @Test func `after the last possible time, the clock returns nil`() {
    var clock = HybridClock()
    #expect(clock.next(wall: 1000, after: [HybridTime(BoardLimits.time)]) == nil)
    let last = HybridTime(BoardLimits.time - 1)
    #expect(clock.next(wall: 1000, after: [last, last]) == nil)
    #expect(clock.next(wall: 1000, after: [last - 1, last - 1]) != nil)
    // The wall clock itself may have any value.
    for _ in 0..<3 { #expect(clock.next(wall: .max, after: [nil]) != nil) }
  }
}

extension HybridTime {
  fileprivate static func wall(_ milliseconds: UInt64) -> HybridTime { HybridTime(milliseconds << 16) }

  fileprivate static func + (time: HybridTime, more: UInt64) -> HybridTime { HybridTime(time.rawValue + more) }

  fileprivate static func - (time: HybridTime, less: UInt64) -> HybridTime { HybridTime(time.rawValue - less) }
}
