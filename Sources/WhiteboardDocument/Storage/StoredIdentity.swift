import Foundation
import GRDB
import Whiteboard

/// A second copy of the board's id and the creation time, in a table that has a single row (REC-2).
///
/// The table `meta` grows. When SQLite distributes its rows over several pages, their first row moves to one of the
/// last pages of the file, and is lost if the end of the file is. The row of this table stays on its page.
struct StoredIdentity: Hashable, Sendable {
  static let table = "identity"

  let board: [UInt8]
  let created: Int64

  private var checksum: UInt32 { Checksum.row(UInt8(ascii: "i"), [created], [board]) }

  init(board: [UInt8], created: Int64) {
    self.board = board
    self.created = created
  }

  /// Creates the identity from the columns of a row; nil if they do not match the checksum.
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

  /// Stores the values of the table `meta` in a file that does not have a copy of them.
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

  /// Stores the picture; nil removes it.
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
