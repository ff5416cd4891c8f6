import Foundation
import GRDB

/// The checks and repairs that precede a writer's first change; implements REC-16 and REC-17.
extension Opened {
  /// The result of inspecting a file before writing.
  struct Look: Sendable {
    let facts: Facts
    let damages: [String]
  }

  /// Inspects a file before it is opened for writing, and copies it if it is damaged.
  ///
  /// The file is opened for reading. If it were opened for writing and then refused, closing the
  /// connection would empty the log.
  /// - Throws: The reason why the document cannot be opened for writing; then nothing was changed.
  static func lookBeforeWriting(_ path: String, _ expected: [UInt8]?) throws -> Look {
    // If SQLite would roll back a transaction, do it on a copy of the file first.
    let copy = try undone(path)
    let log = copy == nil ? WriteAheadLog.examine(path) : nil
    try log?.checkOrigin(of: path)
    var mended: String?
    if let log, let damage = log.damage {
      mended = try mend(path, log, damage, expected)
    }
    if let problem = headerDamage(of: path), log?.replacesFirstPage != true {
      throw headerError(problem, path)
    }
    let own = try identity(of: path, with: log)
    let database = try copy ?? connectOnce(path, .reading)
    defer { try? OpenFiles.close(database) }
    let (facts, found) = try database.read { db in
      let facts = try Facts(db, at: path)
      try own?.check(db, at: path)
      // After a crash, `meta` does not have the log's length, so check the pages instead.
      if facts.closed == nil { try quickCheck(db, at: path) }
      return (facts, LogReader(db, path: path).damages())
    }
    try facts.check(expected, at: path)
    // If the damage stays in the file, the next opening makes no further copy.
    if !found.isEmpty, KeptAside.copies(of: path).isEmpty { _ = try KeptAside.keep(path) }
    return Look(facts: facts, damages: (mended.map { [$0] } ?? []) + told(found, path))
  }

  /// Returns a few lines for the user that describe the damage and the remedy.
  private static func told(_ damages: [String], _ path: String) -> [String] {
    guard !damages.isEmpty else { return [] }
    let more = damages.count > 3 ? ["\(damages.count - 3) more problems"] : []
    let kept = KeptAside.copies(of: path).last.map { "A copy is saved as \($0). " } ?? ""
    return damages.prefix(3).map { "The file is damaged: \($0)." } + more.map { "\($0)." } + [
      kept + "Run 'whiteboard-peer boards recover \(path)' to save its intact data."
    ]
  }

  /// Replaces a file whose log is damaged with one that contains all readable pages of the log.
  /// - Returns: A description of the damage, for the user.
  private static func mend(
    _ path: String,
    _ log: WriteAheadLog,
    _ damage: String,
    _ expected: [UInt8]?
  ) throws -> String {
    let merged = "\(path).\(UUID().uuidString).part"
    defer { for end in ["", "-wal", "-shm", "-journal"] { unlink(merged + end) } }
    let isComplete = try log.mergeBest(of: path, at: merged)
    let database = try connectOnce(merged, .reading)
    let facts = try database.read { db in try Facts(db, at: path) }
    try OpenFiles.close(database)
    try facts.check(expected, at: path)
    var status = stat()
    if stat(path, &status) == 0 { chmod(merged, status.st_mode & 0o7777) }
    let copy = try KeptAside.keep(path)
    // If the program is killed before the log is removed, the next opening repeats this.
    guard rename(merged, path) == 0 else { throw DocumentError.writing(path) }
    for end in ["-wal", "-shm"] { unlink(path + end) }
    try FileSync.synchronize((path as NSString).deletingLastPathComponent)
    return log.words(damage, isComplete: isComplete) + " The damaged file is saved as \(copy)."
      + (isComplete ? "" : " Run 'whiteboard-peer boards recover \(path)' to save data of both.")
  }

  /// Opens a temporary file that contains all readable pages of a damaged log; closing it removes
  /// it.
  static func connectToMerged(
    _ log: WriteAheadLog,
    of path: String
  ) throws -> (database: DatabaseQueue, isComplete: Bool) {
    guard let directory = temporaryDirectory() else {
      throw DocumentError.writing(NSTemporaryDirectory())
    }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let copy = directory + "/merged.whiteboard"
    let isComplete = try log.mergeBest(of: path, at: copy)
    return (try connectOnce(copy, .reading), isComplete)
  }

  /// Opens a copy of the file with its last transaction rolled back; nil if there is nothing to
  /// roll back.
  /// - Throws: `damaged` if the rolled-back file is damaged or belongs to a different board.
  private static func undone(_ path: String) throws -> DatabaseQueue? {
    var status = stat()
    guard stat(path + "-journal", &status) == 0, status.st_size > 0 else { return nil }
    try checkJournal(of: path)
    do {
      guard let database = try connectToCopy(of: path) else {
        throw DocumentError(
          .inputOutput,
          "\(path): its last transaction must be rolled back, and there is no space to do this on a copy first; "
            + "nothing was changed"
        )
      }
      let own = try identity(of: path)
      try database.read { db in
        try quickCheck(db, at: path)
        _ = try Facts(db, at: path)
        try own?.check(db, at: path)
      }
      return database
    } catch let error as DocumentError where error.code != .damaged {
      throw error
    } catch {
      throw DocumentError(
        .damaged,
        "\(path): its -journal file is damaged, or belongs to another file; "
          + "move it away and try again; nothing was changed",
        cause: error
      )
    }
  }

  /// Returns the identity of a file without its log; nil if SQLite does not use the log, or if the
  /// identity is unknown.
  ///
  /// If the identity with the log is different, the log belongs to another file.
  static func identity(
    of path: String,
    with log: WriteAheadLog?
  ) throws -> PageScanner.Identity? {
    guard let log, log.usable > 0, log.damage == nil else { return nil }
    return try identity(of: path)
  }

  private static func identity(of path: String) throws -> PageScanner.Identity? {
    try OpenFiles.holding(path) { use in
      use == .none ? try PageScanner(path, readsLog: false).firstIdentity : nil
    }
  }
}

extension PageScanner.Identity {
  /// Throws `damaged` if a database is a different document.
  func check(_ db: Database, at path: String) throws {
    var found = Self()
    try found.take(db, at: path)
    guard found.isPart(of: self) else { throw WriteAheadLog.strange(path) }
  }
}

extension WriteAheadLog {
  /// Throws `damaged` if the log was written for another file.
  func checkOrigin(of path: String) throws(DocumentError) {
    guard !isForeign else { throw Self.strange(path) }
  }

  /// Returns the error for a log that was written for another file.
  static func strange(_ path: String) -> DocumentError {
    DocumentError(
      .damaged,
      "\(path): its -wal file belongs to another file; move it away and try again; "
        + "nothing was changed"
    )
  }

  /// Returns the message to the user about a damaged log.
  func words(_ damage: String, isComplete: Bool) -> String {
    (isFileCut ? "The file" : "The log of the file (the file that ends in -wal)")
      + " is damaged: \(damage). "
      + (isComplete
        ? "All changes in it could still be read."
        : "Some \(isFileCut ? "changes" : "of the last changes") may be missing.")
  }

  /// Creates a copy of the file at `path` that contains as many changes of the log as possible.
  /// - Returns: Whether the copy contains all committed changes.
  /// - Throws: `damaged` if no such file can be read; `full`, `readOnly`, `inputOutput`.
  func mergeBest(of path: String, at target: String) throws -> Bool {
    var readable: Choice?
    // Each attempt reads the whole file, so large files get fewer attempts.
    let size = (Opened.size(of: path) ?? 0) + frames.count * pageSize
    let attempts = max(4, Self.readLimit / max(1, size))
    for variant in variants(of: path, upTo: attempts) {
      try variant.make(.all, of: path, at: target)
      if case .sound = Self.state(of: target) { return variant.isComplete }
    }
    for choice in Choice.allCases {
      try make(choice, of: path, at: target)
      switch Self.state(of: target) {
      case .sound: return choice == .all && isComplete
      case .readable: readable = readable ?? choice
      case .unreadable: break
      }
    }
    guard let readable else {
      throw DocumentError(
        .damaged,
        "\(path): \(isFileCut ? "the file is" : "its -wal file is") damaged, and the board cannot "
          + "be read without it; "
          + "'whiteboard-peer boards recover' tries to save what can still be read; nothing was changed"
      )
    }
    try make(readable, of: path, at: target)
    return false
  }

  /// The greatest number of bytes to read while finding the damaged bit of a page.
  private static let readLimit = 64 << 20

  private func make(_ choice: Choice, of path: String, at target: String) throws(DocumentError) {
    unlink(target)
    try KeptAside.copy(path, to: target, orEmpty: isFileCut)
    try merge(choice, of: path, into: target)
  }

  private enum State {
    /// The file has no damage.
    case sound
    /// The file is damaged, but a board can be read from it.
    case readable
    case unreadable
  }

  private static func state(of path: String) -> State {
    do {
      let database = try Opened.connectOnce(path, .reading)
      defer { try? OpenFiles.close(database) }
      return try database.read { db in
        try Schema.check(db, at: path)
        let reader = LogReader(db, path: path)
        if reader.damages().isEmpty { return .sound }
        try Opened.quickCheck(db, at: path)
        _ = try reader.content(upTo: nil)
        return .readable
      }
    } catch {
      return .unreadable
    }
  }
}
