import PeerCore
import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("A board as JSON") struct BoardJSONTests {
  private func read(_ text: String) throws -> ImportedBoard {
    try ImportedBoard(reading: Array(text.utf8), hash: SampleBoard.hash)
  }

  @Test("an exported board is imported as the same board, in one undo step") func roundTrip() throws {
    let sample = try SampleBoard()
    let text = BoardJSON.text(sample.export)
    #expect(text == BoardJSON.text(sample.export))
    let imported = try read(text)
    #expect(imported.warnings == [])
    #expect(imported.photos == [SampleBoard.hash(SampleBoard.png): SampleBoard.png])
    #expect(imported.settings.title == "Sample")
    #expect(imported.settings.grid == 50)
    let copy = try SampleBoard.empty(2)
    let made = try copy.add(imported.objects, groups: imported.groups)
    #expect(made.count == sample.board.objectIDs.count)
    #expect(copy.objectIDs == made)
    #expect(SampleBoard.content(copy) == SampleBoard.content(sample.board))
    #expect(copy.undoLabel == "import")
    try copy.undo()
    #expect(copy.objectIDs.isEmpty)
    #expect(!copy.canUndo)
  }

  @Test("[BRD-55] links that are not valid are counted in a warning; all others are imported") func links() throws {
    let board = try SampleBoard.empty()
    let ids = try (0..<4).map { try board.createText("\($0)", at: Point(x: Double($0) * 500, y: 0)) }
    let links = ["https://example.org/", "#\(ids[0])", "#99-aaaaaaaaaaaac", "https://x.org/y"]
    for (id, link) in zip(ids, links) { try board.setLink(link, of: [id]) }
    var text = BoardJSON.text(BoardExport(of: board, id: "", name: ""))
    var imported = try read(text)
    #expect(imported.warnings == [])
    let copy = try SampleBoard.empty(2)
    let made = try copy.add(imported.objects)
    #expect(copy.snapshots.map(\.link) == [links[0], "#\(made[0])", links[2], links[3]])
    text = text.replacing("https://x.org/y", with: "javascript:alert(1)")
    imported = try read(text)
    #expect(
      imported.warnings == ["1 link is left out, because a link must begin with https:// or name an object"]
    )
    imported = try read(text.replacing("#99-aaaaaaaaaaaac", with: "#"))
    #expect(imported.warnings.first?.hasPrefix("2 links are left out") == true)
  }

  @Test("forms, their styles and their bound ends are imported unchanged") func forms() throws {
    let board = try SampleBoard.empty()
    var style = ObjectStyle(form: .ellipse)
    (style.fill, style.lineStyle, style.textColor, style.isBold) = (0xA5D8_FF80, .dotted, 0xFF, true)
    (style.textSize, style.typeface, style.alignment) = (24, .hand, .left)
    let at = Point(x: 30, y: -20.5)
    let box = try board.createForm(.ellipse, at: at, size: Size(width: 90, height: 33), label: "Ü", style: style)
    let note = try board.createForm(.note, at: Point(x: 300, y: 0))
    var ends = ObjectStyle(form: .arrow)
    (ends.start, ends.end, ends.isCurved) = (.dot, .none, true)
    let corners = [Point(x: 0, y: 0), Point(x: 150, y: 70), Point(x: 200, y: 0)]
    let (start, end) = (Binding(to: box), Binding(to: note, at: Point(x: -0.5, y: 0.25), isExact: true))
    try board.createForm(.arrow, at: at, points: corners, label: "to", color: 0xFF, style: ends, from: start, to: end)
    try board.restyle([try board.createText("big", at: at)], [.textSize(64), .isAutoWidth(true), .opacity(0.5)])
    let copy = try SampleBoard.empty(2)
    let imported = try read(BoardJSON.text(BoardExport(of: board, id: "", name: "")))
    #expect(imported.warnings == [])
    try copy.add(imported.objects)
    let (before, after) = (SampleBoard.content(board), SampleBoard.content(copy))
    #expect(after[0] == before[0] && after[1] == before[1] && after[3] == before[3])
    // The place of a bound end is computed, from points that are relative to another center.
    let (line, other) = (board.snapshots[2], copy.snapshots[2])
    let distances = zip(line.points ?? [], other.points ?? []).map { max(abs($0.x - $1.x), abs($0.y - $1.y)) }
    #expect(distances.count == 3 && distances.allSatisfy { $0 < 0.000_001 })
    #expect(other.text == "to" && other.color == 0xFF && other.lineWidth == line.lineWidth)
    #expect(copy.snapshots.map(\.style) == board.snapshots.map(\.style))
    #expect(copy.snapshots.map(\.form) == board.snapshots.map(\.form))
    #expect(copy.snapshots[2].end?.anchor == board.snapshots[2].end?.anchor)
    #expect(copy.snapshots[2].start?.target == copy.objectIDs[0])
  }

  @Test("a stroke keeps its distances if its center lies between two grid steps") func halfSteps() throws {
    let board = try SampleBoard.empty()
    let odd = [InkPoint(x: 1, y: 2), InkPoint(x: 4, y: 7), InkPoint(x: 6, y: 3)]
    let id = try board.createDrawing(odd)
    try board.object(id)?.move(to: Point(x: -1_000.015625, y: 77.25))
    let export = BoardExport(of: board, id: "", name: "") { _ in nil }
    let copy = try SampleBoard.empty(2)
    try copy.add(try read(BoardJSON.text(export)).objects)
    #expect(SampleBoard.content(copy) == SampleBoard.content(board))
  }

  @Test("a stroke from one end of the board to the other is imported unchanged") func broad() throws {
    let board = try SampleBoard.empty()
    let far = BoardLimits.coordinate
    try board.createDrawing(try SampleBoard.ink([(-far, 0), (far - 1, 20)]))
    let export = BoardExport(of: board, id: "", name: "") { _ in nil }
    let copy = try SampleBoard.empty(2)
    try copy.add(try read(BoardJSON.text(export)).objects)
    #expect(SampleBoard.content(copy) == SampleBoard.content(board))
  }

  @Test("a photo with more pixels on a side than a board has units is imported unchanged") func narrow() throws {
    let board = try SampleBoard.empty()
    let asset = try AssetReference(
      id: try #require(SampleBoard.hash([1])),
      byteCount: 9,
      header: PhotoHeader(format: .png, width: 1, height: 60_000_000)
    )
    try board.createPhoto(asset, at: Point(x: 0, y: 0))
    let export = BoardExport(of: board, id: "", name: "") { _ in nil }
    #expect(try read(BoardJSON.text(export)).objects.count == 1)
  }

  @Test("objects that are moved to a position are centered there") func place() throws {
    var imported = try read(BoardJSON.text(try SampleBoard().export))
    imported.center(at: Point(x: 1_000, y: -500))
    let middle = try #require(imported.bounds?.center)
    #expect(abs(middle.x - 1_000) < 0.1 && abs(middle.y + 500) < 0.1)
  }

  @Test(
    "a malformed file is an error with a message",
    arguments: [
      "", "x", "[1,2]", "{", "{}", #"{"format":"whiteboard-board"}"#, "{\"a\":1}}",
      #"{"format":"whiteboard-board","version":2,"objects":[]}"#,
      #"{"format":"whiteboard-board","version":-1,"objects":[]}"#,
      #"{"format":"whiteboard-board","version":"1","objects":[]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":{}}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[3]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text"}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":7}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,NaN]}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,1e999]}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,1e99],"size":[1,1]}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,0],"size":[-1,1]}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,0],"size":[1,1],"text":"a","scale":0,"angle":0}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[0,0],"size":[1,1],"text":"a","scale":1,"angle":1e300}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"drawing","centerPosition":[0,0],"size":[1,1],"points":[[0]],"scale":1,"angle":0}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"drawing","centerPosition":[0,0],"size":[1,1],"points":[[0,0]],"lineWidth":0,"scale":1,"angle":0}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"drawing","centerPosition":[0,0],"size":[1,1],"points":[[0,0]],"lineWidth":1,"erased":[[-1,1e9]],"scale":1,"angle":0}]}"#,
      #"{"format":"whiteboard-board","version":1,"objects":[{"type":"photo","centerPosition":[0,0],"size":[1,1],"sha256":"zz"}]}"#,
    ]
  ) func hostile(_ text: String) {
    #expect(throws: ImportError.self) { try read(text) }
    do throws(ImportError) { _ = try ImportedBoard(reading: Array(text.utf8), hash: SampleBoard.hash) } catch {
      #expect(!error.message.isEmpty && !error.message.contains("\n"))
    }
  }

  @Test("depth, length and number of values are bounded") func bounds() {
    let deep = #"{"format":"# + String(repeating: "[", count: 100_000)
    #expect(throws: ImportError.tooDeep(at: 73)) { try read(deep) }
    let long = [UInt8](repeating: UInt8(ascii: " "), count: ImportedBoard.byteLimit + 1)
    #expect(throws: ImportError.tooLong(limit: 100_000_000)) {
      try ImportedBoard(reading: long, hash: SampleBoard.hash)
    }
  }

  @Test("unknown types and damaged photos are reported, and the rest is imported") func warnings() throws {
    let imported = try read(
      #"""
      {"format":"whiteboard-board","version":1,"assets":{"00":"!!","11":"AAAA","22":7},"objects":[
      {"type":"unknown-9\u001b[2J","centerPosition":[0,0],"size":[1,1]},
      {"type":"drawing","centerPosition":[0,0],"size":[1,1],"points":[],"scale":1,"angle":0},
      {"type":"game","centerPosition":[0,0],"size":[1,1],"scale":1,"angle":0},
      {"type":"text","centerPosition":[5,6],"size":[200,50],"text":"still here","scale":1,"angle":0}
      ]}
      """#
    )
    #expect(imported.warnings.count == 6)
    #expect(imported.warnings.allSatisfy { !$0.contains("\u{1B}") })
    #expect(imported.objects.map(\.content) == [.text("still here", size: Size(width: 200, height: 50))])
  }

  @Test("any change to a document leaves it readable or makes it rejected") func mutations() throws {
    let bytes = Array(BoardJSON.text(try SampleBoard().export).utf8)
    var generator = SeededGenerator(seed: 11)
    var readable = 0
    for _ in 0..<1_500 {
      var changed = bytes
      for _ in 0...generator.below(4) {
        let at = generator.below(changed.count)
        switch generator.below(3) {
        case 0: changed[at] = UInt8(generator.below(256))
        case 1: changed.remove(at: at)
        default: changed.insert(UInt8(generator.below(256)), at: at)
        }
      }
      do throws(ImportError) {
        let imported = try ImportedBoard(reading: changed, hash: SampleBoard.hash)
        readable += 1
        _ = try? SampleBoard.empty().add(imported.objects, groups: imported.groups)
      } catch { #expect(!error.message.isEmpty) }
    }
    #expect(readable > 100)
  }
}
