import Foundation
import GRDB

/// The checks and repairs that precede a writer's first change; implements REC-16 and REC-17.
extension Opened {
  /// What a writer knows before it writes.
  struct Look: Sendable {
    let facts: Facts
    let damages: [String]
  }

  /// Looks at a file without changing it, and keeps a copy of it if it is damaged.
  ///
  /// The look is that of a reader: when SQLite closes a writer's connection, it empties the log, even if the
  /// document is refused.
  /// - Throws: Why the document must not be written; then nothing was changed.
  static func lookBeforeWriting(_ path: String, _ expected: [UInt8]?) throws -> Look {
    // What SQLite would undo is undone on a copy first.
    let copy = try undone(path)
    let log = copy == nil ? WriteAheadLog.examine(path) : nil
    try log?.checkOrigin(of: path)
    var mended: String?
    if let log, let damage = log.damage {
      mended = try mend(path, log, damage, expected)
    }
    let own = try identity(of: path, with: log)
    let database = try copy ?? connectOnce(path, .reading)
    defer { try? OpenFiles.close(database) }
    let (facts, found) = try database.read { db in
      let facts = try Facts(db, at: path)
      try own?.check(db, at: path)
      // After a crash nothing else says how long the log was.
      if facts.closed == nil { try quickCheck(db, at: path) }
      return (facts, LogReader(db, path: path).damages(isQuick: true))
    }
    try facts.check(expected, at: path)
    // One copy is enough for damage that stays in the file.
    if !found.isEmpty, KeptAside.copies(of: path).isEmpty { _ = try KeptAside.keep(path) }
    return Look(facts: facts, damages: (mended.map { [$0] } ?? []) + told(found, path))
  }

  /// A few lines about damage, with what to do.
  private static func told(_ damages: [String], _ path: String) -> [String] {
    guard !damages.isEmpty else { return [] }
    let more = damages.count > 3 ? ["\(damages.count - 3) more damages"] : []
    let kept = KeptAside.copies(of: path).last.map { "A copy is kept as \($0). " } ?? ""
    return damages.prefix(3).map { "The file is damaged: \($0)." } + more.map { "\($0)." } + [
      kept + "Run 'whiteboard-peer boards recover \(path)' to save what it still holds."
    ]
  }

  /// Puts a file with everything that can be read of the log in the place of one whose log is damaged.
  /// - Returns: What happened, in words.
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
    // Until the log is gone, opening again does the same again.
    guard rename(merged, path) == 0 else { throw DocumentError.writing(path) }
    for end in ["-wal", "-shm"] { unlink(path + end) }
    try FileSync.synchronize((path as NSString).deletingLastPathComponent)
    return log.words(damage, isComplete: isComplete) + " The damaged file is kept as \(copy)."
      + (isComplete ? "" : " Run 'whiteboard-peer boards recover \(path)' to save what both hold.")
  }

  /// Opens a file with everything that can be read of a damaged log, which is gone when it is closed.
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

  /// The file with its last step undone, as a copy; nil if there is nothing to undo.
  /// - Throws: `damaged` if undoing makes it another board, or damages it.
  private static func undone(_ path: String) throws -> DatabaseQueue? {
    var status = stat()
    guard stat(path + "-journal", &status) == 0, status.st_size > 0 else { return nil }
    try checkJournal(of: path)
    do {
      guard let database = try connectToCopy(of: path) else {
        throw DocumentError(
          .inputOutput,
          "\(path): its last step must be undone, and there is no room to try that on a copy; "
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
        "\(path): the file beside it that ends in -journal is damaged, or belongs to another file; "
          + "move it away and try again; nothing was changed",
        cause: error
      )
    }
  }

  /// What a file is without its log, if SQLite uses the log; nil if that cannot be told.
  ///
  /// With its log it is something else if that is the log of another file.
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
  /// Refuses a database that is another document.
  func check(_ db: Database, at path: String) throws {
    var found = Self()
    try found.take(db, at: path)
    guard found.isPart(of: self) else { throw WriteAheadLog.strange(path) }
  }
}

extension WriteAheadLog {
  /// Refuses a log that was written for another file.
  func checkOrigin(of path: String) throws(DocumentError) {
    guard !isForeign else { throw Self.strange(path) }
  }

  /// The error of a log that was written for another file.
  static func strange(_ path: String) -> DocumentError {
    DocumentError(
      .damaged,
      "\(path): the file beside it that ends in -wal belongs to another file; move it away and try again; "
        + "nothing was changed"
    )
  }

  /// What to say about a damaged log.
  func words(_ damage: String, isComplete: Bool) -> String {
    "The log of the file (the file that ends in -wal) is damaged: \(damage). "
      + (isComplete
        ? "Every change was read from it all the same."
        : "Some of the last changes may be missing.")
  }

  /// Makes a file at `target` that has as much as possible of the file at `path` and its log.
  /// - Returns: Whether it has everything that was committed.
  /// - Throws: `damaged` if no such file can be read; `full`, `readOnly`, `inputOutput`.
  func mergeBest(of path: String, at target: String) throws -> Bool {
    var readable: Choice?
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
        "\(path): its -wal file is damaged, and the board cannot be read without it; "
          + "'whiteboard-peer boards recover' saves what both still hold; nothing was changed"
      )
    }
    try make(readable, of: path, at: target)
    return false
  }

  private func make(_ choice: Choice, of path: String, at target: String) throws(DocumentError) {
    unlink(target)
    try KeptAside.copy(path, to: target)
    try merge(choice, of: path, into: target)
  }

  private enum State {
    /// Nothing is damaged.
    case sound
    /// A board can be made of it.
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
