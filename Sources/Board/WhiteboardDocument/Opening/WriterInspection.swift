import Foundation
import GRDB
import PeerCore

/// The result of inspecting, and if necessary repairing, a file before writing. Implements REC-16 and REC-17.
struct WriterInspection: Sendable {
  let facts: DocumentFacts
  let damages: [String]

  /// Inspects a file before it is opened for writing, and copies it if it is damaged. Throws the reason why the
  /// document cannot be opened for writing. If the method throws, nothing was changed. The inspection opens the file
  /// only for reading. If the file were opened for writing, closing the connection would empty the WAL file.
  init(_ path: String, expecting expected: [UInt8]?) throws {
    // If the file has a transaction to roll back, first roll back the transaction in a copy of the file.
    let copy = try Self.rolledBackCopy(of: path)
    let log = copy == nil ? WriteAheadLog.examine(path) : nil
    try log?.checkOrigin(of: path)
    var repair: String?
    if let log, let damage = log.damage { repair = try Self.replace(path, log, damage, expected) }
    if let problem = DocumentFile.headerDamage(of: path), log?.replacesFirstPage != true {
      throw DocumentFile.headerError(problem, path)
    }
    let own = try DocumentIdentity.withoutLog(path, log: log)
    let database = try copy ?? Connector.connectInPlace(path, .reading)
    defer { try? OpenFiles.close(database) }
    let (facts, found) = try database.read { db in
      let facts = try DocumentFacts(db, at: path)
      try own?.check(db, at: path)
      // After a crash, `meta` does not contain the number of the last log row, so check the pages instead.
      if facts.closed == nil { try Connector.quickCheck(db, at: path) }
      return (facts, LogReader(db, path: path).damages())
    }
    try facts.check(expected, at: path)
    // Make a copy only if there is none yet. The damage may stay in the file, and each opening would copy the file
    // again.
    if !found.isEmpty, DamagedCopies.all(of: path).isEmpty { _ = try DamagedCopies.make(of: path) }
    self.facts = facts
    damages = (repair.map { [$0] } ?? []) + Self.messages(about: found, path)
  }

  private static func messages(about damages: [String], _ path: String) -> [String] {
    guard !damages.isEmpty else { return [] }
    let more = damages.count > 3 ? ["\(damages.count - 3) more problems"] : []
    let copy = DamagedCopies.all(of: path).last.map { "A copy is saved as \($0). " } ?? ""
    return damages.prefix(3).map { "The file is damaged: \($0)." } + more.map { "\($0)." } + [
      copy + "To save its intact data, run: whiteboard-peer boards recover \(shellQuoted(path))"
    ]
  }

  private static func replace(_ path: String, _ log: WriteAheadLog, _ damage: String, _ expected: [UInt8]?) throws
    -> String
  {
    let merged = "\(path).\(UUID().uuidString).part"
    defer { for end in ["", "-wal", "-shm", "-journal"] { unlink(merged + end) } }
    let isComplete = try WALMerge(log, of: path).write(to: merged)
    let database = try Connector.connectInPlace(merged, .reading)
    let facts = try database.read { db in try DocumentFacts(db, at: path) }
    try OpenFiles.close(database)
    try facts.check(expected, at: path)
    var status = stat()
    if stat(path, &status) == 0 { chmod(merged, status.st_mode & 0o7777) }
    let copy = try DamagedCopies.make(of: path)
    // If the program is killed before the WAL file is removed, this repair is repeated when the file is opened again.
    guard rename(merged, path) == 0 else { throw DocumentError.writing(path) }
    for end in ["-wal", "-shm"] { unlink(path + end) }
    try FileSync.synchronize((path as NSString).deletingLastPathComponent)
    return log.message(damage, isComplete: isComplete) + " The damaged file is saved as \(copy)."
      + (isComplete
        ? "" : " To save the intact data of both files, run: whiteboard-peer boards recover \(shellQuoted(path))")
  }

  /// Opens a copy of the file with its last transaction rolled back. Returns nil if there is nothing to roll back.
  /// Throws if the rolled-back file is damaged or belongs to a different board.
  private static func rolledBackCopy(of path: String) throws -> DatabaseQueue? {
    var status = stat()
    guard stat(path + "-journal", &status) == 0, status.st_size > 0 else { return nil }
    try DocumentFile.checkJournal(of: path)
    do {
      guard let database = try Connector.connectToCopy(of: path) else {
        throw DocumentError(
          .inputOutput,
          "\(path): its last transaction must be rolled back, and there is no space to do this on a copy first; "
            + "nothing was changed"
        )
      }
      let own = try DocumentIdentity.withoutLog(path)
      try database.read { db in
        try Connector.quickCheck(db, at: path)
        _ = try DocumentFacts(db, at: path)
        try own?.check(db, at: path)
      }
      return database
    } catch let error as DocumentError where error.code != .damaged { throw error } catch {
      throw DocumentError(
        .damaged,
        "\(path): its -journal file is damaged, or belongs to another file; "
          + "move that file somewhere else and try again; nothing was changed",
        cause: error
      )
    }
  }
}

/// The values in a document that never change: the board's id and the creation time.
struct DocumentIdentity: Sendable {
  private var values: [String: Set<String>] = [:]

  mutating func add(_ columns: [StoredValue]) {
    guard columns.count == 3, let key = columns[0].text, let value = columns[1].text,
      [MetaKey.board.rawValue, MetaKey.created.rawValue].contains(key),
      columns[2].integer == Int64(Meta.checksum(key, value))
    else { return }
    values[key, default: []].insert(value)
  }

  mutating func add(_ db: Database, at path: String) throws {
    for key in [MetaKey.board, .created] {
      if let value = try Meta.get(db, key, at: path) { values[key.rawValue] = [value] }
    }
  }

  func isPart(of other: DocumentIdentity) -> Bool {
    values.allSatisfy { key, found in other.values[key]?.isSuperset(of: found) ?? true }
  }

  var isEmpty: Bool { values.isEmpty }

  /// Reads the identity of a file without its WAL file. Returns nil if the identity is unknown, or if SQLite does not
  /// use the WAL file. If the file and its WAL file together have a different identity, the WAL file belongs to another
  /// file.
  static func withoutLog(_ path: String, log: WriteAheadLog?) throws -> DocumentIdentity? {
    guard let log, log.usable > 0, log.damage == nil else { return nil }
    return try withoutLog(path)
  }

  static func withoutLog(_ path: String) throws -> DocumentIdentity? {
    try OpenFiles.holding(path) { use in use == .none ? try PageScanner(path, readsLog: false).firstIdentity : nil }
  }

  /// Checks that a database is the document with this identity. Throws if the identity differs, because the WAL file
  /// belongs to another file.
  func check(_ db: Database, at path: String) throws {
    var found = Self()
    try found.add(db, at: path)
    guard found.isPart(of: self) else { throw WriteAheadLog.foreignError(path) }
  }
}
