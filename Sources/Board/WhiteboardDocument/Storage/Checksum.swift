import Whiteboard

/// A CRC-32C (Castagnoli), as in RFC 3720, which verifies the rows of a document. The checksum detects accidental
/// damage, not forgery. The authors' data is signed separately.
package struct Checksum {
  private var state: UInt32 = .max

  package init() {}

  package var value: UInt32 { ~state }

  package mutating func add(_ bytes: [UInt8]) {
    let tables = Self.tables
    var state = state
    var index = 0
    let count = bytes.count
    while index &+ 8 <= count {
      let low =
        state
        ^ (UInt32(bytes[index]) | UInt32(bytes[index &+ 1]) << 8 | UInt32(bytes[index &+ 2]) << 16 | UInt32(
          bytes[index &+ 3]
        ) << 24)
      state =
        tables[1792 &+ Int(low & 0xFF)] ^ tables[1536 &+ Int((low >> 8) & 0xFF)]
        ^ tables[1280 &+ Int((low >> 16) & 0xFF)] ^ tables[1024 &+ Int(low >> 24)]
        ^ tables[768 &+ Int(bytes[index &+ 4])] ^ tables[512 &+ Int(bytes[index &+ 5])]
        ^ tables[256 &+ Int(bytes[index &+ 6])] ^ tables[Int(bytes[index &+ 7])]
      index &+= 8
    }
    while index < count {
      state = (state >> 8) ^ tables[Int((state ^ UInt32(bytes[index])) & 0xFF)]
      index &+= 1
    }
    self.state = state
  }

  /// Bytes that are represented by their own checksum.
  package struct Part: Sendable {
    let checksum: UInt32
    let count: Int

    package init(_ bytes: [UInt8]) {
      var checksum = Checksum()
      checksum.add(bytes)
      self.checksum = checksum.value
      count = bytes.count
    }
  }

  /// Adds the bytes of a part.
  /// - Complexity: O(log *n*), where *n* is the number of bytes.
  package mutating func add(_ part: Part) {
    // Bytes that follow multiply the checksum of the bytes before them by x^(8 n).
    var (power, square, bits): (UInt32, UInt32, Int) = (1 << 31, 1 << 30, 8 * part.count)
    while bits > 0 {
      if bits & 1 == 1 { power = Self.product(power, square) }
      square = Self.product(square, square)
      bits >>= 1
    }
    state = ~(Self.product(power, value) ^ part.checksum)
  }

  /// The product of two polynomials modulo the polynomial of the checksum. The highest bit is the coefficient of 1.
  private static func product(_ one: UInt32, _ other: UInt32) -> UInt32 {
    var (product, shifted): (UInt32, UInt32) = (0, other)
    for bit in stride(from: 31, through: 0, by: -1) {
      if one >> UInt32(bit) & 1 == 1 { product ^= shifted }
      shifted = shifted >> 1 ^ (shifted & 1 == 1 ? polynomial : 0)
    }
    return product
  }

  /// The checksum covers the letter of the table, the numbers, and the blobs with their lengths.
  package static func row(_ table: UInt8, _ numbers: [Int64], _ blobs: [[UInt8]], _ last: Part? = nil) -> UInt32 {
    var head = ByteWriter()
    head.byte(table)
    for number in numbers { head.zigzag(number) }
    for blob in blobs { head.count(blob.count) }
    if let last { head.count(last.count) }
    var checksum = Checksum()
    checksum.add(head.bytes)
    for blob in blobs { checksum.add(blob) }
    if let last { checksum.add(last) }
    return checksum.value
  }

  package static func link(after chain: UInt32, _ own: UInt32) -> UInt32 {
    var writer = ByteWriter()
    writer.fixed32(chain)
    writer.fixed32(own)
    var checksum = Checksum()
    checksum.add(writer.bytes)
    return checksum.value
  }

  private static let polynomial: UInt32 = 0x82F6_3B78

  /// Eight tables with 256 entries each: the remainder of a byte followed by 0 to 7 zero bytes.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 2048)
    for byte in 0..<256 {
      var remainder = UInt32(byte)
      for _ in 0..<8 { remainder = (remainder >> 1) ^ (remainder & 1 == 1 ? polynomial : 0) }
      tables[byte] = remainder
    }
    for index in 256..<2048 {
      let before = tables[index - 256]
      tables[index] = (before >> 8) ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()
}
