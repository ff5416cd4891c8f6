import Foundation
import PeerTestKit
import Testing
import Whiteboard
import WhiteboardDocument

@Suite struct BoardDocumentTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func create(_ name: String = "board.whiteboard") async throws -> BoardDocument {
    try await BoardDocument.create(at: directory.file(name), board: someBoard, name: "Ideas", now: 1_700_000_000_000)
  }

  @Test("appended entries are there when the document is opened again, in order") func reopening() async throws {
    let document = try await create()
    let entries = (0..<100).map { numbered($0) }
    for entry in entries { try await document.append([entry]) }
    try await document.append([
      .answer(bytes: [1, 2, 3], time: 1_700_000_000_050), .author(record: [9, 9], incarnation: .max),
      .head(bytes: [5], incarnation: .max, sequence: 3), .head(bytes: [4], incarnation: .max, sequence: 2),
      .marker(name: "here", time: 7), .gap(from: 8, to: 9),
    ])
    try await document.close()
    #expect(!FileManager.default.fileExists(atPath: document.path + "-wal"))
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(!again.wasLeftOpen)
    #expect(again.board == someBoard)
    #expect(try await again.name() == "Ideas")
    let content = try await again.load()
    #expect(content.keyframe == nil)
    #expect(content.entries == entries + [.answer(bytes: [1, 2, 3], time: 1_700_000_000_050)])
    #expect(content.authors.map(\.incarnation) == [.max])
    #expect(content.authors.first?.record == [9, 9])
    #expect(content.authors.first?.head == [5])
    #expect(try await again.marks() == [.marker(name: "here", time: 7), .gap(from: 8, to: 9)])
    #expect(try await again.verify() == [])
    try await again.close()
  }

  @Test("opening starts at the newest keyframe, and one is due after 30 s or 4,096 entries") func keyframes()
    async throws
  {
    let document = try await create()
    #expect(await document.keyframeDue == nil)
    try await document.append([numbered(1)])
    #expect(await document.keyframeDue == 1_700_000_030_000)
    for number in 1...7 {
      let digest = [UInt8(number)]
      try await document.writeKeyframe([7, 7], digest: digest, time: 1_700_000_030_000)
      try await document.append([numbered(number)])
    }
    try await document.append((0..<4096).map { numbered($0) })
    #expect(await document.keyframeDue == .min)
    let content = try await document.load()
    #expect(content.keyframe?.digest == [7])
    #expect(numbers(content.entries) == [7] + Array(0..<4096))
    #expect(try await document.verify() == [])
    // Each keyframe after the third removed the one before the newest two.
    var kept: [[UInt8]] = []
    var last: Int64 = 0
    while let (number, keyframe) = try await document.keyframe(after: last) {
      kept.append(keyframe.digest)
      last = number
    }
    #expect(kept == [[1], [6], [7]])
    try await document.close()
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(await again.keyframeDue == .min)
    #expect(try await again.load() == content)
    try await again.close()
  }

  @Test("a keyframe is due when the entries since the last one have a quarter of its size") func rareKeyframes()
    async throws
  {
    let document = try await create()
    var keyframes = 0
    var entries = 0
    try await document.writeKeyframe(Array(repeating: 7, count: 40_000), digest: [7], time: 1_700_000_000_000)
    while entries < 3000 {
      try await document.append((0..<100).map { numbered(entries + $0) })
      entries += 100
      guard await document.keyframeDue != nil else { continue }
      keyframes += 1
      try await document.writeKeyframe(Array(repeating: 7, count: 40_000), digest: [7], time: 1_700_000_000_000)
    }
    // An entry has more than 8 and less than 100 bytes, so 10,000 bytes are 100 to 1,250 entries.
    #expect((2...30).contains(keyframes), "\(keyframes)")
    #expect(await document.keyframeDue == nil)
    let path = document.path
    try await document.close()
    let again = try await BoardDocument.open(at: path, mode: .writing)
    try await again.append([numbered(0)])
    #expect(await again.keyframeDue == nil)
    try await again.close()
  }

  @Test("entries are appended while a keyframe is being encoded, and follow it") func keyframeInBackground()
    async throws
  {
    let document = try await create()
    try await document.append((0..<10).map { numbered($0) })
    let position = await document.position
    // The keyframe contains the board at `position`. These entries are stored before the keyframe.
    try await document.append((10..<20).map { numbered($0) })
    try await document.writeKeyframe([1], digest: [2], time: 1_700_000_000_010, at: position)
    try await document.append([numbered(20)])
    let content = try await document.load()
    #expect(content.keyframe?.bytes == [1])
    #expect(numbers(content.entries) == Array(10...20))
    try await document.checkpoint(name: "v", bytes: [3], digest: [4], time: 1_700_000_000_020, at: document.position)
    #expect(numbers(try await document.load(at: 1_700_000_000_005).entries) == Array(0...5))
    #expect(try await document.verify() == [])
    try await document.close()
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(await !again.hasEntriesSinceKeyframe)
    #expect(try await again.load().keyframe?.bytes == [3])
    try await again.close()
  }

  @Test("the board of an earlier time has everything that was applied by then") func earlier() async throws {
    let document = try await create()
    for number in 0..<10 { try await document.append([numbered(number)]) }
    try await document.writeKeyframe([1], digest: [], time: 1_700_000_000_010)
    for number in 10..<20 { try await document.append([numbered(number)]) }
    let early = try await document.load(at: 1_700_000_000_004)
    #expect(early.keyframe == nil)
    #expect(numbers(early.entries) == Array(0...4))
    let late = try await document.load(at: 1_700_000_000_015)
    #expect(late.keyframe?.bytes == [1])
    #expect(numbers(late.entries) == Array(10...15))
    try await document.close()
  }

  @Test("several callers share a transaction, and each gets its result") func groupCommit() async throws {
    let document = try await create()
    await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<500 { group.addTask { try await document.append([numbered(number)]) } }
    }
    let groups = await document.groupsCommitted
    #expect(groups >= 1 && groups < 100)
    // Callers in one transaction also share a row. A row for each entry would take twice the space.
    #expect(await document.lastRow == Int64(groups))
    #expect(Set(numbers(try await document.load().entries)) == Set(0..<500))
    try await document.close()
  }

  @Test("closing stores pending entries; a closed document accepts no more") func closing() async throws {
    let document = try await create()
    async let first: Void = document.append([numbered(1)])
    try await first
    try await document.close()
    try await document.close()
    #expect(await code { try await document.append([numbered(2)]) } == .closed)
    #expect(await code { _ = try await document.load() } == .closed)
  }

  @Test("a second writer is refused, a reader is not, and closing the document releases the lock") func secondWriter()
    async throws
  {
    let document = try await create()
    try await document.append([numbered(1)])
    let path = document.path
    #expect(await code { _ = try await BoardDocument.open(at: path, mode: .writing) } == .inUse)
    let reader = try await BoardDocument.open(at: path, mode: .reading)
    #expect(numbers(try await reader.load().entries) == [1])
    try await document.append([numbered(2)])
    #expect(numbers(try await reader.load().entries) == [1, 2])
    #expect(await code { try await reader.append([numbered(3)]) } == .readOnly)
    try await reader.close()
    try await document.close()
    let again = try await BoardDocument.open(at: path, mode: .writing)
    try await again.close()
  }

  @Test("a full disk fails the append; nothing acknowledged is lost, and appends work again with room") func full()
    async throws
  {
    let document = try await create()
    try await document.append((0..<10).map { numbered($0, size: 1000) })
    let pages = try await document.limitPages(to: 1)
    #expect(pages > 1)
    #expect(await code { try await document.append((10..<500).map { numbered($0, size: 1000) }) } == .full)
    #expect(numbers(try await document.load().entries) == Array(0..<10))
    _ = try await document.limitPages(to: 1_000_000)
    try await document.append((10..<500).map { numbered($0, size: 1000) })
    #expect(numbers(try await document.load().entries) == Array(0..<500))
    #expect(try await document.verify() == [])
    try await document.close()
  }

  @Test("a file of another format, a later version or another board is refused and not changed") func refusals()
    async throws
  {
    let missing = directory.file("missing.whiteboard")
    #expect(await code { _ = try await BoardDocument.open(at: missing, mode: .writing) } == .notFound)
    #expect(await code { _ = try await BoardDocument.open(at: directory.path, mode: .writing) } == .wrongKind)
    let text = directory.file("text.whiteboard")
    try Data("just some text, long enough to be looked at as a database".utf8).write(to: URL(fileURLWithPath: text))
    let empty = directory.file("empty.whiteboard")
    try Data().write(to: URL(fileURLWithPath: empty))
    for path in [text, empty] {
      for mode in [BoardDocument.Mode.writing, .reading] {
        #expect(await code { _ = try await BoardDocument.open(at: path, mode: mode) } == .wrongKind)
      }
    }
    let document = try await create()
    try await document.close()
    let path = document.path
    #expect(
      await code { _ = try await BoardDocument.open(at: path, mode: .writing, expecting: otherBoard) } == .wrongBoard
    )
    #expect(await code { _ = try await self.create() } == .exists)
    // The header has `user_version` at byte 60 and `application_id` at 68.
    for (offset, expected) in [(60, DocumentError.Code.newerSchema), (68, .wrongKind)] {
      let changed = directory.file("changed-\(offset).whiteboard")
      var data = try Data(contentsOf: URL(fileURLWithPath: path))
      data[offset] ^= 0x40
      try data.write(to: URL(fileURLWithPath: changed))
      #expect(await code { _ = try await BoardDocument.open(at: changed, mode: .writing) } == expected)
      #expect(try Data(contentsOf: URL(fileURLWithPath: changed)) == data)
    }
  }

  /// Returns `user_version`, which the header has at byte 60.
  private func format(of document: BoardDocument) async throws -> [UInt8] {
    try await document.save(as: document.path + ".copy")
    defer { unlink(document.path + ".copy") }
    return Array(try Data(contentsOf: URL(fileURLWithPath: document.path + ".copy"))[60..<64])
  }

  @Test("[REC-1] only a file with a retirement is one that earlier releases refuse", arguments: [false, true])
  func format(isAppended: Bool) async throws {
    let document = try await create()
    try await document.append([numbered(1), .answer(bytes: [4, 5], time: 2)])
    #expect(try await format(of: document) == [0, 0, 0, 2])
    if isAppended {
      try await document.append([.answer(bytes: [5, 1], time: 3)])
    } else {
      try await document.markRetirements()
    }
    #expect(try await format(of: document) == [0, 0, 0, 3])
    try await document.close()
    // Opening and writing the document again does not change its format.
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    try await again.append([numbered(2)])
    #expect(try await format(of: again) == [0, 0, 0, 3])
    try await again.close()
  }

  @Test("a version stores its state under a unique name") func versions() async throws {
    let document = try await create()
    try await document.append([numbered(1)])
    try await document.checkpoint(name: "first", bytes: [1], digest: [2], time: 3)
    #expect(await code { try await document.checkpoint(name: "first", bytes: [], digest: [], time: 0) } == .exists)
    for name in ["", String(repeating: "x", count: 129)] {
      #expect(await code { try await document.checkpoint(name: name, bytes: [], digest: [], time: 0) } == .badName)
    }
    for number in 0..<6 {
      try await document.append([numbered(number)])
      try await document.writeKeyframe([9], digest: [], time: 10)
    }
    #expect(try await document.versions().map(\.name) == ["first"])
    #expect(try await document.version("first").bytes == [1])
    #expect(await code { _ = try await document.version("second") } == .notFound)
    #expect(try await document.verify() == [])
    try await document.close()
  }

  @Test("an asset is stored once by its hash, and verified when it is read") func assets() async throws {
    let document = try await create()
    let bytes = Array("abc".utf8)
    let hash: [UInt8] = [
      0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61,
      0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
    ]
    #expect(await code { try await document.storeAsset([1], sha256: hash) } == .damaged)
    try await document.storeAsset(bytes, sha256: hash)
    try await document.storeAsset(bytes, sha256: hash)
    #expect(try await document.assetIDs() == [hash])
    #expect(try await document.asset(hash) == bytes)
    try await document.removeAsset(hash)
    #expect(await code { _ = try await document.asset(hash) } == .notFound)
    try await document.close()
  }

  @Test("a copy is complete; a duplicate is another board that begins with the given state") func copies() async throws
  {
    let document = try await create()
    try await document.append([numbered(1), .author(record: [1], incarnation: 2)])
    let (shown, gone) = (numberedBytes(1, size: 9000), numberedBytes(2, size: 9000))
    for bytes in [shown, gone] { try await document.storeAsset(bytes, sha256: sha256(bytes)) }
    let copy = directory.file("copy.whiteboard")
    try await document.save(as: copy)
    #expect(await code { try await document.save(as: copy) } == .exists)
    let nowhere = directory.file("nowhere/copy.whiteboard")
    #expect(await code { try await document.save(as: nowhere) } == .readOnly)
    let other = directory.file("other.whiteboard")
    try await document.duplicate(
      to: other,
      board: otherBoard,
      name: "Other",
      keyframe: [5],
      digest: [6],
      assets: [sha256(shown)],
      now: 7
    )
    let first = try await BoardDocument.open(at: copy, mode: .writing, expecting: someBoard)
    #expect(try await first.load() == document.load())
    let second = try await BoardDocument.open(at: other, mode: .writing, expecting: otherBoard)
    let content = try await second.load()
    #expect(content.keyframe?.bytes == [5] && content.keyframe?.digest == [6])
    #expect(content.entries.isEmpty && content.authors.isEmpty)
    #expect(try await first.assetIDs() == [sha256(shown), sha256(gone)])
    #expect(try await second.assetIDs() == [sha256(shown)])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: other))
    #expect(bytes.range(of: Data(gone.suffix(50))) == nil)
    #expect(try await second.name() == "Other")
    for opened in [first, second, document] {
      #expect(try await opened.verify() == [])
      try await opened.close()
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(left.allSatisfy { $0.hasSuffix(".whiteboard") }, "\(left)")
  }

  @Test("[REC-6] a recording is closed, with a report, even if the disk has no room for its last entries")
  func fullAtItsEnd() async throws {
    let document = try await create()
    try await document.append([numbered(1)])
    _ = try await document.limitPages(to: 1)
    // Append until there is no room for a marker.
    var (count, failure) = (0, nil as DocumentError.Code?)
    while failure == nil, count < 10_000 {
      count += 1
      let name = "\(count)" + String(repeating: "x", count: 100)
      failure = await code { try await document.append([.marker(name: name, time: 1)]) }
    }
    while await code({ try await document.append([.marker(name: "y\(count)", time: 1)]) }) == nil { count += 1 }
    #expect(failure == .full)
    #expect(await code { try await document.close(recordedUntil: 2) } == .full)
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(numbers(try await again.load(at: .max).entries) == [1])
    try await again.close(recordedUntil: 7)
    let history = try await BoardDocument.open(at: document.path, mode: .reading).history()
    #expect(history.end == 7 && history.damages.isEmpty)
  }

  @Test("[REC-1] a file of the first format is read as it is, and becomes the second when written to")
  func firstFormat() async throws {
    let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Protocol/Vectors/recording.whiteboard")
    let path = directory.file("first.whiteboard")
    try FileManager.default.copyItem(atPath: sample.path, toPath: path)
    func format() throws -> UInt8 { try Data(contentsOf: URL(fileURLWithPath: path))[63] }
    let reading = try await BoardDocument.open(at: path, mode: .reading)
    let before = try await reading.history()
    try await reading.close()
    #expect(try format() == 1 && before.steps.count == 12)
    let writing = try await BoardDocument.open(at: path, mode: .writing)
    try await writing.append([numbered(1)])
    try await writing.close()
    #expect(try format() == 2)
    let again = try await BoardDocument.open(at: path, mode: .reading)
    let after = try await again.history()
    #expect(after.steps.dropLast() == before.steps[...] && after.damages.isEmpty)
    try await again.close()
  }

  @Test("a row of the log unpacks to its entries, and any other bytes are rejected") func rows() throws {
    let entries: [DocumentEntry] = [
      .batch(bytes: [], time: -5), .answer(bytes: [1], time: 1 << 50), numbered(3),
      .batch(bytes: Array(repeating: 7, count: 300), time: 0),
    ]
    let row = LogRow(id: 4, packing: entries)
    #expect(try row.unpack() == entries)
    for length in 0..<row.body.count {
      let cut = LogRow(id: 4, time: row.time, entries: 4, body: Array(row.body.prefix(length)))
      #expect(throws: (any Error).self) { try cut.unpack() }
    }
    let batches: [DocumentEntry] = (0..<40).map { number in
      let (author, other) = (Incarnation(7 + UInt64(number % 2)), Incarnation(99))
      var writer = ByteWriter()
      writer.incarnation(author)
      // Some sequences have gaps.
      writer.varint(UInt64(number / 2 + 1 + number / 30))
      writer.varint((1_700_000_000_000 + UInt64(number) * 3) << 16 | UInt64(number))
      writer.varint(1)
      writer.count(number % 3 == 0 ? 1 : 0)
      if number % 3 == 0 { writer.incarnation(other) }
      writer.raw([1, 2, 3, 4])
      return .batch(bytes: writer.bytes, time: 1_700_000_000_000 + Int64(number) * 3 + 20)
    }
    let packed = LogRow(id: 4, packing: batches + [.answer(bytes: [9, 9], time: 1_700_000_000_000)])
    #expect(try packed.unpack() == batches + [.answer(bytes: [9, 9], time: 1_700_000_000_000)])
    #expect(packed.body.first == 2 && packed.body.count < 41 * 13, "\(packed.body.count)")
    for length in 1..<packed.body.count {
      let body = Array(packed.body.prefix(length))
      let cut = LogRow(id: 4, time: packed.time, entries: packed.entries, body: body)
      #expect(throws: (any Error).self) { try cut.unpack() }
    }
    // An integer that is not in its shortest form is kept, with its whole row.
    var long = ByteWriter()
    long.incarnation(Incarnation(7))
    long.raw([0x81, 0x00, 5, 1, 0, 1])
    let odd = [batches[0], .batch(bytes: long.bytes, time: 4)]
    let unpacked = LogRow(id: 4, packing: odd)
    #expect(try unpacked.body.first == 0 && unpacked.unpack() == odd)
    var check = Checksum()
    check.add(Array("123456789".utf8))
    #expect(check.value == 0xE306_9283)
  }
}
