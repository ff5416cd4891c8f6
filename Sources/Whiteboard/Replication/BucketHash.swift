/// A fast hash by which replicas with equal contexts detect that their cells differ (SYN-41).
///
/// The hash detects faults, not forgeries. If a peer forges cells with equal sums, the difference is detected when the
/// context next changes. Only the digest proves that cells are equal.
package struct BucketHash {
  /// The number of buckets into which the objects of a board are divided.
  package static let buckets = 16
  package private(set) var value: UInt64 = 0

  package init() {}

  package mutating func combine(_ word: UInt64) { value = Self.mix(value ^ word) }

  /// Returns `number` mixed by one step of SplitMix64, so that each bit of `number` changes about half of the result's
  /// bits.
  package static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension ObjectID {
  /// The bucket to which the object belongs, a number from 0.
  package var bucket: Int {
    let mixed = BucketHash.mix(dot.incarnation.rawValue ^ BucketHash.mix(dot.sequence))
    return Int(mixed % UInt64(BucketHash.buckets))
  }
}
