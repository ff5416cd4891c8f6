import Whiteboard

/// Whether replicas that have seen the same hold the same; implements SYN-42.
struct DivergenceCheck {
  private var sums: (revision: UInt64, values: [UInt64])?

  /// Sums anew: a board whose memory failed has the same revision and other cells.
  mutating func begin(_ state: BoardState) { sums = nil }

  /// The sum of each bucket.
  mutating func sums(of state: BoardState) -> [UInt64] {
    if let sums, sums.revision == state.revision { return sums.values }
    let values = BucketSums.sums(of: state)
    sums = (state.revision, values)
    return values
  }

  /// The buckets to repair, a bit each: those whose sums differ from a replica's of equal context.
  mutating func diverged(from others: [UInt64], _ state: BoardState) -> UInt16 {
    var buckets: UInt16 = 0
    for (bucket, (mine, theirs)) in zip(sums(of: state), others).enumerated()
    where mine != theirs {
      buckets |= 1 << UInt16(bucket)
    }
    return buckets
  }
}
