import Foundation
import Glibc
import PeerTestKit
import Testing
import WhiteboardDocument

/// Tests with a real second process, which runs the body of an exit test.
@Suite struct CrashTests {
  @Test("acknowledged entries survive kill -9 at any moment", arguments: 0..<repetitions(8, optimized: 20)) func killed(
    round: Int
  ) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await document.close()
    let seed = 0xD0C + UInt64(round)
    var generator = SeededGenerator(seed: seed)
    let steps = generator.below(60)
    let microseconds = UInt32(generator.below(8_000))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, steps = steps as Int, microseconds = microseconds as UInt32] in
      let document = try await BoardDocument.open(at: path, mode: .writing)
      let told = Glibc.open(path + ".told", O_WRONLY | O_CREAT | O_APPEND, 0o600)
      await withTaskGroup(of: Void.self) { group in
        for lane in 0..<4 {
          group.addTask {
            for step in 0... {
              let number = step * 4 + lane
              guard (try? await document.append([numbered(number, size: 600)])) != nil else { return }
              var word = UInt64(number)
              write(told, &word, 8)
              guard lane == 0, step == steps else { continue }
              Thread.detachNewThread {
                usleep(microseconds)
                kill(getpid(), SIGKILL)
              }
            }
          }
        }
      }
    }
    let told = (try? Data(contentsOf: URL(fileURLWithPath: path + ".told"))) ?? Data()
    let acknowledged = stride(from: 0, to: told.count / 8 * 8, by: 8).map { offset in
      (0..<8).reduce(0) { $0 | Int(told[offset + $1]) << (8 * $1) }
    }
    // Recovery reads the files as the killed process left them, including the log.
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, now: 0)
    #expect(report.losses.isEmpty, "seed \(seed)")
    let recovered = try await BoardDocument.open(at: saved, mode: .reading)
    let again = try await BoardDocument.open(at: path, mode: .writing)
    #expect(again.wasLeftOpen && acknowledged.count > steps, "seed \(seed)")
    for document in [again, recovered] {
      let found = Set(numbers(try await document.load().entries))
      #expect(found.isSuperset(of: acknowledged), "seed \(seed)")
      #expect(try await document.verify() == [], "seed \(seed)")
    }
    try await recovered.close()
    try await again.append([numbered(1 << 40)])
    try await again.close()
  }

  @Test(
    "stored keyframes survive kill -9 while others are written and removed",
    arguments: 0..<repetitions(4, optimized: 12)
  )
  func killedStoringKeyframes(round: Int) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0).close()
    let seed = 0xD0D + UInt64(round)
    var generator = SeededGenerator(seed: seed)
    let steps = generator.below(12)
    let microseconds = UInt32(generator.below(12_000))
    await #expect(processExitsWith: .signal(SIGKILL)) {
      [path = path as String, steps = steps as Int, microseconds = microseconds as UInt32] in
      let document = try await BoardDocument.open(at: path, mode: .writing)
      let told = Glibc.open(path + ".told", O_WRONLY | O_CREAT | O_APPEND, 0o600)
      for step in 0... {
        try await document.append([numbered(step)])
        let state = numberedBytes(step, size: 1_000_000)
        try await document.writeKeyframe(state, digest: [1], time: 1_700_000_000_000 + Int64(step))
        var byte = UInt8(truncatingIfNeeded: step)
        write(told, &byte, 1)
        guard step == steps else { continue }
        Thread.detachNewThread {
          usleep(microseconds)
          kill(getpid(), SIGKILL)
        }
      }
    }
    let told = try #require(try Data(contentsOf: URL(fileURLWithPath: path + ".told")).last, "seed \(seed)")
    let document = try await BoardDocument.open(at: path, mode: .writing)
    #expect(document.wasLeftOpen && document.damages.isEmpty, "seed \(seed)")
    let content = try await document.load()
    let state = try #require(content.keyframe?.bytes, "seed \(seed)")
    let number = Int(state[0])
    #expect(number >= Int(told) && state == numberedBytes(number, size: state.count), "seed \(seed)")
    #expect([[], [number + 1]].contains(numbers(content.entries)), "seed \(seed)")
    #expect(try await document.verify() == [], "seed \(seed)")
    try await document.close()
  }

  @Test("a writer in another process blocks writers and allows readers") func otherProcess() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await document.append([numbered(1)])
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      guard await code({ _ = try await BoardDocument.open(at: path, mode: .writing) }) == .inUse else { exit(1) }
      let reader = try await BoardDocument.open(at: path, mode: .reading)
      guard numbers(try await reader.load().entries) == [1] else { exit(2) }
      let list = try await BoardLibrary(directory: (path as NSString).deletingLastPathComponent).list()
      guard list.map(\.name) == ["x"] else { exit(3) }
      exit(7)
    }
    try await document.append([numbered(2)])
    #expect(numbers(try await document.load().entries) == [1, 2])
    try await document.close()
  }

  @Test("a file or a directory without write permission opens for reading only") func readOnly() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await document.append([numbered(1)])
    try await document.close()
    chmod(path, 0o444)
    chmod(directory.path, 0o555)
    defer { chmod(directory.path, 0o755) }
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      // Root may write everything, so the test runs as `nobody`.
      if geteuid() == 0 { _ = setgid(65534) == 0 && setuid(65534) == 0 }
      guard await code({ _ = try await BoardDocument.open(at: path, mode: .writing) }) == .readOnly else { exit(1) }
      let reader = try await BoardDocument.open(at: path, mode: .reading)
      guard numbers(try await reader.load().entries) == [1] else { exit(2) }
      exit(7)
    }
  }

  @Test("a file that cannot grow is an error, and acknowledged entries stay") func limited() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      let document = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
      try await document.append([numbered(0)])
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 200_000, rlim_max: rlim_t.max)
      setrlimit(__rlimit_resource_t(1), &limit)
      var number = 1
      while await code({ try await document.append([numbered(number, size: 8000)]) }) == nil {
        number += 1
        guard number < 100 else { exit(1) }
      }
      limit.rlim_cur = rlim_t.max
      setrlimit(__rlimit_resource_t(1), &limit)
      try await document.append([numbered(1000)])
      guard numbers(try await document.load().entries) == Array(0..<number) + [1000] else { exit(2) }
      try await document.close()
      exit(7)
    }
    let again = try await BoardDocument.open(at: path, mode: .reading)
    #expect(try await again.verify() == [])
    try await again.close()
  }

  @Test("a file whose writer was killed while opening it is read unchanged") func killedOpening() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let made = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await made.append([numbered(1)])
    try await made.close()
    for round in 0..<3 {
      try leaveJournal(path)
      switch round {
      case 0:
        let document = try await BoardDocument.open(at: path, mode: .reading)
        #expect(numbers(try await document.load().entries) == [1])
        try await document.close()
      case 1:
        let library = BoardLibrary(directory: directory.path)
        #expect(try await library.list().map(\.error) == [nil])
      default:
        let library = BoardLibrary(directory: directory.path)
        let document = try await library.open(named: "x", orMaking: otherBoard, now: 0)
        #expect(document.board == someBoard)
        try await document.close()
      }
      // A reader rolls the change back on a copy (REC-1); a writer rolls it back in the file.
      #expect(FileManager.default.fileExists(atPath: path + "-journal") == (round < 2))
    }
  }

  @Test("opening a file with a planted journal beside it removes no other file (REC-1)") func strangeJournal()
    async throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.file()
    let made = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0)
    try await made.append([numbered(1)])
    try await made.close()
    try leaveJournal(path)
    // After the rollback, SQLite removes the file whose name is at the end of the journal.
    let other = directory.file("other")
    try Data("mine".utf8).write(to: URL(fileURLWithPath: other))
    var journal = try Data(contentsOf: URL(fileURLWithPath: path + "-journal"))
    let name = Array(other.utf8)
    func big(_ number: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(number >> ($0 * 8) & 0xFF) } }
    journal += Data(big(0) + name + big(name.count) + big(name.reduce(0) { $0 + Int($1) }))
    journal += Data([0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7])
    try journal.write(to: URL(fileURLWithPath: path + "-journal"))
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    for mode in [BoardDocument.Mode.reading, .writing] {
      await #expect(throws: DocumentError(.wrongKind, "")) { try await BoardDocument.open(at: path, mode: mode) }
    }
    #expect(FileManager.default.fileExists(atPath: other))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  /// Changes the first page of a file and leaves a rollback journal beside it, as a process that was killed during a
  /// write does.
  private func leaveJournal(_ path: String) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let page = Array(data.prefix(4096))
    func number(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    let nonce: UInt32 = 7
    let sum = stride(from: 4096 - 200, to: 0, by: -200).reduce(nonce) { $0 &+ UInt32(page[$1]) }
    var journal: [UInt8] = [0xD9, 0xD5, 0x05, 0xF9, 0x20, 0xA1, 0x63, 0xD7]
    journal += number(1) + number(nonce) + number(UInt32(data.count / 4096))
    journal += number(512) + number(4096)
    journal += [UInt8](repeating: 0, count: 512 - journal.count)
    journal += number(1) + page + number(sum)
    try Data(journal).write(to: URL(fileURLWithPath: path + "-journal"))
    // Now the header says that the file has a write-ahead log.
    data[18] = 2
    data[19] = 2
    try data.write(to: URL(fileURLWithPath: path))
  }
}
