import GRDB

/// The tables of a document, and the steps that lead from each format to the next.
enum Schema {
  /// 'wbrd': marks the file as ours (`PRAGMA application_id`).
  static let applicationID: Int32 = 0x7762_7264
  /// The format this release writes (`PRAGMA user_version`); a file with a greater one is refused.
  static let format: Int32 = 2

  /// Brings a database to the present format.
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      // No table is WITHOUT ROWID: then every row lies in one kind of page, and recovery reads it
      // from there without any help of the tree above.
      try db.execute(
        sql: """
          CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL,
            crc INTEGER NOT NULL) STRICT;
          CREATE TABLE author (incarnation INTEGER PRIMARY KEY, record BLOB NOT NULL,
            sequence INTEGER NOT NULL, head BLOB NOT NULL, crc INTEGER NOT NULL) STRICT;
          CREATE TABLE log (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,
            entries INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL) STRICT;
          CREATE TABLE keyframe (id INTEGER PRIMARY KEY, log INTEGER NOT NULL,
            chain INTEGER NOT NULL, entries INTEGER NOT NULL, time INTEGER NOT NULL, name TEXT,
            digest BLOB NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL) STRICT;
          CREATE UNIQUE INDEX keyframe_name ON keyframe (name) WHERE name IS NOT NULL;
          CREATE TABLE mark (id INTEGER PRIMARY KEY, kind INTEGER NOT NULL,
            time INTEGER NOT NULL, until INTEGER NOT NULL, log INTEGER NOT NULL,
            name TEXT NOT NULL, crc INTEGER NOT NULL) STRICT;
          CREATE TABLE asset (id INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE,
            body BLOB NOT NULL) STRICT;
          """
      )
    }
    return migrator
  }

  /// Refuses what is not ours, or is of a later release.
  static func check(_ db: Database, at path: String) throws {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id")
    let format = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard application == applicationID, format > 0 else {
      throw DocumentError(
        .wrongKind,
        "\(path): this is a database, but no whiteboard; it was left as it is"
      )
    }
    guard format <= Self.format else {
      throw DocumentError(
        .newerSchema,
        "\(path): a later release made this whiteboard (format \(format), this one knows "
          + "\(Self.format)); it was left as it is; update to open it"
      )
    }
  }

  /// The tables that are read and written.
  private static let tables: Set = [
    "meta", "author", "log", "keyframe", "mark", "asset", "traffic",
  ]

  /// Refuses a file in which our tables are something else, so that reading or writing them would run what a stranger
  /// wrote: views, computed columns, triggers, indices over expressions (REC-1).
  ///
  /// SQLite is asked what it understood, by statements that no table of the file can stand in for; names in
  /// `sqlite_schema` may lie. Triggers and modules alone are looked for in the text, since the one has no such
  /// statement, and the other would be loaded by it. Checks that the file asks for are not made from now on.
  static func checkTables(_ db: Database, at path: String) throws {
    guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else { return }
    let strange = DocumentError(
      .wrongKind,
      "\(path): its tables are not those of a whiteboard; it was left as it is"
    )
    let words = try Int.fetchOne(
      db,
      sql: """
        SELECT count(*) FROM sqlite_master
        WHERE sql LIKE '%trigger%' OR sql LIKE '%virtual%'
        """
    )
    guard words == 0 else { throw strange }
    for table in try Row.fetchAll(db, sql: "PRAGMA main.table_list") {
      guard let name: String = table["name"], table["type"] == "table" else { throw strange }
      guard tables.contains(name.lowercased()) else { continue }
      guard tables.contains(name), table["wr"] == 0, table["strict"] == 1 else { throw strange }
      let columns = try Row.fetchAll(db, sql: "PRAGMA main.table_xinfo(\(name))")
      guard columns.allSatisfy({ $0["hidden"] == 0 }) else { throw strange }
      for index in try Row.fetchAll(db, sql: "PRAGMA main.index_list(\(name))") {
        guard let of: String = index["name"] else { throw strange }
        let parts = try Row.fetchAll(
          db,
          sql: "PRAGMA main.index_xinfo(\(of.quotedDatabaseIdentifier))"
        )
        guard parts.allSatisfy({ $0["cid"] != -2 }) else { throw strange }
      }
    }
    try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
  }

  /// Has releases that know only an earlier format refuse the file from now on, since rows of the log are written
  /// that they cannot read.
  static func raise(_ db: Database) throws {
    guard let found = try Int32.fetchOne(db, sql: "PRAGMA user_version"), found < format else {
      return
    }
    try db.execute(sql: "PRAGMA user_version = \(format)")
  }

  /// Makes an empty database one of ours.
  static func make(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA application_id = \(applicationID)")
    }
    try migrator.migrate(queue)
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA user_version = \(format)")
    }
  }
}

/// The settings and facts of a document, one row each in `meta`.
enum MetaKey: String, CaseIterable {
  /// The board's id, 32 hexadecimal digits.
  case board
  /// Its name.
  case name
  /// When the document was made, milliseconds since 1970.
  case created
  /// `id chain` of the log's last row as it was closed; absent while it is open, or after a crash.
  case closed
  /// Whether the board was hosted here: `1`, or absent.
  case hosted
  /// The words that let people in, where it was hosted with a code; a secret.
  case code
  /// The membership record of the board's session; it holds a ticket, which admits one key.
  case membership
  /// The title that members gave the board; absent if it has none.
  case title
  /// The host's decision that this peer is no longer a member, as the program wrote it; absent if it is one.
  case removal
  /// Days that history is kept; absent: for ever.
  case retention
  /// Objects on the board, for the library.
  case objects
  /// Names of the people who drew, a JSON array, for the library.
  case people
  /// A small picture as SVG, for the library.
  case thumbnail
  /// When something last changed, milliseconds since 1970, as of the last summary.
  case changed
}

/// Reads and writes `meta`.
enum Meta {
  /// The checksum of a row.
  static func checksum(_ key: String, _ value: String) -> UInt32 {
    Checksum.row(UInt8(ascii: "m"), [], [Array(key.utf8), Array(value.utf8)])
  }

  /// The value of `key`, or nil where there is none.
  static func get(_ db: Database, _ key: MetaKey, at path: String) throws -> String? {
    guard
      let row = try Row.fetchOne(
        db,
        sql: "SELECT value, crc FROM meta WHERE key = ?",
        arguments: [key.rawValue]
      )
    else { return nil }
    guard let value = String.fromDatabaseValue(row[0]),
      Int64.fromDatabaseValue(row[1]) == Int64(checksum(key.rawValue, value))
    else { throw DocumentError.damagedRow("the setting '\(key.rawValue)'", at: path) }
    return value
  }

  /// Stores `value`, or removes it where it is nil.
  static func set(_ db: Database, _ key: MetaKey, _ value: String?) throws {
    guard let value else {
      try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [key.rawValue])
      return
    }
    try set(db, key: key.rawValue, value)
  }

  /// Stores `value` under a key of any name.
  static func set(_ db: Database, key: String, _ value: String) throws {
    try db.execute(
      sql: """
        INSERT INTO meta (key, value, crc) VALUES (?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET value = excluded.value, crc = excluded.crc
        """,
      arguments: [key, value, Int64(checksum(key, value))]
    )
  }
}
