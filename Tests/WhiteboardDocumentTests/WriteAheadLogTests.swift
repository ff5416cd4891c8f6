import Foundation
import Testing
import WhiteboardDocument

/// The log beside a file: its end, and damage inside it.
@Suite struct WriteAheadLogTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let frame = 24 + 4096

  /// Copies the files of a writer that was killed after 40 entries to another path.
  private func killed(
    _ name: String = "killed.whiteboard",
    board: [UInt8] = someBoard,
    entries: Range<Int> = 0..<40,
    afterPhoto isSecondRound: Bool = false
  ) async throws -> String {
    let path = directory.file("live-" + name)
    let made = try await BoardDocument.create(at: path, board: board, name: "x", now: 0)
    try await made.close()
    let document = try await BoardDocument.open(at: path, mode: .writing, groupInterval: .zero)
    if isSecondRound {
      let photo = numberedBytes(3, size: 5_000_000)
      try await document.storeAsset(photo, sha256: sha256(photo))
    }
    for number in entries { try await document.append([numbered(number, size: 300)]) }
    let copy = directory.file(name)
    for end in ["", "-wal", "-shm"] { try FileManager.default.copyItem(atPath: path + end, toPath: copy + end) }
    try await document.close()
    return copy
  }

  private func change(_ path: String, _ body: (inout Data) -> Void) throws {
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    body(&data)
    try data.write(to: URL(fileURLWithPath: path))
  }

  /// Returns the number of committed frames according to the index.
  private func committed(_ path: String) throws -> Int {
    let index = try Data(contentsOf: URL(fileURLWithPath: path + "-shm"))
    return (0..<4).reduce(0) { $0 | Int(index[16 + $1]) << (8 * $1) }
  }

  private func copies(_ path: String) -> [String] {
    (1...9).map { "\(path).damaged-\($0)" }.filter { FileManager.default.fileExists(atPath: $0) }
  }

  private func open(_ path: String) async throws -> (entries: [Int], damages: [String]) {
    let document = try await BoardDocument.open(at: path, mode: .writing)
    let found = numbers(try await document.load().entries)
    let damages = document.damages
    try await document.close()
    return (found, damages)
  }

  @Test("[REC-16] the files of a killed writer are not damaged", arguments: [false, true]) func killedIsWhole(
    isSecondRound: Bool
  ) async throws {
    let path = try await killed(afterPhoto: isSecondRound)
    let size = try Data(contentsOf: URL(fileURLWithPath: path + "-wal")).count
    // In the second round, the log has old frames behind its current frames.
    #expect(try (size - 32) / Self.frame > committed(path) || !isSecondRound)
    let reader = try await BoardDocument.open(at: path, mode: .reading)
    #expect(try await reader.verify() == [] && reader.damages == [])
    try await reader.close()
    #expect(try await open(path) == (Array(0..<40), []))
    #expect(copies(path).isEmpty)
  }

  @Test("[REC-16] an unfinished last transaction is not damage", arguments: 0..<5) func torn(kind: Int) async throws {
    let path = try await killed(afterPhoto: true)
    let end = 32 + (try committed(path)) * Self.frame
    try change(path + "-wal") { log in
      let salts = log[16..<24]
      switch kind {
      case 0: log = log.prefix(end)
      case 1: log = log.prefix(end) + Data(repeating: 7, count: 100)
      case 2:
        // The header of a frame is written before its page, so an older page is still there.
        log.replaceSubrange(end + 8..<(end + 24), with: salts + salts)
      case 3: log = log.prefix(end) + Data(count: 2 * Self.frame)
      default:
        // Two frames without a commit, whose bytes are 0.
        for place in [end, end + Self.frame] {
          log.replaceSubrange(place + 8..<(place + 24), with: salts + salts)
          log.replaceSubrange(place + 4..<(place + 8), with: Data(count: 4))
        }
      }
    }
    let found = try await open(path)
    #expect(found.entries == Array(0..<40) && found.damages == [], "kind \(kind): \(found.damages)")
    #expect(copies(path).isEmpty)
  }

  @Test("[REC-16] one flipped bit in the log costs no change, and the damaged file is kept") func flipped() async throws
  {
    for (number, offset) in [3, 9, 17, 40, 2000, 24 + 4095].enumerated() {
      let path = try await killed("flipped-\(number).whiteboard")
      let frames = try committed(path)
      try change(path + "-wal") { $0[32 + (frames / 2) * Self.frame + offset] ^= 4 }
      let before = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
      let reader = try await BoardDocument.open(at: path, mode: .reading)
      #expect(reader.damages.count == 1)
      #expect(numbers(try await reader.load().entries) == Array(0..<40))
      #expect(try await !reader.verify().isEmpty)
      try await reader.close()
      let list = try await BoardLibrary(directory: directory.path).list()
      #expect(list.first { $0.path == path }?.damage != nil)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == before)
      let found = try await open(path)
      #expect(found.entries == Array(0..<40) && found.damages.count == 1, "offset \(offset)")
      #expect(copies(path) == ["\(path).damaged-1"])
      #expect(try Data(contentsOf: URL(fileURLWithPath: path + ".damaged-1-wal")) == before)
      #expect(try await open(path) == (Array(0..<40), []))
    }
  }

  /// The bytes of the file and of its log.
  private func bytes(_ path: String) throws -> [Data] {
    try ["", "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: path + $0)) }
  }

  @Test(
    "[REC-16] the log of a file that is cut to less than a page is read, and never deleted",
    arguments: [0, 1, 100, 4095],
    [false, true]
  ) func fileCut(size: Int, hasIndex: Bool) async throws {
    let path = try await killed()
    try change(path) { $0 = $0.prefix(size) }
    if !hasIndex { try FileManager.default.removeItem(atPath: path + "-shm") }
    let before = try bytes(path)
    for mode in [BoardDocument.Mode.reading, .writing] {
      // The log lacks the pages that never changed, so the log alone is not a board.
      #expect(await code { _ = try await BoardDocument.open(at: path, mode: mode) } == .damaged)
      #expect(try bytes(path) == before)
    }
    let library = BoardLibrary(directory: directory.path)
    let listed = try await library.list().first { $0.path == path }
    #expect(listed?.error?.code == .damaged, "\(String(describing: listed))")
    #expect(try await library.unreadable().contains(path))
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, board: someBoard, now: 0)
    #expect(report.entries == 40 && !report.losses.isEmpty)
    #expect(try bytes(path) == before)
    #expect(try await open(saved).entries == Array(0..<40))
  }

  @Test("[REC-16] a file that is cut to nothing is restored from a log with all its pages") func fileCutComplete()
    async throws
  {
    let path = try await killed()
    try complete(path)
    try FileManager.default.removeItem(atPath: path + "-shm")
    // A log with all pages is not damage while its file is intact.
    let reader = try await BoardDocument.open(at: path, mode: .reading)
    #expect(reader.damages == [])
    try await reader.close()
    #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
    try change(path) { $0 = Data() }
    let before = try bytes(path)
    let second = try await BoardDocument.open(at: path, mode: .reading)
    #expect(second.damages.first?.contains("it is empty") == true, "\(second.damages)")
    #expect(numbers(try await second.load().entries) == Array(0..<40))
    try await second.close()
    #expect(try bytes(path) == before)
    let found = try await open(path)
    #expect(found.entries == Array(0..<40) && found.damages.count == 1)
    #expect(found.damages.first?.contains("All changes") == true, "\(found.damages)")
    #expect(try bytes(path + ".damaged-1") == before)
    #expect(try await open(path) == (Array(0..<40), []))
  }

  /// Rewrites the log with all pages of the file before its frames.
  private func complete(_ path: String) throws {
    let files = try bytes(path)
    let (main, old) = (files[0], files[1])
    var sums = (first: UInt32(0), second: UInt32(0))
    // The checksums of a log are in the byte order of the machine that wrote it.
    func add(_ bytes: Data) {
      let words = stride(from: 0, to: bytes.count, by: 4).map { offset in
        bytes.dropFirst(offset).prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      }
      for pair in stride(from: 0, to: words.count, by: 2) {
        sums.first = sums.first &+ words[pair] &+ sums.second
        sums.second = sums.second &+ words[pair + 1] &+ sums.first
      }
    }
    func big(_ value: UInt32) -> Data { Data([24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }) }
    add(old.prefix(24))
    var new = Data(old.prefix(32))
    func frame(_ head: Data, _ content: Data) {
      add(head)
      add(content)
      for part in [head, old[16..<24], big(sums.first), big(sums.second), content] { new.append(part) }
    }
    let pages = main.count / 4096
    for page in 1...pages {
      let head = big(UInt32(page)) + big(page == pages ? UInt32(pages) : 0)
      frame(head, main[((page - 1) * 4096)..<(page * 4096)])
    }
    for slot in 0..<(try committed(path)) {
      let offset = 32 + slot * Self.frame
      frame(old[offset..<(offset + 8)], old[(offset + 24)..<(offset + Self.frame)])
    }
    try new.write(to: URL(fileURLWithPath: path + "-wal"))
  }

  @Test("[REC-16] the log of a missing file is recovered, and no new file is made beside it") func fileMissing()
    async throws
  {
    let path = try await killed()
    try FileManager.default.removeItem(atPath: path)
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    #expect(await code { _ = try await BoardDocument.open(at: path, mode: .writing) } == .notFound)
    #expect(await code { _ = try await BoardDocument.create(at: path, board: someBoard, name: "x", now: 0) } == .exists)
    #expect(!FileManager.default.fileExists(atPath: path))
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, board: someBoard, now: 0)
    #expect(report.entries == 40)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == log)
    #expect(try await open(saved).entries == Array(0..<40))
  }

  @Test("[REC-16] an empty file is not opened, whatever lies beside it", arguments: ["-wal", "-journal"])
  func emptyFile(end: String) async throws {
    let path = directory.file("empty.whiteboard")
    for name in [path, path + end] { try Data().write(to: URL(fileURLWithPath: name)) }
    try change(path + end) { $0 = Data("the beginning of a file of SQLite".utf8) }
    let before = try Data(contentsOf: URL(fileURLWithPath: path + end))
    for mode in [BoardDocument.Mode.reading, .writing] {
      #expect(await code { _ = try await BoardDocument.open(at: path, mode: mode) } == .wrongKind)
    }
    _ = try await BoardLibrary(directory: directory.path).list()
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + end)) == before)
  }

  @Test("[REC-17] a flipped high bit, which may be one of several bits, costs no change", arguments: 1..<5)
  func flippedHigh(
    number: Int
  ) async throws {
    let path = try await killed()
    let frames = try committed(path)
    // The first row of a page is at the end of the page. These offsets are the high bytes of words in rows.
    let offset = 24 + [4095, 4091, 3003, 2011, 3507, 4003][number]
    try change(path + "-wal") { $0[32 + (frames - 1 - number) * Self.frame + offset] ^= 0x80 }
    let found = try await open(path)
    #expect(found.entries == Array(0..<40))
    #expect(found.damages.count == 1)
    #expect(found.damages.first?.contains("All changes") == true, "\(found.damages)")
  }

  @Test("[REC-18] a header that keeps programs from writing is damage", arguments: [18, 19]) func header(offset: Int)
    async throws
  {
    let path = try await killed()
    #expect(try await open(path).entries.count == 40)
    try change(path) { $0[offset] = 3 }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(await code { _ = try await BoardDocument.open(at: path, mode: .writing) } == .damaged)
    if offset == 18 {
      let reader = try await BoardDocument.open(at: path, mode: .reading)
      #expect(reader.damages.first?.contains("byte 18 is 3") == true, "\(reader.damages)")
      #expect(numbers(try await reader.load().entries) == Array(0..<40))
      try await reader.close()
    } else {
      #expect(await code { _ = try await BoardDocument.open(at: path, mode: .reading) } == .damaged)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    let saved = directory.file("saved.whiteboard")
    #expect(try await BoardDocument.recover(from: path, to: saved, now: 0).entries == 40)
    #expect(try await open(saved) == (Array(0..<40), []))
  }

  @Test("[REC-16] a log that is shorter than its index says is damaged") func cutShort() async throws {
    let path = try await killed()
    let frames = try committed(path)
    try change(path + "-wal") { $0 = $0.prefix(32 + (frames / 2) * Self.frame) }
    let found = try await open(path)
    #expect(found.entries.count < 40 && found.entries == Array(0..<found.entries.count))
    #expect(found.damages.first?.contains("may be missing") == true, "\(found.damages)")
    #expect(copies(path).count == 1)
  }

  @Test("[REC-16] the log of another file is refused, and nothing is changed", arguments: 0..<3) func foreign(kind: Int)
    async throws
  {
    let path = try await killed()
    let other = try await killed("other.whiteboard", board: kind == 0 ? otherBoard : someBoard)
    if kind == 1 {
      // A closed file has no log.
      _ = try await open(path)
      try FileManager.default.copyItem(atPath: other + "-wal", toPath: path + "-wal")
    } else {
      for end in ["-wal", "-shm"] {
        try FileManager.default.removeItem(atPath: path + end)
        try FileManager.default.copyItem(atPath: other + end, toPath: path + end)
      }
    }
    // The log of the same board in the same state does not count as another log.
    guard kind < 2 else {
      #expect(try await open(path) == (Array(0..<40), []))
      return
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let log = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    for mode in [BoardDocument.Mode.reading, .writing] {
      #expect(await code { _ = try await BoardDocument.open(at: path, mode: mode) } == .damaged, "kind \(kind)")
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == log)
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: path, to: saved, now: 0)
    #expect(report.board == someBoard && !report.losses.isEmpty)
  }

  @Test("[REC-17] copies are never overwritten, and their number is bounded") func bounded() async throws {
    let live = try await killed()
    let path = directory.file("again.whiteboard")
    for round in 1...9 {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: path + end)
        try FileManager.default.copyItem(atPath: live + end, toPath: path + end)
      }
      try change(path + "-wal") { $0[32 + round * Self.frame + 100] ^= 1 }
      let before = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
      if round < 9 {
        #expect(try await open(path).entries.count == 40)
        let kept = try Data(contentsOf: URL(fileURLWithPath: "\(path).damaged-\(round)-wal"))
        #expect(kept == before)
      } else {
        #expect(await code { _ = try await open(path) } == .exists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == before)
      }
    }
    #expect(copies(path).count == 8)
  }

  @Test("[REC-17] later changes of the board are merged with the copy") func merged() async throws {
    let path = try await killed()
    let frames = try committed(path)
    // There is too much damage to correct.
    try change(path + "-wal") { log in
      for offset in stride(from: 0, to: 4000, by: 40) {
        log[32 + (frames - 2) * Self.frame + 24 + offset] ^= 0x55
        log[32 + (frames - 1) * Self.frame + 24 + offset] ^= 0x55
      }
    }
    let document = try await BoardDocument.open(at: path, mode: .writing)
    let old = numbers(try await document.load().entries)
    #expect(!document.damages.isEmpty && old.count < 40)
    try await document.append((100..<110).map { numbered($0) })
    try await document.close()
    let saved = directory.file("saved.whiteboard")
    _ = try await BoardDocument.recover(from: path, to: saved, now: 0)
    let both = try await BoardDocument.open(at: saved, mode: .reading)
    let found = Set(numbers(try await both.load().entries))
    #expect(found.isSuperset(of: old) && found.isSuperset(of: 100..<110))
    #expect(try await both.verify() == [])
    try await both.close()
  }

  @Test("[REC-17] if no copy can be made, the file is refused and not changed") func noRoom() async throws {
    let path = try await killed()
    try change(path + "-wal") { $0[32 + 5 * Self.frame + 100] ^= 1 }
    let before = try Data(contentsOf: URL(fileURLWithPath: path + "-wal"))
    await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      var limit = rlimit(rlim_cur: 20_000, rlim_max: rlim_t.max)
      setrlimit(__rlimit_resource_t(1), &limit)
      guard await code({ _ = try await BoardDocument.open(at: path, mode: .writing) }) != nil else { exit(1) }
      exit(7)
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == before)
    #expect(copies(path).isEmpty)
    #expect(try await open(path).entries.count == 40)
  }
}
