import GRDB

/// A namespace for removing old history from a document.
enum Retention {
  /// Removes rows and keyframes that are older than a number of days: `days`, or else the number in the file, if any.
  ///
  /// Of the older keyframes, the newest one remains. All rows and keyframes before it are removed, except named
  /// versions. At least two keyframes remain, since one may be damaged. `now` is in milliseconds since 1970.
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
