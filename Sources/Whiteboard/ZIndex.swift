/// A place in the stack of objects: bytes that compare byte by byte, higher in front (BRD-13).
package enum ZIndex {
  /// A place in front of everything at or below `top`, with a byte that keeps writers apart.
  package static func above(_ top: [UInt8]?, jitter: UInt8) -> [UInt8] {
    // The first four bytes count up; the last, never zero, leaves room below for places between.
    var counter: UInt32 = 0x8000_0000
    if let top {
      var lead: UInt32 = 0
      for index in 0..<4 { lead = (lead << 8) | (index < top.count ? UInt32(top[index]) : 0) }
      guard lead < UInt32.max else {
        return Array(top.prefix(BoardLimits.zIndexBytes - 1)) + [0xFF]
      }
      counter = lead + 1
    }
    return (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) }
      + [max(1, jitter)]
  }

  /// Whether `lhs` is behind `rhs`.
  package static func isBehind(_ lhs: [UInt8], _ rhs: [UInt8]) -> Bool {
    lhs.lexicographicallyPrecedes(rhs)
  }
}
