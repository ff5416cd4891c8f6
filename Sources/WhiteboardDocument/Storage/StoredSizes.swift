import GRDB
import GRDBSQLite

/// The limits for the sizes of values and tables in a document (REC-19).
///
/// A file may come from an untrusted source. Its sizes are checked before its values are read, since reading a value
/// allocates as much memory as the file claims.
enum StoredSizes {
  /// The maximum size of any value, in bytes.
  ///
  /// A keyframe of the largest board that a replica stores (BRD-30) is smaller.
  static let value = 402_653_184
  /// The maximum number of rows in the table `author`.
  static let authors = 262_144

  /// The maximum size of the values in each column, in bytes.
  ///
  /// Columns of `log` and `traffic` have only the limit ``value``, since these tables may have millions of rows.
  private static let columns: [(table: String, column: String, limit: Int, what: String)] = [
    ("author", "record", 1024, "a record of an author"), ("author", "head", 1024, "a head of an author"),
    ("meta", "key", 4096, "the name of a setting"), ("meta", "value", 16_777_216, "a setting"),
    ("mark", "name", 4096, "the name of a marker"), ("keyframe", "name", 4096, "the name of a version"),
    ("keyframe", "digest", 1024, "the digest of a keyframe"), ("keyframe", "body", value, "a keyframe"),
    (StoredIdentity.table, "board", 1024, "the board's id"),
    (StoredThumbnail.table, "picture", 16_777_216, "the thumbnail"), ("asset", "sha256", 1024, "the hash of an asset"),
    ("asset", "body", 33_554_432, "an asset"),
  ]

  private static let texts: Set = ["key", "value", "name", "picture"]

  /// Checks the sizes in a file, and makes SQLite refuse to read values larger than ``value``; throws `DocumentError`
  /// with the code `damaged` if something is too large.
  ///
  /// The cost depends on the number of rows, not on their bytes. Missing and damaged tables are ignored here, since
  /// reading their rows reports them.
  static func check(_ db: Database, at path: String) throws {
    defer { sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, CInt(value)) }
    sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_LENGTH, CInt(value))
    let rows = "SELECT count(*) FROM (SELECT 1 FROM author LIMIT \(authors + 1))"
    if let rows = try number(rows, db), rows > authors {
      throw tooLarge("it has more than \(authors) authors", at: path)
    }
    for (table, column, limit, what) in columns {
      // SQLite knows the length of a blob from the header of its row. To count the bytes of a text value, SQLite must
      // read the value, so SQLite gets the same limit: it refuses a longer value before it allocates memory for it.
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

  /// Returns the number that a statement selects; nil if there is none, or the table cannot be read.
  private static func number(_ sql: String, _ db: Database) throws -> Int64? {
    do { return try Int64.fetchOne(db, sql: sql) } catch let error as DatabaseError
      where error.resultCode != .SQLITE_TOOBIG
    { return nil }
  }

  private static func tooLarge(_ what: String, at path: String) -> DocumentError {
    DocumentError(.damaged, "\(path): the file is malformed: \(what); it was not read; ask for another copy of it")
  }
}
