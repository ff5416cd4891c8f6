/// The checksum of a WAL file, which consists of two running sums.
struct WALChecksum: Equatable {
  let first: UInt32
  let second: UInt32

  init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
    self.first = first
    self.second = second
  }

  /// Reads the checksum at an offset; 0 if there are too few bytes.
  init(_ bytes: [UInt8], at offset: Int) {
    let isThere = bytes.count >= offset + 8
    first = isThere ? UInt32(SQLiteFormat.number(bytes, offset)) : 0
    second = isThere ? UInt32(SQLiteFormat.number(bytes, offset + 4)) : 0
  }

  /// Returns the checksum after adding bytes.
  ///
  /// Their number must be a multiple of eight.
  func adding(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> WALChecksum {
    var (first, second) = (first, second)
    bytes.withUnsafeBytes { buffer in
      var offset = 0
      while offset &+ 8 <= buffer.count {
        let one = buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
        let two = buffer.loadUnaligned(fromByteOffset: offset &+ 4, as: UInt32.self)
        first = first &+ (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
        second = second &+ (isBigEndian ? two.bigEndian : two.littleEndian) &+ first
        offset &+= 8
      }
    }
    return WALChecksum(first, second)
  }

  /// Returns each bit among `count` bytes whose flip would explain the difference between two checksums; empty if there
  /// are too many.
  ///
  /// The sums are linear: flipping a bit adds to each sum, or subtracts from it, a multiple that depends only on the
  /// bit's position.
  static func flips(_ count: Int, from found: WALChecksum, to expected: WALChecksum, _ isBigEndian: Bool) -> [WALFrame
    .Flip]
  {
    var flips: [WALFrame.Flip] = []
    let difference = (expected.first &- found.first, expected.second &- found.second)
    // The changes of both sums if 1 is added to the first or the second word of a pair. The loop begins with the last
    // pair of words.
    var factors = [(UInt32(1), UInt32(1)), (UInt32(0), UInt32(1))]
    for pair in stride(from: count - 8, through: 0, by: -8) {
      for (word, factor) in factors.enumerated() {
        for bit in 0..<32 {
          let change = (factor.0 << UInt32(bit), factor.1 << UInt32(bit))
          let isIt = change == difference || (0 &- change.0, 0 &- change.1) == difference
          guard isIt else { continue }
          let byte = isBigEndian ? 3 - bit / 8 : bit / 8
          flips.append(WALFrame.Flip(offset: pair + 4 * word + byte, mask: 1 << (bit % 8)))
          guard flips.count < 1024 else { return [] }
        }
        let first = factor.0 &+ factor.1
        factors[word] = (first, factor.1 &+ first)
      }
    }
    return flips
  }
}
