import Foundation

/// The write-ahead log beside an SQLite file, read and checked without SQLite; implements REC-16.
///
/// After a crash, SQLite uses the frames of the log up to the first one whose checksum does not
/// match. It ignores the frames behind it without an error, and overwrites them soon after. This
/// type reads all frames, and distinguishes the end of a log from damage inside it. (When SQLite
/// starts the log again from its beginning, a new round begins, with new salts in each frame.)
///
/// - Frames with other salts are left from an earlier round. Their pages are in the file already.
/// - An incomplete frame at the end, and frames without a commit behind them, belong to a transaction that was not
///   finished.
/// - A frame of the current round whose checksum fails is damaged if another frame of the round follows it, or if
///   the index (`-shm`) says that it was committed.
/// - If it is the last frame, it can be damaged, or half written over an older frame. The index of the killed writer
///   decides. Without such an index, the frame counts as damaged.
struct WriteAheadLog: Sendable {
  /// A frame of the log, which contains one page.
  struct Frame: Hashable, Sendable {
    /// The number of the page; 0 if it is damaged.
    let page: Int
    /// The number of pages of the database after the commit; 0 if the frame ends no transaction.
    let commit: Int
    /// Whether the page number and content are as they were written, after applying ``flip``.
    fileprivate(set) var isIntact: Bool
    /// The damaged bit of the content; nil if there is none, or it is unknown.
    fileprivate(set) var flip: Flip?
  }

  /// One bit of a page.
  struct Flip: Hashable, Sendable {
    /// The offset of the byte in the page.
    let offset: Int
    /// A mask with the damaged bit of the byte.
    let mask: UInt8
  }

  /// The size of a page, in bytes.
  let pageSize: Int
  /// The frames of the current round, in order, including those that SQLite does not reach.
  private(set) var frames: [Frame] = []
  /// The number of frames that SQLite uses: up to the last commit that it reaches.
  private(set) var usable = 0
  /// Whether every page that was committed is in an intact frame.
  private(set) var isComplete = true
  /// Whether the log has as many frames as were committed, and all pages that the file lacks.
  private var isIndexed = true
  /// A description of the damage; nil if SQLite reads everything that was committed.
  private(set) var damage: String?
  /// Whether the file itself has less than one page, so that SQLite cannot read it with the log.
  private(set) var isFileCut = false
  /// Whether the log was written for another file.
  private(set) var isForeign = false

  /// For each damaged frame that several bit flips can explain, the frames that result from them.
  private var candidates: [Int: [Frame]] = [:]

  /// Whether SQLite reads the first page from the log.
  var replacesFirstPage: Bool { frames.prefix(usable).contains { $0.page == 1 } }

  /// The number of frames up to the last commit, even if SQLite does not reach that commit.
  var committed: Int { (frames.lastIndex { $0.commit > 0 } ?? -1) + 1 }

  static let headerSize = 32
  static let frameHeaderSize = 24

  /// Reads the log beside the file at `path`.
  ///
  /// Another process may write at the same time, so damage counts only if it is found twice.
  /// - Returns: The log; nil if there is none, if it is empty, or if this process writes the file.
  /// - Complexity: O(n) in the log.
  static func examine(_ path: String) -> WriteAheadLog? {
    OpenFiles.holding(path) { use in
      guard use < .writing else { return nil }
      var last = WriteAheadLog(path, onlyLog: use > .none)
      for _ in 0..<8 {
        guard last?.damage != nil else { break }
        let again = WriteAheadLog(path, onlyLog: use > .none)
        if again?.damage == last?.damage, again?.frames == last?.frames { break }
        last = again
      }
      return last
    }
  }

  /// Reads the log beside the file at `path` once.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - isOnly: Whether only the log is read, without the file and its index.
  init?(_ path: String, onlyLog isOnly: Bool = false) {
    let log = RawFile(path + "-wal")
    let main = isOnly ? nil : RawFile(path)
    // If the file was closed, an index beside it does not belong to it.
    let mayHaveIndex = !isOnly && main?.bytes(at: 18, 1) != [1]
    let index = mayHaveIndex ? LogIndex(path + "-shm") : nil
    guard let log, log.size > 0 else {
      guard let index, index.committed > 0 else { return nil }
      pageSize = index.pageSize
      damage = "it is \(log == nil ? "gone" : "empty"), with \(Self.pages(index.committed)) in it"
      isComplete = false
      return
    }
    let mainPageSize = main.flatMap { Self.pageSize(of: $0.bytes(at: 16, 2)) }
    let bytes = log.bytes(at: 0, Self.headerSize)
    let header = Header(bytes)
    pageSize = header?.pageSize ?? index?.pageSize ?? mainPageSize ?? 4096
    let slots = max(0, log.size - Self.headerSize) / (Self.frameHeaderSize + pageSize)
    let salts = header?.salts ?? index?.salts ?? commonSalts(log, slots)
    read(log, slots, salts, header, ChecksumPair(bytes, at: 24), bytes.count > 3 ? bytes[3] : 0)
    let current = index?.salts == salts ? index : nil
    judge(header, current, slots)
    let isOfIndex = current != nil || index?.committed ?? 0 == 0
    if damage == nil, !isOfIndex {
      damage = "its index (the file that ends in -shm) belongs to another log"
    }
    isIndexed = isOfIndex && current?.committed ?? 0 <= frames.count
    isComplete = isIndexed && frames.prefix(committed).allSatisfy(\.isIntact)
    checkLength(of: path, mainPageSize ?? pageSize, slots)
    guard let main, let mainPageSize, usable > 0, damage == nil else { return }
    isForeign = mainPageSize != pageSize || (main.bytes(at: 18, 1) == [1] && differs(log, main))
  }

  /// Reads the frames up to the last one of the round.
  private mutating func read(
    _ log: RawFile,
    _ slots: Int,
    _ salts: [UInt8],
    _ header: Header?,
    _ start: ChecksumPair,
    _ magic: UInt8
  ) {
    let last = (0..<slots).last { log.bytes(at: offset($0) + 8, 8) == salts } ?? -1
    let isBigEndian = magic & 1 == 1
    // The stored checksum of the previous frame; and the previous frame, if its checksum does not
    // match.
    var (stored, suspect) = (start, Suspect?.none)
    var isReached = header != nil
    for slot in 0..<slots {
      let head = log.bytes(at: offset(slot), Self.frameHeaderSize)
      let content = log.bytes(at: offset(slot) + Self.frameHeaderSize, pageSize)
      guard head.count == Self.frameHeaderSize, content.count == pageSize else { break }
      let bytes = head[..<8] + content
      let expected = ChecksumPair(head, at: 16)
      let found = stored.adding(bytes, isBigEndian)
      // If only the stored checksum of the previous frame was damaged, that frame is intact.
      let follows = found != expected && suspect?.found.adding(bytes, isBigEndian) == expected
      // Salts can be damaged too: the checksum does not cover them. Frames of an earlier round follow each other, but
      // none of them follows an intact frame of this one.
      guard slot <= last || (found == expected && suspect == nil) || follows else { break }
      if let suspect, found == expected { correct(slot - 1, suspect, isBigEndian) }
      if follows { frames[slot - 1].isIntact = true }
      let page = Self.number(head, 0)
      let isIntact = (found == expected || follows) && page > 0
      frames.append(Frame(page: page, commit: Self.number(head, 4), isIntact: isIntact))
      let isUsed = found == expected && page > 0 && Array(head[8..<16]) == salts
      isReached = isReached && isUsed
      if isReached, frames[slot].commit > 0 { usable = slot + 1 }
      if !isReached, reach == nil { reach = slot }
      suspect =
        isIntact
        ? nil
        : Suspect(bytes: Array(bytes), before: stored, found: found, expected: expected)
      stored = expected
    }
    // In the last frame, if only the second sum differs, the checksum itself may be damaged.
    if let suspect, suspect.found.first != suspect.expected.first {
      correct(frames.count - 1, suspect, isBigEndian)
    }
  }

  /// A frame whose checksum does not match, with the values for correcting it.
  private struct Suspect {
    /// The first eight bytes of the frame's header, and its page.
    let bytes: [UInt8]
    /// The checksum of the log before this frame.
    let before: ChecksumPair
    let found: ChecksumPair
    let expected: ChecksumPair
  }

  /// Finds the bit whose flip makes a frame match its checksum.
  ///
  /// The checksum does not distinguish high bits of different words. If several bits explain it,
  /// the frame stays damaged, and ``variants(of:upTo:)`` tries them.
  private mutating func correct(_ slot: Int, _ suspect: Suspect, _ isBigEndian: Bool) {
    let flips = ChecksumPair.flips(
      suspect.bytes.count,
      from: suspect.found,
      to: suspect.expected,
      isBigEndian
    )
    let right = flips.compactMap { flip -> Frame? in
      var bytes = suspect.bytes
      bytes[flip.offset] ^= flip.mask
      guard suspect.before.adding(bytes[...], isBigEndian) == suspect.expected else { return nil }
      let (page, commit) = (Self.number(bytes, 0), Self.number(bytes, 4))
      let content = flip.offset < 8 ? nil : Flip(offset: flip.offset - 8, mask: flip.mask)
      return Frame(page: page, commit: commit, isIntact: true, flip: content)
    }
    if right.count == 1 { frames[slot] = right[0] }
    if right.count > 1 { candidates[slot] = right }
  }

  /// Returns copies of this log, one for each candidate for the damaged bit of a frame.
  ///
  /// Most of a page is the same as in its earlier version. A bit is likely if flipping it makes its
  /// byte equal to that of the earlier version.
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - count: The greatest number of logs. There can be several hundred candidates.
  /// - Returns: The logs, the likeliest first; empty unless exactly one frame has several
  ///   candidates.
  func variants(of path: String, upTo count: Int) -> [WriteAheadLog] {
    guard candidates.count == 1, let (slot, choices) = candidates.first, slot < committed else {
      return []
    }
    let log = RawFile(path + "-wal")
    let page = frames[slot].page
    let earlier = frames[..<slot].lastIndex { $0.page == page }
    let content = log?.bytes(at: offset(slot) + Self.frameHeaderSize, pageSize) ?? []
    let before =
      earlier.map { log?.bytes(at: offset($0) + Self.frameHeaderSize, pageSize) ?? [] }
      ?? RawFile(path)?.bytes(at: (page - 1) * pageSize, pageSize) ?? []
    func rank(_ frame: Frame) -> Int {
      guard let flip = frame.flip, flip.offset < min(before.count, content.count) else { return 1 }
      if content[flip.offset] ^ flip.mask == before[flip.offset] { return 0 }
      return content[flip.offset] == before[flip.offset] ? 2 : 1
    }
    // A damaged page number must not enlarge the file without limit.
    let known = frames.lazy.filter(\.isIntact).map { max($0.page, $0.commit) }.max() ?? 0
    let greatest = known + frames.count + (Opened.size(of: path) ?? 0) / pageSize
    return choices.filter { (1...greatest).contains($0.page) && $0.commit <= greatest }
      .enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
      .prefix(count).map { _, frame in
        var variant = self
        variant.frames[slot] = frame
        variant.candidates = [:]
        variant.isComplete = isIndexed && variant.frames.prefix(committed).allSatisfy(\.isIntact)
        return variant
      }
  }

  /// The index of the first frame that SQLite does not use; nil if it uses all.
  private var reach: Int?

  /// Sets ``damage`` if committed frames follow those that SQLite uses.
  private mutating func judge(_ header: Header?, _ index: LogIndex?, _ slots: Int) {
    guard header != nil else {
      if slots > 0 {
        let count = max(frames.count, index?.committed ?? 0)
        damage = "its beginning cannot be read, and SQLite ignores \(Self.pages(count)) in it"
      }
      return
    }
    if let index, index.committed > usable {
      let missing = Self.pages(index.committed - usable)
      damage =
        reach.map { slot in
          "frame \(slot + 1) cannot be read, and SQLite ignores \(missing) from there on"
        } ?? "it is cut short, and \(missing) are missing"
      return
    }
    guard let reach else { return }
    // Only the writer's own index, not that of a later reader, proves that there were no more
    // frames.
    let isKnown = index.map { $0.isOfWriter && $0.committed == usable } ?? false
    let hasCommitBehind = frames[min(reach + 1, frames.count)...].contains { $0.commit > 0 }
    guard !isKnown || hasCommitBehind else { return }
    let missing = Self.pages(frames.count - reach)
    damage = "frame \(reach + 1) cannot be read, and SQLite ignores \(missing) from there on"
  }

  /// Sets ``damage`` if the file is missing, or shorter than a page, while the log has pages.
  ///
  /// A program writes at least one page of the file before it writes a log. SQLite deletes the log
  /// of an empty file, even if it opens the file for reading only.
  private mutating func checkLength(of path: String, _ least: Int, _ slots: Int) {
    let size = Opened.size(of: path)
    guard size ?? 0 < least, slots > 0 else { return }
    isFileCut = true
    let length = size.map { $0 == 0 ? "empty" : "cut off after \($0) bytes" } ?? "missing"
    let log = damage.map { "is damaged, too: \($0)" } ?? "is intact"
    damage = "it is \(length); its log (the file that ends in -wal) \(log)"
    let pages = Set(frames.prefix(committed).map(\.page))
    let last = frames.last { $0.commit > 0 }?.commit ?? 0
    isIndexed = isIndexed && last > 0 && pages.isSuperset(of: 1...max(1, last))
    isComplete = isComplete && isIndexed
  }

  /// Whether pages of the log differ from those of a file that was closed.
  private func differs(_ log: RawFile, _ main: RawFile) -> Bool {
    newest(upTo: usable).contains { page, slot in
      // Skip the header on the first page: it contains the journal mode and counters.
      let from = page == 1 ? 100 : 0
      let content = log.bytes(at: offset(slot) + Self.frameHeaderSize + from, pageSize - from)
      return main.bytes(at: (page - 1) * pageSize + from, pageSize - from) != content
    }
  }

  /// Returns the newest frame of each page among the first `count` frames.
  private func newest(upTo count: Int) -> [Int: Int] {
    var newest: [Int: Int] = [:]
    for (slot, frame) in frames.prefix(count).enumerated() { newest[frame.page] = slot }
    return newest
  }

  /// Returns the most common salts of the first three frames.
  private func commonSalts(_ log: RawFile, _ slots: Int) -> [UInt8] {
    let first = (0..<min(3, slots)).map { log.bytes(at: offset($0) + 8, 8) }
    return first.first { salts in first.count { $0 == salts } > 1 } ?? first.first ?? []
  }

  private func offset(_ slot: Int) -> Int {
    Self.headerSize + slot * (Self.frameHeaderSize + pageSize)
  }

  private static func pages(_ count: Int) -> String { count == 1 ? "1 page" : "\(count) pages" }

  fileprivate static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
  }

  /// Returns the page size that two bytes of the file's header contain; nil if it is not valid.
  private static func pageSize(of bytes: [UInt8]) -> Int? {
    guard bytes.count == 2 else { return nil }
    let size = Int(bytes[0]) << 8 | Int(bytes[1])
    return isPageSize(size == 1 ? 65536 : size) ? (size == 1 ? 65536 : size) : nil
  }

  static func isPageSize(_ size: Int) -> Bool {
    (512...65536).contains(size) && size & (size - 1) == 0
  }
}

extension WriteAheadLog {
  /// Which frames of the log are merged into a file.
  enum Choice: CaseIterable, Sendable {
    /// All frames up to the last commit, damaged or not: most bytes of a damaged page are intact,
    /// and rows have checksums.
    case all
    /// The intact frames up to the last commit.
    case intact
    /// Only the frames that SQLite uses.
    case usable
  }

  /// Writes pages of the log into a copy of the file at `path`, so that the copy needs no log.
  /// - Throws: `full`, `inputOutput`.
  func merge(_ choice: Choice, of path: String, into copy: String) throws(DocumentError) {
    let descriptor = open(copy, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw .writing(copy) }
    defer { close(descriptor) }
    let log = RawFile(path + "-wal")
    let chosen = frames.prefix(choice == .usable ? usable : committed)
    // A damaged page number must not enlarge the file without limit.
    let greatest = frames.lazy.filter(\.isIntact).map { max($0.page, $0.commit) }.max() ?? 0
    for (slot, frame) in chosen.enumerated() {
      guard frame.isIntact || (choice == .all && (1...max(1, greatest)).contains(frame.page)) else {
        continue
      }
      var content = log?.bytes(at: offset(slot) + Self.frameHeaderSize, pageSize) ?? []
      guard content.count == pageSize else { throw .writing(path) }
      frame.repair(&content)
      guard
        pwrite(descriptor, content, pageSize, off_t((frame.page - 1) * pageSize)) == pageSize
      else { throw .writing(copy) }
    }
    if let end = chosen.last(where: { $0.isIntact && $0.commit > 0 }),
      ftruncate(descriptor, off_t(end.commit * pageSize)) != 0
    {
      throw .writing(copy)
    }
    // Mark the copy in its header as a file with a rollback journal instead of a log.
    guard pwrite(descriptor, [1, 1], 2, 18) == 2, fsync(descriptor) == 0 else {
      throw .writing(copy)
    }
  }
}

extension WriteAheadLog.Frame {
  /// Flips the damaged bit of the frame's page.
  func repair(_ content: inout [UInt8]) {
    if let flip, flip.offset < content.count { content[flip.offset] ^= flip.mask }
  }
}

/// The header of a log; nil if it is damaged.
private struct Header {
  let pageSize: Int
  let salts: [UInt8]

  init?(_ bytes: [UInt8]) {
    guard bytes.count == WriteAheadLog.headerSize,
      Array(bytes[..<3]) == [0x37, 0x7F, 0x06], bytes[3] & 0xFE == 0x82,
      WriteAheadLog.number(bytes, 4) == 3_007_000
    else { return nil }
    let sum = ChecksumPair().adding(bytes[..<24], bytes[3] & 1 == 1)
    pageSize = WriteAheadLog.number(bytes, 8)
    guard sum == ChecksumPair(bytes, at: 24), WriteAheadLog.isPageSize(pageSize) else { return nil }
    salts = Array(bytes[16..<24])
  }
}

/// The header of the index of a log (`-shm`); nil if it is damaged.
///
/// Its numbers are in the byte order of the machine.
private struct LogIndex {
  let pageSize: Int
  let salts: [UInt8]
  /// The number of committed frames.
  let committed: Int
  /// Whether the writer made this index while committing; otherwise a reader rebuilt it from the
  /// log.
  let isOfWriter: Bool

  init?(_ path: String) {
    guard let bytes = RawFile(path)?.bytes(at: 0, 96), bytes.count == 96,
      Array(bytes[..<48]) == Array(bytes[48...]), bytes[12] != 0
    else { return nil }
    func number(_ offset: Int) -> UInt32 {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    }
    let sum = ChecksumPair().adding(bytes[..<40], UInt32(bigEndian: 1) == 1)
    guard number(0) == 3_007_000, sum.first == number(40), sum.second == number(44) else {
      return nil
    }
    let size = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 14, as: UInt16.self) }
    pageSize = size == 1 ? 65536 : Int(size)
    guard WriteAheadLog.isPageSize(pageSize) else { return nil }
    salts = Array(bytes[32..<40])
    committed = Int(number(16))
    isOfWriter = number(8) > 0
  }
}

/// The checksum of a log: two running sums that are added to each other.
private struct ChecksumPair: Equatable {
  let first: UInt32
  let second: UInt32

  init(_ first: UInt32 = 0, _ second: UInt32 = 0) {
    self.first = first
    self.second = second
  }

  /// Reads the checksum at an offset; 0 if there are too few bytes.
  init(_ bytes: [UInt8], at offset: Int) {
    let isThere = bytes.count >= offset + 8
    first = isThere ? UInt32(WriteAheadLog.number(bytes, offset)) : 0
    second = isThere ? UInt32(WriteAheadLog.number(bytes, offset + 4)) : 0
  }

  /// Returns the checksum after adding bytes.
  ///
  /// Their number must be a multiple of eight.
  func adding(_ bytes: ArraySlice<UInt8>, _ isBigEndian: Bool) -> ChecksumPair {
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
    return ChecksumPair(first, second)
  }

  /// Returns the single bits of `count` bytes that could explain the difference between two
  /// checksums; empty if there are too many.
  ///
  /// The sums are linear: flipping a bit adds to each sum, or subtracts from it, a multiple that
  /// depends only on the bit's position.
  static func flips(
    _ count: Int,
    from found: ChecksumPair,
    to expected: ChecksumPair,
    _ isBigEndian: Bool
  ) -> [WriteAheadLog.Flip] {
    var flips: [WriteAheadLog.Flip] = []
    let difference = (expected.first &- found.first, expected.second &- found.second)
    // The changes of both sums if 1 is added to the first or the second word of a pair, beginning
    // with the last pair of words.
    var factors = [(UInt32(1), UInt32(1)), (UInt32(0), UInt32(1))]
    for pair in stride(from: count - 8, through: 0, by: -8) {
      for (word, factor) in factors.enumerated() {
        for bit in 0..<32 {
          let change = (factor.0 << UInt32(bit), factor.1 << UInt32(bit))
          let isIt = change == difference || (0 &- change.0, 0 &- change.1) == difference
          guard isIt else { continue }
          let byte = isBigEndian ? 3 - bit / 8 : bit / 8
          flips.append(WriteAheadLog.Flip(offset: pair + 4 * word + byte, mask: 1 << (bit % 8)))
          guard flips.count < 1024 else { return [] }
        }
        let first = factor.0 &+ factor.1
        factors[word] = (first, factor.1 &+ first)
      }
    }
    return flips
  }
}

/// A file that is read directly, without SQLite.
private final class RawFile {
  private let descriptor: CInt
  /// The length of the file in bytes.
  let size: Int

  /// Opens the file at `path`; nil if it is not a regular file or cannot be read.
  init?(_ path: String) {
    // Without O_NONBLOCK, opening a pipe that has no writer would block.
    descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG
    else {
      size = 0
      return nil
    }
    size = Int(status.st_size)
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Returns up to `count` bytes; fewer if the file ends or cannot be read.
  func bytes(at offset: Int, _ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, filled in
      // The buffer has `count` bytes, and pread writes and reports at most as many.
      filled = max(0, pread(descriptor, buffer.baseAddress, max(0, count), off_t(offset)))
    }
  }
}
