import Foundation
import GRDB

/// A merge of a WAL file into a copy of its database file, so that the copy needs no WAL file. Implements REC-17.
struct WALMerge {
  private enum Choice: CaseIterable {
    /// All frames up to the last commit, even damaged frames. Most bytes of a damaged page are intact, and the
    /// checksums of rows show which rows are intact.
    case all
    /// The intact frames up to the last commit.
    case intact
    case usable
  }

  private enum Condition {
    case sound
    /// The file is damaged, but a board can be read from it.
    case readable
    case unreadable
  }

  /// The maximum number of bytes to read while finding the damaged bit of a page.
  private static let readLimit = 64 << 20

  private let log: WriteAheadLog
  private let path: String

  init(_ log: WriteAheadLog, of path: String) {
    self.log = log
    self.path = path
  }

  /// Creates a copy of the database file that contains as many changes from the WAL file as possible.
  ///
  /// - Returns: Whether the copy contains all committed changes.
  /// - Throws: `full`, `readOnly`, `inputOutput`; `damaged` if SQLite can read none of the possible copies.
  func write(to target: String) throws -> Bool {
    var readable: Choice?
    // Each attempt reads the whole file, so large files get fewer attempts.
    let size = (DocumentFile.size(of: path) ?? 0) + log.frames.count * log.pageSize
    let attempts = max(4, Self.readLimit / max(1, size))
    for variant in variants(upTo: attempts) {
      try variant.write(.all, to: target)
      if case .sound = Self.condition(of: target) { return variant.log.isComplete }
    }
    for choice in Choice.allCases {
      try write(choice, to: target)
      switch Self.condition(of: target) {
      case .sound: return choice == .all && log.isComplete
      case .readable: readable = readable ?? choice
      case .unreadable: break
      }
    }
    guard let readable else {
      throw DocumentError(
        .damaged,
        "\(path): \(log.isFileCut ? "the file is" : "its -wal file is") damaged, and the board cannot "
          + "be read without it; "
          + "'whiteboard-peer boards recover' tries to save what can still be read; nothing was changed"
      )
    }
    try write(readable, to: target)
    return false
  }

  /// Returns merges for several versions of the WAL file, the likeliest first; empty unless exactly one frame has
  /// several possible repairs. Each version repairs a different bit of that frame. The likeliest bit is one whose
  /// repair makes its byte equal to the same byte of the page's earlier version.
  private func variants(upTo count: Int) -> [WALMerge] {
    guard let (slot, candidates) = log.ambiguousFrame else { return [] }
    let (frames, pageSize) = (log.frames, log.pageSize)
    let page = frames[slot].page
    let file = RawFile(path + "-wal")
    let damaged = log.storedPage(slot, in: file)
    let earlier = frames[..<slot].lastIndex { $0.page == page }
    let before =
      earlier.map { log.storedPage($0, in: file) } ?? RawFile(path)?.bytes(at: (page - 1) * pageSize, pageSize) ?? []
    func rank(_ frame: WALFrame) -> Int {
      guard let flip = frame.flip, flip.offset < min(before.count, damaged.count) else { return 1 }
      if damaged[flip.offset] ^ flip.mask == before[flip.offset] { return 0 }
      return damaged[flip.offset] == before[flip.offset] ? 2 : 1
    }
    // Limit the page number, since a damaged page number could make the file arbitrarily large.
    let greatest = greatestPage + frames.count + (DocumentFile.size(of: path) ?? 0) / pageSize
    return candidates.filter { (1...greatest).contains($0.page) && $0.commit <= greatest }.enumerated().sorted {
      (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
    }.prefix(count).map { WALMerge(log.replacing(slot, with: $1), of: path) }
  }

  private var greatestPage: Int { log.frames.lazy.filter(\.isIntact).map { max($0.page, $0.commit) }.max() ?? 0 }

  private func write(_ choice: Choice, to target: String) throws(DocumentError) {
    unlink(target)
    try DamagedCopies.copy(path, to: target, orEmpty: log.isFileCut)
    let descriptor = open(target, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw .writing(target) }
    defer { close(descriptor) }
    let file = RawFile(path + "-wal")
    let pageSize = log.pageSize
    let chosen = choice == .usable ? log.frames.prefix(log.usable) : log.committedFrames
    // Limit the page number, since a damaged page number could make the file arbitrarily large.
    let greatest = max(1, greatestPage)
    for (slot, frame) in chosen.enumerated() {
      guard frame.isIntact || (choice == .all && (1...greatest).contains(frame.page)) else { continue }
      var content = log.storedPage(slot, in: file)
      guard content.count == pageSize else { throw .writing(path) }
      frame.repair(&content)
      guard pwrite(descriptor, content, pageSize, off_t((frame.page - 1) * pageSize)) == pageSize else {
        throw .writing(target)
      }
    }
    if let end = chosen.last(where: { $0.isIntact && $0.commit > 0 }),
      ftruncate(descriptor, off_t(end.commit * pageSize)) != 0
    {
      throw .writing(target)
    }
    // Change the header of the copy, so that SQLite expects a rollback journal instead of a WAL file.
    guard pwrite(descriptor, [1, 1], 2, 18) == 2, fsync(descriptor) == 0 else { throw .writing(target) }
  }

  private static func condition(of path: String) -> Condition {
    do {
      let database = try Connector.connectInPlace(path, .reading)
      defer { try? OpenFiles.close(database) }
      return try database.read { db in
        try Schema.check(db, at: path)
        let reader = LogReader(db, path: path)
        if reader.damages().isEmpty { return .sound }
        try Connector.quickCheck(db, at: path)
        _ = try reader.content(upTo: nil)
        return .readable
      }
    } catch { return .unreadable }
  }
}
