import Foundation
import GRDB
import GRDBSQLite

/// A writer for the log and its related tables, used inside a transaction.
enum LogWriter {
  enum Step: Sendable {
    case entries([DocumentEntry])
    case keyframe(KeyframeBody, digest: [UInt8], name: String?, time: Int64, position: LogPosition?)
    /// Removes a keyframe that is not needed, if there is one.
    case thinning
  }

  /// The size in bytes at which a new row begins, so that damage to one row loses little.
  private static let rowSize = 1 << 18

  static func perform(_ steps: [Step], _ db: Database, _ tail: inout LogTail) throws {
    for step in joined(steps) { try perform(step, db, &tail) }
  }

  /// Joins consecutive steps of entries, so that these entries share rows.
  private static func joined(_ steps: [Step]) -> [Step] {
    var result: [Step] = []
    var entries: [DocumentEntry] = []
    for step in steps {
      if case .entries(let more) = step {
        entries += more
      } else {
        if !entries.isEmpty { result.append(.entries(entries)) }
        entries = []
        result.append(step)
      }
    }
    return entries.isEmpty ? result : result + [.entries(entries)]
  }

  private static func perform(_ step: Step, _ db: Database, _ tail: inout LogTail) throws {
    switch step {
    case .entries(let entries): try append(entries, db, &tail)
    case .keyframe(let body, let digest, let name, let time, let position):
      try keyframe(body, digest, name, time, at: position, db, &tail)
    case .thinning: try thin(db)
    }
  }

  static func append(_ entries: [DocumentEntry], _ db: Database, _ tail: inout LogTail) throws {
    var packed: [DocumentEntry] = []
    var traffic: [TrafficEntry] = []
    var size = 0
    for entry in entries {
      switch entry {
      case .batch(let bytes, _), .answer(let bytes, _):
        if entry.isRetirement { try Schema.raise(db, to: Schema.formatWithRetirements) }
        packed.append(entry)
        size += bytes.count
        if size >= rowSize {
          try row(&packed, db, &tail)
          size = 0
        }
      case .author(let record, let incarnation): try author(incarnation, record: record, db)
      case .head(let bytes, let incarnation, let sequence): try head(incarnation, bytes, sequence, db)
      case .marker(let name, let time):
        try row(&packed, db, &tail)
        try mark(0, time, time, tail.id, name, db)
      case .gap(let from, let to):
        try row(&packed, db, &tail)
        try mark(1, from, to, tail.id, "", db)
      case .end(let time):
        try row(&packed, db, &tail)
        try mark(2, time, time, tail.id, "", db)
      case .name(let name, let person): try StoredName.set(name, of: person, db)
      case .traffic(let entry): traffic.append(entry)
      }
    }
    try row(&packed, db, &tail)
    try StoredTraffic.append(traffic, cutAt: rowSize, db)
  }

  private static func row(_ entries: inout [DocumentEntry], _ db: Database, _ tail: inout LogTail) throws {
    guard !entries.isEmpty else { return }
    let row = LogRow(id: tail.id + 1, packing: entries)
    let sum = row.sum(after: tail.chain)
    let statement = try db.cachedStatement(sql: "INSERT INTO log (id, time, entries, body, sum) VALUES (?, ?, ?, ?, ?)")
    try statement.execute(arguments: [row.id, row.time, row.entries, Data(row.body), sum])
    tail.id = row.id
    tail.chain = UInt32(truncatingIfNeeded: sum)
    tail.entriesSince += row.entries
    tail.bytesSince += Int64(row.body.count)
    entries = []
  }

  private static func author(_ incarnation: UInt64, record: [UInt8], _ db: Database) throws {
    let known = try StoredAuthor.find(incarnation, db)
    guard known?.record.isEmpty ?? true else { return }
    let row = StoredAuthor(
      incarnation: incarnation,
      record: record,
      sequence: known?.sequence ?? 0,
      head: known?.head ?? []
    )
    try store(row, db)
  }

  private static func head(_ incarnation: UInt64, _ bytes: [UInt8], _ sequence: UInt64, _ db: Database) throws {
    let known = try StoredAuthor.find(incarnation, db)
    if let known, !known.head.isEmpty, known.sequence >= sequence { return }
    let row = StoredAuthor(incarnation: incarnation, record: known?.record ?? [], sequence: sequence, head: bytes)
    try store(row, db)
  }

  static func store(_ row: StoredAuthor, _ db: Database) throws {
    let statement = try db.cachedStatement(
      sql: """
        INSERT OR REPLACE INTO author (incarnation, record, sequence, head, crc)
        VALUES (?, ?, ?, ?, ?)
        """
    )
    try statement.execute(arguments: [
      Int64(bitPattern: row.incarnation), Data(row.record), Int64(bitPattern: row.sequence), Data(row.head),
      Int64(row.checksum),
    ])
  }

  static func mark(_ kind: Int64, _ time: Int64, _ until: Int64, _ log: Int64, _ name: String, _ db: Database) throws {
    let id = try StoredNumber.next(in: "mark", db)
    let crc = StoredMark.checksum(id, kind, time, until, log, name)
    try db.execute(
      sql: "INSERT INTO mark (id, kind, time, until, log, name, crc) VALUES (?, ?, ?, ?, ?, ?, ?)",
      arguments: [id, kind, time, until, log, name, Int64(crc)]
    )
  }

  /// Stores a keyframe at a position, or after the last row of the log. No other keyframe may have been stored after the
  /// position.
  static func keyframe(
    _ body: KeyframeBody,
    _ digest: [UInt8],
    _ name: String?,
    _ time: Int64,
    at position: LogPosition? = nil,
    _ db: Database,
    _ tail: inout LogTail
  ) throws {
    let end = position?.tail ?? tail
    let id = try StoredNumber.next(in: "keyframe", db)
    let row = StoredKeyframe(
      id: id,
      log: end.id,
      chain: Int64(end.chain),
      entries: end.entries,
      time: time,
      name: name,
      digest: digest,
      body: []
    )
    try store(row, body, db)
    tail.entriesSince = tail.entries - row.entries
    tail.entriesBefore = row.entries
    tail.bytesSince -= end.bytesSince
    tail.keyframeSize = Int64(body.data.count)
    tail.keyframeTime = time
  }

  static func store(_ row: StoredKeyframe, _ db: Database) throws { try store(row, KeyframeBody(row.body), db) }

  /// Stores `body` instead of the body of `row`.
  private static func store(_ row: StoredKeyframe, _ body: KeyframeBody, _ db: Database) throws {
    try db.executeOnce(
      sql: """
        INSERT INTO keyframe (id, log, chain, entries, time, name, digest, body, crc)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
      arguments: [
        row.id, row.log, row.chain, row.entries, row.time, row.name, Data(row.digest), body.data,
        Int64(row.checksum(with: body.part)),
      ]
    )
  }

  /// Removes the third newest keyframe, unless seeking needs this keyframe or a gap ends with it. The freed pages are not
  /// filled with zeros, because that would write as many bytes as the keyframe has.
  private static func thin(_ db: Database) throws {
    let newest = try Row.fetchAll(
      db,
      sql: "SELECT id, entries FROM keyframe WHERE name IS NULL ORDER BY id DESC LIMIT 4"
    )
    guard newest.count == 4, let before = Int64.fromDatabaseValue(newest[3][1]),
      let after = Int64.fromDatabaseValue(newest[1][1]), after &- before <= 16_384,
      let id = Int64.fromDatabaseValue(newest[2][0])
    else { return }
    let isSecure = try Int.fetchOne(db, sql: "PRAGMA secure_delete") ?? 0
    try db.execute(sql: "PRAGMA secure_delete = OFF")
    defer { try? db.execute(sql: "PRAGMA secure_delete = \(isSecure)") }
    // The changes in a gap are only in the keyframe that ends the gap, and later answers omit these changes.
    try db.execute(
      sql: "DELETE FROM keyframe WHERE id = ? AND log NOT IN (SELECT log FROM mark WHERE kind = 1)",
      arguments: [id]
    )
  }
}

enum Retention {
  /// Removes rows and keyframes that are older than `days`. If `days` is nil, uses the number of days in the file, if
  /// any. Of the older keyframes, the newest keyframe remains. All rows and keyframes before this keyframe are removed,
  /// except named versions. At least two keyframes remain, since a keyframe may be damaged. `now` is in milliseconds
  /// since 1970.
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
    try LogWriter.store(copy.unnamed, db)
  }
}

/// The limits for the sizes of values and tables in a document (REC-19). A file may come from an untrusted source. The
/// sizes in the file are checked before the values are read, since reading a value allocates as much memory as the file
/// claims.
enum StoredSizes {
  /// The maximum size of any value, in bytes; a keyframe of the largest board that a replica stores (BRD-30) is
  /// smaller.
  static let value = 402_653_184
  /// The maximum number of rows in the table `author`.
  static let authors = 262_144

  /// The maximum size of the values in each column, in bytes. Columns of `log` and `traffic` have only the limit
  /// ``value``, since these tables may have millions of rows.
  private static let columns: [(table: String, column: String, limit: Int, what: String)] = [
    ("author", "record", 1024, "a record of an author"), ("author", "head", 1024, "a head of an author"),
    ("meta", "key", 4096, "the name of a setting"), ("meta", "value", 16_777_216, "a setting"),
    ("mark", "name", 4096, "the name of a marker"), ("keyframe", "name", 4096, "the name of a checkpoint"),
    ("keyframe", "digest", 1024, "the digest of a keyframe"), ("keyframe", "body", value, "a keyframe"),
    (StoredIdentity.table, "board", 1024, "the board's id"),
    (StoredThumbnail.table, "picture", 16_777_216, "the thumbnail"), ("asset", "sha256", 1024, "the hash of an asset"),
    ("asset", "body", 33_554_432, "an asset"),
  ]

  private static let texts: Set = ["key", "value", "name", "picture"]

  /// Checks the sizes in a file, and makes SQLite refuse to read values larger than ``value``. Throws `DocumentError`
  /// with the code `damaged` if something is too large. The cost depends on the number of rows, not on their bytes.
  /// Missing and damaged tables are ignored here, since reading their rows reports them.
  static func check(_ db: Database, at path: String) throws {
    defer { sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, CInt(value)) }
    sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, CInt(value))
    let rows = "SELECT count(*) FROM (SELECT 1 FROM author LIMIT \(authors + 1))"
    if let rows = try number(rows, db), rows > authors {
      throw tooLarge("it has more than \(authors) authors", at: path)
    }
    for (table, column, limit, what) in columns {
      // SQLite knows the length of a blob from the header of its row. To count the bytes of a text value, however,
      // SQLite must read the value. Therefore, for text, also set the limit in SQLite, so that SQLite refuses a longer
      // value before it allocates memory for it.
      let isText = texts.contains(column)
      let most = isText ? limit : value
      sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, CInt(most))
      let length = "length(\(isText ? "CAST(\(column) AS BLOB)" : column))"
      let sql = "SELECT \(length) FROM \(table) WHERE \(length) > \(limit) LIMIT 1"
      do {
        guard let size = try number(sql, db) else { continue }
        throw tooLarge("\(what) has \(size) bytes, but at most \(limit) are allowed", at: path)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_TOOBIG {
        throw tooLarge("\(what) has more than \(most) bytes", at: path)
      }
    }
  }

  private static func number(_ sql: String, _ db: Database) throws -> Int64? {
    do { return try Int64.fetchOne(db, sql: sql) } catch let error as DatabaseError
      where error.resultCode != .SQLITE_TOOBIG
    { return nil }
  }

  private static func tooLarge(_ what: String, at path: String) -> DocumentError {
    DocumentError(.damaged, "\(path): the file is malformed: \(what); it was not read; ask for another copy of it")
  }
}
