import Foundation
import GRDB
import Whiteboard

extension BoardDocument {
  /// Writes the whole document, history and all, to a new file; work goes on meanwhile.
  ///
  /// All that was appended before is in it. The code of the board is not: files are handed on.
  /// - Throws: `exists`, `full`, `readOnly`, `damaged`, `closed`; then there is no new file.
  public func save(as path: String) async throws(DocumentError) {
    try await copy(to: path, nil)
  }

  /// Writes a document of a new board that begins from a state of this one.
  ///
  /// Records, batches and heads are signed for one board, so the new one has none of them: only
  /// the state that is given and those assets of it that are here. What was deleted for good goes to
  /// nobody.
  /// - Throws: As ``save(as:)``, and `badName`.
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

  /// Copies the file as it is now, by a connection of its own, so that nothing waits for it; `edit`
  /// makes the copy another, and what it deletes leaves no room behind.
  private func copy(
    to path: String,
    _ edit: (@Sendable (Database, inout LogTail) throws -> Void)?
  ) async throws(DocumentError) {
    guard !isClosed else { throw Self.closed(self.path) }
    // An empty group is a barrier: all that was appended before is in the file when it returns.
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
        try Meta.set(db, .code, nil)
        try Meta.set(db, .membership, nil)
        try Meta.set(db, .removal, nil)
        try Meta.set(db, .closed, tail.text)
      }
      if edit != nil { try queue.vacuum() }
    }
  }

  private static func write(_ source: String, into temporary: String) throws {
    do {
      let database = try Opened.connect(source, .reading)
      defer { try? OpenFiles.close(database) }
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
      }
    } catch let error as DatabaseError where error.resultCode != .SQLITE_FULL {
      // It is the source that cannot be read; where the copy has no room is told of the copy.
      throw DocumentError.from(error, at: source)
    }
  }

  /// How long history is kept: nil is for ever, else days.
  public func retention() async throws(DocumentError) -> Int? {
    try await read { [path] db in try Meta.get(db, .retention, at: path).flatMap { Int($0) } }
  }

  /// Sets how long history is kept; ``dropHistory(now:keeping:)`` and
  /// ``compact(now:keeping:)`` do it.
  public func setRetention(days: Int?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .retention, days.map { String(max(0, $0)) }) }
  }

  /// Drops history that need not be kept any more; the file stays as large, and grows less.
  ///
  /// What is dropped lies before the last keyframe that is older than the retention says; named
  /// versions stay. Rows that remain are not rewritten. Two keyframes at least remain to begin from,
  /// since one may be damaged.
  /// - Parameters:
  ///   - now: Milliseconds since 1970.
  ///   - days: How many days to keep this time, whatever ``retention()`` says.
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

  /// Stores a keyframe once more where it is the only one to begin from.
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

  /// Drops history as ``dropHistory(now:keeping:)`` does, and returns the space to the disk.
  /// - Throws: `full` if there is no room for the temporary copy (then nothing is lost),
  ///   `readOnly`, `closed`.
  public func compact(now: Int64, keeping days: Int? = nil) async throws(DocumentError) {
    try await dropHistory(now: now, keeping: days)
    try checkWritable()
    try await onQueue { db in
      // The copy of a large board is no matter for memory.
      try db.execute(sql: "PRAGMA temp_store = FILE; VACUUM; PRAGMA temp_store = MEMORY")
      // A reader that needs the log beside the file keeps it a little longer.
      do { _ = try db.checkpoint(.truncate) } catch let error as DatabaseError
        where error.resultCode == .SQLITE_BUSY
      {}
    }.get()
  }
}
