import Testing

@testable import Whiteboard

@Suite struct HybridClockTests {
  @Test func `times grow strictly though the wall clock stands or goes back`() {
    var clock = HybridClock()
    var last = HybridTime(0)
    for wall: UInt64 in [1000, 1000, 999, 5, 1001] {
      let next = clock.next(wall: wall, after: nil, count: 3)
      #expect(next.map { $0 > last } ?? false)
      last = next.map { HybridTime($0.rawValue + 2) } ?? last
    }
  }

  @Test("[BRD-6] an edit beats what it overwrites, and does not drag the next one along")
  func bump() {
    var clock = HybridClock()
    let farAhead = HybridTime(9_000_000 << 16)
    #expect(clock.next(wall: 1000, after: farAhead, count: 1) == HybridTime(9_000_000 << 16 | 1))
    #expect(clock.next(wall: 1000, after: nil, count: 1)?.milliseconds == 61_000)
  }

  @Test("[BRD-7] a remote time advances the clock by the drift cap at most")
  func drift() {
    var clock = HybridClock()
    clock.observe(HybridTime(BoardLimits.time), wall: 1000)
    #expect(clock.next(wall: 1000, after: nil, count: 1)?.milliseconds == 61_000)
    var near = HybridClock()
    near.observe(HybridTime(1500 << 16), wall: 1000)
    #expect(near.next(wall: 1000, after: nil, count: 1) == HybridTime(1500 << 16 | 1))
  }

  @Test func `where no later time exists there is none`() {
    var clock = HybridClock()
    #expect(clock.next(wall: 1000, after: HybridTime(BoardLimits.time), count: 1) == nil)
    #expect(clock.next(wall: 1000, after: HybridTime(BoardLimits.time - 3), count: 4) == nil)
    #expect(clock.next(wall: 1000, after: HybridTime(BoardLimits.time - 4), count: 4) != nil)
  }
}
