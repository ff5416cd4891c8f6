import Foundation
import GRDB
import PeerTestKit
import Testing

@testable import WhiteboardDocument

/// The traffic and the members of a session (REC-12, REC-13).
@Suite struct TrafficTests {
  private static let peers = (1...3).map { [UInt8](repeating: $0, count: 32) }

  private static func entries(_ generator: inout SeededGenerator) -> [TrafficEntry] {
    var time: Int64 = 1_700_000_000_000
    return TrafficEntry.Kind.allCases.map { kind in
      time += Int64.random(in: -5...5_000, using: &generator)
      let (number, size) = (UInt64.random(in: 1...300, using: &generator), UInt64.max)
      let bytes = (0..<Int.random(in: 0...300, using: &generator)).map { UInt8($0 & 0xFF) }
      switch kind {
      case .began, .joined, .left, .state: return TrafficEntry(kind, [peers[0]], time: time, text: "n\u{1B}ämë")
      case .sentMessage, .sentDatagram: return TrafficEntry(kind, peers, time: time, bytes: bytes)
      case .message, .datagram: return TrafficEntry(kind, [peers[1]], time: time, bytes: bytes)
      case .resource, .sentResource:
        return TrafficEntry(kind, [peers[2]], time: time, number: number, size: size, text: #"{"id":1}"#)
      case .resourceEnded, .stream, .openedStream, .streamBroke:
        return TrafficEntry(kind, [peers[2]], time: time, number: number, text: "x")
      case .streamBytes, .sentStreamBytes:
        return TrafficEntry(kind, [peers[0]], time: time, number: number, bytes: bytes)
      case .streamFinished, .finishedStream: return TrafficEntry(kind, [peers[0]], time: time, number: number)
      case .missed: return .missed(from: time - 7, to: time)
      }
    }
  }

  private func document(_ directory: TemporaryDirectory, _ entries: [[TrafficEntry]]) async throws -> String {
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    for group in entries { try await document.append(group.map { .traffic($0) }) }
    try await document.append([.name("Ada", of: "aaaa"), .name("Ben", of: "bbbb")])
    try await document.append([.name("Adele", of: "aaaa"), .end(time: 77)])
    try await document.close()
    return path
  }

  private func history(_ path: String) async throws -> DocumentHistory {
    let document = try await BoardDocument.open(at: path, mode: .reading)
    let history = try await document.history()
    try await document.close()
    return history
  }

  @Test("[REC-12] [REC-13] a stored session decodes unchanged, with its names and its end") func kept() async throws {
    let directory = try TemporaryDirectory()
    var generator = SeededGenerator(seed: 11)
    let groups = (0..<5).map { _ in Self.entries(&generator) }
    let path = try await document(directory, groups)
    let history = try await history(path)
    #expect(history.traffic == groups.flatMap(\.self))
    #expect(history.names == ["aaaa": "Adele", "bbbb": "Ben"])
    #expect(history.end == 77 && history.damages.isEmpty && history.marks.isEmpty)
    // Long entries are split into rows.
    let long = TrafficEntry(.message, [Self.peers[0]], time: 5, bytes: numberedBytes(1, size: 200_000))
    let other = directory.file("long.whiteboard")
    let document = try await BoardDocument.create(at: other, board: someBoard, name: "x", now: 0)
    try await document.append([TrafficEntry](repeating: long, count: 5).map { .traffic($0) })
    try await document.close()
    let rows = try await DatabaseQueue(path: other).read { db in
      try Int.fetchOne(db, sql: "SELECT count(*) FROM traffic")
    }
    #expect(rows == 3)
    #expect(try await self.history(other).traffic.count == 5)
  }

  @Test("[REC-13] damaged traffic is reported, and the rest is valid") func damaged() async throws {
    let directory = try TemporaryDirectory()
    var generator = SeededGenerator(seed: 12)
    let groups = (0..<3).map { _ in Self.entries(&generator) }
    let path = try await document(directory, groups)
    try await DatabaseQueue(path: path).write { db in
      try db.execute(sql: "UPDATE traffic SET time = time + 1 WHERE id = 2")
    }
    let found = try await history(path)
    #expect(found.traffic == groups[0] + groups[2])
    #expect(found.damages.map(\.words) == ["row 2 of the session's traffic is damaged"])
    try await DatabaseQueue(path: path).write { db in try db.execute(sql: "DELETE FROM traffic WHERE id = 2") }
    let words = try await history(path).damages.map(\.words)
    #expect(words == ["rows 2 to 2 of the session's traffic are missing"])
    let document = try await BoardDocument.open(at: path, mode: .reading)
    #expect(try await document.verify() == words)
    try await document.close()
    // Intact entries are recovered from a file that cannot be opened.
    try damage(path, where: Array("CREATE TABLE log".utf8))
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, now: 0)
    #expect(try await history(saved).traffic == groups[0] + groups[2])
    #expect(try await history(saved).names == ["aaaa": "Adele", "bbbb": "Ben"])
    #expect(!report.losses.isEmpty)
  }

  @Test("[REC-13] unknown kinds, and unknown fields at the end of an entry, are skipped") func later() throws {
    let peer = Self.peers[0]
    // Time 0; kind 200, 2 bytes. Time 1; kind 1, one new peer, a name of 2 bytes, 1 byte more.
    let body: [UInt8] = [0, 200, 2, 0, 9] + [2, 1, 38, 1, 0] + peer + [2, 0x48, 0x69, 0xFF]
    let row = LogRow(id: 1, time: 100, entries: 2, body: body, table: LogRow.traffic)
    #expect(row.ownChecksum != LogRow(id: 1, time: 100, entries: 2, body: body).ownChecksum)
    #expect(try row.unpackTraffic() == [TrafficEntry(.joined, [peer], time: 101, text: "Hi")])
    for count in body.indices.dropLast() {
      let cut = LogRow(id: 1, time: 100, entries: 2, body: Array(body.prefix(count)), table: LogRow.traffic)
      #expect(throws: (any Error).self) { try cut.unpackTraffic() }
    }
  }

  @Test("[REC-13] no bytes make the decoder of entries crash") func hostile() {
    var generator = SeededGenerator(seed: 13)
    var read = 0
    for _ in 0..<20_000 {
      let body = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        UInt8.random(in: 0...(Bool.random(using: &generator) ? 20 : 255), using: &generator)
      }
      let time = [Int64.min, 0, .max].randomElement(using: &generator) ?? 0
      for entries in 0...3 {
        let row = LogRow(id: 1, time: time, entries: Int64(entries), body: body, table: LogRow.traffic)
        if (try? row.unpackTraffic()) != nil { read += 1 }
      }
    }
    #expect(read > 100)
  }

  @Test("[REC-13] a row with the greatest number, before a damaged page, is read") func greatestNumber() async throws {
    let directory = try TemporaryDirectory()
    let path = try await document(directory, [])
    let root = try await DatabaseQueue(path: path).write { db in
      try db.execute(
        sql: """
          CREATE TABLE traffic (id INTEGER PRIMARY KEY, time INTEGER NOT NULL,
            entries INTEGER NOT NULL, body BLOB NOT NULL, sum INTEGER NOT NULL) STRICT
          """
      )
      for id in [1, 2, Int64.max] {
        try db.execute(sql: "INSERT INTO traffic VALUES (?, 1, 1, zeroblob(3000), 0)", arguments: [id])
      }
      return try Int.fetchOne(
        db,
        sql:
          "SELECT (rootpage - 1) * (SELECT page_size FROM pragma_page_size) FROM sqlite_schema WHERE name = 'traffic'"
      )
    }
    // The last cell of the tree's root leads to the page with the greatest row, and all others to no page.
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let top = try #require(root)
    #expect(bytes[top] == 5)
    let cells = Int(bytes[top + 3]) << 8 | Int(bytes[top + 4])
    let last = top + 12 + 2 * (cells - 1)
    let cell = top + Int(bytes[last]) << 8 + Int(bytes[last + 1])
    bytes.replaceSubrange(cell..<cell + 4, with: bytes[top + 8..<top + 12])
    bytes.replaceSubrange(top + 8..<top + 12, with: [0x7F, 0xFF, 0xFF, 0xFF])
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let document = try await BoardDocument.open(at: path, mode: .reading)
    #expect(await code { _ = try await document.history() } == .damaged)
    #expect(await code { _ = try await document.verify() } == .damaged)
    try await document.close()
  }

  @Test(
    "[REC-1] a file with unexpected tables, views or triggers is not read by SQL",
    arguments: [
      "DROP TABLE mark; CREATE VIEW mark AS SELECT 1 AS id",
      "DROP TABLE log; CREATE TABLE log (id INTEGER PRIMARY KEY, body BLOB)", "CREATE VIEW other AS SELECT 1",
      "CREATE TRIGGER t AFTER INSERT ON log BEGIN DELETE FROM asset; END",
      "ALTER TABLE log ADD COLUMN more BLOB GENERATED ALWAYS AS (zeroblob(1000)) VIRTUAL",
      "DROP TABLE asset; CREATE TABLE asset (id INTEGER PRIMARY KEY, x ANY) STRICT, WITHOUT ROWID",
      "DROP TABLE mark; CREATE TABLE MARK (id INTEGER PRIMARY KEY, name AS (hex(zeroblob(1000))))",
      """
      CREATE TABLE pragma_table_list (schema, name, type, ncol, wr, strict);
      ALTER TABLE log ADD COLUMN more BLOB GENERATED ALWAYS AS (zeroblob(1000)) VIRTUAL
      """, "CREATE INDEX i ON mark (length(hex(name)))",
    ]
  ) func strangeTables(sql: String) async throws {
    let directory = try TemporaryDirectory()
    let path = try await document(directory, [])
    try await DatabaseQueue(path: path).writeWithoutTransaction { db in try db.execute(sql: sql) }
    for mode in [BoardDocument.Mode.reading, .writing] {
      let found = await code { _ = try await BoardDocument.open(at: path, mode: mode) }
      #expect(found == .wrongKind)
    }
    let listed = try await BoardLibrary(directory: directory.path).list()
    #expect(listed.map { $0.error?.code } == [.wrongKind])
  }
}
