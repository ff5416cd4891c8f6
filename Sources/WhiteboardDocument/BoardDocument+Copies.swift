import Foundation
import GRDB
import Whiteboard

extension BoardDocument {
  /// Writes the whole document with its history to a new file.
  ///
  /// The document can be used meanwhile. The copy has all entries that were appended before. It
  /// does not have the join code, the membership and the removal, since files are given to others.
  /// - Throws: `exists`, `full`, `readOnly`, `damaged`, `closed`; then there is no new file.
  public func save(as path: String) async throws(DocumentError) {
    try await copy(to: path, nil)
  }

  /// Writes a document of a new board that begins with a state of this board.
  ///
  /// Records, batches and heads are signed for one board, so the new document does not have them.
  /// It has only the given state, and those of the given assets that this document has. Permanently
  /// deleted data is not in it.
  /// - Throws: The errors of ``save(as:)``; `badName`, `wrongBoard`.
  public func duplicate(
    to path: String,
    board: [UInt8],
    name: String,
    keyframe bytes: [UInt8],
    digest: [UInt8],
    assets: Set<[UInt8]>,
    now: Int64
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    guard board.count == Self.boardIDLength else {
      throw DocumentError(.wrongBoard, "a board id has \(Self.boardIDLength) bytes")
    }
    try await copy(to: path) { (db, tail) in
      try db.execute(
        sql: """
          DELETE FROM log; DELETE FROM keyframe; DELETE FROM author; DELETE FROM mark;
          DROP TABLE IF EXISTS traffic
          """
      )
      try StoredName.forgetAll(db)
      for hash in try Data.fetchAll(db, sql: "SELECT sha256 FROM asset")
      where !assets.contains(Array(hash)) {
        try db.execute(sql: "DELETE FROM asset WHERE sha256 = ?", arguments: [hash])
      }
      try Meta.set(db, .hosted, nil)
      try Meta.set(db, .board, Hexadecimal.encode(board))
      try Meta.set(db, .name, name)
      try Meta.set(db, .created, String(now))
      try Meta.set(db, .changed, String(now))
      tail = LogTail()
      try LogWriter.keyframe(bytes, digest, nil, now, db, &tail)
    }
  }

  /// Copies the current file through a separate connection, so that no other call waits.
  ///
  /// `edit` changes the copy, and the space of the data that it deletes is freed.
  private func copy(
    to path: String,
    _ edit: (@Sendable (Database, inout LogTail) throws -> Void)?
  ) async throws(DocumentError) {
    guard !isClosed else { throw Self.closed(self.path) }
    // An empty group is a barrier: when it returns, all earlier appends are in the file.
    if mode == .writing { _ = await enqueue([]) }
    let source = self.path
    if let files, !files.areThere { throw .removed(source) }
    try await NewFile.publish(at: path) { temporary in
      try Self.write(source, into: temporary)
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try queue.write { db in
        var tail = try LogTail(db, at: source)
        try edit?(db, &tail)
        try Meta.removeMembership(db)
        try Meta.set(db, .closed, tail.text)
      }
      if edit != nil { try queue.vacuum() }
    }
  }

  private static func write(_ source: String, into temporary: String) throws {
    do {
      let database = try Connector.connect(source, .reading)
      defer { try? OpenFiles.close(database) }
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
      }
    } catch let error as DatabaseError where error.resultCode != .SQLITE_FULL {
      // The source cannot be read. If the disk of the copy is full, the error names the copy
      // instead.
      throw DocumentError.from(error, at: source)
    }
  }

  /// Returns the number of days for which history is stored; nil if it is stored forever.
  public func retention() async throws(DocumentError) -> Int? {
    try await read { [path] db in try Meta.get(db, .retention, at: path).flatMap { Int($0) } }
  }

  /// Sets the number of days for which history is stored; nil stores it forever.
  ///
  /// ``dropHistory(now:keeping:)`` and ``compact(now:keeping:)`` remove older history.
  public func setRetention(days: Int?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .retention, days.map { String(max(0, $0)) }) }
  }

  /// Removes old history.
  ///
  /// The file keeps its size, but later changes use the freed space. It removes the rows and
  /// keyframes before the newest keyframe that is older than the retention, except named versions.
  /// The other rows are not rewritten. At least two keyframes remain, since one may be damaged.
  /// - Parameters:
  ///   - now: Milliseconds since 1970.
  ///   - days: The number of days of history that remain; nil uses ``retention()``.
  /// - Throws: `full`, `readOnly`, `closed`; then nothing was dropped.
  public func dropHistory(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await write { [path] db in
      let kept = try Meta.get(db, .retention, at: path).flatMap { Int64($0) }
      guard let days = days.map({ Int64($0) }) ?? kept else { return }
      let cutoff = now &- days &* 86_400_000
      let candidates = try Row.fetchCursor(
        db,
        sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE time <= ? ORDER BY log DESC",
        arguments: [cutoff]
      )
      var found: StoredKeyframe?
      while found == nil, let row = try candidates.next() {
        found = StoredKeyframe(StoredValue.columns(row))
      }
      guard let base = found else { return }
      try db.execute(sql: "DELETE FROM log WHERE id <= ?", arguments: [base.log])
      try db.execute(
        sql: "DELETE FROM keyframe WHERE name IS NULL AND log < ?",
        arguments: [base.log]
      )
      try db.execute(sql: "DELETE FROM mark WHERE log < ?", arguments: [base.log])
      try StoredTraffic.drop(before: base.time, db)
      try Self.double(base, db)
    }
  }

  /// Stores a second copy of a keyframe, if no other keyframe is at its position or later.
  private static func double(_ base: StoredKeyframe, _ db: Database) throws {
    let count = try Int.fetchOne(
      db,
      sql: "SELECT count(*) FROM keyframe WHERE log >= ?",
      arguments: [base.log]
    )
    guard count == 1 else { return }
    let id = try StoredNumber.next(in: "keyframe", db)
    let copy = base.moved(id: id, log: base.log, chain: base.chain, entries: base.entries)
    try LogWriter.store(copy.renamed(nil), db)
  }

  /// Removes history as ``dropHistory(now:keeping:)`` does, and returns the space to the disk.
  /// - Throws: `full` if there is no room for the temporary copy (then nothing is lost),
  ///   `readOnly`, `closed`.
  public func compact(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await dropHistory(now: now, keeping: days)
    try checkWritable()
    try await onQueue { db in
      // VACUUM makes a temporary copy. For a large board, it must not be in memory.
      try db.execute(sql: "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY")
      // If a reader still needs the log beside the file, the log stays for now.
      do { _ = try db.checkpoint(.truncate) } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY
      {}
    }.get()
  }
}
