import Testing

@testable import Whiteboard

@Suite struct ObjectJSONTests {
  @Test("[BRD-19] an object's JSON has AirplaIN's names, in this order") func text() throws {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 1_700_000_000_123)
    let id = try board.createText("", at: Point(x: 10.5, y: -3), color: 0xFF00_80FF)
    // Another program's text may contain control characters (BRD-33).
    try board.gesture { () throws(BoardError) in try board.stageText("say \"hi\"\n\u{1B}[31m\u{202E}", of: id) }
    try board.object(id)?.rotate(to: .degrees(90))
    let json = board.snapshot(id)?.json
    #expect(
      json == """
        {"id":"1-aaaaaaaaaaaac","type":"text","centerPosition":[10.5,-3],"size":[200,50],\
        "scale":1,"angle":1.5707963267948966,"selectedBy":null,\
        "updatedAt":"2023-11-14T22:13:20.123Z","zIndex":"8000000001","color":"#ff0080ff",\
        "text":"say \\"hi\\"\\n\\u001b[31m\\u202e","rows":["say \\"hi\\"","\\u001b[31m\\u202e"],\
        "shownSize":[64,32],"groups":[],"isLocked":false}
        """
    )
  }

  @Test("[BRD-19] a drawing's points are relative to its center") func drawing() throws {
    let board = Board(incarnation: Incarnation(1), member: RandomEditing.member(1), wallClock: 0)
    let id = try board.createDrawing([InkPoint(x: 16, y: 32), InkPoint(x: 48, y: 33)])
    #expect(
      board.snapshot(id)?.json.hasSuffix(
        #""points":[[-1,-0.03125],[1,0.03125]],"lineWidth":5,"isFinished":true,"erased":[],"groups":[],"isLocked":false}"#
      ) ?? false
    )
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z"), (951_782_399_999, "2000-02-28T23:59:59.999Z"),
    (951_782_400_000, "2000-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
  ]) func `times are written in the format of RFC 3339`(milliseconds: Int, text: String) {
    #expect(Timestamp.text(milliseconds: UInt64(milliseconds)) == text)
  }

  @Test func `a time after the year 9999 is written as the last time of that year`() {
    #expect(Timestamp.text(milliseconds: .max) == "9999-12-31T23:59:59.999Z")
  }
}
