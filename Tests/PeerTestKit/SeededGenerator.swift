import PeerCore

/// The generator of tests; a test that fails must print its seed.
public typealias SeededGenerator = SplitMix64

extension SplitMix64 {
  /// Returns a number from 0 up to but not including `bound`.
  public mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

  /// Returns `true` with a probability of `percent` percent.
  public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
