import Foundation
import GRDB
import Testing
import Whiteboard

@testable import WhiteboardDocument

/// Documents whose file was removed or cannot be written.
@Suite struct RescueTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func create(_ board: [UInt8] = someBoard) async throws -> BoardDocument {
    try await BoardDocument.create(at: directory.file(), board: board, name: "Ideas", now: 0, seal: DocumentSeal())
  }

  private func remove(_ document: BoardDocument) {
    for end in ["", "-wal", "-shm", "-lock"] { unlink(document.path + end) }
  }

  private let state = BoardRescue(
    bytes: [1, 2, 3],
    digest: [4],
    time: 1_700_000_000_100,
    lostSince: 1_700_000_000_050,
    photos: [:]
  )

  @Test("a write to a removed file fails; the file is recreated with all entries, and locked") func reinstated()
    async throws
  {
    let document = try await create()
    try await document.setHosted(code: "some-code")
    try await document.append((0..<10).map { numbered($0) })
    remove(document)
    #expect(await code { try await document.append([numbered(10)]) } == .removed)
    #expect(await code { try await document.checkPresence() } == .removed)
    #expect(await code { try await document.setRetention(days: 9) } == .removed)
    #expect(await code { try await document.save(as: directory.file("copy")) } == .removed)
    let again = try await document.reinstate()
    #expect(again !== document)
    #expect(await code { try await document.append([numbered(11)]) } == .closed)
    #expect(await code { _ = try await BoardDocument.open(at: again.path, mode: .writing) } == .inUse)
    try await again.append([numbered(11)])
    #expect(numbers(try await again.load().entries) == Array(0..<12))
    #expect(try await again.fact(.code) == "some-code")
    #expect(try await again.reinstate() === again)
    try await again.close()
    let reopened = try await BoardDocument.open(at: again.path, mode: .writing)
    #expect(!reopened.wasLeftOpen)
    #expect(try await reopened.verify() == [])
    try await reopened.close()
  }

  @Test("a removed directory is not created, and another board's file and log are not changed") func replaced()
    async throws
  {
    let document = try await create()
    try await document.append([numbered(0)])
    let beside = directory.path + "-beside"
    try FileManager.default.moveItem(atPath: directory.path, toPath: beside)
    defer { try? FileManager.default.removeItem(atPath: beside) }
    #expect(await code { _ = try await document.reinstate() } == .removed)
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    // After the directory is moved back, writing works again.
    try FileManager.default.moveItem(atPath: beside, toPath: directory.path)
    try await document.append([numbered(1)])

    remove(document)
    let other = try await create(otherBoard)
    try await other.append([numbered(7)])
    #expect(await code { _ = try await document.reinstate() } == .removed)
    #expect(await code { try await document.close() } == .removed)
    try await other.append([numbered(8)])
    #expect(await code { _ = try await BoardDocument.open(at: other.path, mode: .writing) } == .inUse)
    let reader = try await BoardDocument.open(at: other.path, mode: .reading)
    #expect(numbers(try await reader.load().entries) == [7, 8])
    try await reader.close()
    try await other.close()
  }

  @Test("a copy of an unwritable document has the stored entries and the newest state") func rescued() async throws {
    let document = try await create()
    try await document.setHosted(code: "some-code")
    try await document.setFact(.removal, "removed")
    try await document.append((0..<10).map { numbered($0) })
    let photo: [UInt8] = Array(repeating: 7, count: 1000)
    try Data(photo).write(to: URL(fileURLWithPath: directory.file("photo")))
    let rescue = BoardRescue(
      bytes: state.bytes,
      digest: state.digest,
      time: state.time,
      lostSince: state.lostSince,
      photos: [sha256(photo): directory.file("photo"), sha256([1]): directory.file("none")]
    )
    await document.failWrites(with: DocumentError(.full, "full"))
    let copy = directory.file("copy.whiteboard")
    let (hasHistory, missing) = try await document.rescue(to: copy, rescue)
    #expect(hasHistory && missing == 1)
    #expect(await code { _ = try await document.rescue(to: copy, rescue) } == .exists)
    let rescued = try await BoardDocument.open(at: copy, mode: .writing)
    let content = try await rescued.load()
    #expect(content.keyframe?.bytes == [1, 2, 3] && content.entries.isEmpty)
    #expect(try await rescued.asset(sha256(photo)) == photo)
    #expect(try await rescued.fact(.code) == nil)
    #expect(try await rescued.fact(.removal) == nil)
    #expect(try await rescued.marks() == [.gap(from: 1_700_000_000_050, to: 1_700_000_000_100)])
    #expect(try await rescued.verify() == [])
    try await rescued.close()
    await document.failWrites(with: nil)
    try await document.close()
  }

  @Test(
    "a failed write reports the system's reason",
    arguments: [
      (ENOSPC, DocumentError.Code.full), (EDQUOT, .quota), (EROFS, .readOnly), (EIO, .inputOutput), (0, .inputOutput),
    ]
  ) func causes(_ number: Int32, _ code: DocumentError.Code) {
    let error = DatabaseError(resultCode: .SQLITE_IOERR)
    #expect(DocumentError.from(error, at: "FILE", systemError: number).code == code)
  }
}
