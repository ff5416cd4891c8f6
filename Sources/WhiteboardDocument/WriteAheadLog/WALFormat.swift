/// The encoding of numbers and page sizes in the files of SQLite.
enum SQLiteFormat {
  /// Decodes a number of four bytes, the most significant byte first.
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

/// The header of a WAL file (`-wal`).
struct WALHeader {
  /// The size of the header, in bytes.
  static let size = 32

  let pageSize: Int
  /// A random value that changes whenever SQLite restarts the WAL file.
  ///
  /// Each frame has a copy of it.
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

/// The header of a WAL index (`-shm`).
///
/// Its numbers are in the byte order of the machine.
struct WALIndex {
  let pageSize: Int
  let salts: [UInt8]
  let committed: Int
  /// Whether the writer created this index while committing.
  ///
  /// Otherwise, a reader rebuilt the index from the WAL file.
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
