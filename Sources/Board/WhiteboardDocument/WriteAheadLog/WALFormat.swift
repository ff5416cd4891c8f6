import Foundation

/// The encoding of numbers and page sizes in the files of SQLite.
enum SQLiteFormat {
  /// Decodes a big-endian number of four bytes.
  static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Decodes the page size from the two bytes at offset 16 of a file; nil if the size is not valid.
  static func pageSize(of bytes: [UInt8]) -> Int? {
    guard bytes.count == 2 else { return nil }
    let size = Int(bytes[0]) << 8 | Int(bytes[1])
    // The size 65536 does not fit into two bytes, and is stored as 1.
    let pageSize = size == 1 ? 65536 : size
    return isPageSize(pageSize) ? pageSize : nil
  }

  static func isPageSize(_ size: Int) -> Bool { (512...65536).contains(size) && size & (size - 1) == 0 }
}

struct WALHeader {
  static let size = 32

  let pageSize: Int
  /// A random value that changes whenever SQLite restarts the WAL file; each frame has a copy of it.
  let salts: [UInt8]

  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size, Array(bytes[..<3]) == [0x37, 0x7F, 0x06], bytes[3] & 0xFE == 0x82,
      SQLiteFormat.number(bytes, 4) == 3_007_000
    else { return nil }
    let sum = WALChecksum().adding(bytes[..<24], bytes[3] & 1 == 1)
    pageSize = SQLiteFormat.number(bytes, 8)
    guard sum == WALChecksum(bytes, at: 24), SQLiteFormat.isPageSize(pageSize) else { return nil }
    salts = Array(bytes[16..<24])
  }
}

/// The header of a WAL index (`-shm`). Its numbers are in the byte order of the machine.
struct WALIndex {
  let pageSize: Int
  let salts: [UInt8]
  let committed: Int
  /// Whether the writer created this index while committing. Otherwise, a reader rebuilt the index from the WAL file.
  let isOfWriter: Bool

  init?(_ path: String) {
    guard let bytes = RawFile(path)?.bytes(at: 0, 96), bytes.count == 96, Array(bytes[..<48]) == Array(bytes[48...]),
      bytes[12] != 0
    else { return nil }
    func number(_ offset: Int) -> UInt32 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    let sum = WALChecksum().adding(bytes[..<40], UInt32(bigEndian: 1) == 1)
    guard number(0) == 3_007_000, sum.first == number(40), sum.second == number(44) else { return nil }
    let size = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 14, as: UInt16.self) }
    pageSize = size == 1 ? 65536 : Int(size)
    guard SQLiteFormat.isPageSize(pageSize) else { return nil }
    salts = Array(bytes[32..<40])
    committed = Int(number(16))
    isOfWriter = number(8) > 0
  }
}

struct WALChecksum: Equatable {
  let first: UInt32
  let second: UInt32

  init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
    self.first = first
    self.second = second
  }

  init(_ bytes: [UInt8], at offset: Int) {
    let isThere = bytes.count >= offset + 8
    first = isThere ? UInt32(SQLiteFormat.number(bytes, offset)) : 0
    second = isThere ? UInt32(SQLiteFormat.number(bytes, offset + 4)) : 0
  }

  /// The number of bytes must be a multiple of eight.
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
  /// are too many. The sums are linear: flipping a bit changes each sum, up or down, by a multiple that depends only on
  /// the bit's position.
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

final class RawFile {
  private let descriptor: CInt
  let size: Int

  init?(_ path: String) {
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      size = 0
      return nil
    }
    size = Int(status.st_size)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns fewer bytes if the file ends or cannot be read.
  func bytes(at offset: Int, _ count: Int) -> [UInt8] { Self.read(descriptor, at: offset, count) }

  static func read(_ descriptor: CInt, at offset: Int, _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      // The buffer has `count` bytes, and pread writes and reports at most that many.
      filled = max(0, pread(descriptor, buffer.baseAddress, max(0, count), off_t(offset)))
    }
  }
}
