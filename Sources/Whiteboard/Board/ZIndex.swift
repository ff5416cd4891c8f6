/// A place in the stack of objects: bytes that compare byte by byte, a prefix first, higher in front
/// (BRD-13, BRD-34).
///
/// Between any two places that differ there is room for another, as long as neither ends in zeros;
/// ours never do. Each ends with a byte that keeps apart what two people put at one place at once.
package enum ZIndex {
  /// The most bytes of a place that is written here (BRD-34).
  package static let longest = 32
  /// How many bytes 0xFF, or 0, a place may begin with and still be followed (BRD-34).
  private static let mostEqual = 8
  private static let first: UInt32 = 0x8000_0000

  /// Whether new objects go in front of a place: one that leaves no short place there is passed over.
  package static func isFollowed(_ place: [UInt8]) -> Bool {
    place.count <= BoardLimits.zIndexBytes && leading(0xFF, of: place) <= mostEqual
  }

  /// A place in front of everything at or below `top`, with a byte that keeps writers apart.
  ///
  /// - Precondition: ``isFollowed(_:)`` for `top`.
  package static func above(_ top: [UInt8]?, jitter: UInt8) -> [UInt8] {
    guard let top else { return counted(first, jitter: jitter) }
    // Four bytes count up; the last, never zero, leaves room below for places between. The byte that
    // is counted first is below 0xFF, so that the sum fits.
    let equal = leading(0xFF, of: top)
    return Array(top[..<equal]) + counted(number(in: top, at: equal) + 1, jitter: jitter)
  }

  /// A place behind `bottom`, or nil where there is no short one.
  package static func below(_ bottom: [UInt8]?, jitter: UInt8) -> [UInt8]? {
    guard let bottom else { return counted(first, jitter: jitter) }
    let equal = leading(0, of: bottom)
    guard equal < bottom.count, equal <= mostEqual else { return nil }
    return Array(bottom[..<equal]) + counted(number(in: bottom, at: equal) - 1, jitter: jitter)
  }

  /// A place between two, or nil where there is none of at most ``longest`` bytes.
  /// - Parameters:
  ///   - lower: the place behind; nil for none.
  ///   - upper: the place in front; nil for none.
  ///   - jitter: what keeps writers apart.
  /// - Returns: the place.
  package static func between(
    _ lower: [UInt8]?,
    _ upper: [UInt8]?,
    jitter: UInt8
  ) -> [UInt8]? {
    let lower = lower ?? []
    var upper = upper
    if let upper, !isBehind(lower, upper) { return nil }
    var result: [UInt8] = []
    while result.count < longest - 1 {
      let index = result.count
      let low = index < lower.count ? Int(lower[index]) : 0
      var high = 256
      if let bound = upper {
        // All of the upper one is used up: nothing fits between.
        guard index < bound.count else { return nil }
        high = Int(bound[index])
      }
      if high - low > 1 {
        return result + [UInt8(low + (high - low) / 2), max(1, jitter)]
      }
      result.append(UInt8(low))
      if high > low { upper = nil }
    }
    return nil
  }

  /// Returns the given number of positions between two others, ascending and far apart, or nil if
  /// they do not fit.
  package static func spread(
    _ count: Int,
    between lower: [UInt8]?,
    and upper: [UInt8]?,
    jitter: UInt8
  ) -> [[UInt8]]? {
    guard count > 0 else { return [] }
    guard lower != nil || upper != nil else {
      return (0..<UInt32(count)).map { counted(0x8000_0000 + $0, jitter: jitter) }
    }
    var places: [[UInt8]] = []
    guard let lower, let upper else {
      for _ in 0..<count {
        if let lower {
          let last = places.last ?? lower
          guard isFollowed(last) else { return nil }
          places.append(above(last, jitter: jitter))
        } else {
          guard let next = below(places.last ?? upper, jitter: jitter) else { return nil }
          places.append(next)
        }
      }
      return lower == nil ? places.reversed() : places
    }
    // The middle one first, so that places stay short.
    let before = (count - 1) / 2
    guard let middle = between(lower, upper, jitter: jitter),
      let behind = spread(before, between: lower, and: middle, jitter: jitter),
      let inFront = spread(count - 1 - before, between: middle, and: upper, jitter: jitter)
    else { return nil }
    return behind + [middle] + inFront
  }

  /// Whether `lhs` is behind `rhs`.
  package static func isBehind(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
    lhs.lexicographicallyPrecedes(rhs)
  }

  private static func leading(_ byte: UInt8, of place: [UInt8]) -> Int {
    place.prefix { $0 == byte }.count
  }

  /// The four bytes at an offset as a number; bytes that are missing are 0.
  private static func number(in place: [UInt8], at offset: Int) -> UInt32 {
    (offset..<offset + 4).reduce(0) { ($0 << 8) | ($1 < place.count ? UInt32(place[$1]) : 0) }
  }

  private static func counted(_ counter: UInt32, jitter: UInt8) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) } + [max(1, jitter)]
  }
}
