import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct DotSetTests {
  @Test("[BRD-4] ranges have the same contents as a set of numbers", arguments: 0..<100) func model(seed: UInt64) {
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

  @Test func `a union contains both sets and is a superset of each`() {
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

  @Test("[BRD-4] a dot set has the same contents as one set per author, with few authors or many", arguments: 0..<20)
  func authors(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var dots: [Dot] = []
    for _ in 0..<200 {
      let author = Incarnation(UInt64(1 + random.below(seed % 2 == 0 ? 6 : 30)))
      dots.append(Dot(author, UInt64(1 + random.below(20))))
    }
    var (set, other) = (DotSet(), DotSet())
    for dot in dots { set.insert(dot) }
    for dot in dots.shuffled(using: &random) { other.insert(dot) }
    let model = Set(dots)
    #expect(set == other && set.hashValue == other.hashValue)
    #expect(set == DotSet(ascending: model.sorted()))
    #expect(set.incarnations == Set(dots.map(\.incarnation)).sorted())
    #expect(set.incarnationCount == set.incarnations.count)
    for author in 1...UInt64(31) {
      #expect(set.contains(Incarnation(author)) == set.incarnations.contains(Incarnation(author)))
      for sequence in 1...UInt64(21) {
        let dot = Dot(Incarnation(author), sequence)
        #expect(set.contains(dot) == model.contains(dot))
      }
    }
    other.insert(Dot(Incarnation(31), 1))
    #expect(set != other && other.isSuperset(of: set) && !set.isSuperset(of: other))
    set.formUnion(other)
    #expect(set == other)
  }

  @Test("[SYN-6] a union is that of the numbers, however ranges interleave", arguments: 0..<100) func unions(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var (left, right) = (SequenceRanges(), SequenceRanges())
    var model: Set<UInt64> = []
    for _ in 0..<random.below(20) {
      let first = UInt64(1 + random.below(80))
      let range = first...(first + UInt64(random.below(5)))
      model.formUnion(range)
      if random.chance(50) { left.insert(range) } else { right.insert(range) }
    }
    let count = left.rangeCount(with: right)
    left.formUnion(right)
    #expect(left.rangeCount == count)
    for number in 1...UInt64(90) { #expect(left.contains(number) == model.contains(number)) }
    for (one, next) in zip(left.ranges, left.ranges.dropFirst()) { #expect(one.upperBound + 1 < next.lowerBound) }
  }

  @Test("[BRD-30] two long sets that interleave are joined in one pass") func longUnion() {
    let count = UInt64(BoardLimits.ranges / 2)
    var (left, right) = (DotSet(), DotSet())
    for number in 0..<count {
      left.insert(Dot(Incarnation(1), 4 * number + 1))
      right.insert(Dot(Incarnation(1), 4 * number + 3))
    }
    left.formUnion(right)
    #expect(left.rangeCount == BoardLimits.ranges)
    #expect(left.isSuperset(of: right))
  }

  @Test("[BRD-4] thousands of ranges have the same contents as a set of numbers", arguments: 0..<4) func manyRanges(
    seed: UInt64
  ) {
    var random = SeededGenerator(seed: seed)
    var ranges = SequenceRanges()
    var model: Set<UInt64> = []
    for number in (1...UInt64(6000)).shuffled(using: &random).prefix(5000) {
      ranges.insert(number...number)
      model.insert(number)
    }
    let long = UInt64(2000)...UInt64(2000 + random.below(2000))
    ranges.insert(long)
    model.formUnion(long)
    for number in 1...UInt64(6000) { #expect(ranges.contains(number) == model.contains(number)) }
    for (one, next) in zip(ranges.ranges, ranges.ranges.dropFirst()) { #expect(one.upperBound + 1 < next.lowerBound) }
    #expect(ranges.rangeCount == ranges.ranges.count)
  }
}
