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
