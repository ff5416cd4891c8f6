import GRDB

/// A named state of the board.
///
/// It is stored until a user deletes it.
public struct DocumentVersion: Hashable, Sendable {
  /// The version's name, which is unique in its document.
  public let name: String
  /// The time of the version, in milliseconds since 1970.
  public let time: Int64
  /// The size of the state, in bytes.
  public let size: Int
}

/// Functions that read and remove versions, which are the named rows of `keyframe`.
enum StoredVersions {
  /// Returns the versions, oldest first.
  static func all(_ db: Database) throws -> [DocumentVersion] {
    let sql = "SELECT name, time, length(body) FROM keyframe WHERE name IS NOT NULL ORDER BY id"
    return try Row.fetchAll(db, sql: sql).compactMap { row in
      let columns = StoredValue.columns(row)
      guard let name = columns[0].text, let time = columns[1].integer, let size = columns[2].integer else { return nil }
      return DocumentVersion(name: name, time: time, size: Int(size))
    }
  }

  static func contains(_ name: String, _ db: Database) throws -> Bool { try id(name, db) != nil }

  /// Returns the state of a version; throws `notFound`, or `damaged` if the version is lost.
  static func state(_ name: String, _ db: Database, at path: String) throws -> Keyframe {
    let sql = "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE name = ?"
    guard let row = try Row.fetchOne(db, sql: sql, arguments: [name]) else { throw notFound(name, path) }
    guard let keyframe = StoredKeyframe(StoredValue.columns(row)) else {
      throw DocumentError.damagedRow("the version '\(name)'", at: path)
    }
    return keyframe.state
  }

  /// Removes a version; throws `notFound`.
  ///
  /// If the document is opened from the state of this version, that state stays in the file.
  static func delete(_ name: String, _ db: Database, at path: String) throws {
    let sql = "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE id = ?"
    guard let id = try id(name, db), let row = try Row.fetchOne(db, sql: sql, arguments: [id]) else {
      throw notFound(name, path)
    }
    try db.execute(sql: "DELETE FROM keyframe WHERE id = ?", arguments: [id])
    // The document is opened from the newest keyframe, and its log begins at the oldest one. These two keyframes stay,
    // but lose their names.
    guard let keyframe = StoredKeyframe(StoredValue.columns(row)),
      try Int64.fetchOne(
        db,
        sql: """
          SELECT NOT EXISTS (SELECT 1 FROM keyframe WHERE log >= ?)
            OR NOT EXISTS (SELECT 1 FROM keyframe WHERE log <= ?)
          """,
        arguments: [keyframe.log, keyframe.log]
      ) == 1
    else { return }
    try LogWriter.store(keyframe.renamed(nil), db)
  }

  static func exists(_ name: String, _ path: String) -> DocumentError {
    DocumentError(.exists, "\(path): there is already a checkpoint '\(name)'; choose another name")
  }

  private static func id(_ name: String, _ db: Database) throws -> Int64? {
    try Int64.fetchOne(db, sql: "SELECT id FROM keyframe WHERE name = ?", arguments: [name])
  }

  private static func notFound(_ name: String, _ path: String) -> DocumentError {
    DocumentError(.notFound, "\(path): there is no checkpoint '\(name)'")
  }
}
