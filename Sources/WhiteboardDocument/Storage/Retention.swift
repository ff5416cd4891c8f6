import GRDB

/// A namespace for removing old history from a document.
enum Retention {
  /// Removes old rows and keyframes.
  ///
  /// Among the keyframes that are older than the retention, the newest one remains. All rows and keyframes before it
  /// are removed, except named versions. The remaining rows are not rewritten. At least two keyframes remain, since one
  /// may be damaged.
  /// - Parameters:
  ///   - db: The database of the document, in a transaction.
  ///   - path: The path of the document, for messages.
  ///   - now: Milliseconds since 1970.
  ///   - days: The number of days of history that remain; nil uses the stored number. If no number is stored, nothing
  ///     is removed.
  /// - Throws: The errors of SQLite; `damaged` if the stored number of days is damaged.
  static func dropHistory(_ db: Database, at path: String, now: Int64, keeping days: Int?) throws {
    let stored = try Meta.get(db, .retention, at: path).flatMap { Int64($0) }
    guard let days = days.map({ Int64($0) }) ?? stored else { return }
    guard let base = try newestKeyframe(until: now &- days &* 86_400_000, db) else { return }
    try db.execute(sql: "DELETE FROM log WHERE id <= ?", arguments: [base.log])
    try db.execute(sql: "DELETE FROM keyframe WHERE name IS NULL AND log < ?", arguments: [base.log])
    try db.execute(sql: "DELETE FROM mark WHERE log < ?", arguments: [base.log])
    try StoredTraffic.drop(before: base.time, db)
    try duplicate(base, db)
  }

  private static func newestKeyframe(until time: Int64, _ db: Database) throws -> StoredKeyframe? {
    let candidates = try Row.fetchCursor(
      db,
      sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE time <= ? ORDER BY log DESC",
      arguments: [time]
    )
    while let row = try candidates.next() { if let found = StoredKeyframe(StoredValue.columns(row)) { return found } }
    return nil
  }

  /// Stores a second copy of a keyframe, unless another keyframe is at its position or later.
  private static func duplicate(_ base: StoredKeyframe, _ db: Database) throws {
    let count = try Int.fetchOne(db, sql: "SELECT count(*) FROM keyframe WHERE log >= ?", arguments: [base.log])
    guard count == 1 else { return }
    let id = try StoredNumber.next(in: "keyframe", db)
    let copy = base.moved(id: id, log: base.log, chain: base.chain, entries: base.entries)
    try LogWriter.store(copy.renamed(nil), db)
  }
}
