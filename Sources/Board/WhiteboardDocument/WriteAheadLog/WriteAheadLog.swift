import Foundation

/// The write-ahead log (the WAL file) of an SQLite database, read and checked without SQLite.
///
/// Implements REC-16. After a crash, SQLite uses the frames of the WAL file up to the first frame whose checksum does
/// not match. SQLite ignores the frames after that frame without an error, and soon overwrites them. This type reads
/// all frames, and distinguishes the end of a WAL file from damage inside it.
///
/// - Frames with other salts are left from an earlier round. Their pages are in the database file already.
/// - An incomplete frame at the end, and frames without a commit after them, belong to a transaction that was not
///   finished.
/// - A frame of the current round whose checksum fails is damaged if another frame of the round follows it, or if the
///   WAL index (`-shm`) shows that the frame was committed.
/// - If the checksum of the last frame fails, the frame is damaged, or the frame was only partly written over an older
///   frame. The WAL index of the killed writer shows which is the case. Without that index, the frame is treated as
///   damaged.
struct WriteAheadLog: Sendable {
  let pageSize: Int
  /// The frames of the current round, in order, including the frames that SQLite does not reach.
  private var content = WALFrames()
  /// Whether every page that was committed is in an intact frame.
  private(set) var isComplete = true
  /// Whether the WAL file has all committed frames, and all pages that the database file lacks.
  private var isIndexed = true
  /// A description of the damage; nil if SQLite reads everything that was committed.
  private(set) var damage: String?
  /// Whether the database file has less than one page, so that SQLite cannot use its WAL file.
  private(set) var isFileCut = false
  private(set) var isForeign = false

  /// Whether the WAL file has pages, but its index is missing, so that nothing shows where the WAL file should end.
  private(set) var lacksIndex = false

  var frames: [WALFrame] { content.frames }

  var usable: Int { content.usable }

  /// The frames up to the last commit, even if SQLite does not reach that commit.
  var committedFrames: ArraySlice<WALFrame> { frames.prefix(content.committed) }

  var replacesFirstPage: Bool { frames.prefix(usable).contains { $0.page == 1 } }

  /// Reads the WAL file of the database at `path`. Returns nil if there is no WAL file, if it is empty, or if this
  /// process writes the database. Another process may write at the same time, so damage is reported only if it is found
  /// twice. O(*n*), where *n* is the size of the WAL file.
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

  init?(_ path: String, onlyLog isOnly: Bool = false) {
    let log = RawFile(path + "-wal")
    let main = isOnly ? nil : RawFile(path)
    // A database that was closed uses no WAL file, so an existing WAL index does not belong to it.
    let mayHaveIndex = !isOnly && main?.bytes(at: 18, 1) != [1]
    let index = mayHaveIndex ? WALIndex(path + "-shm") : nil
    guard let log, log.size > 0 else {
      guard let index, index.committed > 0 else { return nil }
      pageSize = index.pageSize
      damage = "it is \(log == nil ? "missing" : "empty"), but should contain \(Self.pages(index.committed))"
      isComplete = false
      return
    }
    let mainPageSize = main.flatMap { SQLiteFormat.pageSize(of: $0.bytes(at: 16, 2)) }
    let header = WALHeader(log.bytes(at: 0, WALHeader.size))
    pageSize = header?.pageSize ?? index?.pageSize ?? mainPageSize ?? 4096
    let slots = max(0, log.size - WALHeader.size) / (WALFrame.headerSize + pageSize)
    let salts = header?.salts ?? index?.salts ?? commonSalts(log, slots)
    content = WALFrames(log, slots, pageSize: pageSize, salts: salts, isHeaderIntact: header != nil)
    let current = index?.salts == salts ? index : nil
    judge(header, current, slots)
    lacksIndex = mayHaveIndex && DocumentFile.size(of: path + "-shm") == nil && slots > 0
    let isOfIndex = current != nil || index?.committed ?? 0 == 0
    if damage == nil, !isOfIndex { damage = "its index (the file that ends in -shm) belongs to a different log" }
    isIndexed = isOfIndex && current?.committed ?? 0 <= frames.count
    isComplete = isIndexed && content.isIntact
    checkLength(of: path, mainPageSize ?? pageSize, slots)
    guard let main, let mainPageSize, usable > 0, damage == nil else { return }
    isForeign = mainPageSize != pageSize || (main.bytes(at: 18, 1) == [1] && differs(log, main))
  }

  /// The damaged frame for which several repairs are possible, and the results of these repairs. The value is nil
  /// unless there is exactly one such frame, and the frame was committed.
  var ambiguousFrame: (slot: Int, candidates: [WALFrame])? {
    guard content.candidates.count == 1, let (slot, candidates) = content.candidates.first, slot < content.committed
    else { return nil }
    return (slot, candidates)
  }

  func replacing(_ slot: Int, with candidate: WALFrame) -> WriteAheadLog {
    var copy = self
    copy.content = content.replacing(slot, with: candidate)
    copy.isComplete = isIndexed && copy.content.isIntact
    return copy
  }

  /// Sets ``damage`` if there are committed frames after the frames that SQLite uses.
  private mutating func judge(_ header: WALHeader?, _ index: WALIndex?, _ slots: Int) {
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
        content.firstUnused.map { slot in
          "frame \(slot + 1) cannot be read, and SQLite ignores \(missing) from there on"
        } ?? "it is cut short, and \(missing) are missing"
      return
    }
    guard let first = content.firstUnused else { return }
    // Only the index of the writer itself proves that there were no more frames. The index of a later reader does not.
    let isKnown = index.map { $0.isOfWriter && $0.committed == usable } ?? false
    let hasCommitBehind = frames[min(first + 1, frames.count)...].contains { $0.commit > 0 }
    guard !isKnown || hasCommitBehind else { return }
    let missing = Self.pages(frames.count - first)
    damage = "frame \(first + 1) cannot be read, and SQLite ignores \(missing) from there on"
  }

  /// Sets ``damage`` if the database file at `path` is missing or shorter than a page, although the WAL file has pages.
  /// A program writes at least one page of the database file before it writes a WAL file. SQLite deletes the WAL file
  /// of an empty database, even if it opens the database only for reading.
  private mutating func checkLength(of path: String, _ least: Int, _ slots: Int) {
    let size = DocumentFile.size(of: path)
    guard size ?? 0 < least, slots > 0 else { return }
    isFileCut = true
    let length = size.map { $0 == 0 ? "empty" : "cut off after \($0) bytes" } ?? "missing"
    let log = damage.map { "is damaged, too: \($0)" } ?? "is intact"
    damage = "it is \(length); its log (the file that ends in -wal) \(log)"
    let pages = Set(frames.prefix(content.committed).map(\.page))
    let last = frames.last { $0.commit > 0 }?.commit ?? 0
    isIndexed = isIndexed && last > 0 && pages.isSuperset(of: 1...max(1, last))
    isComplete = isComplete && isIndexed
  }

  /// Returns whether pages of the WAL file differ from the pages of a database that was closed.
  private func differs(_ log: RawFile, _ main: RawFile) -> Bool {
    content.newest(upTo: usable).contains { page, slot in
      // Skip the header on the first page: this header contains the journal mode and counters.
      let from = page == 1 ? 100 : 0
      let logged = log.bytes(at: offset(slot) + WALFrame.headerSize + from, pageSize - from)
      return main.bytes(at: (page - 1) * pageSize + from, pageSize - from) != logged
    }
  }

  /// Returns the most common salts of the first three frames.
  private func commonSalts(_ log: RawFile, _ slots: Int) -> [UInt8] {
    let first = (0..<min(3, slots)).map { log.bytes(at: offset($0) + 8, 8) }
    return first.first { salts in first.count { $0 == salts } > 1 } ?? first.first ?? []
  }

  /// Returns the page in a frame as it is stored in the WAL file; empty if the page cannot be read.
  func storedPage(_ slot: Int, in file: RawFile?) -> [UInt8] {
    file?.bytes(at: offset(slot) + WALFrame.headerSize, pageSize) ?? []
  }

  private func offset(_ slot: Int) -> Int { WALFrame.offset(slot, pageSize: pageSize) }

  private static func pages(_ count: Int) -> String { count == 1 ? "1 page" : "\(count) pages" }
}

extension WriteAheadLog {
  func checkOrigin(of path: String) throws(DocumentError) { guard !isForeign else { throw Self.foreignError(path) } }

  static func foreignError(_ path: String) -> DocumentError {
    DocumentError(
      .damaged,
      "\(path): its -wal file belongs to a different file; move it somewhere else and try again; "
        + "nothing was changed"
    )
  }

  func message(_ damage: String, isComplete: Bool) -> String {
    (isFileCut ? "The file" : "The log of the file (the file that ends in -wal)") + " is damaged: \(damage). "
      + (isComplete
        ? "All changes in it could still be read."
        : "Some \(isFileCut ? "changes" : "of the last changes") may be missing.")
  }
}
