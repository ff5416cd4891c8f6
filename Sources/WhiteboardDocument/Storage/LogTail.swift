import GRDB

/// The end of the log, and its distance from the last keyframe.
struct LogTail: Sendable {
  /// The number of the last row; 0 if the log is empty.
  var id: Int64 = 0
  /// The checksum chain at the last row.
  var chain: UInt32 = 0
  /// The number of entries since the last keyframe.
  var entriesSince: Int64 = 0
  /// The number of entries up to the last keyframe.
  var entriesBefore: Int64 = 0
  /// The time of the last keyframe; if there is none, the creation time of the document.
  var keyframeTime: Int64 = 0

  /// The value that is stored in `meta` under the key `closed` while the document is closed.
  var text: String { "\(id) \(chain)" }

  /// Returns whether a keyframe is due: entries were appended, and the last keyframe is at least 30 seconds or 4,096
  /// entries ago.
  func needsKeyframe(now: Int64) -> Bool { entriesSince >= 4096 || (entriesSince > 0 && now &- keyframeTime >= 30_000) }

  init() {}

  init(_ db: Database, at path: String) throws {
    keyframeTime = try Meta.get(db, .created, at: path).flatMap { Int64($0) } ?? 0
    var keyframeLog: Int64 = 0
    if let row = try Row.fetchOne(
      db,
      sql: "SELECT log, chain, entries, time FROM keyframe ORDER BY log DESC, id DESC LIMIT 1"
    ) {
      keyframeLog = Int64.fromDatabaseValue(row[0]) ?? 0
      id = keyframeLog
      chain = UInt32(truncatingIfNeeded: Int64.fromDatabaseValue(row[1]) ?? 0)
      entriesBefore = Int64.fromDatabaseValue(row[2]) ?? 0
      keyframeTime = Int64.fromDatabaseValue(row[3]) ?? 0
    }
    if let row = try Row.fetchOne(db, sql: "SELECT id, sum FROM log ORDER BY id DESC LIMIT 1"),
      let last = Int64.fromDatabaseValue(row[0]), last >= id
    {
      guard let sum = Int64.fromDatabaseValue(row[1]) else {
        throw DocumentError.damagedRow("row \(last) of the log", at: path)
      }
      id = last
      chain = UInt32(truncatingIfNeeded: sum)
    }
    entriesSince =
      try Int64.fetchOne(db, sql: "SELECT coalesce(sum(entries), 0) FROM log WHERE id > ?", arguments: [keyframeLog])
      ?? 0
    let numbers = [id, entriesBefore, entriesSince]
    guard numbers.allSatisfy({ (0...StoredNumber.limit).contains($0) }) else {
      throw DocumentError.damagedRow("the end of the log", at: path)
    }
  }
}
