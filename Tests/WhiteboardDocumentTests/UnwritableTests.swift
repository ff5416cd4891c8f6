import Foundation
import GRDB
import Testing

@testable import WhiteboardDocument

/// Documents on a disk that accepts no data.
@Suite struct UnwritableTests {
  let directory: TemporaryDirectory
  let library: BoardLibrary

  init() throws {
    directory = try TemporaryDirectory()
    library = BoardLibrary(directory: directory.path)
  }

  private func made() async throws -> String {
    let document = try await library.open(named: "Plans", orMaking: someBoard, now: 0)
    try await document.append([numbered(0)])
    try await document.close()
    return document.path
  }

  /// Makes it impossible to create the lock file of a document, even for root.
  private func obstruct(_ path: String) throws {
    try FileManager.default.createDirectory(atPath: path + "-lock", withIntermediateDirectories: false)
  }

  @Test("a document that cannot be opened for writing is opened for reading, and reopened later") func reopened()
    async throws
  {
    let path = try await made()
    try obstruct(path)
    #expect(await code { _ = try await library.open(named: "Plans", orMaking: otherBoard, now: 0) } == .readOnly)
    let document = try await library.open(named: "Plans", orMaking: otherBoard, now: 0, orReading: true)
    #expect(document.mode == .reading && document.obstacle?.code == .readOnly)
    #expect(numbers(try await document.load().entries) == [0])
    #expect(await code { try await document.append([numbered(1)]) } == .readOnly)
    #expect(await code { _ = try await document.reopen() } == .readOnly)
    rmdir(path + "-lock")
    let again = try await document.reopen()
    #expect(again.mode == .writing && again.obstacle == nil)
    try await again.append([numbered(1)])
    #expect(numbers(try await again.load().entries) == [0, 1])
    #expect(try await again.reopen() === again)
    try await again.close()
  }

  @Test("a document is not reopened if another program changed the file in the meantime") func changed() async throws {
    let path = try await made()
    try obstruct(path)
    let document = try await BoardDocument.openForWritingOrReading(at: path)
    rmdir(path + "-lock")
    let other = try await BoardDocument.open(at: path, mode: .writing)
    #expect(await code { _ = try await document.reopen() } == .inUse)
    try await other.append([numbered(1)])
    try await other.close()
    #expect(await code { _ = try await document.reopen() } == .inUse)
    #expect(document.mode == .reading)
    try await document.close()
    let last = try await BoardDocument.open(at: path, mode: .writing)
    #expect(numbers(try await last.load().entries) == [0, 1])
    try await last.close()
  }

  @Test("a file that is missing, locked or damaged is not opened for reading instead") func otherErrors() async throws {
    let path = try await made()
    let writer = try await BoardDocument.open(at: path, mode: .writing)
    #expect(await code { _ = try await BoardDocument.openForWritingOrReading(at: path) } == .inUse)
    try await writer.close()
    #expect(await code { _ = try await BoardDocument.openForWritingOrReading(at: directory.file("none")) } == .notFound)
    try Data(repeating: 0x61, count: 9000).write(to: URL(fileURLWithPath: path))
    #expect(await code { _ = try await BoardDocument.openForWritingOrReading(at: path) } == .wrongKind)
  }

  @Test(
    "an error of SQLite gets the code of the system error behind it",
    arguments: [(ENOSPC, DocumentError.Code.full), (EDQUOT, .quota), (EROFS, .readOnly), (EIO, .inputOutput)]
  ) func causes(_ number: Int32, _ expected: DocumentError.Code) {
    for result in [ResultCode.SQLITE_IOERR, .SQLITE_CANTOPEN] {
      let error = DocumentError.from(DatabaseError(resultCode: result), at: directory.path, systemError: number)
      #expect(error.code == expected)
    }
    errno = number
    #expect(DocumentError.creating(directory.path).code == expected)
    errno = number
    #expect(DocumentError.writing(directory.path).code == expected)
  }
}
