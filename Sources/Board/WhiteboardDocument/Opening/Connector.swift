import Foundation
import GRDB

/// Opens the databases of documents, so that no damage is hidden or made worse. Implements REC-1 and REC-16.
enum Connector {
  static func connect(_ path: String, _ mode: BoardDocument.Mode) throws -> DatabaseQueue {
    try connectReportingDamage(path, mode).database
  }

  /// Opens the database at `path`, and returns descriptions of the damage in its WAL file. A process that was killed
  /// may have left a transaction that must be rolled back. Reading must not write to a recording (REC-1), so in the
  /// mode `reading` the transaction is rolled back in a copy of the file. If the WAL file is damaged, the mode
  /// `reading` opens a copy that contains all readable pages of the WAL file (REC-16).
  static func connectReportingDamage(_ path: String, _ mode: BoardDocument.Mode) throws -> (
    database: DatabaseQueue, damages: [String]
  ) {
    guard mode == .reading else { return (try connectInPlace(path, mode), []) }
    let log = WriteAheadLog.examine(path)
    if let log {
      try log.checkOrigin(of: path)
      if let damage = log.damage {
        let merged = try connectToMerged(log, of: path)
        return (merged.database, [log.message(damage, isComplete: merged.isComplete)])
      }
    }
    let header = DocumentFile.headerDamage(of: path)
    do {
      let own = try DocumentIdentity.withoutLog(path, log: log)
      let database: DatabaseQueue
      if let log, log.lacksIndex {
        // SQLite would create a new index, and hide that the original index is missing.
        database = try connectToMerged(log, of: path).database
      } else {
        database = try connectInPlace(path, mode)
      }
      if let own { try database.read { db in try own.check(db, at: path) } }
      return (database, header.map { ["The file is damaged: \($0)."] } ?? [])
    } catch let error as DatabaseError
      where [.SQLITE_READONLY, .SQLITE_CANTOPEN, .SQLITE_IOERR, .SQLITE_FULL].contains(error.resultCode)
    {
      // On a disk that accepts no data, SQLite cannot create the WAL index, so open a copy.
      return (try connectToCopy(of: path) ?? { throw error }(), [])
    } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
      guard let header else { throw error }
      throw DocumentFile.headerError(header, path)
    }
  }

  static func connectToCopy(of path: String) throws -> DatabaseQueue? {
    let files = FileManager.default
    try DocumentFile.checkNotEmpty(of: path)
    guard let directory = temporaryDirectory() else { return nil }
    defer { try? files.removeItem(atPath: directory) }
    let copy = directory + "/copy.whiteboard"
    for end in ["", "-journal", "-wal"] where files.fileExists(atPath: path + end) {
      guard (try? files.copyItem(atPath: path + end, toPath: copy + end)) != nil else { return nil }
    }
    try OpenFiles.close(connectInPlace(copy, .writing))
    return try connectInPlace(copy, .reading)
  }

  /// Creates a directory that only this user can read; nil if that is not possible. If the usual directory is on a disk
  /// that accepts no data, the new directory is in memory.
  static func temporaryDirectory() -> String? {
    let places = [NSTemporaryDirectory(), "/dev/shm"]
    for place in places.filter({ DiskCondition.systemError(at: $0) == 0 }) + places {
      let path = place + "/whiteboard-\(UUID().uuidString)"
      let made: Void? = try? FileManager.default.createDirectory(
        atPath: path,
        withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700]
      )
      if made != nil { return path }
    }
    return nil
  }

  /// Opens a temporary database that contains all readable pages of a damaged WAL file. The temporary file is removed
  /// before this function returns. Its space is freed when the database is closed.
  static func connectToMerged(_ log: WriteAheadLog, of path: String) throws -> (
    database: DatabaseQueue, isComplete: Bool
  ) {
    guard let directory = temporaryDirectory() else { throw DocumentError.writing(NSTemporaryDirectory()) }
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let copy = directory + "/merged.whiteboard"
    let isComplete = try WALMerge(log, of: path).write(to: copy)
    return (try connectInPlace(copy, .reading), isComplete)
  }

  /// Opens the database at `path` without examining its WAL file, which the caller must have examined. Throws if the
  /// file is empty, has a journal that names another file, has the tables of another program, or has values that are
  /// too long.
  static func connectInPlace(_ path: String, _ mode: BoardDocument.Mode) throws -> DatabaseQueue {
    try DocumentFile.checkNotEmpty(of: path)
    try DocumentFile.checkJournal(of: path)
    var configuration = Configuration()
    configuration.label = "whiteboard document"
    configuration.readonly = mode == .reading
    configuration.busyMode = .timeout(2)
    configuration.observesSuspensionNotifications = false
    let database = try OpenFiles.connecting(to: path, mode) {
      try DatabaseQueue(path: path, configuration: configuration)
    }
    // This first read fails if a killed process left a transaction that must be rolled back.
    try database.read { db in
      _ = try Int.fetchOne(db, sql: "PRAGMA schema_version")
      try Schema.checkTables(db, at: path)
      try StoredSizes.check(db, at: path)
    }
    return database
  }

  /// Checks the pages of a database, but not its indices. Throws if pages are damaged.
  static func quickCheck(_ db: Database, at path: String) throws {
    let found = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? "nothing"
    guard found == "ok" else {
      throw DocumentError(
        .damaged,
        "\(path): its pages are damaged (\(found)); 'whiteboard-peer boards recover' tries to save what can still be read"
      )
    }
  }
}

enum DiskCondition {
  static func code(_ number: Int32) -> DocumentError.Code? {
    switch number {
    case ENOSPC: .full
    case EDQUOT: .quota
    case EROFS, EACCES, EPERM: .readOnly
    case EIO: .inputOutput
    default: nil
    }
  }

  static func words(_ number: Int32) -> String? {
    switch number {
    case ENOSPC: "the disk is full; saved changes are not lost; free some space"
    case EDQUOT: "the disk quota is used up; saved changes are not lost; free some space"
    case EROFS: "the disk is read-only; saved changes are not lost; make it writable, or save a copy elsewhere"
    case EACCES, EPERM:
      "the file is not writable; saved changes are not lost; make it writable, or save a copy elsewhere"
    case EIO: "the disk reports an error; unacknowledged changes were not saved"
    default: nil
    }
  }

  /// Returns the `errno` that a write to the file at `path` would cause now, according to the state of the disk.
  /// Returns 0 if no reason for a failure is apparent. SQLite does not always report the `errno` of a failed call.
  static func systemError(at path: String) -> Int32 {
    var status = statvfs()
    let directory = (path as NSString).deletingLastPathComponent
    guard statvfs(path, &status) == 0 || statvfs(directory.isEmpty ? "." : directory, &status) == 0 else { return 0 }
    if status.f_flag & UInt(ST_RDONLY) != 0 { return EROFS }
    return status.f_blocks > 0 && status.f_bavail == 0 ? ENOSPC : 0
  }
}

extension DocumentError {
  /// Creates the error for a file that could not be created or opened for writing, from `errno`; without `rest`, the
  /// message ends with the usual advice.
  static func creating(_ path: String, _ rest: String? = nil) -> DocumentError {
    let number = errno
    let words = DiskCondition.words(number) ?? String(cString: strerror(number))
    let message = rest.map { "\(words.prefix { $0 != ";" }); \($0)" } ?? words
    return DocumentError(DiskCondition.code(number) ?? .readOnly, "\(path): \(message)")
  }
}
