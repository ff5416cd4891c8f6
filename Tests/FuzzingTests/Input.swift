/// The fuzzer's input, read from the start: first choices, then bytes.
///
/// Reading past the end gives zeros, so that every input is valid.
struct Input {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Whether all bytes were read.
  var isEmpty: Bool { position >= bytes.count }

  /// Reads the next byte.
  mutating func byte() -> UInt8 {
    guard position < bytes.count else { return 0 }
    position += 1
    return bytes[position - 1]
  }

  /// Reads a number of 16 bits.
  mutating func short() -> UInt16 { UInt16(byte()) << 8 | UInt16(byte()) }

  /// Reads a number of 64 bits.
  mutating func long() -> UInt64 { (0..<8).reduce(0) { value, _ in value << 8 | UInt64(byte()) } }

  /// Reads at most `count` bytes.
  mutating func bytes(_ count: Int) -> [UInt8] {
    let end = min(position + count, bytes.count)
    defer { position = max(position, end) }
    return position < end ? Array(bytes[position..<end]) : []
  }

  /// Reads all remaining bytes.
  mutating func rest() -> [UInt8] { bytes(bytes.count) }
}

/// Traps with a message if a property does not hold, so that the fuzzer saves the input as a finding.
func insist(_ condition: @autoclosure () throws -> Bool, _ property: @autoclosure () -> String) {
  do { if try condition() { return } } catch { preconditionFailure("\(property()): threw \(error)") }
  preconditionFailure(property())
}
