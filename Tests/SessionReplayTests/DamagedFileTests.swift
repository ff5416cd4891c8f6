import BoardWorlds
import Foundation
import PeerCore
import PeerTestKit
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Damages the files of a killed program at seeded places, and expects every loss to be reported.
@Suite struct DamagedFileTests {
  enum Damage: String, CaseIterable {
    case bitInLog, bitsInLog, sectorInLog, bitInLogHeader, logCut, logTorn, logGone, logOfAnother
    case bitInFile, fileCut, bitInIndex, indexGone, bitInLogWithoutIndex
  }

  /// The suffixes of the names of a document and of the files beside it.
  private static let ends = ["", "-wal", "-shm"]

  @Test(
    "[REC-16] [REC-17] [REC-18] damage to the files of a killed program loses no change silently",
    arguments: 0..<repetitions(2, optimized: 4)
  )
  func seeded(part: Int) async throws {
    // With a photo, the log has old frames behind its current frames.
    let live = try await Live(seed: 0xDA3A6E + UInt64(part), photo: part % 2 == 1)
    let other = try await Live(seed: 0xF02E16 + UInt64(part), photo: part % 2 == 1)
    var tally = Tally()
    for round in 0..<(part % 2 == 0 ? repetitions(26, optimized: 78) : 26) {
      let damage = Damage.allCases[round % Damage.allCases.count]
      let seed = UInt64(part) << 16 | UInt64(round)
      try await check(live, other, damage, seed, &tally)
    }
    // Check that the run covered all outcomes.
    #expect(tally.warned > 10 && tally.whole > 3 && tally.complete > 3, "\(tally)")
  }

  private struct Tally {
    /// The number of cases without damage.
    var whole = 0
    /// The number of cases that could not be opened for writing, and were not changed.
    var refused = 0
    var warned = 0
    /// The number of cases with a warning that had all steps when they were opened.
    var complete = 0
    /// The number of cases in which recovery found steps that the opened board lacked.
    var merged = 0
  }

  /// A board with content, and its files from before it was closed.
  private struct Live {
    let world: RecordedWorld
    let files: [String: Data]
    let steps: Set<DocumentHistory.Step.Content>

    init(seed: UInt64, photo: Bool) async throws {
      let copy = try TemporaryDirectory()
      world = try await RecordedWorld(seed: seed, steps: 60, photo: photo) { document in
        for end in DamagedFileTests.ends {
          let target = copy.file("x" + end)
          try FileManager.default.copyItem(atPath: document.path + end, toPath: target)
        }
      }
      files = try DamagedFileTests.read(copy.file("x"))
      steps = Set(try await Recording.open(world.path).history.steps.map(\.content))
    }
  }

  private static func read(_ path: String) throws -> [String: Data] {
    var files: [String: Data] = [:]
    for end in ends where FileManager.default.fileExists(atPath: path + end) {
      files[end] = try Data(contentsOf: URL(fileURLWithPath: path + end))
    }
    return files
  }

  private func damaged(
    _ files: [String: Data],
    _ other: [String: Data],
    _ damage: Damage,
    _ random: inout SeededGenerator
  ) -> [String: Data] {
    var files = files
    func flip(_ end: String, _ range: Range<Int>? = nil, count: Int = 1) {
      for _ in 0..<count {
        let range = range ?? 0..<(files[end]?.count ?? 1)
        let place = range.lowerBound + random.below(range.count)
        files[end]?[place] ^= UInt8(1 << random.below(8))
      }
    }
    // The current frames of the log: the index has their number, and each frame is 24 bytes and a page.
    let frames = (0..<4).reduce(0) { $0 | Int(files["-shm"]?[16 + $1] ?? 0) << (8 * $1) }
    let log = 32..<(32 + frames * 4120)
    switch damage {
    case .bitInLog: flip("-wal", log)
    case .bitsInLog: flip("-wal", log, count: 2 + random.below(3))
    case .sectorInLog:
      let place = log.lowerBound + random.below(log.count - 512)
      files["-wal"]?.replaceSubrange(place..<(place + 512), with: Data(count: 512))
    case .bitInLogHeader: flip("-wal", 0..<32)
    case .logCut: files["-wal"] = files["-wal"]?.prefix(32 + random.below(frames) * 4120)
    case .logTorn: files["-wal"] = files["-wal"]?.prefix(log.lowerBound + random.below(log.count))
    case .logGone: files["-wal"] = nil
    case .logOfAnother: files["-wal"] = other["-wal"]
    case .bitInFile: flip("")
    case .fileCut: files[""] = files[""]?.prefix(random.below(files[""]?.count ?? 1))
    case .bitInIndex: flip("-shm", 0..<136)
    case .indexGone: files["-shm"] = nil
    case .bitInLogWithoutIndex:
      flip("-wal", log)
      files["-shm"] = nil
    }
    return files
  }

  private func check(_ live: Live, _ other: Live, _ damage: Damage, _ seed: UInt64, _ tally: inout Tally) async throws {
    let what = "\(damage.rawValue), seed \(seed)"
    var random = SeededGenerator(seed: seed)
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let files = damaged(live.files, other.files, damage, &random)
    for (end, data) in files { try data.write(to: URL(fileURLWithPath: path + end)) }
    // Reading never reports a damaged file as whole, and changes nothing.
    let isWhole = await damages(path).isEmpty
    let readable = await readableSteps(path)
    if isWhole {
      tally.whole += 1
      #expect(readable == live.steps, "\(what): whole, with other steps")
      #expect(try await digest(path) == live.world.digest, "\(what): whole, and another board")
    }
    let listed = try await BoardLibrary(directory: directory.path).list()
    #expect(listed.count == 1, "\(what)")
    if isWhole { #expect(listed.first?.damage == nil && listed.first?.error == nil, "\(what)") }
    #expect(Self.isSame(try Self.read(path), files), "\(what): reading changed the files")
    // Recovery before opening.
    let first = try await recovered(path, directory.file("first.whiteboard"), what)
    #expect(first.steps.isSuperset(of: readable ?? []), "\(what): a readable step is not saved")
    if first.isAll { #expect(first.steps == live.steps, "\(what): a step is lost silently") }
    // Opening for writing.
    var kept: Set<DocumentHistory.Step.Content> = []
    do {
      let document = try await BoardDocument.open(at: path, mode: .writing)
      let found = document.damages
      kept = Set((try? await document.history().steps.map(\.content)) ?? [])
      try await document.close()
      // Without the index, a log may be incomplete, so the file is not whole, but it is not damaged either.
      if !isWhole, damage != .indexGone { #expect(!found.isEmpty, "\(what): opened without a warning") }
      if kept != live.steps {
        #expect(!found.isEmpty, "\(what): \(live.steps.count - kept.count) steps lost silently")
        let copy = try Self.read(path + ".damaged-1")
        #expect(Self.isSame(copy, files), "\(what): the damaged files are not kept")
      }
      if !found.isEmpty {
        tally.warned += 1
        if kept == live.steps { tally.complete += 1 }
        let summary = try await BoardLibrary(directory: directory.path).list().first
        #expect(summary?.damage != nil, "\(what): not in the list")
      }
    } catch {
      tally.refused += 1
      #expect(!isWhole, "\(what): \(error)")
      #expect(Self.isSame(try Self.read(path), files), "\(what): refused, and changed")
    }
    // Recovery afterwards finds the same data in the copy.
    let second = try await recovered(path, directory.file("second.whiteboard"), what)
    #expect(second.steps.isSuperset(of: first.steps), "\(what): opening cost steps")
    if second.steps.count > kept.count, !kept.isEmpty { tally.merged += 1 }
  }

  /// Whether the file and its log are equal; SQLite may recreate the index and an empty log.
  private static func isSame(_ one: [String: Data], _ other: [String: Data]) -> Bool {
    one[""] == other[""] && (one["-wal"] ?? Data()) == (other["-wal"] ?? Data())
  }

  private func damages(_ path: String) async -> [String] {
    do { return try await BoardDocument.damages(at: path, playing: RecordedBoard.self) } catch {
      return [error.message]
    }
  }

  private func readableSteps(_ path: String) async -> Set<DocumentHistory.Step.Content>? {
    let recording = try? await Recording.open(path)
    return recording.map { Set($0.history.steps.map(\.content)) }
  }

  private func digest(_ path: String) async throws -> Bytes32 {
    await Verification(of: try await Recording.open(path), replicas: 0, seed: 1).digest
  }

  /// Recovers a file, and expects the result to be whole.
  private func recovered(_ path: String, _ target: String, _ what: String) async throws -> (
    steps: Set<DocumentHistory.Step.Content>, isAll: Bool
  ) {
    let report: RecoveryReport
    do throws(DocumentError) {
      report = try await BoardDocument.recover(
        from: path,
        to: target,
        board: ReplicaWorld.board.bytes,
        now: 0,
        playing: RecordedBoard.self
      )
    } catch {
      // A file that is cut in its first page may have no readable data.
      #expect(error.code == .damaged, "\(what): \(error)")
      return ([], false)
    }
    let found = await damages(target)
    #expect(found.isEmpty, "\(what): what was recovered is not whole: \(found)")
    let recording = try await Recording.open(target)
    let verified = await Verification(of: recording, replicas: 2, seed: 1)
    #expect(verified.isGood, "\(what): what was recovered does not verify")
    return (Set(recording.history.steps.map(\.content)), report.losses.isEmpty)
  }
}
