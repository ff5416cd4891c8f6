/// A set of sequence numbers as sorted ranges that neither overlap nor touch.
public struct SequenceRanges: Sendable {
  private var pieces = SortedPieces<ClosedRange<UInt64>>()

  /// The empty set.
  public init() {}

  /// The set of ranges that ascend and do not touch.
  package init(ascending ranges: [ClosedRange<UInt64>]) { pieces = SortedPieces(ranges) }

  /// The ranges, ascending.
  /// - Complexity: O(*n*) where there are hundreds of them.
  public var ranges: [ClosedRange<UInt64>] { pieces.elements }

  /// How many ranges there are.
  public var rangeCount: Int { pieces.count }

  /// Whether `sequence` is in the set.
  /// - Complexity: O(log *n*) in the number of ranges, O(1) where there is one.
  public func contains(_ sequence: UInt64) -> Bool { contains(sequence...sequence) }

  /// Whether every number of `range` is in the set.
  public func contains(_ range: ClosedRange<UInt64>) -> Bool {
    guard let found = pieces[position(endingAtOrAfter: range.lowerBound)] else { return false }
    return found.lowerBound <= range.lowerBound && found.upperBound >= range.upperBound
  }

  /// Whether any number of `range` is in the set.
  public func overlaps(_ range: ClosedRange<UInt64>) -> Bool {
    guard let found = pieces[position(endingAtOrAfter: range.lowerBound)] else { return false }
    return found.lowerBound <= range.upperBound
  }

  /// Adds a range.
  /// - Complexity: O(log *n*), and what the range swallows.
  public mutating func insert(_ range: ClosedRange<UInt64>) {
    // Nearly always an author goes on where he was.
    let isExtension: Bool? = pieces.updateLast { last in
      guard last.upperBound + 1 == range.lowerBound else { return nil }
      last = last.lowerBound...range.upperBound
      return true
    }
    if isExtension != nil { return }
    let position = position(endingAtOrAfter: range.lowerBound - 1)
    guard let found = pieces[position], found.lowerBound <= range.upperBound + 1 else {
      pieces.insert(range, at: position)
      return
    }
    var merged =
      min(found.lowerBound, range.lowerBound)...max(found.upperBound, range.upperBound)
    while let swallowed = pieces[pieces.position(after: position)],
      swallowed.lowerBound <= merged.upperBound + 1
    {
      merged = merged.lowerBound...max(merged.upperBound, swallowed.upperBound)
      pieces.remove(at: pieces.position(after: position))
    }
    _ = pieces.update(position) { $0 = merged }
  }

  /// Adds every number of `other`.
  /// - Complexity: O(*n* + *m*), however the ranges interleave.
  public mutating func formUnion(_ other: SequenceRanges) {
    guard pieces.count > 0 else {
      self = other
      return
    }
    if other.rangeCount < 4 {
      for range in other.ranges { insert(range) }
      return
    }
    let (mine, theirs) = (ranges, other.ranges)
    var merged: [ClosedRange<UInt64>] = []
    merged.reserveCapacity(mine.count + theirs.count)
    var (left, right) = (0, 0)
    while left < mine.count || right < theirs.count {
      let isMine =
        right == theirs.count
        || (left < mine.count && mine[left].lowerBound <= theirs[right].lowerBound)
      let next = isMine ? mine[left] : theirs[right]
      if isMine { left += 1 } else { right += 1 }
      if let last = merged.last, next.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
      } else {
        merged.append(next)
      }
    }
    pieces = SortedPieces(merged)
  }

  /// How many ranges there would be with `other` added.
  ///
  /// Ranges that touch join, and no ring of them can touch: each touch makes one of two.
  /// - Complexity: O(*m* log *n*), and one step for each range that `other` swallows.
  package func rangeCount(with other: SequenceRanges) -> Int {
    var touches = 0
    for range in other.ranges {
      var position = position(endingAtOrAfter: range.lowerBound - 1)
      while let found = pieces[position], found.lowerBound <= range.upperBound + 1 {
        touches += 1
        position = pieces.position(after: position)
      }
    }
    return pieces.count + other.rangeCount - touches
  }

  /// Whether every number of `other` is in the set.
  public func isSuperset(of other: SequenceRanges) -> Bool {
    other.ranges.allSatisfy { contains($0) }
  }

  private func position(
    endingAtOrAfter sequence: UInt64
  ) -> SortedPieces<ClosedRange<UInt64>>.Position {
    pieces.position { $0.upperBound < sequence }
  }
}

extension SequenceRanges: Hashable {
  /// Whether both hold the same numbers.
  public static func == (lhs: SequenceRanges, rhs: SequenceRanges) -> Bool {
    lhs.rangeCount == rhs.rangeCount && lhs.ranges == rhs.ranges
  }

  /// Feeds the ranges.
  public func hash(into hasher: inout Hasher) { hasher.combine(ranges) }
}

/// A set of dots, kept as ranges for each incarnation.
public struct DotSet: Hashable, Sendable {
  /// The ranges of each incarnation that has any.
  public private(set) var entries: [Incarnation: SequenceRanges] = [:]
  /// How many ranges there are in all.
  public private(set) var rangeCount = 0

  /// The empty set.
  public init() {}

  /// The set of dots that ascend.
  package init(ascending dots: some Sequence<Dot>) {
    var author: Incarnation?
    var ranges: [ClosedRange<UInt64>] = []
    for dot in dots {
      if dot.incarnation != author {
        add(ranges, of: author)
        ranges = []
        author = dot.incarnation
      }
      if let last = ranges.last, last.upperBound + 1 == dot.sequence {
        ranges[ranges.count - 1] = last.lowerBound...dot.sequence
      } else {
        ranges.append(dot.sequence...dot.sequence)
      }
    }
    add(ranges, of: author)
  }

  private mutating func add(_ ranges: [ClosedRange<UInt64>], of incarnation: Incarnation?) {
    guard let incarnation else { return }
    entries[incarnation] = SequenceRanges(ascending: ranges)
    rangeCount += ranges.count
  }

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
    update(incarnation) { $0.insert(range) }
  }

  /// Adds every dot of `other`.
  public mutating func formUnion(_ other: DotSet) {
    for (incarnation, ranges) in other.entries { formUnion(ranges, of: incarnation) }
  }

  /// Adds ranges of one incarnation's dots.
  package mutating func formUnion(_ ranges: SequenceRanges, of incarnation: Incarnation) {
    update(incarnation) { $0.formUnion(ranges) }
  }

  private mutating func update(
    _ incarnation: Incarnation,
    _ body: (inout SequenceRanges) -> Void
  ) {
    rangeCount += Self.growth(of: &entries[incarnation, default: SequenceRanges()], body)
  }

  private static func growth(
    of ranges: inout SequenceRanges,
    _ body: (inout SequenceRanges) -> Void
  ) -> Int {
    let before = ranges.rangeCount
    body(&ranges)
    return ranges.rangeCount - before
  }

  /// How many incarnations and ranges there would be more with `other` added.
  package func growth(with other: DotSet) -> (incarnations: Int, ranges: Int) {
    var growth = (incarnations: 0, ranges: 0)
    for (incarnation, ranges) in other.entries {
      guard let known = entries[incarnation] else {
        growth.incarnations += 1
        growth.ranges += ranges.rangeCount
        continue
      }
      growth.ranges += known.rangeCount(with: ranges) - known.rangeCount
    }
    return growth
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
