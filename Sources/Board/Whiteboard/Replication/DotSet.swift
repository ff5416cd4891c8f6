/// A set of sequence numbers as sorted ranges that neither overlap nor touch.
public struct SequenceRanges: Sendable {
  private var pieces = ChunkedSortedArray<ClosedRange<UInt64>>()

  /// Creates an empty set.
  public init() {}

  /// The ranges must not touch.
  package init(ascending ranges: [ClosedRange<UInt64>]) { pieces = ChunkedSortedArray(ranges) }

  /// The ranges in ascending order.
  /// - Complexity: O(*n*) if there are hundreds of ranges.
  public var ranges: [ClosedRange<UInt64>] { pieces.elements }

  /// The number of ranges in the set.
  public var rangeCount: Int { pieces.count }

  var last: UInt64? { pieces.last?.upperBound }

  /// Returns whether `sequence` is in the set.
  /// - Complexity: O(log *n*), where *n* is the number of ranges; O(1) if there is one range.
  public func contains(_ sequence: UInt64) -> Bool { contains(sequence...sequence) }

  /// Returns whether every number of `range` is in the set.
  public func contains(_ range: ClosedRange<UInt64>) -> Bool {
    guard let found = pieces[position(endingAtOrAfter: range.lowerBound)] else { return false }
    return found.lowerBound <= range.lowerBound && found.upperBound >= range.upperBound
  }

  /// Returns whether any number of `range` is in the set.
  public func overlaps(_ range: ClosedRange<UInt64>) -> Bool {
    guard let found = pieces[position(endingAtOrAfter: range.lowerBound)] else { return false }
    return found.lowerBound <= range.upperBound
  }

  /// Adds a range to the set.
  /// - Complexity: O(log *n* + *m*), where *n* is the number of ranges in the set and *m* is the number of ranges that
  ///   `range` covers.
  public mutating func insert(_ range: ClosedRange<UInt64>) {
    // In nearly all cases, the new range continues the author's last range.
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
    var merged = min(found.lowerBound, range.lowerBound)...max(found.upperBound, range.upperBound)
    while let swallowed = pieces[pieces.position(after: position)], swallowed.lowerBound <= merged.upperBound + 1 {
      merged = merged.lowerBound...max(merged.upperBound, swallowed.upperBound)
      pieces.remove(at: pieces.position(after: position))
    }
    _ = pieces.update(position) { $0 = merged }
  }

  /// Adds every number of `other` to the set.
  /// - Complexity: O(*n* + *m*), where *n* and *m* are the numbers of ranges in the two sets.
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
      let isMine = right == theirs.count || (left < mine.count && mine[left].lowerBound <= theirs[right].lowerBound)
      let next = isMine ? mine[left] : theirs[right]
      if isMine { left += 1 } else { right += 1 }
      if let last = merged.last, next.lowerBound <= last.upperBound + 1 {
        merged[merged.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
      } else {
        merged.append(next)
      }
    }
    pieces = ChunkedSortedArray(merged)
  }

  mutating func removeAll(after last: UInt64) {
    let kept = ranges.prefix { $0.lowerBound <= last }
    pieces = ChunkedSortedArray(kept.map { $0.lowerBound...min($0.upperBound, last) })
  }

  /// Returns the number of ranges that the set would have after adding `other`.
  ///
  /// Adjacent ranges are merged, and each merge reduces the number by one.
  /// - Complexity: O(*m* log *n*), where *n* and *m* are the numbers of ranges in this set and in `other`. Each range
  ///   that `other` covers takes one additional step.
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

  /// Returns whether every number of `other` is in the set.
  public func isSuperset(of other: SequenceRanges) -> Bool { other.ranges.allSatisfy { contains($0) } }

  private func position(endingAtOrAfter sequence: UInt64) -> ChunkedSortedArray<ClosedRange<UInt64>>.Position {
    pieces.position { $0.upperBound < sequence }
  }
}

extension SequenceRanges: Hashable {
  /// Returns whether both sets have the same numbers.
  public static func == (lhs: SequenceRanges, rhs: SequenceRanges) -> Bool {
    lhs.rangeCount == rhs.rangeCount && lhs.ranges == rhs.ranges
  }

  /// Hashes the ranges of the set.
  public func hash(into hasher: inout Hasher) { hasher.combine(ranges) }
}

/// A set of dots, stored as ranges of sequence numbers for each incarnation.
public struct DotSet: Sendable {
  // The incarnations that have a dot in the set, in no particular order, and the ranges of each.
  private var authors: [Incarnation] = []
  private var sets: [SequenceRanges] = []
  /// The index of each incarnation in `authors`; empty if `authors` is small enough for a linear search.
  private var places: [Incarnation: Int] = [:]
  /// The number of ranges of all incarnations together.
  public private(set) var rangeCount = 0

  /// The number of incarnations up to which a linear search is faster than hashing.
  private static var few: Int { 8 }

  /// Creates an empty set.
  public init() {}

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
    append(SequenceRanges(ascending: ranges), of: incarnation)
  }

  private mutating func append(_ ranges: SequenceRanges, of incarnation: Incarnation) {
    authors.append(incarnation)
    sets.append(ranges)
    rangeCount += ranges.rangeCount
    if authors.count == Self.few + 1 {
      for (place, author) in authors.enumerated() { places[author] = place }
    } else if authors.count > Self.few {
      places[incarnation] = authors.count - 1
    }
  }

  private func place(of incarnation: Incarnation) -> Int? {
    authors.count <= Self.few ? authors.firstIndex(of: incarnation) : places[incarnation]
  }

  /// Whether the set has no dots.
  public var isEmpty: Bool { authors.isEmpty }

  /// The number of incarnations that have a dot in the set.
  public var incarnationCount: Int { authors.count }

  /// The incarnations that have a dot in the set, in ascending order.
  /// - Complexity: O(*n* log *n*).
  public var incarnations: [Incarnation] { authors.sorted() }

  /// Calls `body` for each incarnation, in ascending order. Pass the `order` of the last call, or an empty array in the
  /// first call. Then only new incarnations are sorted.
  package func visit(reusing order: inout [Int], _ body: (Incarnation, SequenceRanges) -> Void) {
    if !isAscending(order) { order = [] }
    if order.count < authors.count {
      var isOrdered = Array(repeating: false, count: authors.count)
      for place in order { isOrdered[place] = true }
      let added = authors.indices.filter { !isOrdered[$0] }.sorted { authors[$0] < authors[$1] }
      var merged: [Int] = []
      merged.reserveCapacity(authors.count)
      var rest = order[...]
      for place in added {
        while let first = rest.first, authors[first] < authors[place] { merged.append(rest.removeFirst()) }
        merged.append(place)
      }
      order = merged + rest
    }
    for place in order { body(authors[place], sets[place]) }
  }

  private func isAscending(_ order: [Int]) -> Bool {
    guard order.count <= authors.count else { return false }
    var last: Incarnation?
    for place in order {
      guard place < authors.count, last.map({ $0 < authors[place] }) ?? true else { return false }
      last = authors[place]
    }
    return true
  }

  /// Returns whether any dot of an incarnation is in the set.
  public func contains(_ incarnation: Incarnation) -> Bool { place(of: incarnation) != nil }

  /// Returns whether `dot` is in the set.
  public func contains(_ dot: Dot) -> Bool {
    guard let place = place(of: dot.incarnation) else { return false }
    return sets[place].contains(dot.sequence)
  }

  func overlaps(_ range: ClosedRange<UInt64>, of incarnation: Incarnation) -> Bool {
    guard let place = place(of: incarnation) else { return false }
    return sets[place].overlaps(range)
  }

  /// The sequence numbers of one incarnation in the set.
  public subscript(incarnation: Incarnation) -> SequenceRanges {
    place(of: incarnation).map { sets[$0] } ?? SequenceRanges()
  }

  /// Adds one dot to the set.
  public mutating func insert(_ dot: Dot) { insert(dot.sequence...dot.sequence, of: dot.incarnation) }

  /// Adds the dots of one incarnation with sequence numbers in `range`.
  public mutating func insert(_ range: ClosedRange<UInt64>, of incarnation: Incarnation) {
    guard let place = place(of: incarnation) else {
      append(SequenceRanges(ascending: [range]), of: incarnation)
      return
    }
    rangeCount -= sets[place].rangeCount
    sets[place].insert(range)
    rangeCount += sets[place].rangeCount
  }

  mutating func removeAll(after last: UInt64, of incarnation: Incarnation) -> Bool {
    guard let place = place(of: incarnation) else { return false }
    let before = sets[place]
    guard let end = before.last, end > last else { return false }
    var kept = before
    kept.removeAll(after: last)
    rangeCount += kept.rangeCount - before.rangeCount
    guard kept.rangeCount == 0 else {
      sets[place] = kept
      return true
    }
    sets.remove(at: place)
    authors.remove(at: place)
    places = [:]
    if authors.count > Self.few { for (place, author) in authors.enumerated() { places[author] = place } }
    return true
  }

  /// O(*n*), where *n* is the number of incarnations.
  mutating func removeAll(of removed: Set<Incarnation>) {
    let kept = zip(authors, sets).filter { !removed.contains($0.0) }
    guard kept.count < authors.count else { return }
    self = DotSet()
    for (incarnation, ranges) in kept { append(ranges, of: incarnation) }
  }

  package func last(of incarnation: Incarnation) -> UInt64? { place(of: incarnation).flatMap { sets[$0].last } }

  /// Adds every dot of `other` to the set.
  public mutating func formUnion(_ other: DotSet) {
    for place in other.authors.indices { formUnion(other.sets[place], of: other.authors[place]) }
  }

  package mutating func formUnion(_ ranges: SequenceRanges, of incarnation: Incarnation) {
    guard let place = place(of: incarnation) else {
      append(ranges, of: incarnation)
      return
    }
    rangeCount -= sets[place].rangeCount
    sets[place].formUnion(ranges)
    rangeCount += sets[place].rangeCount
  }

  package func growth(with other: DotSet) -> (incarnations: Int, ranges: Int) {
    var growth = (incarnations: 0, ranges: 0)
    for (incarnation, ranges) in zip(other.authors, other.sets) {
      guard let place = place(of: incarnation) else {
        growth.incarnations += 1
        growth.ranges += ranges.rangeCount
        continue
      }
      growth.ranges += sets[place].rangeCount(with: ranges) - sets[place].rangeCount
    }
    return growth
  }

  /// Returns whether every dot of `other` is in the set.
  public func isSuperset(of other: DotSet) -> Bool {
    zip(other.authors, other.sets).allSatisfy { incarnation, ranges in
      place(of: incarnation).map { sets[$0].isSuperset(of: ranges) } ?? false
    }
  }
}

extension DotSet: Hashable {
  /// Returns whether both sets have the same dots.
  public static func == (lhs: DotSet, rhs: DotSet) -> Bool {
    lhs.rangeCount == rhs.rangeCount && lhs.authors.count == rhs.authors.count
      && zip(lhs.authors, lhs.sets).allSatisfy { incarnation, ranges in
        rhs.place(of: incarnation).map { rhs.sets[$0] == ranges } ?? false
      }
  }

  /// Hashes the ranges of each incarnation, in ascending order of incarnation.
  public func hash(into hasher: inout Hasher) {
    for incarnation in incarnations {
      hasher.combine(incarnation)
      hasher.combine(self[incarnation])
    }
  }
}

/// The dots of all operations that a replica has seen (BRD-4).
///
/// A context is both the version vector (the ranges that start at 1) and the set of dots after gaps (all other ranges).
public typealias Context = DotSet
