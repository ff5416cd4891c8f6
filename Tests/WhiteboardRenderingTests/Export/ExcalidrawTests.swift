import PeerCore
import Testing
import Whiteboard
import WhiteboardRendering

@testable import WhiteboardRendering

@Suite("Drawings of Excalidraw") struct ExcalidrawTests {
  private func read(_ text: String) throws -> ImportedBoard {
    try ImportedBoard(reading: Array(text.utf8), hash: SampleBoard.hash)
  }

  private func board(_ elements: String) throws -> (Board, ImportedBoard) {
    let imported = try read(#"{"type":"excalidraw","version":2,"elements":[\#(elements)]}"#)
    let board = try SampleBoard.empty()
    try board.add(imported.objects, groups: imported.groups)
    return (board, imported)
  }

  private func isNear(_ one: Point, _ other: Point, _ tolerance: Double = 0.1) -> Bool {
    abs(one.x - other.x) <= tolerance && abs(one.y - other.y) <= tolerance
  }

  @Test("an exported board looks the same when it is imported") func roundTrip() throws {
    let sample = try SampleBoard()
    let imported = try read(ExcalidrawFile.text(sample.export))
    #expect(imported.warnings == [])
    let copy = try SampleBoard.empty(2)
    try copy.add(imported.objects, groups: imported.groups)
    let before = sample.board.snapshots
    let after = copy.snapshots
    // The partly erased stroke became two strokes.
    #expect(after.count == before.count + 1)
    for (old, new) in [(0, 0), (1, 1), (3, 4), (4, 5), (5, 6), (6, 7)] {
      let (one, other) = (before[old], after[new])
      #expect(one.kind == other.kind)
      #expect(isNear(one.centerPosition, other.centerPosition))
      #expect(abs(one.angle - other.angle) < 0.002)
      #expect(one.color == other.color && one.text == other.text && one.isLocked == other.isLocked)
      #expect(one.groups.count == other.groups.count && one.asset == other.asset)
      let widths = ((one.lineWidth ?? 0) * one.scale, (other.lineWidth ?? 0) * other.scale)
      #expect(abs(widths.0 - widths.1) < 0.05)
      let lines = zip(one.points ?? [], other.points ?? [])
      #expect((one.points ?? []).count == (other.points ?? []).count)
      #expect(lines.allSatisfy { isNear($0, $1) })
    }
    let pressures = zip(before[1].ink ?? [], after[1].ink ?? [])
    #expect(pressures.allSatisfy { abs(Int($0.pressure) - Int($1.pressure)) <= 1 })
    let pieces = after[2...3].flatMap(\.inkLines)
    #expect(pieces.count == 2)
    #expect(after[8].kind == .text && after[8].text?.contains("●") == true)
  }

  @Test("shapes become strokes at their positions") func shapes() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","x":10,"y":20,"width":100,"height":40,"strokeColor":"#e03131","strokeWidth":2,"angle":0},
      {"type":"ellipse","x":0,"y":0,"width":60,"height":30,"strokeColor":"#1e1e1e","opacity":100},
      {"type":"diamond","x":0,"y":0,"width":60,"height":30,"opacity":50,"backgroundColor":"#ffc9c9"},
      {"type":"arrow","x":0,"y":0,"width":100,"height":0,"points":[[0,0],[100,0]],"endArrowhead":"arrow","angle":1.5707963267948966},
      {"type":"line","x":0,"y":0,"points":[[0,0],[10,10],[20,0]],"startArrowhead":null},
      {"type":"frame","x":0,"y":0,"width":60,"height":30,"name":"f"},
      {"type":"rectangle","x":0,"y":0,"width":1,"height":1,"isDeleted":true},
      {"type":"rectangle","x":0,"y":0,"width":9,"height":9,"strokeColor":"transparent"}
      """#
    )
    let objects = board.snapshots
    #expect(objects.count == 5)
    #expect(objects[0].centerPosition == Point(x: 60, y: 40))
    #expect(objects[0].ink?.count == 5)
    #expect(objects[0].color == 0xE031_31FF && objects[0].lineWidth == 2)
    #expect(objects[1].color == nil && objects[1].ink?.count == 65)
    #expect(objects[2].color == 0x1E1E_1E80)
    let tip = objects[3].inkLines[0].points[1]
    let (sine, cosine) = (objects[3].rotation.sine, objects[3].rotation.cosine)
    // The arrow points down, rotated about the center of its shaft.
    #expect(isNear(objects[3].shown(tip, sine: sine, cosine: cosine), Point(x: 50, y: 50)))
    #expect(imported.warnings.count == 3)
    #expect(imported.warnings.contains { $0.contains("\"frame\"") })
  }

  @Test("the text of a shape is wrapped and rotated as in Excalidraw") func words() throws {
    let (board, _) = try board(
      #"""
      {"type":"text","x":100,"y":100,"width":90,"height":50,"fontSize":20,"text":"bound\nwords","originalText":"bound words","containerId":"x","groupIds":["a","b"]},
      {"type":"text","x":0,"y":0,"width":400,"height":25,"fontSize":20,"text":"a long line of words that is longer than a box","groupIds":["b"],"locked":true}
      """#
    )
    let objects = board.snapshots
    #expect(objects[0].text == "bound\nwords")
    #expect(objects[0].centerPosition == Point(x: 145, y: 125))
    #expect(abs(objects[0].scale - 20 / BoardPicture.fontSize) < 0.001)
    #expect(objects[0].groups.count == 2)
    #expect(objects[1].groups == [objects[0].groups[1]])
    #expect(objects[1].isLocked)
    #expect(BoardPicture.lines(of: objects[1]).count == 1)
  }

  @Test("a malformed element is skipped, and the rest is imported") func hostile() throws {
    let (board, imported) = try board(
      #"""
      7, null, "x", {}, {"type":"text"}, {"type":"text","x":"0","y":0}, {"type":"rectangle","x":1e300,"y":0,"width":1e300},
      {"type":"freedraw","x":0,"y":0,"points":[]}, {"type":"freedraw","x":0,"y":0,"points":[[1e300,0]]},
      {"type":"freedraw","x":0,"y":0,"points":[[0,0],[1]]}, {"type":"image","x":0,"y":0,"fileId":"none"},
      {"type":"line","x":33554431,"y":0,"points":[[0,0],[0.99,0]]},
      {"type":"text","x":0,"y":0,"fontSize":-4,"text":"small","angle":1e300,"width":-20},
      {"type":"text","x":0,"y":0,"text":"   "},
      {"type":"arrow","x":0,"y":0,"points":[[0,0]],"endArrowhead":"dot","strokeWidth":1e9}
      """#
    )
    #expect(board.snapshots.contains { $0.text == "small" })
    #expect(board.objectIDs.count == imported.objects.count)
    #expect(imported.warnings.count >= 5)
    #expect(throws: ImportError.self) { try read(#"{"type":"excalidraw"}"#) }
  }

  @Test("an image without its file, or of an unsupported type, is skipped") func images() throws {
    let png = Base64.encode(SampleBoard.png)
    let imported = try read(
      #"""
      {"type":"excalidraw","elements":[
      {"type":"image","x":0,"y":0,"width":40,"height":20,"fileId":"p","angle":0.5},
      {"type":"image","x":0,"y":0,"width":40,"height":20,"fileId":"s"},
      {"type":"image","x":0,"y":0,"width":40,"height":20,"fileId":"t"}],
      "files":{"p":{"dataURL":"data:image/png;base64,\#(png)"},"s":{"dataURL":"data:image/svg+xml;base64,PHN2Zy8+"}}}
      """#
    )
    #expect(imported.objects.count == 1)
    #expect(imported.photos.count == 1)
    #expect(imported.warnings.count == 2)
  }
}
