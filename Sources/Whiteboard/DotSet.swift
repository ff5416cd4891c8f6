/// A set of sequence numbers as sorted ranges that neither overlap nor touch.
public struct SequenceRanges: Hashable, Sendable {
  /// The ranges, ascending.
  public private(set) var ranges: [ClosedRange<UInt64>] = []

  /// The empty set.
  public init() {}

  /// The set of ranges that ascend and do not touch.
  package init(ascending ranges: [ClosedRange<UInt64>]) { self.ranges = ranges }

  /// Whether `sequence` is in the set.
  /// - Complexity: O(log *n*) in the number of ranges, O(1) where there is one.
  public func contains(_ sequence: UInt64) -> Bool {
    let index = firstIndex(endingAtOrAfter: sequence)
    return index < ranges.count && ranges[index].lowerBound <= sequence
  }

  /// Whether every number of `range` is in the set.
  public func contains(_ range: ClosedRange<UInt64>) -> Bool {
    let index = firstIndex(endingAtOrAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound <= range.lowerBound
      && ranges[index].upperBound >= range.upperBound
  }

  /// Whether any number of `range` is in the set.
  public func overlaps(_ range: ClosedRange<UInt64>) -> Bool {
    let index = firstIndex(endingAtOrAfter: range.lowerBound)
    return index < ranges.count && ranges[index].lowerBound <= range.upperBound
  }

  /// Adds a range.
  public mutating func insert(_ range: ClosedRange<UInt64>) {
    guard let last = ranges.last else {
      ranges.append(range)
      return
    }
    if last.upperBound < range.lowerBound {
      if last.upperBound + 1 == range.lowerBound {
        ranges[ranges.count - 1] = last.lowerBound...range.upperBound
      } else {
        ranges.append(range)
      }
      return
    }
    // The first range that touches or follows, and the first one wholly after.
    let start = firstIndex(endingAtOrAfter: range.lowerBound - 1)
    var end = start
    var merged = range
    while end < ranges.count, ranges[end].lowerBound <= range.upperBound + 1 {
      merged =
        min(
          merged.lowerBound,
          ranges[end].lowerBound
        )...max(
          merged.upperBound,
          ranges[end].upperBound
        )
      end += 1
    }
    ranges.replaceSubrange(start..<end, with: CollectionOfOne(merged))
  }

  /// Whether any number of `range`, or one beside it, is in the set: whether adding it adds no range.
  package func touches(_ range: ClosedRange<UInt64>) -> Bool {
    overlaps((range.lowerBound - 1)...(range.upperBound + 1))
  }

  /// Adds every number of `other`.
  /// - Complexity: O(*n* + *m*), however the ranges interleave.
  public mutating func formUnion(_ other: SequenceRanges) {
    guard !ranges.isEmpty else {
      ranges = other.ranges
      return
    }
    if other.ranges.count < 4 {
      for range in other.ranges { insert(range) }
      return
    }
    var merged: [ClosedRange<UInt64>] = []
    merged.reserveCapacity(ranges.count + other.ranges.count)
    var mine = 0
    var theirs = 0
    while mine < ranges.count || theirs < other.ranges.count {
      let isMine =
        theirs == other.ranges.count
        || (mine < ranges.count
          && ranges[mine].lowerBound <= other.ranges[theirs].lowerBound)
      let next = isMine ? ranges[mine] : other.ranges[theirs]
      if isMine { mine += 1 } else { theirs += 1 }
      if let last = merged.last, next.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
      } else {
        merged.append(next)
      }
    }
    ranges = merged
  }

  /// Whether every number of `other` is in the set.
  public func isSuperset(of other: SequenceRanges) -> Bool {
    other.ranges.allSatisfy { contains($0) }
  }

  private func firstIndex(endingAtOrAfter sequence: UInt64) -> Int {
    if ranges.count <= 1 {
      return ranges.first.map { $0.upperBound >= sequence ? 0 : 1 } ?? 0
    }
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = (low + high) / 2
      if ranges[middle].upperBound >= sequence { high = middle } else { low = middle + 1 }
    }
    return low
  }
}

/// A set of dots, kept as ranges for each incarnation.
public struct DotSet: Hashable, Sendable {
  /// The ranges of each incarnation that has any.
  public private(set) var entries: [Incarnation: SequenceRanges] = [:]
  /// How many ranges there are in all.
  public private(set) var rangeCount = 0

  /// The empty set.
  public init() {}

  /// Whether there is no dot in the set.
  public var isEmpty: Bool { entries.isEmpty }

  /// The incarnations, ascending.
  public var incarnations: [Incarnation] { entries.keys.sorted() }

  /// Whether `dot` is in the set.
  public func contains(_ dot: Dot) -> Bool {
    entries[dot.incarnation]?.contains(dot.sequence) ?? false
  }

  /// The ranges of one incarnation.
  public subscript(incarnation: Incarnation) -> SequenceRanges {
    entries[incarnation] ?? SequenceRanges()
  }

  /// Adds one dot.
  public mutating func insert(_ dot: Dot) {
    insert(dot.sequence...dot.sequence, of: dot.incarnation)
  }

  /// Adds a range of one incarnation's dots.
  public mutating func insert(_ range: ClosedRange<UInt64>, of incarnation: Incarnation) {
    let before = entries[incarnation]?.ranges.count ?? 0
    entries[incarnation, default: SequenceRanges()].insert(range)
    rangeCount += (entries[incarnation]?.ranges.count ?? 0) - before
  }

  /// Adds every dot of `other`.
  public mutating func formUnion(_ other: DotSet) {
    for (incarnation, ranges) in other.entries { formUnion(ranges, of: incarnation) }
  }

  /// Adds ranges of one incarnation's dots.
  package mutating func formUnion(_ ranges: SequenceRanges, of incarnation: Incarnation) {
    let before = entries[incarnation]?.ranges.count ?? 0
    entries[incarnation, default: SequenceRanges()].formUnion(ranges)
    rangeCount += (entries[incarnation]?.ranges.count ?? 0) - before
  }

  /// Whether every dot of `other` is in the set.
  public func isSuperset(of other: DotSet) -> Bool {
    other.entries.allSatisfy { incarnation, ranges in
      entries[incarnation]?.isSuperset(of: ranges) ?? false
    }
  }
}

/// What a replica has seen: the version vector (the ranges that start at 1) and the cloud of dots
/// beyond its gaps (the others), in one set (BRD-4).
public typealias Context = DotSet
