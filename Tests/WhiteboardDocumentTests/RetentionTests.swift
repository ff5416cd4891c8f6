import Foundation
import GRDB
import Testing
import WhiteboardDocument

/// The parts of the history that stay in a document.
@Suite struct RetentionTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func create() async throws -> BoardDocument {
    try await BoardDocument.create(at: directory.file(), board: someBoard, name: "Ideas", now: 1_700_000_000_000)
  }

  @Test("all history stays unless retention is set, and then from a keyframe on") func retention() async throws {
    let document = try await create()
    for number in 0..<10 {
      try await document.append([numbered(number)])
      try await document.writeKeyframe([UInt8(number)], digest: [], time: Int64(number) * 86_400_000)
    }
    try await document.append([numbered(10)])
    let before = try await document.load()
    try await document.compact(now: 9 * 86_400_000)
    #expect(numbers(try await document.load(at: .max).entries) == [10])
    #expect(try await document.retention() == nil)
    try await document.setRetention(days: 1)
    try await document.compact(now: 9 * 86_400_000)
    #expect(try await document.load() == before)
    #expect(try await document.verify() == [])
    #expect(await code { _ = try await document.load(at: 0) } == .notFound)
    try await document.close()
    let again = try await BoardDocument.open(at: document.path, mode: .writing)
    #expect(try await again.load() == before)
    try await again.close()
  }

  @Test("[REC-6] if rows were dropped, history begins with the keyframe before the first, not a version")
  func droppedBehindVersion() async throws {
    let document = try await create()
    for number in 1...6 {
      try await document.append([numbered(number)])
      let (bytes, time) = ([UInt8(number)], Int64(number) * 86_400_000)
      if number == 2 {
        try await document.checkpoint(name: "first", bytes: bytes, digest: bytes, time: time)
      } else if number.isMultiple(of: 2) {
        try await document.writeKeyframe(bytes, digest: bytes, time: time)
      }
    }
    try await document.dropHistory(now: 6 * 86_400_000, keeping: 2)
    func states(_ history: DocumentHistory) -> [[UInt8]] {
      history.steps.compactMap { step in if case .keyframe(let bytes) = step.content { bytes } else { nil } }
    }
    let history = try await document.history()
    #expect(history.damages.isEmpty && history.steps.count == 3 && states(history) == [[4]])
    #expect(history.checks.map(\.digest) == [[4], [6]] && history.checks.map(\.place) == [1, 3])
    #expect(try await document.versions().map(\.name) == ["first"], "the first version is still listed")
    try await document.close()
    // If rows are missing, an older keyframe is better than none, and the next keyframe has the rest.
    try await DatabaseQueue(path: document.path).write { db in try db.execute(sql: "DELETE FROM keyframe WHERE log = 4")
    }
    let damaged = try await BoardDocument.open(at: document.path, mode: .reading).history()
    #expect(damaged.damages.count == 1 && states(damaged) == [[2], [6]])
  }

  @Test("[REC-6] a keyframe that ends a gap stays in the history as long as the gap") func gapKeyframe() async throws {
    let document = try await create()
    try await document.append([numbered(1)])
    try await document.writeKeyframe([1], digest: [1], time: 1)
    try await document.append([numbered(2)])
    try await document.writeKeyframe([7, 7], digest: [7], time: 7, lostSince: 2)
    for number in 8..<20 {
      try await document.append([numbered(number)])
      try await document.writeKeyframe([UInt8(number)], digest: [8], time: Int64(number))
    }
    let history = try await document.history()
    let states = history.steps.compactMap { step -> [UInt8]? in
      if case .keyframe(let bytes) = step.content { bytes } else { nil }
    }
    #expect(states == [[7, 7]])
    #expect(history.steps.firstIndex { $0.content == .keyframe([7, 7]) } == 2)
    #expect(history.checks.count < 8, "some checks were dropped")
  }
}
