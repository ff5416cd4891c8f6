import CommandLines
import Foundation
import PeerSession
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardPrograms

@testable import WhiteboardKit

/// The reports of a board with unsaved work, and the fate of that work.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SavingTests: BoardSuite {
  /// Runs a host in ada's data directory, and ends it.
  private func host(
    _ room: BoardRoom,
    file: String? = nil,
    isTyped: Bool = false,
    keepsPhotoFiles: Bool = true,
    _ body: (ScriptedBoard, SharedBoard) async throws -> Void
  ) async throws {
    let host = ScriptedBoard()
    var hosting = await room.configuration(.host(boardName: file == nil ? "board" : ""), "ada")
    hosting.boardFile = file
    hosting.isTyped = isTyped
    hosting.keepsPhotoFiles = keepsPhotoFiles
    try await withThrowingTaskGroup(of: Void.self) { [hosting] group in
      group.addTask { try await host.run(hosting) }
      if await host.ready() == nil { try await group.next() }
      try await body(host, try #require(await host.sharedBoard))
      await host.end()
      try await group.waitForAll()
    }
  }

  /// Opens a board again by name or file, and returns the number of its objects.
  private func objects(_ room: BoardRoom, file: String? = nil) async throws -> Int {
    var count = -1
    try await host(room, file: file) { host, _ in count = try await objects(host) }
    return count
  }

  private func objects(_ host: ScriptedBoard) async throws -> Int {
    try await host.perform("objects")
    var count = -1
    for case .answer(.objects(let answer), _) in await host.events { count = answer.count }
    return count
  }

  /// Returns the reported save states and their causes in order, without the answers to `save`.
  private func reports(_ host: ScriptedBoard) async -> [String] {
    // The answer to `digest` comes after all events that were emitted before it.
    _ = try? await host.perform(.digest)
    var reports: [String] = []
    for case .change(.saving(let state), _) in await host.events {
      reports.append([state.word, state.problem?.cause.rawValue].compactMap(\.self).joined(separator: " "))
    }
    return reports
  }

  private func codes(_ host: ScriptedBoard) async -> [String] {
    var codes: [String] = []
    for event in await host.events {
      switch event {
      case .news(.note(let remark)), .news(.warning(let remark)): codes.append(remark.code)
      default: break
      }
    }
    return codes
  }

  private static let causes: [(DocumentError.Code, String)] = [
    (.full, "disk-full"), (.quota, "quota"), (.readOnly, "read-only"), (.inputOutput, "io-error"),
  ]

  @Test(
    "no change is answered `done` while the disk refuses it; the problem and its end are reported",
    arguments: causes
  ) func refused(_ code: DocumentError.Code, _ cause: String) async throws {
    try await withRoom { room in
      let sun = room.path("sun.png")
      try Data(Demo.photo).write(to: URL(fileURLWithPath: sun))
      let copy = room.path("copy.whiteboard")
      try await host(room) { host, sharedBoard in
        try await host.perform("text 0,0 before as=first")
        // Other data, such as the membership, might not be on disk yet.
        try await host.perform("save")
        #expect(await sharedBoard.isSavedAndIdle())
        let document = try #require(await sharedBoard.document)
        await document.failWrites(with: DocumentError(code, "FILE: why"))
        for line in [
          "text 0,9 unsaved", "say hello", "set title other", "stroke 0,0 9,9", "undo", "redo", "photo 5,5 \(sun)",
          "import \(sun)", "move first +1,1", "checkpoint one", "save",
        ] {
          #expect(await error(host, line) == .notSaved, "\(line)")
          #expect(await sharedBoard.saveState.problem?.cause.rawValue == cause, "\(line)")
        }
        #expect(await reports(host) == ["not-saved \(cause)"])
        // Commands that do not depend on the disk are done.
        #expect(try await objects(host) == 5)
        try await host.perform("digest")

        #expect(await sharedBoard.saveState.wouldLoseWork)
        try await host.perform("save-as \(copy)")
        #expect(await sharedBoard.saveState.problem?.copy == copy)
        #expect(await !sharedBoard.saveState.wouldLoseWork)
        #expect(await error(host, "text 0,18 later") == .notSaved)
        #expect(await sharedBoard.saveState.wouldLoseWork, "the copy lacks the later text")

        await document.failWrites(with: nil)
        try await host.perform("save")
        #expect(await sharedBoard.isSavedAndIdle())
        #expect(await reports(host).last == "saved")
        let codes = await codes(host)
        #expect(codes.count { $0 == "not-saved" } == 1 && codes.last == "saved-again")
        try await host.perform("checkpoint one")
      }
      #expect(try await objects(room) == 6)
      #expect(try await objects(room, file: copy) == 5)
      let rescued = try await BoardDocument.open(at: copy, mode: .reading)
      #expect(try await rescued.verify() == [])
      #expect(try await rescued.assetIDs().count == 1)
      try await rescued.close()
    }
  }

  @Test("[MEM-7] membership that cannot be stored counts as unsaved work") func membership() async throws {
    try await withRoom { room in
      try await host(room) { host, sharedBoard in
        try await host.perform("text 0,0 before")
        let document = try #require(await sharedBoard.document)
        await document.failWrites(with: DocumentError(.full, "FILE: why"))
        let record = MembershipRecord(host: await sharedBoard.configuration.identity.peerID)
        await sharedBoard.store(record)
        #expect(await sharedBoard.saveState.problem?.cause == .diskFull)
        #expect(await error(host, "save") == .notSaved)
        await document.failWrites(with: nil)
        try await host.perform("save")
        #expect(await sharedBoard.saveState == .saved)
        #expect(try await document.fact(.membership) == record.json)
      }
    }
  }

  @Test("a file that cannot grow is reported, and has all changes once it can grow again") func fullFile() async throws
  {
    try await withRoom { room in
      try await host(room) { host, sharedBoard in
        let document = try #require(await sharedBoard.document)
        _ = try await document.limitPages(to: 1)
        let words = String(repeating: "x", count: 2_000)
        var saved = 0
        for row in 0..<40 where await error(host, "text 0,\(row) \"\(words)\"") == nil { saved += 1 }
        #expect(saved < 40)
        #expect(await reports(host).first == "not-saved disk-full")
        _ = try await document.limitPages(to: 1_000_000)
        try await host.perform("save")
      }
      #expect(try await objects(room) == 40)
    }
  }

  @Test("a board that ends with unsaved work fails with an error that begins with the cause") func endsUnsaved()
    async throws
  {
    try await withRoom { room in
      await #expect {
        try await host(room) { host, sharedBoard in
          await sharedBoard.document?.failWrites(with: DocumentError(.full, "FILE: why"))
          _ = await error(host, "text 0,0 lost")
        }
      } throws: { error in
        let error = error as? WhiteboardError
        return error?.code == .inputOutput && error?.message == "NOT SAVED: disk full. FILE: why."
          && error?.problem?.cause == .diskFull
      }
      let count = try await objects(room)
      #expect(count == 0)
    }
  }

  @Test("a user who types `quit` or interrupts is asked once before work is lost") func asked() async throws {
    try await withRoom { room in
      let copy = room.path("copy.whiteboard")
      try? await host(room, isTyped: true) { host, sharedBoard in
        let document = try #require(await sharedBoard.document)
        await document.failWrites(with: DocumentError(.full, "FILE: why"))
        _ = await error(host, "text 0,0 lost")
        #expect(await error(host, "quit") == .notSaved)
        #expect(await !sharedBoard.requestEndUnlessUnsaved())
        let isWarned = await host.sees {
          if case .news(.warning(let warning)) = $0 { warning.code == "quit-unsaved" } else { false }
        }
        #expect(isWarned)
        await document.failWrites(with: nil)
        try await host.perform("save")
        await document.failWrites(with: DocumentError(.full, "FILE: why"))
        _ = await error(host, "text 0,0 more")
        #expect(await !sharedBoard.requestEndUnlessUnsaved(), "a warning from before the save does not count")
        try await host.perform("save-as \(copy)")
        // The copy has everything.
        try await host.perform("quit")
      }
      let counts = [try await objects(room), try await objects(room, file: copy)]
      #expect(counts == [1, 2])
      try? await host(room, isTyped: true) { host, sharedBoard in
        await sharedBoard.document?.failWrites(with: DocumentError(.full, "FILE: why"))
        _ = await error(host, "text 0,0 lost")
        #expect(await !sharedBoard.requestEndUnlessUnsaved())
        #expect(await sharedBoard.requestEndUnlessUnsaved(), "a second request ends the session")
      }
      try? await host(room, isTyped: true) { host, sharedBoard in
        await sharedBoard.document?.failWrites(with: DocumentError(.full, "FILE: why"))
        _ = await error(host, "text 0,0 lost")
        try await host.perform("quit anyway")
      }
    }
  }

  @Test("a copy has the photos that are only in the board and those not saved yet, or warns") func photosOfCopies()
    async throws
  {
    try await withRoom { room in
      let photos = ["sun", "moon"].map { room.path("\($0).png") }
      var other = Data(Demo.photo)
      other.append(0)
      try Data(Demo.photo).write(to: URL(fileURLWithPath: photos[0]))
      try other.write(to: URL(fileURLWithPath: photos[1]))
      func stored(_ copy: String) async throws -> Int {
        let document = try await BoardDocument.open(at: copy, mode: .reading)
        let count = try await document.assetIDs().count
        try await document.close()
        return count
      }
      try? await host(room, keepsPhotoFiles: false) { host, sharedBoard in
        try await host.perform("photo 0,0 \(photos[0])")
        let document = try #require(await sharedBoard.document)
        await document.failWrites(with: DocumentError(.full, "FILE: why"))
        #expect(await error(host, "photo 9,9 \(photos[1])") == .notSaved)
        let copy = room.path("copy.whiteboard")
        try await host.perform("save-as \(copy)")
        #expect(try await stored(copy) == 2)
        #expect(await !codes(host).contains("copy-incomplete"))
        // The unsaved photo can no longer be read.
        let assets = room.path("ada/assets")
        let names = try FileManager.default.contentsOfDirectory(atPath: assets)
        #expect(names.count == 1)
        for name in names { unlink("\(assets)/\(name)") }
        let poor = room.path("poor.whiteboard")
        try await host.perform("save-as \(poor)")
        #expect(try await stored(poor) == 1)
        #expect(await codes(host).filter { $0 == "copy-incomplete" }.count == 1)
        #expect(await sharedBoard.saveState.problem?.copy == copy, "the incomplete copy does not count")
      }
    }
  }

  @Test("a removed file is recreated with its history; until then no change is answered `done`") func removedFile()
    async throws
  {
    try await withRoom { room in
      try await host(room) { host, sharedBoard in
        try await host.perform("text 0,0 before")
        try await host.perform("checkpoint one")
        let path = try #require(await sharedBoard.document?.path)
        for end in ["", "-wal", "-shm", "-lock"] { unlink(path + end) }
        #expect(await error(host, "text 0,9 after") == .notSaved)
        #expect(await reports(host) == ["not-saved removed"])
        try await host.perform("save")
        #expect(await reports(host) == ["not-saved removed", "saved"])
        try await host.perform("text 0,18 later")
        #expect(await code(path, .writing) == .inUse, "the new file is locked as the old one was")
      }
      #expect(try await objects(room) == 3)
      try await host(room) { host, _ in try await host.perform("restore one") }
    }
  }

  @Test("a removed directory is noticed even without a write, and used again when it is back") func removedDirectory()
    async throws
  {
    try await withRoom { room in
      let copy = room.path("copy.whiteboard")
      try await host(room) { host, sharedBoard in
        try await host.perform("text 0,0 before")
        #expect(await sharedBoard.isSavedAndIdle())
        try FileManager.default.removeItem(atPath: room.path("ada/boards"))
        await sharedBoard.checkPresence()
        #expect(await sharedBoard.saveState.problem?.cause == .removed)
        #expect(await error(host, "text 0,9 after") == .notSaved)
        #expect(await error(host, "save") == .notSaved)
        try await host.perform("save-as \(copy)")
        try FileManager.default.createDirectory(atPath: room.path("ada/boards"), withIntermediateDirectories: false)
        try await host.perform("save")
        #expect(await reports(host).last == "saved")
      }
      #expect(try await objects(room) == 2)
      #expect(try await objects(room, file: copy) == 2)
    }
  }

  @Test("another program's file in the place of a removed one is not changed") func replacedFile() async throws {
    try await withRoom { room in
      let mark = Data("not a board".utf8)
      var path = ""
      try? await host(room) { host, sharedBoard in
        path = try #require(await sharedBoard.document?.path)
        unlink(path)
        try mark.write(to: URL(fileURLWithPath: path))
        #expect(await error(host, "text 0,0 lost") == .notSaved)
        #expect(await error(host, "save") == .notSaved)
      }
      let there = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(there == mark)
    }
  }

  private func code(_ path: String, _ mode: BoardDocument.Mode) async -> DocumentError.Code? {
    do throws(DocumentError) {
      try await BoardDocument.open(at: path, mode: mode).close()
      return nil
    } catch { return error.code }
  }
}

extension SharedBoard {
  fileprivate var document: BoardDocument? { persistence.document }

  fileprivate func store(_ record: MembershipRecord) async { await persistence.storeMembership(record, code: nil) }

  fileprivate func checkPresence() async { await persistence.checkPresence() }

  /// Waits until everything is on disk and no write is pending.
  ///
  /// Data other than changes of the board may still be on its way to the disk after an answer.
  fileprivate func isSavedAndIdle() async -> Bool {
    await wait(timeout: .seconds(20)) { self.persistence.state == .saved && !self.persistence.queue.isWriting }
  }
}
