import PeerTestKit
import Testing

@testable import Whiteboard

@Suite struct InkTests {
  private func points(_ random: inout SeededGenerator, count: Int) -> [InkPoint] {
    (0..<count).map { _ in
      InkPoint(
        x: Int32(random.below(1 << 30) - (1 << 29)),
        y: Int32(random.below(1 << 30) - (1 << 29)),
        pressure: UInt8(random.below(256))
      )
    }
  }

  @Test("[BRD-15] points decode as they were encoded", arguments: 0..<50) func roundTrip(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let points = points(&random, count: 1 + random.below(BoardLimits.pointsPerChunk))
    #expect(InkCoding.points(of: .bytes(InkCoding.encode(points))) == points)
  }

  @Test("[BRD-15] a slow stroke takes at most 3.6 bytes per point with pressure") func size() {
    var random = SeededGenerator(seed: 1)
    var x: Int32 = 16_000
    var y: Int32 = 16_000
    var pressure = 128
    var points: [InkPoint] = []
    for _ in 0..<128 {
      x += Int32(random.below(120)) - 50
      y += Int32(random.below(120)) - 60
      pressure = min(255, max(0, pressure + random.below(13) - 6))
      points.append(InkPoint(x: x, y: y, pressure: UInt8(pressure)))
    }
    #expect(Double(InkCoding.encode(points).count) / 128 <= 3.6)
  }

  @Test("[BRD-15] damaged points are rejected or decode to other points, and never trap", arguments: 0..<20)
  func damage(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let bytes = InkCoding.encode(points(&random, count: 10))
    var refused = 0
    for length in 0..<bytes.count {
      if InkCoding.points(of: .bytes(Array(bytes.prefix(length)))) == nil { refused += 1 }
    }
    #expect(refused == bytes.count)
    for _ in 0..<500 {
      var damaged = bytes
      damaged[random.below(bytes.count)] ^= UInt8(1 << random.below(8))
      if let points = InkCoding.points(of: .bytes(damaged)) { #expect(InkCoding.encode(points) == damaged) }
    }
  }

  @Test("[BRD-15] pieces are numbered by their first point, without a gap") func pieces() throws {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1000)
    let id = try board.beginDrawing()
    let ink = (0..<300).map { InkPoint(x: Int32($0), y: 0) }
    try board.appendInk(ink, to: id, first: 0)
    try board.endDrawing(id, count: 300)
    let batches = board.takeBatches()
    #expect(board.snapshot(id)?.ink == ink)
    #expect(board.snapshot(id)?.isFinished == true)
    // Without the middle piece, only the first piece is visible.
    var operations = batches[1].operations
    operations.removeAll { $0.property == .ink(first: 128) }
    let torn = try Batch(
      author: batches[1].author,
      firstSequence: batches[1].firstSequence,
      time: batches[1].time,
      operations: operations
    )
    let state = BoardState().applying([batches[0], torn])
    #expect(state.record(id)?.points.count == 128)
  }
}
