import Foundation
import PeerTestKit
import Testing

@testable import WhiteboardDocument

@Suite struct CheckpointerTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func create() async throws -> BoardDocument {
    try await BoardDocument.create(
      at: directory.file("board.whiteboard"),
      board: someBoard,
      name: "Ideas",
      now: 1_700_000_000_000
    )
  }

  private static let entry = DocumentEntry.batch(bytes: [UInt8](repeating: 0x41, count: 1 << 20), time: 1)

  private func size(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
  }

  @Test("the WAL file is emptied beside the commits, and stays small") func bounded() async throws {
    let document = try await create()
    let checkpointer = try #require(document.connection.checkpointer)
    for _ in 0..<40 {
      try await document.append([Self.entry])
      await checkpointer.idle()
    }
    #expect(try size(document.path + "-wal") < 12 << 20)
    #expect(try size(document.path) > 30 << 20)
    #expect(try await document.verify() == [])
    #expect(try await document.load().entries.count == 40)
    try await document.close()
  }

  @Test("closing waits for a checkpoint, and leaves a single file", arguments: 0..<5) func closing(round: Int)
    async throws
  {
    let document = try await create()
    for _ in 0..<4 + round { try await document.append([Self.entry]) }
    try await document.close()
    #expect(!FileManager.default.fileExists(atPath: document.path + "-wal"))
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(try await again.load().entries.count == 4 + round)
    #expect(try await again.verify() == [])
    try await again.close()
  }

  @Test("a commit moves the pages itself if too many are in the WAL file") func late() async throws {
    let document = try await create()
    let checkpointer = Checkpointer(document.path, document.connection.database, pagesAtMost: 1)
    let log = document.path + "-wal"
    let sizes = try await document.connection.run { db in
      try db.execute(sql: "CREATE TABLE more (body BLOB)")
      func write() throws { try db.execute(sql: "INSERT INTO more VALUES (zeroblob(3000000))") }
      func count() throws -> Int { try Data(contentsOf: URL(fileURLWithPath: log)).count }
      try write()
      checkpointer.didCommit(db)
      try write()
      checkpointer.didCommit(db)
      let full = try count()
      try db.execute(sql: "DROP TABLE more")
      return (full: full, last: try count())
    }.get()
    // The first write was too small for a checkpoint. The last transaction overwrote the start of the WAL file.
    #expect(sizes.full > 6_000_000 && sizes.last == sizes.full)
    try await document.close()
  }

  @Test("a checkpoint creates no file in place of a removed document") func removed() async throws {
    let document = try await create()
    let checkpointer = try #require(document.connection.checkpointer)
    try await document.append([Self.entry])
    for end in ["", "-wal", "-shm"] { unlink(document.path + end) }
    for _ in 0..<5 { await #expect(throws: DocumentError.self) { try await document.append([Self.entry]) } }
    await checkpointer.idle()
    #expect(checkpointer.movePages() == nil)
    #expect(!FileManager.default.fileExists(atPath: document.path))
    try? await document.close()
    #expect(!FileManager.default.fileExists(atPath: document.path))
  }

  @Test("the checksum of a part can be added instead of its bytes", arguments: 0..<50) func parts(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = (0..<random.below(3000)).map { _ in UInt8(random.below(256)) }
    let cut = random.below(bytes.count + 1)
    var whole = Checksum()
    whole.add(bytes)
    var joined = Checksum()
    joined.add(Array(bytes[..<cut]))
    joined.add(Checksum.Part(Array(bytes[cut...])))
    #expect(joined.value == whole.value)
    let rows = (
      Checksum.row(1, [5], [Array(bytes[..<cut]), Array(bytes[cut...])]),
      Checksum.row(1, [5], [Array(bytes[..<cut])], Checksum.Part(Array(bytes[cut...])))
    )
    #expect(rows.0 == rows.1)
  }
}
