import Foundation
import GRDB
import Whiteboard

/// The tables of a document, and the migrations from each format to the next.
enum Schema {
  /// The `PRAGMA application_id` that marks the file as a whiteboard: 'wbrd'.
  static let applicationID: Int32 = 0x7762_7264
  /// The format of a file without retirements (`PRAGMA user_version`).
  static let format: Int32 = 2
  /// The format of a file with retirements, and the greatest format that this release reads. Earlier releases refuse
  /// such a file and say that a newer release wrote it. Otherwise, they would report the file as damaged.
  static let formatWithRetirements: Int32 = 3

  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      // No table is WITHOUT ROWID. Therefore all rows are on pages of one kind, and recovery can read them even if the
      // b-trees are damaged.
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

  /// Throws if a database is not a whiteboard, or has the format of a later release.
  static func check(_ db: Database, at path: String) throws {
    let application = try Int32.fetchOne(db, sql: "PRAGMA application_id")
    let format = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
    guard application == applicationID, format > 0 else {
      throw DocumentError(.wrongKind, "\(path): this is a database, but not a whiteboard; it was not changed")
    }
    guard format <= formatWithRetirements else {
      throw DocumentError(
        .newerSchema,
        "\(path): a newer release wrote this whiteboard (format \(format); this release reads up to "
          + "\(formatWithRetirements)); it was not changed; update the program to open it"
      )
    }
  }

  private static let tables: Set = [
    "meta", "author", "log", "keyframe", "mark", "asset", "traffic", StoredIdentity.table, StoredThumbnail.table,
  ]

  /// Throws if reading or writing the tables could run code that an untrusted file contains: views, computed columns,
  /// triggers, or indexes on expressions (REC-1). Names in `sqlite_schema` can be wrong. Therefore the check asks
  /// SQLite how it parsed the schema, with statements that no table of the file can replace. Only triggers and virtual
  /// tables are searched for in the SQL text, because no statement lists triggers, and any statement would load the
  /// module of a virtual table. After the check, SQLite ignores the CHECK constraints of the file.
  static func checkTables(_ db: Database, at path: String) throws {
    guard try Int32.fetchOne(db, sql: "PRAGMA application_id") == applicationID else { return }
    let strange = DocumentError(.wrongKind, "\(path): its tables are not those of a whiteboard; it was not changed")
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
        let parts = try Row.fetchAll(db, sql: "PRAGMA main.index_xinfo(\(of.quotedDatabaseIdentifier))")
        guard parts.allSatisfy({ $0["cid"] != -2 }) else { throw strange }
      }
    }
    try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
  }

  /// Converts a file of an earlier release to the current format. The file is marked, so that releases with an earlier
  /// format refuse it: those releases cannot read the rows that this release writes to the log.
  static func raise(_ db: Database, at path: String) throws {
    try makeOwnTables(db)
    try StoredIdentity.copy(db, at: path)
    try StoredThumbnail.move(db)
    try raise(db, to: format)
  }

  static func raise(_ db: Database, to format: Int32) throws {
    guard let found = try Int32.fetchOne(db, sql: "PRAGMA user_version"), found < format else { return }
    try db.execute(sql: "PRAGMA user_version = \(format)")
  }

  /// Creates the tables of values that must not share pages with other values. Earlier releases ignore these tables. In
  /// a new file, these tables are created first, so that the first pages contain the identity.
  private static func makeOwnTables(_ db: Database) throws {
    try db.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS \(StoredIdentity.table) (id INTEGER PRIMARY KEY, board BLOB NOT NULL,
          created INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS \(StoredThumbnail.table) (id INTEGER PRIMARY KEY,
          picture TEXT NOT NULL, crc INTEGER NOT NULL) STRICT
        """
    )
  }

  static func make(_ queue: DatabaseQueue) throws {
    try queue.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA application_id = \(applicationID)")
      try makeOwnTables(db)
    }
    try migrator.migrate(queue)
    try queue.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA user_version = \(format)") }
  }
}

enum MetaKey: String, CaseIterable, Sendable {
  /// The board's id, as 32 hexadecimal digits.
  case board
  case name
  /// The creation time of the document, in milliseconds since 1970.
  case created
  /// The id and the chain of the log's last row, as `id chain`; absent while the document is open, and after a crash.
  case closed
  /// `1` if the board was hosted here; otherwise absent.
  case hosted
  /// The join code, if the board was hosted with a join code; a secret.
  case code
  /// How the user chose to admit peers to the board, opaque to the document; absent if the user made no choice.
  case admission
  /// The membership record of the board's session. The record contains a ticket that admits a single key.
  case membership
  /// The title that members gave the board; absent if it has none.
  case title
  /// The record of the host's decision to remove this peer, opaque to the document; absent if the peer is a member.
  case removal
  /// The browser links of the board, opaque to the document; absent if there are none.
  case browserLinks = "browser_links"
  /// The number of days for which history is stored; absent if it is stored forever.
  case retention
  case objects
  /// The names of the users who drew on the board, as a JSON array, for the library.
  case people
  /// A small picture of the board as SVG, in files of earlier releases; see ``StoredThumbnail``.
  case thumbnail
  /// The time of the last change, as of the last summary, in milliseconds since 1970.
  case changed
}

enum Meta {
  static func checksum(_ key: String, _ value: String) -> UInt32 {
    Checksum.row(UInt8(ascii: "m"), [], [Array(key.utf8), Array(value.utf8)])
  }

  static func get(_ db: Database, _ key: MetaKey, at path: String) throws -> String? {
    guard let row = try Row.fetchOne(db, sql: "SELECT value, crc FROM meta WHERE key = ?", arguments: [key.rawValue])
    else { return nil }
    guard let value = String.fromDatabaseValue(row[0]),
      Int64.fromDatabaseValue(row[1]) == Int64(checksum(key.rawValue, value))
    else { throw DocumentError.damagedRow("the setting '\(key.rawValue)'", at: path) }
    return value
  }

  static func set(_ db: Database, _ key: MetaKey, _ value: String?) throws {
    guard let value else {
      try db.execute(sql: "DELETE FROM meta WHERE key = ?", arguments: [key.rawValue])
      return
    }
    try set(db, key: key.rawValue, value)
  }

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

/// A second copy of the board's id and the creation time, in a table that has a single row (REC-2). When the table
/// `meta` grows, SQLite distributes its rows over several pages. The first row then moves to one of the last pages, and
/// is lost if the end of the file is lost. The row of this table stays on its page.
struct StoredIdentity: Hashable, Sendable {
  static let table = "identity"

  let board: [UInt8]
  let created: Int64

  private var checksum: UInt32 { Checksum.row(UInt8(ascii: "i"), [created], [board]) }

  init(board: [UInt8], created: Int64) {
    self.board = board
    self.created = created
  }

  init?(_ columns: [StoredValue]) {
    guard columns.count == 4, let board = columns[1].blob, let created = columns[2].integer,
      board.count == BoardDocument.boardIDLength
    else { return nil }
    self.init(board: board, created: created)
    guard columns[3].integer == Int64(checksum) else { return nil }
  }

  func store(_ db: Database) throws {
    try db.execute(
      sql: "INSERT OR REPLACE INTO identity (id, board, created, crc) VALUES (1, ?, ?, ?)",
      arguments: [Data(board), created, Int64(checksum)]
    )
  }

  static func copy(_ db: Database, at path: String) throws {
    guard try Int.fetchOne(db, sql: "SELECT 1 FROM identity") == nil,
      let board = try Meta.get(db, .board, at: path).flatMap({ Hexadecimal.decode($0) })
    else { return }
    let created = try Meta.get(db, .created, at: path).flatMap { Int64($0) } ?? 0
    try StoredIdentity(board: board, created: created).store(db)
  }
}

/// Functions that read and write the small picture of the board, which has a table of its own (REC-2).
enum StoredThumbnail {
  static let table = "thumbnail"

  static func get(_ db: Database, at path: String) throws -> String? {
    guard try db.tableExists(table), let row = try Row.fetchOne(db, sql: "SELECT picture, crc FROM thumbnail") else {
      return try Meta.get(db, .thumbnail, at: path)
    }
    guard let picture = String.fromDatabaseValue(row[0]), Int64.fromDatabaseValue(row[1]) == Int64(checksum(picture))
    else { throw DocumentError.damagedRow("the thumbnail", at: path) }
    return picture
  }

  static func set(_ picture: String?, _ db: Database) throws {
    guard let picture else { return try db.execute(sql: "DELETE FROM thumbnail") }
    try db.execute(
      sql: "INSERT OR REPLACE INTO thumbnail (id, picture, crc) VALUES (1, ?, ?)",
      arguments: [picture, Int64(checksum(picture))]
    )
  }

  /// Moves the picture out of the table `meta`, where earlier releases stored it.
  static func move(_ db: Database) throws {
    let sql = "SELECT value FROM meta WHERE key = ?"
    let key = MetaKey.thumbnail.rawValue
    guard let picture = try String.fetchOne(db, sql: sql, arguments: [key]) else { return }
    try set(picture, db)
    try Meta.set(db, .thumbnail, nil)
  }

  private static func checksum(_ picture: String) -> UInt32 {
    Checksum.row(UInt8(ascii: "p"), [], [Array(picture.utf8)])
  }
}
