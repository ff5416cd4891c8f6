import Whiteboard

/// Detects whether replicas with equal contexts have different boards.
///
/// Implements SYN-42.
struct DivergenceCheck {
  private var sums: (revision: UInt64, values: [UInt64])?

  /// Discards the cached sums.
  ///
  /// They may be wrong, because a memory fault can change cells without changing the revision.
  mutating func begin(_ state: BoardState) { sums = nil }

  /// Returns the sum of each bucket.
  mutating func sums(of state: BoardState) -> [UInt64] {
    if let sums, sums.revision == state.revision { return sums.values }
    let values = BucketSums.sums(of: state)
    sums = (state.revision, values)
    return values
  }

  /// Returns the buckets to repair, one bit for each.
  ///
  /// These are the buckets whose sums differ from those of a replica with an equal context.
  mutating func diverged(from others: [UInt64], _ state: BoardState) -> UInt16 {
    var buckets: UInt16 = 0
    for (bucket, (mine, theirs)) in zip(sums(of: state), others).enumerated() where mine != theirs {
      buckets |= 1 << UInt16(bucket)
    }
    return buckets
  }
}
