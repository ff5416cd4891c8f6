import Foundation
import GRDB
import GRDBSQLite
import PeerCore

/// Moves the pages of a document's WAL file into its database file, on another connection and thread.
///
/// If a commit did this itself, later changes would wait while the disk stores thousands of pages. SQLite allows commits
/// at the same time. Changes need no checkpoint to survive a crash of the process, because they are read from the WAL
/// file.
final class Checkpointer: Sendable {
  /// The number of written pages that starts a checkpoint.
  static let pages = 1000
  /// The number of written pages from which a commit moves the pages itself. While commits follow each other without a
  /// pause, a checkpoint beside them never moves the last pages, and the WAL file would grow without limit.
  private let pagesAtMost: Int

  private struct State {
    /// The number of pages that were written to the WAL file since it was last complete in the database file.
    var pages = 0
    var isRunning = false
    var isStopped = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let path: String
  /// The document stays open during a checkpoint; see ``OpenFiles``.
  private let database: DatabaseQueue
  private let state = Locked(State())

  init(_ path: String, _ database: DatabaseQueue, pagesAtMost: Int = 16_000) {
    self.path = path
    self.database = database
    self.pagesAtMost = pagesAtMost
  }

  /// Call this after each commit, on the connection of the commit.
  func didCommit(_ db: Database) {
    var (pages, most): (CInt, CInt) = (0, 0)
    sqlite3_db_status(db.sqliteConnection, SQLITE_DBSTATUS_CACHE_WRITE, &pages, &most, 1)
    let (isDue, isLate) = state.withLock { state in
      state.pages += Int(pages)
      guard state.pages >= Self.pages, !state.isRunning, !state.isStopped else { return (false, false) }
      state.isRunning = true
      return (true, state.pages >= pagesAtMost)
    }
    guard isDue else { return }
    if isLate { return end(Self.movePages(db.sqliteConnection)) }
    DispatchQueue.global().async { self.end(self.movePages()) }
  }

  /// Waits for the checkpoint in progress.
  func idle() async {
    await withCheckedContinuation { waiter in
      let isIdle = state.withLock { state in
        if state.isRunning { state.waiters.append(waiter) }
        return !state.isRunning
      }
      if isIdle { waiter.resume() }
    }
  }

  /// Waits for the checkpoint in progress, and prevents further checkpoints.
  func stop() async {
    state.withLock { $0.isStopped = true }
    await idle()
  }

  /// `left` is the number of pages in the WAL file that readers or further commits need; nil if it is unknown, because
  /// the checkpoint failed.
  private func end(_ left: Int?) {
    let waiters = state.withLock { state in
      state.isRunning = false
      if let left { state.pages = left }
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  /// The result is the number of pages that are left, as in ``end(_:)``.
  func movePages() -> Int? {
    var connection: OpaquePointer?
    defer { sqlite3_close(connection) }
    // Without the flag to create a file, nothing is created if the document was removed.
    guard sqlite3_open_v2(path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return nil }
    DocumentConnection.preventLogRemoval(connection)
    // SQLite opens the WAL file with the first read.
    guard sqlite3_exec(connection, "PRAGMA schema_version", nil, nil, nil) == SQLITE_OK else { return nil }
    return Self.movePages(connection)
  }

  /// The result is 0 if all pages were moved. The next commit then overwrites the WAL file from its start.
  private static func movePages(_ connection: OpaquePointer?) -> Int? {
    var (pages, moved): (CInt, CInt) = (0, 0)
    let result = sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, &pages, &moved)
    guard result == SQLITE_OK else { return nil }
    return pages == moved ? 0 : Int(pages)
  }
}
