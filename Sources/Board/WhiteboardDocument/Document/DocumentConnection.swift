import Foundation
import GRDB
import GRDBSQLite

/// The database connection of an open document. The connection runs code on the serial queue of the database, and
/// converts all errors to ``DocumentError``.
struct DocumentConnection: Sendable {
  let path: String
  let database: DatabaseQueue
  let files: StoredFiles?
  /// Nil if the document is open only for reading.
  let checkpointer: Checkpointer?

  func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try await run { db in try Self.transaction(.deferred, db, body) }.get()
  }

  /// Runs `body` in one write transaction. If this method throws, nothing is stored. Throws the error of `body` or of
  /// the commit, or `removed` if the file is no longer at its path.
  func write<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws(DocumentError) -> T {
    try await run { [files, checkpointer] db in
      let result = try Self.transaction(.immediate, db, body)
      checkpointer?.didCommit(db)
      try files?.check()
      return result
    }.get()
  }

  /// Runs steps in one transaction. Returns the end of the log after these steps, and whether the file is still at its
  /// path. Blocks the caller, which must run on the thread of the document, because a change of threads takes longer
  /// than most commits.
  func commit(_ steps: [LogWriter.Step], after tail: LogTail) -> Result<(tail: LogTail, isThere: Bool), DocumentError> {
    database.writeWithoutTransaction { db in
      result(db) { db in
        var after = tail
        try Self.transaction(.immediate, db) { db in try LogWriter.perform(steps, db, &after) }
        checkpointer?.didCommit(db)
        return (after, isThere: files?.areThere ?? true)
      }
    }
  }

  private static func transaction<T>(_ kind: Database.TransactionKind, _ db: Database, _ body: (Database) throws -> T)
    throws -> T
  {
    var result: T?
    try db.inTransaction(kind) {
      result = try body(db)
      return .commit
    }
    guard let result else { preconditionFailure("a committed transaction has a result") }
    return result
  }

  /// Runs `body` on the queue of the database, even if the caller's task is canceled.
  func run<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async -> Result<T, DocumentError> {
    await withCheckedContinuation { continuation in
      database.asyncWriteWithoutTransaction { db in continuation.resume(returning: result(db, body)) }
    }
  }

  private func result<T>(_ db: Database, _ body: (Database) throws -> T) -> Result<T, DocumentError> {
    do { return .success(try body(db)) } catch {
      let isDiskError =
        ((error as? DatabaseError)?.resultCode).map {
          [.SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY].contains($0)
        } ?? false
      if isDiskError, let files, !files.areThere { return .failure(.removed(path)) }
      return .failure(.from(error, at: path, systemError: Self.systemError(of: db)))
    }
  }

  /// Closes the database, even if this method returns an error. A document that was open for writing becomes a single
  /// file.
  func close(at tail: LogTail) async -> DocumentError? {
    await checkpointer?.stop()
    let failure: DocumentError? = await run { [files] db in
      guard let files else { return }
      do { try files.check() } catch {
        // SQLite would remove the files by name, but another document may have files with these names by now.
        Self.preventLogRemoval(db.sqliteConnection)
        throw error
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      try db.inTransaction(.immediate) {
        try Meta.set(db, .closed, tail.text)
        return .commit
      }
      // Do not wait for readers. Data that they still need stays in the WAL file.
      try db.execute(sql: "PRAGMA busy_timeout = 50")
      try Self.emptyLog(db)
      // Without a WAL file, the document can be copied as one file, and can be opened in a read-only directory. If a
      // reader still uses the WAL file, the file is not removed; this does no harm.
      _ = try? String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
    }.failure
    let closing = await Blocking.result(path) { [database] in try OpenFiles.close(database) }.failure
    return failure ?? closing
  }

  func compact() async throws(DocumentError) {
    try await run { db in
      // VACUUM makes a temporary copy. For a large board, this copy must not be in memory.
      try db.execute(sql: "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY")
      try Self.emptyLog(db)
    }.get()
  }

  /// Moves all pages of the WAL file into the database file. If a reader still needs the WAL file, the file stays for
  /// now.
  private static func emptyLog(_ db: Database) throws {
    do { _ = try db.checkpoint(.truncate) } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {}
  }

  static func preventLogRemoval(_ connection: OpaquePointer?) {
    var isPersistent: CInt = 1
    sqlite3_file_control(connection, nil, SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
  }

  /// Returns the `errno` of the last failed write to the WAL file or the database file; 0 if no write failed. SQLite
  /// reports all failed writes with the same code, and a commit does not set `sqlite3_system_errno`.
  static func systemError(of db: Database) -> Int32 {
    var log: UnsafeMutablePointer<sqlite3_file>?
    var number: CInt = 0
    sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
    if let log, let methods = log.pointee.pMethods {
      _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &number)
    }
    if number == 0 { sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_LAST_ERRNO, &number) }
    return number == 0 ? sqlite3_system_errno(db.sqliteConnection) : number
  }
}

/// The thread of an open document, on which commits may block.
final class DocumentThread: SerialExecutor {
  private let queue: DispatchQueue

  init(_ path: String) { queue = DispatchQueue(label: path) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}

enum Blocking {
  static func run<T: Sendable>(_ path: String, _ body: @escaping @Sendable () throws -> T) async throws(DocumentError)
    -> T
  { try await result(path, body).get() }

  static func result<T: Sendable>(_ path: String, _ body: @escaping @Sendable () throws -> T) async -> Result<
    T, DocumentError
  > {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do { continuation.resume(returning: .success(try body())) } catch {
          continuation.resume(returning: .failure(.from(error, at: path)))
        }
      }
    }
  }
}

extension Result {
  var failure: Failure? {
    switch self {
    case .success: nil
    case .failure(let error): error
    }
  }
}
