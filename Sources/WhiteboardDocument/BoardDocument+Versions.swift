import Foundation
import GRDB

/// A named state of the board, which stays until it is deleted.
public struct DocumentVersion: Hashable, Sendable {
  /// The version's name, which is unique in its document.
  public let name: String
  /// The time of the version, in milliseconds since 1970.
  public let time: Int64
  /// The size of the state, in bytes.
  public let size: Int
}

extension BoardDocument {
  /// Stores the whole state as a version with a name.
  /// - Throws: `exists` if the name is taken; `badName`; the errors of ``append(_:)``.
  public func checkpoint(
    name: String,
    bytes: [UInt8],
    digest: [UInt8],
    time: Int64
  ) async throws(DocumentError) {
    try DocumentName.check(name)
    try checkWritable()
    // Check for the name in a separate transaction first. Otherwise, a name that is taken would
    // fail the steps of other callers in the group.
    let isTaken = try await read { db in try Self.versionID(name, db) != nil }
    guard !isTaken else {
      throw DocumentError(
        .exists,
        "\(path): a version '\(name)' already exists; choose another name"
      )
    }
    try checkWritable()
    let step = Step.keyframe(bytes: bytes, digest: digest, name: name, time: time)
    guard let error = await enqueue([step]) else { return }
    if let cause = error.cause as? DatabaseError, cause.resultCode == .SQLITE_CONSTRAINT {
      throw DocumentError(
        .exists,
        "\(path): a version '\(name)' already exists; choose another name"
      )
    }
    throw error
  }

  /// Returns the versions, oldest first.
  public func versions() async throws(DocumentError) -> [DocumentVersion] {
    try await read { db in
      let sql =
        "SELECT name, time, length(body) FROM keyframe WHERE name IS NOT NULL ORDER BY id"
      return try Row.fetchAll(db, sql: sql).compactMap { row in
        let columns = StoredValue.columns(row)
        guard let name = columns[0].text, let time = columns[1].integer,
          let size = columns[2].integer
        else { return nil }
        return DocumentVersion(name: name, time: time, size: Int(size))
      }
    }
  }

  /// Returns the state of a version.
  /// - Throws: `notFound`; `damaged` if this version is lost, which affects no other data.
  public func version(_ name: String) async throws(DocumentError) -> Keyframe {
    try await read { [path] db in
      guard
        let row = try Row.fetchOne(
          db,
          sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE name = ?",
          arguments: [name]
        )
      else { throw DocumentError(.notFound, "\(path): there is no version '\(name)'") }
      guard let keyframe = StoredKeyframe(StoredValue.columns(row)) else {
        throw DocumentError.damagedRow("the version '\(name)'", at: path)
      }
      return Keyframe(bytes: keyframe.body, digest: keyframe.digest, time: keyframe.time)
    }
  }

  /// Deletes a version.
  ///
  /// Its state stays in the file if opening begins from it.
  /// - Throws: `notFound`, `readOnly`, `full`, `closed`.
  public func deleteVersion(_ name: String) async throws(DocumentError) {
    try await write { [path] db in
      guard let id = try Self.versionID(name, db),
        let row = try Row.fetchOne(
          db,
          sql: "SELECT \(StoredKeyframe.columns) FROM keyframe WHERE id = ?",
          arguments: [id]
        )
      else { throw DocumentError(.notFound, "\(path): there is no version '\(name)'") }
      try db.execute(sql: "DELETE FROM keyframe WHERE id = ?", arguments: [id])
      // Opening begins from the newest keyframe, and the stored log from the oldest one. These two
      // stay as keyframes without a name.
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
  }

  private static func versionID(_ name: String, _ db: Database) throws -> Int64? {
    try Int64.fetchOne(db, sql: "SELECT id FROM keyframe WHERE name = ?", arguments: [name])
  }
}

extension StoredKeyframe {
  /// Returns a copy of the keyframe with another name, or without one.
  func renamed(_ name: String?) -> StoredKeyframe {
    var copy = self
    copy.name = name
    return copy
  }
}
