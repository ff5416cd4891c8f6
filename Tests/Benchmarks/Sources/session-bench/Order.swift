/// The first byte of every message and datagram of the benchmark, which tells the server what to do.
enum Order: UInt8 {
  case count
  /// Send the message back in the same way.
  case echo
  /// Answer with the number of messages counted since the last tally.
  case tally
  /// Reset the peak memory to the current memory, and answer with it.
  case markMemory
  /// Answer with the peak memory since the last reset.
  case peakMemory

  /// Returns a message of at least nine bytes: the order, a number, and zeros.
  func message(_ number: UInt64 = 0, length: Int = 9) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(length, 9))
    bytes[0] = rawValue
    for index in 0..<8 { bytes[1 + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return bytes
  }

  /// Reads the order of a message.
  init?(of bytes: [UInt8]) {
    guard let first = bytes.first else { return nil }
    self.init(rawValue: first)
  }

  static func number(in bytes: [UInt8]) -> UInt64 {
    bytes.dropFirst().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
