import Foundation
import GRDB
import GRDBSQLite
import Whiteboard

/// A `.whiteboard` file: the current board and the history of its changes.
///
/// One process at a time can open it for writing, any number for reading. An entry is acknowledged
/// when ``append(_:)`` returns: it survives a crash of the process. All methods do their work on a
/// serial queue of the document and never block the caller. Canceling a task does not interrupt
/// work that has begun.
public actor BoardDocument {
  /// The kinds of access for which a document can be opened.
  public enum Mode: Hashable, Sendable {
    /// Reading and writing. Opening fails if the document is already open for writing.
    case writing
    /// Reading only. Another process may write at the same time.
    case reading
  }

  /// The length of a board id, in bytes.
  public static let boardIDLength = 16

  /// The path of the file; if the document was opened through a symbolic link, this is its target.
  public nonisolated let path: String
  /// The id of the board in the document.
  public nonisolated let board: [UInt8]
  /// The kind of access for which the document was opened.
  public nonisolated let mode: Mode
  /// Whether the last process that wrote the document ended without closing it.
  public nonisolated let wasLeftOpen: Bool
  /// Descriptions of the damage that was found while opening.
  ///
  /// An empty list does not mean that the file is whole. Opening for writing checks the log beside
  /// the file, pages and rows, but no photos and no digests.
  public nonisolated let damages: [String]
  /// The reason why the document is open only for reading although it was opened for writing; nil
  /// otherwise.
  public nonisolated let obstacle: DocumentError?

  nonisolated let database: DatabaseQueue
  var tail: LogTail
  var pending: [Pending] = []
  var isFlushing = false
  var isClosed = false
  let groupInterval: Duration
  let clock: any Clock<Duration>
  /// The number of committed transactions that appended something, for tests.
  package internal(set) var groupsCommitted = 0
  /// The number of the last row of the log, for tests.
  package var lastRow: Int64 { tail.id }
  private let lock: WriterLock?
  /// The files of a document that is open for writing; nil if it is open for reading.
  nonisolated let files: StoredFiles?
  /// An error that every write throws, set by tests.
  var injectedFailure: DocumentError?

  init(
    _ opened: OpenedDocument,
    obstacle: DocumentError? = nil,
    groupInterval: Duration = .milliseconds(5),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.obstacle = obstacle
    path = opened.path
    board = opened.board
    mode = opened.lock == nil ? .reading : .writing
    wasLeftOpen = opened.wasLeftOpen
    damages = opened.damages
    database = opened.database
    tail = opened.tail
    lock = opened.lock
    files = opened.lock.map { _ in StoredFiles(opened.path) }
    self.groupInterval = groupInterval
    self.clock = clock
  }

  /// Creates a document and opens it for writing.
  /// - Parameters:
  ///   - path: The path of the new file. Its directory must exist; the file must not.
  ///   - board: The board's id, 16 bytes.
  ///   - name: The board's name.
  ///   - now: Milliseconds since 1970.
  /// - Returns: The document, open for writing.
  /// - Throws: `exists`, `badName`, `wrongBoard`, `readOnly`, `full`, `inputOutput`.
  public static func create(
    at path: String,
    board: [UInt8],
    name: String,
    now: Int64
  ) async throws(DocumentError) -> BoardDocument {
    try await NewFile.make(at: path, board: board, name: name, now: now) { _ in }
    return try await open(at: path, mode: .writing, expecting: board)
  }

  /// Opens the document at `path`.
  /// - Parameters:
  /// - path: The path of the file.
  ///   - mode: The access.
  ///   - board: The id that the board must have; nil accepts any board.
  ///   - groupInterval: The least time between two transactions of ``append(_:)``.
  ///   - clock: The clock that measures this time.
  /// - Returns: The open document. ``load()`` reads its content.
  /// - Throws: `notFound`, `wrongKind`, `newerSchema`, `readOnly`, `inUse`, `damaged`,
  ///   `wrongBoard`, `inputOutput`. In all cases, the stored data is unchanged.
  public static func open(
    at path: String,
    mode: Mode,
    expecting board: [UInt8]? = nil,
    groupInterval: Duration = .milliseconds(5),
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws(DocumentError) -> BoardDocument {
    let opened = try await Blocking.run(path) { try OpenedDocument(path, mode, expecting: board) }
    return BoardDocument(opened, groupInterval: groupInterval, clock: clock)
  }

  /// Returns the board's name.
  /// - Throws: `damaged`, `closed`.
  public func name() async throws(DocumentError) -> String {
    try await read { [path] db in try Meta.get(db, .name, at: path) ?? "" }
  }

  /// Returns the last known display names of the board's members, by member id as text.
  /// - Throws: `damaged`, `closed`.
  public func memberNames() async throws(DocumentError) -> [String: String] {
    try await read { db in try StoredName.all(db) }
  }

  /// Renames the board.
  ///
  /// The file keeps its file name.
  /// - Throws: `badName`, `readOnly`, `full`, `closed`.
  public func rename(to name: String) async throws(DocumentError) {
    try DocumentName.check(name)
    try await write { db in try Meta.set(db, .name, name) }
  }

  /// Returns the join code of the board; nil if it was hosted without one.
  ///
  /// The code is a secret. Copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func code() async throws(DocumentError) -> String? {
    try await read { [path] db in try Meta.get(db, .code, at: path) }
  }

  /// Stores that the board is hosted here, and its join code.
  /// - Parameter code: The join code; nil keeps the stored one.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setHosted(code: String?) async throws(DocumentError) {
    try await write { db in
      try Meta.set(db, .hosted, "1")
      if let code { try Meta.set(db, .code, code) }
    }
  }

  /// Returns the session's membership that ``setMembership(_:code:)`` stored; copies do not contain
  /// it.
  /// - Throws: `damaged`, `closed`.
  public func membership() async throws(DocumentError) -> String? {
    try await read { [path] db in try Meta.get(db, .membership, at: path) }
  }

  /// Stores the membership record of the board's session.
  ///
  /// - Parameters:
  ///   - text: The membership record, in the format of the session.
  ///   - code: The join code that this peer joined with; nil keeps the stored one.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setMembership(_ text: String, code: String?) async throws(DocumentError) {
    try await write { db in
      try Meta.set(db, .membership, text)
      if let code { try Meta.set(db, .code, code) }
    }
  }

  /// Removes the stored join code, because the host uses another one now.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func forgetCode() async throws(DocumentError) {
    try await write { db in try Meta.set(db, .code, nil) }
  }

  /// Returns the title that members gave the board; nil if it has none.
  /// - Throws: `damaged`, `closed`.
  public func title() async throws(DocumentError) -> String? {
    try await read { [path] db in try Meta.get(db, .title, at: path) }
  }

  /// Stores the title that members gave the board.
  ///
  /// The library also finds the board by its title.
  ///
  /// - Parameter title: The title; nil or empty for none.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setTitle(_ title: String?) async throws(DocumentError) {
    let title = title.flatMap { $0.isEmpty ? nil : $0 }
    try await write { db in try Meta.set(db, .title, title) }
  }

  /// Returns the host's decision that this peer is no longer a member; nil if the peer is a member.
  ///
  /// ``setRemoval(_:)`` stores it. Copies of the document do not contain it.
  /// - Throws: `damaged`, `closed`.
  public func removal() async throws(DocumentError) -> String? {
    try await read { [path] db in try Meta.get(db, .removal, at: path) }
  }

  /// Stores the host's decision that this peer is no longer a member.
  ///
  /// - Parameter text: The decision, in a format of the program; nil if the peer is a member again.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setRemoval(_ text: String?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .removal, text) }
  }

  /// Stores the summary of this board for the library, without its thumbnail.
  /// - Throws: `readOnly`, `full`, `closed`.
  public func setCounts(
    objects: Int,
    people: [String],
    changed: Int64
  ) async throws(DocumentError) {
    try await write { db in try Self.setCounts(objects, people, changed, db) }
  }

  /// Returns the names of the users who drew on the board, as lists show them.
  /// - Throws: `damaged`, `closed`.
  public func people() async throws(DocumentError) -> [String] {
    try await read { [path] db in
      let text = try Meta.get(db, .people, at: path) ?? "[]"
      return (try? JSONDecoder().decode([String].self, from: Data(text.utf8))) ?? []
    }
  }

  private static func setCounts(
    _ objects: Int,
    _ people: [String],
    _ changed: Int64,
    _ db: Database
  ) throws {
    let names = try JSONEncoder().encode(people)
    try Meta.set(db, .objects, String(objects))
    try Meta.set(db, .people, String(decoding: names, as: UTF8.self))
    try Meta.set(db, .changed, String(changed))
  }

  /// Stores the summary of this board for the library.
  ///
  /// The owner calls this with each keyframe.
  /// - Throws: `tooLarge` if the thumbnail has more than 256 KiB; `readOnly`, `full`, `closed`.
  public func setSummary(
    objects: Int,
    people: [String],
    thumbnail: String?,
    changed: Int64
  ) async throws(DocumentError) {
    guard (thumbnail?.utf8.count ?? 0) <= 1 << 18 else {
      throw DocumentError(.tooLarge, "\(path): a thumbnail may have at most 256 KiB")
    }
    try await write { db in
      try Self.setCounts(objects, people, changed, db)
      try Meta.set(db, .thumbnail, thumbnail)
    }
  }

  /// Writes all entries to the disk and closes the file; closing again does nothing.
  ///
  /// Closing waits for earlier appends. A closed document is a single file.
  /// - Parameter end: The end of the recorded time in milliseconds since 1970 (REC-6), which may be
  ///   later than the last entry; nil if it is unknown.
  /// - Throws: `full`, `inputOutput`. The document is closed in this case too. Acknowledged entries
  ///   are in the files beside it, from which the next opening reads them.
  public func close(recordedUntil end: Int64? = nil) async throws(DocumentError) {
    guard !isClosed else { return }
    // Enqueue a group even if it is empty: when it returns, all earlier appends are finished.
    isClosed = true
    let flushed = await enqueue(end.map { [.entries([.end(time: $0)])] } ?? [])
    defer { lock?.release() }
    let tail = tail
    let mode = mode
    let files = files
    let failure: DocumentError? = await onQueue { db in
      guard mode == .writing else { return }
      do { try files?.check() } catch {
        // SQLite would remove files by their names, but these may belong to another document by
        // now.
        Self.leaveFiles(db)
        throw error
      }
      try db.execute(sql: "PRAGMA synchronous = FULL")
      try db.inTransaction(.immediate) {
        try Meta.set(db, .closed, tail.text)
        return .commit
      }
      // Do not wait for readers. Data that they still need stays in the log beside the file.
      try db.execute(sql: "PRAGMA busy_timeout = 50")
      do { _ = try db.checkpoint(.truncate) } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY
      {}
      // Without a log beside it, the file can be copied, and read from a read-only directory. If a
      // reader still uses the log, the log stays, which does no harm.
      _ = try? String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
    }.failure
    let closing = await Blocking.result(path) { [database] in
      try OpenFiles.close(database)
    }.failure
    if let error = failure ?? closing ?? flushed { throw error }
  }

  /// Limits the size of the file, as a full disk does; for tests.
  ///
  /// - Returns: The greatest number of pages now, which is never less than the current number.
  package func limitPages(to pages: Int) async throws(DocumentError) -> Int {
    try await onQueue { db in
      try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages)") ?? 0
    }.get()
  }

  /// Makes every write fail, as on a broken disk, until it is called with nil; for tests.
  package func failWrites(with error: DocumentError?) { injectedFailure = error }

  /// Prevents SQLite from removing the log beside the file when the database is closed.
  static func leaveFiles(_ db: Database) {
    var isPersistent: CInt = 1
    sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &isPersistent)
  }

  /// The `errno` of the last write to the log or the file that failed; 0 if none did.
  ///
  /// SQLite reports all of them with the same code, and a commit does not set
  /// `sqlite3_system_errno`.
  static func systemError(of db: Database) -> Int32 {
    var log: UnsafeMutablePointer<sqlite3_file>?
    var number: CInt = 0
    sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_JOURNAL_POINTER, &log)
    if let log, let methods = log.pointee.pMethods {
      _ = methods.pointee.xFileControl?(log, SQLITE_FCNTL_LAST_ERRNO, &number)
    }
    if number == 0 {
      sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_LAST_ERRNO, &number)
    }
    return number == 0 ? sqlite3_system_errno(db.sqliteConnection) : number
  }

  /// Runs `body` in one read transaction.
  func read<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws(DocumentError) -> T {
    guard !isClosed else { throw Self.closed(path) }
    return try await onQueue { db in
      var result: T?
      try db.inTransaction(.deferred) {
        result = try body(db)
        return .commit
      }
      guard let result else { preconditionFailure("a committed transaction has a result") }
      return result
    }.get()
  }

  /// Runs `body` in one write transaction; if it throws, nothing is stored.
  func write<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async throws(DocumentError) -> T {
    try checkWritable()
    if let injectedFailure { throw injectedFailure }
    return try await onQueue { [files] db in
      var result: T?
      try db.inTransaction(.immediate) {
        result = try body(db)
        return .commit
      }
      try files?.check()
      guard let result else { preconditionFailure("a committed transaction has a result") }
      return result
    }.get()
  }

  func checkWritable() throws(DocumentError) {
    guard !isClosed else { throw Self.closed(path) }
    guard mode == .writing else {
      if let obstacle { throw obstacle }
      throw DocumentError(.readOnly, "\(path): it was opened for reading only; nothing was saved")
    }
  }

  static func closed(_ path: String) -> DocumentError {
    DocumentError(.closed, "\(path): it was closed; nothing saved before is lost; open it again")
  }

  /// Runs `body` on the document's queue, even if the caller's task is canceled.
  nonisolated func onQueue<T: Sendable>(
    _ body: @escaping @Sendable (Database) throws -> T
  ) async -> Result<T, DocumentError> {
    let path = path
    let files = files
    return await withCheckedContinuation { continuation in
      database.asyncWriteWithoutTransaction { db in
        do {
          continuation.resume(returning: .success(try body(db)))
        } catch {
          let isDiskError =
            ((error as? DatabaseError)?.resultCode).map {
              [.SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY].contains($0)
            } ?? false
          if isDiskError, let files, !files.areThere {
            continuation.resume(returning: .failure(.removed(path)))
          } else {
            continuation.resume(
              returning: .failure(.from(error, at: path, systemError: Self.systemError(of: db)))
            )
          }
        }
      }
    }
  }
}

extension Result {
  /// The error of a failure; nil for a success.
  var failure: Failure? {
    switch self {
    case .success: nil
    case .failure(let error): error
    }
  }
}

/// Runs blocking code on threads other than those of Swift tasks.
enum Blocking {
  static func run<T: Sendable>(
    _ path: String,
    _ body: @escaping @Sendable () throws -> T
  ) async throws(DocumentError) -> T {
    try await result(path, body).get()
  }

  static func result<T: Sendable>(
    _ path: String,
    _ body: @escaping @Sendable () throws -> T
  ) async -> Result<T, DocumentError> {
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        do {
          continuation.resume(returning: .success(try body()))
        } catch {
          continuation.resume(returning: .failure(.from(error, at: path)))
        }
      }
    }
  }
}

/// The rules for names of boards, versions and markers.
enum DocumentName {
  /// The greatest length of a name, in bytes of UTF-8.
  static let limit = 128

  static func check(_ name: String) throws(DocumentError) {
    guard !name.isEmpty, name.utf8.count <= limit, !name.utf8.contains(0) else {
      throw DocumentError(.badName, "a name must have 1 to \(limit) bytes; choose another name")
    }
  }
}
