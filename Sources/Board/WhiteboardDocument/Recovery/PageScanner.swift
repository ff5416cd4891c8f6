import Foundation
import GRDB

/// A reader of the rows on the pages of an SQLite file. The scanner does not use SQLite, so it works even if the file's
/// b-trees are damaged or the file is cut off. The scanner checks every number in the file before using it, and skips
/// unreadable data. The caller must verify each row by its checksum.
final class PageScanner {
  /// The position of a row in the database file or in its WAL file.
  struct Place: Hashable, Sendable {
    /// The number of the WAL frame that contains the page; nil if the page is in the database file.
    let frame: Int?
    let page: Int
    let cell: Int
  }

  private let file: CInt
  private let log: CInt
  private let pageSize: Int
  private let usable: Int
  private let pageCount: Int
  /// The frames of the WAL file, including frames that SQLite would not use.
  private let frames: [WALFrame]
  private let framePageSize: Int
  private let newest: [Int: Int]
  private(set) var logDamage: String?
  /// The number of bytes in the database file and its WAL file together; no row can be longer.
  private let totalSize: Int
  /// The number of bytes of long rows that may still be read. The budget limits the work for a file in which many cells
  /// refer to the same pages.
  private var budget: Int
  /// The long rows that a scan already found, by rowid, length, and the part that is on the row's own page.
  private var known: Set<[UInt8]> = []

  /// Opens the database file at `path` for reading, and its WAL file if there is one. Throws `notFound`, `wrongKind`,
  /// `inputOutput`. If the database file is missing, only the WAL file is read.
  init(_ path: String, readsLog: Bool = true) throws(DocumentError) {
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    let isMissing = readsLog && access(path, F_OK) != 0 && access(path + "-wal", R_OK) == 0
    let descriptor = open(isMissing ? "/dev/null" : path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw DocumentError(errno == ENOENT ? .notFound : .inputOutput, "\(path): \(systemMessage())")
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0, isMissing || status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw DocumentError(.wrongKind, "\(path): this is not a file")
    }
    file = descriptor
    log = readsLog ? open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1
    let found = readsLog ? WriteAheadLog(path) : nil
    let header = RawFile.read(file, at: 0, 100)
    let size = SQLiteFormat.pageSize(of: Array(header.dropFirst(16).prefix(2)))
    pageSize = size ?? found?.pageSize ?? 4096
    framePageSize = found?.pageSize ?? 4096
    // Files of this program reserve no bytes at the end of a page.
    usable = pageSize
    let fileSize = fstat(file, &status) == 0 ? Int(status.st_size) : 0
    pageCount = (fileSize + pageSize - 1) / pageSize
    var logSize = 0
    if log >= 0, fstat(log, &status) == 0 { logSize = Int(status.st_size) }
    totalSize = fileSize + logSize
    budget = 16 * totalSize + 64 << 20
    frames = found?.frames ?? []
    var newest: [Int: Int] = [:]
    for (number, frame) in frames.enumerated() { newest[frame.page] = number }
    self.newest = newest
    if let found, found.damage != nil || found.isForeign {
      logDamage = found.isComplete && !found.isForeign ? nil : "the contents of damaged parts of the WAL file"
    }
    guard !frames.isEmpty else { return }
    var (own, logged) = (DocumentIdentity(), DocumentIdentity())
    for page in 1...max(1, pageCount) { scan(nil, page) { own.add($2) } }
    for (number, frame) in frames.enumerated() { scan(number, frame.page) { logged.add($2) } }
    known = []
    if found?.isForeign ?? false || !logged.isPart(of: own) {
      leavesOutLog = true
      logDamage = "the contents of a WAL file that belongs to a different board file"
    }
  }

  /// Whether the WAL file is ignored because it belongs to another file.
  private var leavesOutLog = false

  var firstIdentity: DocumentIdentity? {
    for page in 1...max(1, pageCount) {
      var identity = DocumentIdentity()
      scan(nil, page) { identity.add($2) }
      if !identity.isEmpty { return identity }
    }
    return nil
  }

  deinit {
    close(file)
    if log >= 0 { close(log) }
  }

  /// Calls `body` with each row of each page, first in the database file and then in its WAL file. Returns false if
  /// long rows exceeded a limit. Without the limit, a file in which many cells refer to the same pages could take
  /// forever. If a long row occurs more than once, for example in the database file and in the WAL file, `body` gets
  /// only the first occurrence.
  @discardableResult func scan(_ body: (Place, _ rowid: Int64, _ columns: [StoredValue]) -> Void) -> Bool {
    for page in 1...max(1, pageCount) { scan(nil, page, body) }
    guard !leavesOutLog else { return budget > 0 }
    for (number, frame) in frames.enumerated() { scan(number, frame.page, body) }
    return budget > 0
  }

  func row(_ place: Place) -> (rowid: Int64, columns: [StoredValue])? {
    row(content(place.frame, place.page), place, isScanning: false)
  }

  private func scan(_ frame: Int?, _ page: Int, _ body: (Place, Int64, [StoredValue]) -> Void) {
    let content = content(frame, page)
    let head = page == 1 ? 100 : 0
    // The byte 13 marks a leaf page of a table.
    guard content.count >= head + 8, content[head] == 13 else { return }
    let cells = Int(content[head + 3]) << 8 | Int(content[head + 4])
    guard head + 8 + 2 * cells <= content.count else { return }
    for cell in 0..<cells {
      let place = Place(frame: frame, page: page, cell: cell)
      if let (rowid, columns) = row(content, place, isScanning: true) { body(place, rowid, columns) }
    }
  }

  private func content(_ frame: Int?, _ page: Int) -> [UInt8] {
    if let frame {
      let offset = WALFrame.offset(frame, pageSize: framePageSize) + WALFrame.headerSize
      var content = RawFile.read(log, at: offset, framePageSize)
      frames[frame].repair(&content)
      return content
    }
    guard page >= 1 else { return [] }
    return RawFile.read(file, at: (page - 1) * pageSize, pageSize)
  }

  private func row(_ content: [UInt8], _ place: Place, isScanning: Bool) -> (Int64, [StoredValue])? {
    let pointer = (place.page == 1 ? 100 : 0) + 8 + 2 * place.cell
    guard pointer + 2 <= content.count else { return nil }
    var offset = Int(content[pointer]) << 8 | Int(content[pointer + 1])
    guard let size = Self.varint(content, &offset), let rowid = Self.varint(content, &offset), size > 0,
      size <= Int64(min(totalSize, StoredSizes.value))
    else { return nil }
    let length = Int(size)
    guard let payload = payload(content, offset, length, isScanning ? rowid : nil), let columns = Self.columns(payload)
    else { return nil }
    return (rowid, columns)
  }

  /// Returns the bytes of a row with its overflow pages; nil if they are not valid, or the scan already found this row.
  private func payload(_ content: [UInt8], _ offset: Int, _ length: Int, _ scanned: Int64?) -> [UInt8]? {
    var local = length
    if length > usable - 35 {
      let least = (usable - 12) * 32 / 255 - 23
      let more = least + (length - least) % (usable - 4)
      local = more <= usable - 35 ? more : least
    }
    guard offset + local <= content.count else { return nil }
    var result = Array(content[offset..<(offset + local)])
    guard local < length else { return result }
    guard offset + local + 4 <= content.count else { return nil }
    if let scanned {
      // If these bytes of two rows are equal, the rows have the same overflow pages.
      let place = withUnsafeBytes(of: (scanned, length)) { Array($0) }
      guard budget > 0, known.insert(place + content[offset..<(offset + local + 4)]).inserted else { return nil }
      budget -= length
    }
    var next = SQLiteFormat.number(content, offset + local)
    while result.count < length {
      // Each round adds bytes or returns, so the loop ends even if the pages form a cycle.
      let page = self.content(leavesOutLog ? nil : newest[next], next)
      guard page.count >= usable else { return nil }
      result += page[4..<(4 + min(usable - 4, length - result.count))]
      next = SQLiteFormat.number(page, 0)
    }
    return result
  }

  private static func columns(_ payload: [UInt8]) -> [StoredValue]? {
    var offset = 0
    guard let headSize = varint(payload, &offset), headSize <= Int64(payload.count) else { return nil }
    var body = Int(headSize)
    var columns: [StoredValue] = []
    while offset < Int(headSize) {
      guard let type = varint(payload, &offset), type >= 0, columns.count < 16 else { return nil }
      let size: Int
      switch type {
      case 0, 8, 9: size = 0
      case 1...4: size = Int(type)
      case 5: size = 6
      case 6, 7: size = 8
      case 12...: size = Int((type - 12) / 2)
      default: return nil
      }
      guard size <= payload.count - body else { return nil }
      let bytes = payload[body..<(body + size)]
      body += size
      switch type {
      case 0: columns.append(.null)
      case 7: columns.append(.real)
      case 8, 9: columns.append(.integer(type - 8))
      case 1...6:
        let start: Int64 = (bytes.first ?? 0) >= 128 ? -1 : 0
        columns.append(.integer(bytes.reduce(start) { $0 << 8 | Int64($1) }))
      default: columns.append(type % 2 == 0 ? .blob(Array(bytes)) : .text(String(decoding: bytes, as: UTF8.self)))
      }
    }
    return columns
  }

  /// Reads an SQLite varint: the most significant byte first, with eight bits in the ninth byte.
  private static func varint(_ bytes: [UInt8], _ offset: inout Int) -> Int64? {
    var result: UInt64 = 0
    for index in 0..<9 {
      guard offset < bytes.count else { return nil }
      let byte = bytes[offset]
      offset += 1
      if index == 8 { return Int64(bitPattern: result << 8 | UInt64(byte)) }
      result = result << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return Int64(bitPattern: result) }
    }
    return nil
  }
}
