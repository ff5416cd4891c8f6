/// The random number generator SplitMix64 (Steele, Lea and Flood, 2014), which gives the same sequence for a seed on
/// every machine.
///
/// Do not use it for secrets.
public struct SplitMix64: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates a generator with a seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next random number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Returns the next random number from 0 up to but not including 1.
  public mutating func fraction() -> Double { Double(next() >> 11) / 0x1p53 }
}
