import Foundation
import Testing
import Whiteboard
import WhiteboardKit

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite struct ThumbnailTests {
  private func board() throws -> Board {
    Board(
      incarnation: Incarnation(7),
      member: try #require(MemberID(bytes: Array(repeating: 1, count: 32))),
      wallClock: 1_700_000_000_000
    )
  }

  @Test("a thumbnail is well-formed XML for any text on the board") func wellFormed() throws {
    let board = try board()
    try board.createText("<b> & \"quotes\" \u{1B}[31m \u{0} ]]> é", at: Point(x: 10, y: -20))
    try board.createDrawing([InkPoint(Point(x: 0, y: 0)), InkPoint(Point(x: 50, y: 80))])
    let svg = Thumbnail.svg(of: board.state)
    let parser = XMLParser(data: Data(svg.utf8))
    #expect(parser.parse(), "\(svg)")
    #expect(svg.contains("&lt;b&gt; &amp;"))
    #expect(!svg.contains("\u{1B}"))
  }

  @Test("the thumbnail of a large board stays within its size limit and shows the topmost objects") func bounded()
    throws
  {
    let board = try board()
    for number in 0..<600 { try board.createText("text \(number)", at: Point(x: Double(number), y: 0)) }
    let svg = Thumbnail.svg(of: board.state)
    #expect(svg.utf8.count <= Thumbnail.byteLimit)
    #expect(svg.contains("text 599<"))
    #expect(!svg.contains("text 0<"))
    #expect(XMLParser(data: Data(svg.utf8)).parse())
  }

  @Test("objects at the back are omitted, also if they were created last") func front() throws {
    let board = try board()
    var ids: [ObjectID] = []
    for number in 0..<300 { ids.append(try board.createText("text \(number)", at: Point(x: Double(number), y: 0))) }
    try board.reorder(Array(ids.suffix(250)), .back)
    let svg = Thumbnail.svg(of: board.state)
    #expect(svg.contains("text 0<") && svg.contains("text 49<") && svg.contains("text 299<"))
    #expect(!svg.contains("text 50<"))
    // The picture contains the places of the omitted objects, too.
    try board.delete(ids[50])
    #expect(Thumbnail.svg(of: board.state) == svg)
    try board.delete(ids[299])
    #expect(Thumbnail.svg(of: board.state).prefix(150) != svg.prefix(150))
  }

  @Test("the thumbnail of an empty board is a valid image") func empty() {
    #expect(XMLParser(data: Data(Thumbnail.svg(of: BoardState()).utf8)).parse())
  }
}
