import Testing
import Whiteboard

@testable import WhiteboardKit

@Suite struct ThumbnailCheckingTests {
  /// Returns the thumbnail of a text, a stroke and a game.
  private func picture() throws -> String {
    let board = Board(
      incarnation: Incarnation(1),
      member: try #require(MemberID(bytes: [UInt8](repeating: 7, count: 32))),
      wallClock: 1
    )
    try board.createText("a < b & \"c\" > é 👩\u{200D}👧", at: Point(x: -3.5, y: 1e6))
    try board.createDrawing([InkPoint(Point(x: 0, y: 0)), InkPoint(Point(x: 50.5, y: -80))])
    try board.createConnectFour(at: Point(x: 0, y: 0))
    try board.setBackground(0x1122_3344)
    return Thumbnail.svg(of: board.state)
  }

  @Test("thumbnails that the program created are shown") func own() throws {
    #expect(Thumbnail.isOwn(try picture()))
    #expect(Thumbnail.isOwn(Thumbnail.svg(of: BoardState())))
  }

  @Test(
    "a stored thumbnail with any other content is not shown",
    arguments: [
      "<script>alert(1)</script>", "<rect onload=\"alert(1)\"/>", "<image href=\"http://x/\"/>",
      "<rect fill=\"url(http://x/)\"/>", "<!-- -->", "<text>a<script/></text>", "words", "<rect x=\"1\">",
      "<polyline x='1'/>", "<text x=\"1\"", "<rect fill=\"&#104;\"/>", "<text>a<\u{301}/><script/></text>",
      "<rectangle/>", "<?xml?>",
    ]
  ) func strange(part: String) throws {
    let picture = try picture()
    let start = try #require(picture.firstIndex(of: ">"))
    var changed = picture
    changed.insert(contentsOf: part, at: picture.index(after: start))
    #expect(!Thumbnail.isOwn(changed))
    #expect(!Thumbnail.isOwn(picture + part))
    #expect(!Thumbnail.isOwn(part))
    #expect(!Thumbnail.isOwn(String(picture.dropLast())))
  }

  @Test("a stored thumbnail that exceeds the size limit is not shown") func large() throws {
    let text = "<text>\(String(repeating: "a", count: Thumbnail.byteLimit))</text></svg>"
    #expect(!Thumbnail.isOwn(try picture().replacing("</svg>", with: text)))
  }
}
