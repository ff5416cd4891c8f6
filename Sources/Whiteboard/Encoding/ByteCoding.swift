/// Reads the binary forms of `Protocol/board.md` from bytes that may be hostile.
///
/// Every read throws instead of going beyond the end, and no read allocates more than there is. The
/// small reads are inlined into the decoders of other modules, which do little else.
package struct ByteReader {
  @usableFromInline let bytes: [UInt8]
  @usableFromInline var offset: Int

  /// A reader at `offset`, which must lie within `bytes`.
  @inlinable package init(_ bytes: [UInt8], from offset: Int = 0) {
    self.bytes = bytes
    self.offset = min(offset, bytes.count)
  }

  /// How many bytes are left.
  @inlinable package var remaining: Int { bytes.count - offset }

  /// The offset of the next byte.
  @inlinable package var position: Int { offset }

  /// The next byte.
  @inlinable package mutating func byte() throws(CodecError) -> UInt8 {
    guard offset < bytes.count else { throw .truncated }
    offset += 1
    return bytes[offset - 1]
  }

  /// The next ULEB128 number in its shortest form.
  @inlinable package mutating func varint() throws(CodecError) -> UInt64 {
    let first = try byte()
    return first < 0x80 ? UInt64(first) : try varint(after: first)
  }

  /// The rest of a number of two bytes or more.
  @usableFromInline mutating func varint(after first: UInt8) throws(CodecError) -> UInt64 {
    var result = UInt64(first & 0x7F)
    var shift: UInt64 = 7
    while true {
      let next = try byte()
      if shift == 63, next > 1 { throw .varint }
      result |= UInt64(next & 0x7F) << shift
      if next < 0x80 {
        if next == 0 { throw .varint }
        return result
      }
      shift += 7
      if shift > 63 { throw .varint }
    }
  }

  /// The next number, at most `limit`; `what` names it in the error.
  @inlinable package mutating func varint(
    upTo limit: UInt64,
    _ what: String
  ) throws(CodecError) -> UInt64 {
    let number = try varint()
    guard number <= limit else { throw .overLimit(what) }
    return number
  }

  /// The next count, at most `limit` and at most one for each byte that is left.
  @inlinable package mutating func count(upTo limit: Int, _ what: String) throws(CodecError) -> Int
  {
    let number = try varint(upTo: UInt64(limit), what)
    guard number <= UInt64(remaining) else { throw .truncated }
    return Int(number)
  }

  /// The next signed number, zigzag.
  @inlinable package mutating func zigzag() throws(CodecError) -> Int64 {
    let number = try varint()
    return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
  }

  /// The next 8 bytes, most significant first.
  @inlinable package mutating func fixed64() throws(CodecError) -> UInt64 {
    guard remaining >= 8 else { throw .truncated }
    var result: UInt64 = 0
    for index in offset..<(offset + 8) { result = (result << 8) | UInt64(bytes[index]) }
    offset += 8
    return result
  }

  /// The next 4 bytes, most significant first.
  package mutating func fixed32() throws(CodecError) -> UInt32 {
    guard remaining >= 4 else { throw .truncated }
    var result: UInt32 = 0
    for index in offset..<(offset + 4) { result = (result << 8) | UInt32(bytes[index]) }
    offset += 4
    return result
  }

  /// The next incarnation; zero is reserved.
  @inlinable package mutating func incarnation() throws(CodecError) -> Incarnation {
    guard let incarnation = Incarnation(exactly: try fixed64()) else {
      throw .reserved("incarnation")
    }
    return incarnation
  }

  /// The next sequence number.
  @inlinable package mutating func sequence() throws(CodecError) -> UInt64 {
    let number = try varint(upTo: BoardLimits.sequence, "sequence")
    guard number >= 1 else { throw .overLimit("sequence") }
    return number
  }

  /// The next `count` bytes.
  package mutating func take(_ count: Int) throws(CodecError) -> [UInt8] {
    guard count >= 0, count <= remaining else { throw .truncated }
    offset += count
    return Array(bytes[(offset - count)..<offset])
  }

  /// All that is left.
  package mutating func rest() -> [UInt8] {
    defer { offset = bytes.count }
    return Array(bytes[offset...])
  }

  /// Throws where anything is left.
  package func finish() throws(CodecError) {
    guard remaining == 0 else { throw .trailingBytes }
  }
}

/// Writes the binary forms of `Protocol/board.md`.
package struct ByteWriter {
  /// The bytes written so far.
  @inlinable package var bytes: [UInt8] { written }

  @usableFromInline var written: [UInt8] = []

  /// An empty writer.
  package init() {}

  /// An empty writer that has room for so many bytes.
  package init(capacity: Int) { written.reserveCapacity(capacity) }

  /// Adds one byte.
  @inlinable package mutating func byte(_ byte: UInt8) { written.append(byte) }

  /// Adds a number as ULEB128 in its shortest form.
  @inlinable package mutating func varint(_ number: UInt64) {
    var rest = number
    while rest >= 0x80 {
      written.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    written.append(UInt8(truncatingIfNeeded: rest))
  }

  /// Adds a count or a length.
  @inlinable package mutating func count(_ number: Int) { varint(UInt64(number)) }

  /// Appends a signed number in zigzag coding.
  @inlinable package mutating func zigzag(_ number: Int64) {
    varint(UInt64(bitPattern: (number << 1) ^ (number >> 63)))
  }

  /// Adds 8 bytes, most significant first.
  package mutating func fixed64(_ number: UInt64) {
    // The bytes are copied within the closure, and none of their addresses leaves it.
    withUnsafeBytes(of: number.bigEndian) { written.append(contentsOf: $0) }
  }

  /// Adds 4 bytes, most significant first.
  package mutating func fixed32(_ number: UInt32) {
    for shift in stride(from: UInt32(24), through: 0, by: -8) {
      written.append(UInt8(truncatingIfNeeded: number >> shift))
    }
  }

  /// Adds an incarnation.
  package mutating func incarnation(_ incarnation: Incarnation) { fixed64(incarnation.rawValue) }

  /// Adds bytes as they are.
  package mutating func raw(_ more: some Sequence<UInt8>) { written.append(contentsOf: more) }

  /// Appends bytes without a length.
  package mutating func raw(_ more: ArraySlice<UInt8>) { written.append(contentsOf: more) }
}
