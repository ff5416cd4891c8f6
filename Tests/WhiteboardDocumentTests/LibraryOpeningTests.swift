import Foundation
import Synchronization
import Testing

@testable import WhiteboardDocument

/// The file that is opened for the name or the id of a board.
@Suite struct LibraryOpeningTests {
  let directory: TemporaryDirectory
  let library: BoardLibrary
  let seal: DocumentSeal

  init() throws {
    directory = try TemporaryDirectory()
    seal = DocumentSeal()
    library = BoardLibrary(directory: directory.path, seal: seal)
  }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasSuffix(".whiteboard") }
  }

  private func made(_ name: String, _ board: [UInt8] = someBoard) async throws -> String {
    let document = try await library.open(named: name, orMaking: board, now: 0)
    try await document.close()
    return document.path
  }

  @Test("a board is created once, and found by its name and its id, also after it was renamed") func names()
    async throws
  {
    let path = try await made("Plans")
    let again = try await library.open(named: "Plans", orMaking: otherBoard, now: 0)
    #expect(again.path == path && again.board == someBoard)
    try await again.rename(to: "Other plans")
    try await again.close()
    #expect(try await made("Other plans", otherBoard) == path)
    let byID = try await library.open(board: someBoard, name: "whatever", now: 0)
    #expect(byID.path == path)
    try await byID.close()
    #expect(try files().count == 1)
    #expect(try await made("Plans", otherBoard) != path)
    #expect(try files().count == 2)
  }

  @Test("concurrent callers that create a board of one name create only one") func together() async throws {
    let library = library
    let opened = await withTaskGroup(of: Bool.self) { group in
      for number in 0..<8 {
        group.addTask {
          let board = [UInt8](repeating: UInt8(number), count: 16)
          let document = try? await library.open(named: "one", orMaking: board, now: 0)
          return document != nil
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(opened.contains(true))
    #expect(try files().count == 1)
  }

  @Test("an unreadable file is reported, and no second file of its board is created") func unreadable() async throws {
    let path = try await made("Plans")
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    var newer = good
    newer[60] ^= 0x40
    let cut = good.prefix(good.count / 2)
    for (bytes, expected) in [(newer, DocumentError.Code.newerSchema), (Data(cut), .damaged)] {
      try bytes.write(to: URL(fileURLWithPath: path))
      #expect(await code { _ = try await made("Plans", otherBoard) } == expected)
      #expect(await code { _ = try await library.open(board: someBoard, name: "x", now: 0) } == expected)
      #expect(try files().count == 1)
    }
    // Other boards are not affected.
    #expect(try await made("Ideas", otherBoard) != path)
  }

  @Test("a file that another program replaces in place is found by its new board") func replaced() async throws {
    let path = try await made("Plans")
    #expect(try await library.file(of: someBoard) == path)
    let other = try await made("Other", otherBoard)
    try Data(contentsOf: URL(fileURLWithPath: other)).write(to: URL(fileURLWithPath: path))
    unlink(other)
    #expect(try await library.file(of: someBoard) == nil)
    #expect(try await library.file(of: otherBoard) == path)
  }

  @Test("callers that wait for the library block no thread of a shared pool") func waiting() async throws {
    let library = library
    // Hold the lock as another process does.
    let other = open(directory.path + "/.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(flock(other, LOCK_EX) == 0)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<600 { group.addTask { try await library.giving("name") { () async throws(DocumentError) in } } }
      // More callers wait than any pool has threads, and others can still read files.
      for _ in 0..<600 { #expect(try await library.list().isEmpty) }
      flock(other, LOCK_UN)
      try await group.waitForAll()
    }
    close(other)
  }

  @Test("a reserved file is opened by its reservation only") func reservation() async throws {
    let none = try await library.reserve(board: someBoard)
    #expect(none == nil)
    let path = try await made("Plans")
    let reservation = try #require(try await library.reserve(board: someBoard))
    #expect(await code { _ = try await library.reserve(board: someBoard) } == .inUse)
    #expect(await code { _ = try await made("Plans") } == .inUse)
    let document = try await library.open(board: someBoard, name: "x", now: 0, holding: reservation)
    #expect(document.path == path)
    #expect(await code { _ = try await made("Plans") } == .inUse)
    try await document.close()
    #expect(try await made("Plans") == path)
  }

  @Test("callers that share a listing read each file once, and find boards that came later") func listing() async throws
  {
    let boards = (1...8).map { [UInt8](repeating: $0, count: 16) }
    for board in boards { _ = try await made("board \(board[0])", board) }
    let broken = directory.file("broken.whiteboard")
    try Data("no database".utf8).write(to: URL(fileURLWithPath: broken))
    let reads = Mutex(0)
    let listing = LibraryListing { path in
      reads.withLock { $0 += 1 }
      return try KnownBoards.board(of: path)
    }
    let library = BoardLibrary(directory: directory.path, seal: seal, listing: listing)
    for board in boards {
      let document = try await library.open(board: board, name: "x", now: 0)
      #expect(document.board == board)
      #expect(try await library.unreadable() == [broken])
      try await document.close()
    }
    #expect(reads.withLock(\.self) == boards.count + 1)
    // A file that came later, or has another board by now, is found in the directory.
    _ = try await made("later", otherBoard)
    let later = try await library.open(board: otherBoard, name: "x", now: 0)
    #expect(later.board == otherBoard)
    try await later.close()
    let path = try #require(try await library.file(of: boards[0]))
    try FileManager.default.moveItem(atPath: path, toPath: directory.file("moved.whiteboard"))
    #expect(try await library.file(of: boards[0]) == directory.file("moved.whiteboard"))
    #expect(reads.withLock(\.self) == boards.count + 1)
  }

  @Test("if a name or an id means two files, only one that was hosted here is opened") func several() async throws {
    let path = try await made("Plans")
    let document = try await BoardDocument.open(at: path, mode: .reading)
    try await document.save(as: directory.file("copy.whiteboard"))
    #expect(await code { _ = try await library.open(board: someBoard, name: "x", now: 0) } == .ambiguous)
    #expect(await code { _ = try await made("Plans", otherBoard) } == .ambiguous)
    let writer = try await BoardDocument.open(at: path, mode: .writing)
    try await writer.setHosted(code: "a-b-c-d")
    try await writer.close()
    #expect(try await made("Plans", otherBoard) == path)
  }

  @Test("the code of a board is stored with it, and not in copies") func codes() async throws {
    let document = try await library.open(named: "Plans", orMaking: someBoard, now: 0)
    #expect(try await document.fact(.code) == nil)
    try await document.setHosted(code: "a-b-c-d")
    try await document.setHosted(code: nil)
    let copies = [directory.file("copy.whiteboard"), directory.file("other.whiteboard")]
    try await document.save(as: copies[0])
    try await document.duplicate(
      to: copies[1],
      board: otherBoard,
      name: "x",
      keyframe: [],
      digest: [],
      assets: [],
      now: 0
    )
    try await document.close()
    for copy in copies {
      let opened = try await BoardDocument.open(at: copy, mode: .reading, seal: seal)
      #expect(try await opened.fact(.code) == nil)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: copy))
      #expect(bytes.range(of: Data("a-b-c-d".utf8)) == nil)
    }
    let again = try await BoardDocument.open(at: document.path, mode: .writing, seal: seal)
    #expect(try await again.fact(.code) == "a-b-c-d")
    try await again.close()
    var status = stat()
    #expect(stat(again.path, &status) == 0 && status.st_mode & 0o077 == 0)
  }

  @Test("a symbolic link is resolved, so that the lock and the log are beside the file itself") func links()
    async throws
  {
    let path = try await made("Plans")
    let link = directory.file("link.whiteboard")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
    let document = try await BoardDocument.open(at: link, mode: .writing)
    #expect(document.path == path)
    #expect(await code { _ = try await BoardDocument.open(at: path, mode: .writing) } == .inUse)
    try await document.append([numbered(1)])
    let saved = directory.file("saved.whiteboard")
    let recover = { _ = try await BoardDocument.recover(from: link, to: saved, now: 0) }
    #expect(await code { try await recover() } == .inUse)
    try await document.close()
    try await recover()
  }
}
