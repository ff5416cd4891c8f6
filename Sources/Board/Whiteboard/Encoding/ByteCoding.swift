import PeerCore

/// A reader of the binary formats of `Protocol/board.md` that is safe for hostile input. Reading past the end throws an
/// error, and no method allocates more than the number of remaining bytes. Small methods are inlined into the decoders
/// of other modules, because the decoders spend most of their time in them.
package struct ByteReader {
  @usableFromInline let bytes: [UInt8]
  @usableFromInline var offset: Int

  @inlinable package init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    self.offset = min(offset, bytes.count)
  }

  @inlinable package var remaining: Int { bytes.count - offset }

  @inlinable package var position: Int { offset }

  @inlinable package mutating func byte() throws(CodecError) -> UInt8 {
    guard offset < bytes.count else { throw .truncated }
    offset += 1
    return bytes[offset - 1]
  }

  /// Reads a ULEB128 number, which must have its shortest form.
  @inlinable package mutating func varint() throws(CodecError) -> UInt64 {
    if offset < bytes.count, bytes[offset] < 0x80 { return UInt64(try byte()) }
    return try longVarint()
  }

  @usableFromInline mutating func longVarint() throws(CodecError) -> UInt64 {
    var next = offset
    let number: UInt64?
    do throws(Varint.DecodingError) { number = try Varint.read(from: bytes.span, at: &next) } catch { throw .varint }
    guard let number else { throw .truncated }
    offset = next
    return number
  }

  /// `what` is the name of the number in the error.
  @inlinable package mutating func varint(upTo limit: UInt64, _ what: String) throws(CodecError) -> UInt64 {
    let number = try varint()
    guard number <= limit else { throw .overLimit(what) }
    return number
  }

  @inlinable package mutating func count(upTo limit: Int, _ what: String) throws(CodecError) -> Int {
    let number = try varint(upTo: UInt64(limit), what)
    guard number <= UInt64(remaining) else { throw .truncated }
    return Int(number)
  }

  @inlinable package mutating func zigzag() throws(CodecError) -> Int64 {
    let number = try varint()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  @inlinable package mutating func fixed64() throws(CodecError) -> UInt64 {
    guard remaining >= 8 else { throw .truncated }
    var result: UInt64 = 0
    for index in offset..<(offset + 8) { result = (result << 8) | UInt64(bytes[index]) }
    offset += 8
    return result
  }

  package mutating func fixed32() throws(CodecError) -> UInt32 {
    guard remaining >= 4 else { throw .truncated }
    var result: UInt32 = 0
    for index in offset..<(offset + 4) { result = (result << 8) | UInt32(bytes[index]) }
    offset += 4
    return result
  }

  @inlinable package mutating func incarnation() throws(CodecError) -> Incarnation {
    guard let incarnation = Incarnation(exactly: try fixed64()) else { throw .reserved("incarnation") }
    return incarnation
  }

  @inlinable package mutating func sequence() throws(CodecError) -> UInt64 {
    let number = try varint(upTo: BoardLimits.sequence, "sequence")
    guard number >= 1 else { throw .overLimit("sequence") }
    return number
  }

  package mutating func take(_ count: Int) throws(CodecError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .truncated }
    offset += count
    return Array(bytes[(offset - count)..<offset])
  }

  package mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }

  package func finish() throws(CodecError) { guard remaining == 0 else { throw .trailingBytes } }
}

/// A writer of the binary formats of `Protocol/board.md`.
package struct ByteWriter {
  @inlinable package var bytes: [UInt8] { written }

  @usableFromInline var written: [UInt8] = []

  package init() {}

  package init(capacity: Int) { written.reserveCapacity(capacity) }

  @inlinable package mutating func byte(_ byte: UInt8) { written.append(byte) }

  /// Appends a ULEB128 number in its shortest form.
  @inlinable package mutating func varint(_ number: UInt64) { Varint.append(number, to: &written) }

  @inlinable package mutating func count(_ number: Int) { varint(UInt64(number)) }

  @inlinable package mutating func zigzag(_ number: Int64) {
    varint(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  package mutating func fixed64(_ number: UInt64) {
    // Safe: the closure copies the bytes and lets no pointer escape.
    withUnsafeBytes(of: number.bigEndian) { written.append(contentsOf: $0) }
  }

  package mutating func fixed32(_ number: UInt32) {
    for shift in stride(from: UInt32(24), through: 0, by: -8) {
      written.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  package mutating func incarnation(_ incarnation: Incarnation) { fixed64(incarnation.rawValue) }

  package mutating func raw(_ more: some Sequence<UInt8>) { written.append(contentsOf: more) }

  package mutating func raw(_ more: ArraySlice<UInt8>) { written.append(contentsOf: more) }
}

/// The reason why encoded bytes were refused.
///
/// `code` is the name of the error in `Protocol/board.md` and in the test vectors.
public indirect enum CodecError: Error, Hashable, Sendable {
  case truncated
  case trailingBytes
  /// A varint is longer than its number needs, or exceeds 64 bits.
  case varint
  /// The number or length named by the associated value exceeds its limit.
  case overLimit(String)
  /// The item named by the associated value is valid, but not in its canonical form.
  case notCanonical(String)
  /// The item named by the associated value has a reserved value.
  case reserved(String)
  /// A string is not valid UTF-8.
  case notText
  /// An operation wrote the property named by the associated value without having the right to write it.
  case notTheAuthor(String)
  /// The part named by the associated value contradicts another part.
  case inconsistent(String)
  case checksum

  /// The stable code of this error, such as `truncated`.
  public var code: String {
    switch self {
    case .truncated: "truncated"
    case .trailingBytes: "trailing"
    case .varint: "varint"
    case .overLimit: "limit"
    case .notCanonical: "canonical"
    case .reserved: "reserved"
    case .notText: "text"
    case .notTheAuthor: "author"
    case .inconsistent: "inconsistent"
    case .checksum: "checksum"
    }
  }
}

package enum Hexadecimal {
  private static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes lower-case hexadecimal digits; nil if `text` is malformed.
  package static func decode(_ text: some StringProtocol) -> [UInt8]? {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      let digit: UInt8
      switch character {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
      default: return nil
      }
      if let first = high {
        bytes.append((first << 4) | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return high == nil ? bytes : nil
  }
}

extension Bytes32 {
  /// The bytes as 64 lower-case hexadecimal digits.
  public var hex: String { Hexadecimal.encode(bytes) }
}
