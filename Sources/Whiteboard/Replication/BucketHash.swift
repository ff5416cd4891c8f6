/// The cheap hash by which replicas of equal context notice that their cells differ (SYN-41).
///
/// It finds faults. Who forges cells of equal sums is found out when the context next changes; only
/// the digest is proof.
package struct BucketHash {
  /// How many buckets the objects of a board fall into.
  package static let buckets = 16
  /// The hash so far.
  package private(set) var value: UInt64 = 0

  /// A hash of nothing.
  package init() {}

  /// Takes a word in.
  package mutating func combine(_ word: UInt64) { value = Self.mix(value ^ word) }

  /// The step of SplitMix64: each bit of the number changes about half of the result's.
  package static func mix(_ number: UInt64) -> UInt64 {
    var mixed = number &+ 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension ObjectID {
  /// The bucket that the object belongs to, from 0.
  package var bucket: Int {
    let mixed = BucketHash.mix(dot.incarnation.rawValue ^ BucketHash.mix(dot.sequence))
    return Int(mixed % UInt64(BucketHash.buckets))
  }
}
