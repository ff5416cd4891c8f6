import Foundation
import PeerTestKit
import Testing
import WhiteboardDocument

/// Earlier keyframes as a replacement for a damaged keyframe, and the report if they are not enough.
@Suite struct FallbackTests {
  let directory: TemporaryDirectory
  let states = (0..<4).map { numberedBytes(100 + $0, size: 64) }

  init() throws { directory = try TemporaryDirectory() }

  private func create() async throws -> BoardDocument {
    try await BoardDocument.create(at: directory.file(), board: someBoard, name: "x", now: 0)
  }

  /// Reopens the document after the keyframe of a state was damaged.
  private func without(_ state: [UInt8], _ document: BoardDocument) async throws -> BoardDocument {
    try await document.close()
    #expect(try damage(document.path, where: state) > 0)
    return try await BoardDocument.open(at: document.path, mode: .reading)
  }

  @Test("an earlier keyframe and all later rows give the same board") func whole() async throws {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.writeKeyframe(states[0], digest: [], time: 10)
    try await document.append([numbered(1)])
    try await document.writeKeyframe(states[1], digest: [], time: 20)
    try await document.append([numbered(2)])
    let content = try await without(states[1], document).load()
    #expect(content.keyframe?.bytes == states[0])
    #expect(numbers(content.entries) == [1, 2])
    #expect(content.notes.count == 1)
  }

  @Test("a keyframe repairs entries that could not be appended; if it is lost, the loss is reported") func mended()
    async throws
  {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.writeKeyframe(states[0], digest: [], time: 10)
    try await document.append([numbered(1)])
    try await document.writeKeyframe(states[1], digest: [], time: 20, lostSince: 15)
    try await document.append([numbered(2)])
    #expect(try await document.load().notes == [])
    #expect(try await document.load(at: 12).notes == [])
    #expect(try await document.load(at: 17).notes.count == 1)
    #expect(try await document.marks() == [.gap(from: 15, to: 20)])
    let content = try await without(states[1], document).load()
    #expect(content.keyframe?.bytes == states[0])
    #expect(content.notes.count == 2)
    #expect(content.notes.last?.contains("are missing") == true)
  }

  @Test("an earlier keyframe without later rows would be another board, and is refused") func refused() async throws {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.checkpoint(name: "v", bytes: states[0], digest: [], time: 10)
    try await document.append([numbered(1)])
    try await document.writeKeyframe(states[1], digest: [], time: 20)
    // The history is dropped, and the version stays.
    try await document.compact(now: 20, keeping: 0)
    let damaged = try await without(states[1], document)
    #expect(await code { _ = try await damaged.load() } == .damaged)
    #expect(await code { _ = try await damaged.load(at: 30) } == .damaged)
    #expect(try await damaged.load(at: 10).keyframe?.bytes == states[0])
  }

  @Test("a compacted document has two keyframes to start from") func compacted() async throws {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.writeKeyframe(states[0], digest: [7], time: 10)
    try await document.append([numbered(1)])
    try await document.writeKeyframe(states[1], digest: [8], time: 20)
    try await document.setRetention(days: 0)
    try await document.dropHistory(now: 20)
    try await document.append([numbered(2)])
    try await document.compact(now: 20)
    let content = try await document.load()
    #expect(try await document.verify() == [])
    try await document.close()
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: document.path, to: saved, now: 0)
    #expect(report.losses == [])
    // Damage the first of the two keyframes.
    let file = URL(fileURLWithPath: document.path)
    var data = try Data(contentsOf: file)
    let place = try #require(data.range(of: Data(states[1]), options: .backwards))
    data[place.lowerBound] ^= 1
    try data.write(to: file)
    let again = try await BoardDocument.open(at: document.path, mode: .reading)
    #expect(try await again.verify() != [])
    let loaded = try await again.load()
    #expect(loaded.keyframe == content.keyframe)
    #expect(loaded.entries == content.entries)
  }

  @Test("rows that were all dropped on purpose are not reported as a loss") func droppedAll() async throws {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.writeKeyframe(states[0], digest: [7], time: 10)
    try await document.compact(now: 20, keeping: 0)
    try await document.close()
    let saved = directory.file("saved.whiteboard")
    let report = try await BoardDocument.recover(from: document.path, to: saved, now: 0)
    #expect(report.losses == [] && report.keyframes == 2)
    let copy = try await BoardDocument.open(at: saved, mode: .reading)
    #expect(try await copy.load().keyframe?.bytes == states[0])
  }

  @Test("a reader does not prevent compacting") func readers() async throws {
    let document = try await create()
    try await document.append([numbered(0)])
    try await document.writeKeyframe(states[0], digest: [], time: 10)
    let reader = try await BoardDocument.open(at: document.path, mode: .reading)
    #expect(try await reader.load().keyframe != nil)
    try await document.compact(now: 20, keeping: 0)
    try await document.close()
    #expect(try await reader.load().keyframe?.bytes == states[0])
  }

  @Test("a copy has all earlier entries, and does not delay later ones") func copying() async throws {
    let document = try await create()
    async let appended: Void = document.append((0..<100).map { numbered($0) })
    async let saved: Void = document.save(as: directory.file("copy.whiteboard"))
    try await appended
    try await saved
    try await document.append([numbered(100)])
    try await document.save(as: directory.file("later.whiteboard"))
    let later = try await BoardDocument.open(at: directory.file("later.whiteboard"), mode: .reading)
    #expect(numbers(try await later.load().entries) == Array(0...100))
    try await document.close()
  }

  @Test("a file without any data except the name is not recovered") func nothingLeft() async throws {
    let document = try await create()
    let body = numberedBytes(5, size: 200)
    try await document.append([.batch(bytes: body, time: 1)])
    try await document.close()
    #expect(try damage(document.path, where: body) > 0)
    let target = directory.file("saved.whiteboard")
    #expect(await code { _ = try await BoardDocument.recover(from: document.path, to: target, now: 0) } == .damaged)
    #expect(!FileManager.default.fileExists(atPath: target))
  }
}
