/// A place in the stack of objects: bytes that compare byte by byte, a prefix first, higher in front
/// (BRD-13).
///
/// Between any two places that differ there is room for another, as long as neither ends in zeros;
/// ours never do. Each ends with a byte that keeps apart what two people put at one place at once.
package enum ZIndex {
  /// A place in front of everything at or below `top`, with a byte that keeps writers apart.
  package static func above(_ top: [UInt8]?, jitter: UInt8) -> [UInt8] {
    // The first four bytes count up; the last, never zero, leaves room below for places between.
    guard let top else { return counted(0x8000_0000, jitter: jitter) }
    let lead = lead(of: top)
    guard lead < UInt32.max else {
      return Array(top.prefix(BoardLimits.zIndexBytes - 1)) + [0xFF]
    }
    return counted(lead + 1, jitter: jitter)
  }

  /// A place behind `bottom`, or nil where there is none of legal length.
  package static func below(_ bottom: [UInt8]?, jitter: UInt8) -> [UInt8]? {
    guard let bottom else { return counted(0x8000_0000, jitter: jitter) }
    let lead = lead(of: bottom)
    guard lead > 0 else { return between(nil, bottom, jitter: jitter) }
    return counted(lead - 1, jitter: jitter)
  }

  /// A place between two, or nil where there is none of legal length.
  /// - Parameters:
  ///   - lower: the place behind; nil for none.
  ///   - upper: the place in front; nil for none.
  ///   - jitter: what keeps writers apart.
  /// - Returns: the place, of at most `BoardLimits.zIndexBytes`.
  package static func between(
    _ lower: [UInt8]?,
    _ upper: [UInt8]?,
    jitter: UInt8
  ) -> [UInt8]? {
    let lower = lower ?? []
    var upper = upper
    if let upper, !isBehind(lower, upper) { return nil }
    var result: [UInt8] = []
    while result.count < BoardLimits.zIndexBytes - 1 {
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
          places.append(above(last, jitter: jitter))
          guard isBehind(last, places[places.count - 1]) else { return nil }
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

  private static func lead(of place: [UInt8]) -> UInt32 {
    (0..<4).reduce(0) { ($0 << 8) | ($1 < place.count ? UInt32(place[$1]) : 0) }
  }

  private static func counted(_ counter: UInt32, jitter: UInt8) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) } + [max(1, jitter)]
  }
}
