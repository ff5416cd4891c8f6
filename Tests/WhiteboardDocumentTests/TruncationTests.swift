import Foundation
import GRDB
import Testing

@testable import WhiteboardDocument

/// Files that lost their end.
@Suite struct TruncationTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let page = 4096
  /// The number of pages with which every file begins: the pages of its tables before they have rows.
  private static let firstPages = 16

  /// Creates a file whose settings and thumbnail fill several pages, after its entries.
  private func made(_ path: String) async throws -> Data {
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 77)
    for part in 0..<40 {
      try await document.append([.author(record: [1], incarnation: UInt64(part + 1))])
      try await document.append((0..<10).map { numbered(10 * part + $0, size: 300) })
    }
    for member in 0..<60 {
      try await document.append([.name(String(repeating: "n", count: 100), of: "member \(member)")])
    }
    try await document.setSummary(
      objects: 1,
      people: [],
      thumbnail: String(repeating: "<svg/>", count: 3000),
      changed: 1
    )
    try await document.close()
    return try Data(contentsOf: URL(fileURLWithPath: path))
  }

  @Test("[REC-17] a file that is cut anywhere after its first pages is recovered as far as possible") func cutAnywhere()
    async throws
  {
    let bytes = try await made(directory.file())
    let pages = bytes.count / Self.page
    #expect(pages > 3 * Self.firstPages)
    var last = -1
    for count in Array(stride(from: Self.firstPages, to: pages, by: 5)) + [pages - 2, pages - 1, pages] {
      let cut = directory.file("cut-\(count).whiteboard")
      try bytes.prefix(count * Self.page).write(to: URL(fileURLWithPath: cut))
      let target = directory.file("recovered-\(count).whiteboard")
      let found: RecoveryReport?
      do { found = try await BoardDocument.recover(from: cut, to: target, now: 0) } catch {
        // Recovery may fail only if no entry is left.
        #expect(error.code == .damaged && error.message.contains("no board data"), "\(error)")
        #expect(last <= 0, "\(count) of \(pages) pages")
        found = nil
      }
      guard let found else { continue }
      #expect(found.board == someBoard, "\(count) of \(pages) pages")
      #expect(found.entries >= last, "\(count) of \(pages) pages")
      last = found.entries
      let document = try await BoardDocument.open(at: target, mode: .reading)
      #expect(numbers(try await document.load().entries).count == found.entries)
      try await document.close()
    }
    #expect(last == 400)
  }

  @Test("a file of an earlier release gets the new tables, and its thumbnail stays readable") func earlier()
    async throws
  {
    let path = directory.file()
    _ = try await made(path)
    let picture = String(repeating: "<svg/>", count: 3000)
    try await DatabaseQueue(path: path).write { db in
      try db.execute(sql: "DROP TABLE identity; DROP TABLE thumbnail")
      try Meta.set(db, .thumbnail, picture)
    }
    let library = BoardLibrary(directory: directory.path)
    #expect(try await library.list().map(\.thumbnail) == [picture])
    try await BoardDocument.open(at: path, mode: .writing).close()
    #expect(try await library.list().map(\.thumbnail) == [picture])
    let (rows, old) = try await DatabaseQueue(path: path).read { db in
      (
        try Row.fetchAll(db, sql: "SELECT * FROM identity").map { StoredValue.columns($0) },
        try Meta.get(db, .thumbnail, at: path)
      )
    }
    #expect(rows.compactMap { StoredIdentity($0) } == [.init(board: someBoard, created: 77)])
    #expect(old == nil)
  }
}
