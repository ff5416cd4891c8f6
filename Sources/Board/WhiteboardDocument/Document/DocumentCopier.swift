import Foundation
import GRDB
import Whiteboard

/// A copier that writes an open document to a new file. The file appears only when it is complete and on disk.
struct DocumentCopier: Sendable {
  private let connection: DocumentConnection

  init(_ connection: DocumentConnection) { self.connection = connection }

  /// Copies the file through a separate connection, so that no other call has to wait. Throws `exists`, `full`,
  /// `readOnly` or `damaged`. If the method throws, there is no new file. The copy does not have the join code, the
  /// membership record or the removal record.
  func copy(to path: String, _ edit: (@Sendable (Database, inout LogTail) throws -> Void)? = nil)
    async throws(DocumentError)
  {
    let source = connection.path
    try await NewFile.publish(at: path) { temporary in
      try Self.write(source, into: temporary)
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try queue.write { db in
        var tail = try LogTail(db, at: source)
        try edit?(db, &tail)
        try SealedFacts.removeAll(db)
        try Meta.set(db, .hosted, nil)
        try Meta.set(db, .closed, tail.text)
      }
      if edit != nil { try queue.vacuum() }
    }
  }

  private static func write(_ source: String, into temporary: String) throws {
    do {
      let database = try Connector.connect(source, .reading)
      defer { try? OpenFiles.close(database) }
      try database.writeWithoutTransaction { db in try db.execute(sql: "VACUUM INTO ?", arguments: [temporary]) }
    } catch let error as DatabaseError where error.resultCode != .SQLITE_FULL {
      // Report these errors for the source. `SQLITE_FULL` is not caught here, since it concerns the disk of the copy.
      throw DocumentError.from(error, at: source)
    }
  }

  /// Turns a copy into a document of a new board without content. Records, batches and heads are signed for one board,
  /// so they are removed.
  static func beginBoard(_ board: [UInt8], name: String, keeping assets: Set<[UInt8]>, now: Int64, _ db: Database)
    throws
  {
    try db.execute(
      sql: """
        DELETE FROM log; DELETE FROM keyframe; DELETE FROM author; DELETE FROM mark;
        DROP TABLE IF EXISTS traffic
        """
    )
    try StoredName.forgetAll(db)
    for hash in try StoredAssets.hashes(db) where !assets.contains(hash) { try StoredAssets.remove(hash, db) }
    try StoredIdentity(board: board, created: now).store(db)
    try Meta.set(db, .board, Hexadecimal.encode(board))
    try Meta.set(db, .name, name)
    try Meta.set(db, .created, String(now))
    try Meta.set(db, .changed, String(now))
  }

  /// Copies the document through the open connection. Throws `exists`, `full`, `readOnly` or `inputOutput`. If the
  /// method throws, there is no new file. The copy can be made even if the file was removed.
  func copyOpenFile(to path: String) async throws(DocumentError) {
    try await publishOpenFile(at: path) { db, tail in try Meta.set(db, .closed, tail.text) }
  }

  /// Writes a copy of a document that cannot be written, and adds the state in memory. Returns whether the copy has the
  /// history. Throws `exists`, `full`, `readOnly` or `inputOutput`. If the method throws, there is no new file. If the
  /// document cannot be read either, the copy has only the state in memory.
  func rescue(to path: String, board: [UInt8], _ rescue: BoardRescue) async throws(DocumentError) -> Bool {
    do throws(DocumentError) {
      try await publishOpenFile(at: path) { db, tail in
        try rescue.write(db, &tail)
        try SealedFacts.removeAll(db)
        try Meta.set(db, .hosted, nil)
        try Meta.set(db, .closed, tail.text)
      }
      return true
    } catch { if error.code == .exists { throw error } }
    let source = connection.path
    let name = try? await connection.read { db in try Meta.get(db, .name, at: source) ?? "" }
    try await NewFile.make(at: path, board: board, name: name ?? "board", now: rescue.time) { new in
      try new.write { db in
        var tail = LogTail()
        try rescue.write(db, &tail)
        try Meta.set(db, .closed, tail.text)
      }
    }
    return false
  }

  private func publishOpenFile(at path: String, _ edit: @escaping @Sendable (Database, inout LogTail) throws -> Void)
    async throws(DocumentError)
  {
    let connection = connection
    try await NewFile.publish(at: path) { temporary in
      try connection.database.writeWithoutTransaction { db in
        try db.execute(sql: "VACUUM INTO ?", arguments: [temporary])
      }
      let queue = try DatabaseQueue(path: temporary)
      defer { try? queue.close() }
      try queue.write { db in
        var tail = try LogTail(db, at: connection.path)
        try edit(db, &tail)
      }
    }
  }
}
