import Foundation
import GRDB
import Whiteboard

extension BoardDocument {
  /// Writes the whole document, history and all, to a new file; work goes on meanwhile.
  /// - Throws: `exists`, `full`, `readOnly`, `damaged`, `closed`; then there is no new file.
  public func save(as path: String) async throws(DocumentError) {
    try await copy(to: path) { _, _ in }
  }

  /// Writes a document of a new board that begins from a state of this one.
  ///
  /// Records, batches and heads are signed for one board, so the new one has none of them: only
  /// the assets and the state that is given.
  /// - Throws: As ``save(as:)``, and `badName`.
  public func duplicate(
    to path: String,
    board: [UInt8],
    name: String,
    keyframe bytes: [UInt8],
    digest: [UInt8],
    now: Int64
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    guard board.count == Self.boardIDLength else {
      throw DocumentError(.wrongBoard, "a board id has \(Self.boardIDLength) bytes")
    }
    try await copy(to: path) { db, tail in
      try db.execute(
        sql: "DELETE FROM log; DELETE FROM keyframe; DELETE FROM author; DELETE FROM mark"
      )
      try Meta.set(db, .board, Hexadecimal.encode(board))
      try Meta.set(db, .name, name)
      try Meta.set(db, .created, String(now))
      try Meta.set(db, .changed, String(now))
      tail = LogTail()
      try LogWriter.keyframe(bytes, digest, nil, now, db, &tail)
    }
  }

  private func copy(
    to path: String,
    _ edit: @escaping @Sendable (Database, inout LogTail) throws -> Void
  ) async throws(DocumentError) {
    guard !isClosed else { throw Self.closed(self.path) }
    let database = database
    let source = self.path
    try await NewFile.publish(at: path) { temporary in
      try database.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
      }
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try queue.write { db in
        var tail = try LogTail(db, at: source)
        try edit(db, &tail)
        try Meta.set(db, .closed, tail.text)
      }
      try queue.vacuum()
    }
  }

  /// How long history is kept: nil is for ever, else days.
  public func retention() async throws(DocumentError) -> Int? {
    try await read { [path] db in try Meta.get(db, .retention, at: path).flatMap { Int($0) } }
  }

  /// Sets how long history is kept; ``compact(now:)`` does it.
  public func setRetention(days: Int?) async throws(DocumentError) {
    try await write { db in try Meta.set(db, .retention, days.map { String(max(0, $0)) }) }
  }

  /// Drops history that need not be kept any more, and gives the room back to the disk.
  ///
  /// What is dropped lies before the last keyframe that is older than the retention says; named
  /// versions stay. Rows that remain are not rewritten.
  /// - Throws: `full` where there is no room for the copy that this needs (nothing is lost then),
  ///   `readOnly`, `closed`.
  public func compact(now: Int64) async throws(DocumentError) {
    try await write { [path] db in
      guard let days = try Meta.get(db, .retention, at: path).flatMap({ Int64($0) }) else { return }
      let cutoff = now &- days &* 86_400_000
      let candidates = try Row.fetchCursor(
        db,
        sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE time <= ? ORDER BY log DESC",
        arguments: [cutoff]
      )
      var found: Int64?
      while found == nil, let row = try candidates.next() {
        found = StoredKeyframe(StoredValue.columns(row))?.log
      }
      guard let base = found else { return }
      try db.execute(sql: "DELETE FROM log WHERE id <= ?", arguments: [base])
      try db.execute(
        sql: "DELETE FROM keyframe WHERE name IS NULL AND log < ?",
        arguments: [base]
      )
      try db.execute(sql: "DELETE FROM mark WHERE log < ?", arguments: [base])
    }
    try checkWritable()
    try await onQueue { db in
      try db.execute(sql: "VACUUM")
      _ = try db.checkpoint(.truncate)
    }.get()
  }
}
