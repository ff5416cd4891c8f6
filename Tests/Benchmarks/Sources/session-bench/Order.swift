/// The first byte of every message and datagram of the benchmark: what the server does with it.
enum Order: UInt8 {
  /// Count it.
  case count
  /// Send it back the way it came.
  case echo
  /// Answer how many were counted since the last time.
  case tally
  /// Make the present memory the peak, and answer it.
  case markMemory
  /// Answer the greatest memory since the mark.
  case peakMemory

  /// A message of at least nine bytes: the order, a number, and zeros.
  func message(_ number: UInt64 = 0, length: Int = 9) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(length, 9))
    bytes[0] = rawValue
    for index in 0..<8 { bytes[1 + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return bytes
  }

  /// The order of a message.
  init?(of bytes: [UInt8]) {
    guard let first = bytes.first else { return nil }
    self.init(rawValue: first)
  }

  /// The number in a message.
  static func number(in bytes: [UInt8]) -> UInt64 {
    bytes.dropFirst().prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
