import Foundation
import GRDB
import PeerTestKit
import Testing
import WhiteboardDocument

/// Damaged files: they must never cause a crash, and never silently become another board.
@Suite struct DamageTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Creates a document of 300 entries with keyframes, a version, authors and an asset.
  private func sound() async throws -> (path: String, content: DocumentContent) {
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    for group in 0..<60 {
      try await document.append((0..<5).map { numbered(group * 5 + $0, size: 40) })
      if group == 20 {
        try await document.checkpoint(name: "v", bytes: [1], digest: [2], time: 1)
        try await document.append([.author(record: numberedBytes(1, size: 150), incarnation: 1)])
      }
      if group == 40 {
        let state = numberedBytes(7, size: 9000)
        try await document.writeKeyframe(state, digest: [4], time: 1_700_000_000_205)
      }
    }
    let bytes = numberedBytes(8, size: 7000)
    try await document.storeAsset(bytes, sha256: sha256(bytes))
    let content = try await document.load()
    try await document.close()
    return (path, content)
  }

  /// Opens and reads a file, and checks that the result is correct or an error.
  private func check(_ path: String, _ content: DocumentContent, _ what: String) async -> DocumentError? {
    do {
      let document = try await BoardDocument.open(at: path, mode: .reading)
      let result: Result<DocumentContent, DocumentError>
      do { result = .success(try await document.load()) } catch { result = .failure(error) }
      let found = (try? await document.verify()) ?? ["unreadable"]
      try? await document.close()
      let loaded = try result.get()
      // An earlier keyframe may replace a damaged keyframe, with a note.
      let isRight = loaded == content || (!loaded.notes.isEmpty && !found.isEmpty && loaded.authors == content.authors)
      #expect(isRight, "\(what): silently another board")
      return nil
    } catch { return error }
  }

  @Test(
    "flipped bits are detected or harmless, and recovery saves the rest",
    arguments: 0..<repetitions(1, optimized: 4)
  ) func flips(part: Int)
    async throws
  {
    let (path, content) = try await sound()
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    let seed = 0xF11 + UInt64(part)
    var generator = SeededGenerator(seed: seed)
    var refused = 0
    for round in 0..<40 {
      let what = "seed \(seed) round \(round)"
      var data = good
      for _ in 0...generator.below(3) { data[generator.below(data.count)] ^= UInt8(1 << generator.below(8)) }
      let damaged = directory.file("damaged.whiteboard")
      try data.write(to: URL(fileURLWithPath: damaged))
      if await check(damaged, content, what) != nil { refused += 1 }
      let saved = directory.file("saved-\(round).whiteboard")
      do {
        let report = try await BoardDocument.recover(from: damaged, to: saved, board: someBoard, now: 0)
        // A flipped bit costs at most one page, which has about twenty groups.
        #expect(report.entries >= 30, "\(what)")
        #expect(report.board == someBoard)
        let document = try await BoardDocument.open(at: saved, mode: .reading)
        #expect(try await document.verify() == [], "\(what)")
        let entries = try await document.load(at: -1).entries
        #expect(entries.isEmpty)
        try await document.close()
        #expect(report.entries == 300 || !report.losses.isEmpty, "\(what): a silent loss")
      } catch { Issue.record("\(what): \(error)") }
      #expect(try Data(contentsOf: URL(fileURLWithPath: damaged)) == data)
    }
    #expect(refused > 0)
  }

  @Test("a file cut anywhere is rejected or read correctly, and its readable contents are saved") func cuts()
    async throws
  {
    let (path, content) = try await sound()
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    var generator = SeededGenerator(seed: 0xC07)
    let lengths = (0..<40).map { _ in generator.below(good.count) } + [0, 1, 100, 512, 4096]
    for length in lengths {
      let damaged = directory.file("cut.whiteboard")
      try good.prefix(length).write(to: URL(fileURLWithPath: damaged))
      #expect(await check(damaged, content, "cut at \(length)") != nil, "cut at \(length)")
      let saved = directory.file("cut-\(length).whiteboard")
      let report = try? await BoardDocument.recover(from: damaged, to: saved, board: someBoard, now: 0)
      #expect(report.map { !$0.losses.isEmpty || $0.entries == 300 } ?? true)
    }
  }

  @Test("a row of another document is detected, although its own checksum is right") func foreignRow() async throws {
    let paths = [directory.file("one.whiteboard"), directory.file("two.whiteboard")]
    for (path, size) in zip(paths, [40, 41]) {
      let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
      for number in 0..<8 { try await document.append([numbered(number, size: size)]) }
      try await document.close()
    }
    let other = try DatabaseQueue(path: paths[1])
    let values = try await other.read { db in
      let row = try Row.fetchOne(db, sql: "SELECT time, entries, body, sum, id FROM log WHERE id = 5")
      return row.map { Array($0.databaseValues) } ?? []
    }
    try other.close()
    let changed = try DatabaseQueue(path: paths[0])
    try await changed.writeWithoutTransaction { db in
      try db.execute(
        sql: "UPDATE log SET time = ?, entries = ?, body = ?, sum = ? WHERE id = ?",
        arguments: StatementArguments(values)
      )
    }
    try changed.close()
    let document = try await BoardDocument.open(at: paths[0], mode: .reading)
    let error = await #expect(throws: DocumentError.self) { try await document.load() }
    #expect(error?.code == .damaged)
    try await document.close()
  }

  @Test("recovery of an intact file gives the same board and reports no loss") func nothingLost() async throws {
    let (path, content) = try await sound()
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, now: 0)
    #expect(report.losses == [] && report.lostRows == [])
    #expect(report.entries == 300 && report.keyframes == 2 && report.assets == 1)
    let document = try await BoardDocument.open(at: saved, mode: .writing)
    #expect(try await document.load() == content)
    #expect(try await document.versions().map(\.name) == ["v"])
    #expect(try await document.verify() == [])
    try await document.close()
  }

  @Test("recovery reports every version, photo and record whose checksum is wrong") func everyLossIsTold() async throws
  {
    let photo = numberedBytes(8, size: 7000)
    let losses: [(bytes: [UInt8], loss: String)] = [
      (numberedBytes(9, size: 64), "the version 'w'"), (photo, "the asset"),
      (numberedBytes(1, size: 150), "the record of incarnation 1"),
    ]
    let (path, _) = try await sound()
    let document = try await BoardDocument.open(at: path, mode: .writing)
    try await document.checkpoint(name: "w", bytes: losses[0].bytes, digest: [], time: 9)
    try await document.close()
    for (number, (bytes, loss)) in losses.enumerated() {
      let damaged = directory.file("damaged-\(number).whiteboard")
      try FileManager.default.copyItem(atPath: path, toPath: damaged)
      // A photo of this size ends on its own page.
      #expect(try damage(damaged, where: Array(bytes.prefix(50))) > 0)
      let saved = directory.file("saved-\(number).whiteboard")
      let report = try await BoardDocument.recover(from: damaged, to: saved, now: 0)
      #expect(report.losses.contains { $0.hasPrefix(loss) }, "\(report.losses)")
    }
  }

  @Test("recovery of a file with missing pages reports a loss") func pagesGone() async throws {
    let (path, _) = try await sound()
    let good = try Data(contentsOf: URL(fileURLWithPath: path))
    for page in 0..<(good.count / 4096) {
      var data = good
      data.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(count: 4096))
      let damaged = directory.file("gone.whiteboard")
      try data.write(to: URL(fileURLWithPath: damaged))
      let saved = directory.file("gone-\(page).whiteboard")
      let report = try await BoardDocument.recover(from: damaged, to: saved, board: someBoard, now: 0)
      #expect(!report.losses.isEmpty, "page \(page)")
      #expect(!report.losses.contains { $0.contains("boards recover") }, "the user is recovering already")
    }
  }

  @Test("storing a photo again repairs its damaged bytes") func assetMended() async throws {
    let (path, _) = try await sound()
    let bytes = numberedBytes(8, size: 7000)
    #expect(try damage(path, where: Array(bytes.prefix(50))) == 1)
    let document = try await BoardDocument.open(at: path, mode: .writing)
    #expect(await code { _ = try await document.asset(sha256(bytes)) } == .damaged)
    let file = directory.file("photo.png")
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    try await document.storeAsset(file: file, sha256: sha256(bytes))
    #expect(try await document.asset(sha256(bytes)) == bytes)
    #expect(try await document.verify() == [])
    try await document.close()
  }

  @Test("a file that was never a whiteboard has nothing to recover") func nothingThere() async throws {
    let path = directory.file("noise")
    var generator = SeededGenerator(seed: 0xBAD)
    for size in [0, 1, 99, 4096, 50_000] {
      // Every page has the type of a leaf, so that all of it is parsed.
      var bytes = (0..<size).map { _ in UInt8(generator.below(256)) }
      for page in stride(from: 0, to: size, by: 4096) { bytes[page] = 13 }
      try Data(bytes).write(to: URL(fileURLWithPath: path))
      let saved = directory.file("saved-\(size)")
      #expect(
        await code { _ = try await BoardDocument.recover(from: path, to: saved, board: someBoard, now: 0) } == .damaged
      )
      #expect(!FileManager.default.fileExists(atPath: saved))
    }
  }
}
