import Foundation
import GRDB
import PeerTestKit
import Testing

@testable import WhiteboardDocument

/// Files from others with larger values than a document may have.
@Suite struct StoredSizesTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func changed(_ sql: String) async throws -> String {
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await document.append([numbered(1), .author(record: [1], incarnation: 1)])
    try await document.writeKeyframe([1], digest: [4], time: 1)
    try await document.storeAsset([1, 2], sha256: sha256([1, 2]))
    try await document.close()
    let database = try DatabaseQueue(path: path)
    try await database.writeWithoutTransaction { db in try db.execute(sql: sql) }
    try database.close()
    return path
  }

  private func message(_ path: String, _ mode: BoardDocument.Mode) async -> String {
    do {
      let document = try await BoardDocument.open(at: path, mode: mode)
      try? await document.close()
      return "opened"
    } catch { return error.message }
  }

  @Test(
    "[REC-19] a value that is too long is reported before anything is read",
    arguments: [
      ("UPDATE keyframe SET body = zeroblob(402653185)", "a keyframe has 402653185 bytes"),
      ("UPDATE asset SET body = zeroblob(33554433)", "an asset has 33554433 bytes"),
      ("UPDATE author SET record = zeroblob(1025)", "a record of an author has 1025 bytes"),
      (
        "UPDATE meta SET value = printf('%.*c', 16777217, 'x') WHERE key = 'name'",
        "a setting has more than 16777216 bytes"
      ),
    ]
  ) func tooLong(sql: String, words: String) async throws {
    let path = try await changed(sql)
    #expect(await message(path, .reading).contains("malformed: \(words)"))
    #expect(await message(path, .writing).contains("malformed: \(words)"))
  }

  @Test("[REC-19] a row of the log that is too long is damaged, and is not read") func log() async throws {
    let path = try await changed("UPDATE log SET body = zeroblob(402653185)")
    let document = try await BoardDocument.open(at: path, mode: .reading)
    let found = try await document.verify()
    #expect(found.contains { $0.contains("too big") || $0.contains("too large") }, "\(found)")
    try await document.close()
  }

  @Test("[REC-19] too many authors are reported before they are read") func authors() async throws {
    let rows = """
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 262200)
      INSERT INTO author SELECT i, x'', 0, x'', 0 FROM n
      """
    let path = try await changed(rows)
    #expect(await message(path, .reading).contains("malformed: it has more than 262144 authors"))
  }
}
