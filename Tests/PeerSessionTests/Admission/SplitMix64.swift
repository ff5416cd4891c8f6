/// SplitMix64: the same bytes for the same seed.
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
    return value ^ value >> 31
  }
}

extension [UInt8] {
  /// Changes, drops or adds some bytes.
  mutating func mutate(using generator: inout some RandomNumberGenerator) {
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      let place = Int.random(in: 0...count, using: &generator)
      switch Int.random(in: 0..<4, using: &generator) {
      case 0: insert(UInt8.random(in: .min ... .max, using: &generator), at: place)
      case 1: removeSubrange(place...)
      case 2 where place < count: remove(at: place)
      default: if place < count { self[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
      }
    }
  }
}
