import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct DotSetTests {
  @Test("[BRD-4] ranges hold what a set of numbers would", arguments: 0..<100)
  func model(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var ranges = SequenceRanges()
    var model: Set<UInt64> = []
    for _ in 0..<40 {
      let first = UInt64(1 + random.below(60))
      let last = first + UInt64(random.below(6))
      ranges.insert(first...last)
      model.formUnion(first...last)
      for number in 1...UInt64(70) { #expect(ranges.contains(number) == model.contains(number)) }
      let probe = UInt64(1 + random.below(60))
      let end = probe + UInt64(random.below(4))
      #expect(ranges.contains(probe...end) == model.isSuperset(of: probe...end))
      #expect(ranges.overlaps(probe...end) == !model.isDisjoint(with: probe...end))
    }
    for (left, right) in zip(ranges.ranges, ranges.ranges.dropFirst()) {
      #expect(left.upperBound + 1 < right.lowerBound)
    }
  }

  @Test func `a union holds both and is a superset of each`() {
    var left = DotSet()
    left.insert(1...5, of: Incarnation(1))
    left.insert(9...9, of: Incarnation(1))
    var right = DotSet()
    right.insert(6...8, of: Incarnation(1))
    right.insert(Dot(Incarnation(2), 4))
    var union = left
    union.formUnion(right)
    #expect(union[Incarnation(1)].ranges == [1...9])
    #expect(union.isSuperset(of: left) && union.isSuperset(of: right))
    #expect(!left.isSuperset(of: right) && !right.isSuperset(of: left))
  }
}
