import Testing

@testable import Whiteboard

@Suite struct ErasureTests {
  /// Returns the cells of a stroke with points 10 units apart along x.
  private func stroke(_ count: Int, erased: [ClosedRange<Int>] = []) throws -> ObjectRecord {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1_700_000_000_000)
    let id = try board.createDrawing((0..<count).map { InkPoint(x: Int32($0) * 160, y: 0) })
    if !erased.isEmpty { try board.erase(id, spans: erased) }
    return try #require(board.state.record(id))
  }

  @Test("[BRD-29] an erasure removes parts, the whole stroke, or nothing") func effects() throws {
    let record = try stroke(3, erased: [0...8])
    let effect = { (spans: [ClosedRange<Int>]) in try Erasure(StrokeSpans(spans), of: record, isBeingDrawn: false) }
    #expect(try effect([2...6]) == .nothing)
    #expect(try effect([]) == .nothing)
    #expect(try effect([8...12]) == .parts(StrokeSpans([8...12]).values))
    #expect(try effect([8...32]) == .wholeStroke)
  }

  @Test("[BRD-29] a stroke that is still being drawn is not deleted") func drawing() throws {
    let spans = StrokeSpans([0...32])
    let effect = try Erasure(spans, of: try stroke(3), isBeingDrawn: true)
    #expect(effect == .parts(spans.values))
  }
}
