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

  @Test("copied objects are a drawing that pages and Excalidraw paste, and texts are their words") func clipboard()
    throws
  {
    let sample = try SampleBoard()
    let text = ExcalidrawFile.clipboard(sample.export)
    #expect(text.contains(#""type":"excalidraw/clipboard""#) && text.contains(#""whiteboard":["#))
    let imported = try read(text)
    #expect(imported.warnings == [] && imported.objects.count >= sample.board.snapshots.count)
    let board = try SampleBoard.empty()
    try board.createText("one", at: Point(x: 0, y: 0))
    try board.createText("two", at: Point(x: 0, y: 90))
    #expect(ExcalidrawFile.clipboard(BoardExport(of: board, id: "", name: "")) == "one\ntwo")
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

  @Test("shapes, lines and arrows become forms with their style") func shapes() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","x":10,"y":20,"width":100,"height":40,"strokeColor":"#e03131","strokeWidth":2,"angle":0,"roundness":{"type":3}},
      {"type":"ellipse","x":0,"y":0,"width":60,"height":30,"strokeColor":"#1e1e1e","opacity":100,"strokeStyle":"dotted"},
      {"type":"diamond","x":0,"y":0,"width":60,"height":30,"opacity":50,"backgroundColor":"rgba(255, 201, 201, 0.5)","fillStyle":"hachure"},
      {"type":"arrow","x":0,"y":0,"width":100,"height":0,"points":[[0,0],[100,0]],"startArrowhead":"circle_outline","angle":1.5707963267948966},
      {"type":"line","x":0,"y":0,"points":[[0,0],[10,10],[20,0]],"strokeStyle":"dashed","roundness":{"type":2},"link":"https://example.org"},
      {"type":"draw","x":0,"y":100,"points":[[0,0],[50,40],[100,0],[0,3]],"backgroundColor":"hotpink"},
      {"type":"arrow","x":0,"y":0,"width":80,"height":40,"endArrowhead":null,"startArrowhead":"bar"},
      {"type":"rectangle","x":0,"y":0,"width":8,"height":8,"strokeColor":"transparent","backgroundColor":"#fff"},
      {"type":"hologram","x":0,"y":0,"width":60,"height":30},
      {"type":"rectangle","x":0,"y":0,"width":1,"height":1,"isDeleted":true},
      {"type":"rectangle","x":0,"y":0,"width":9,"height":9,"strokeColor":"transparent"},
      {"type":"rectangle","x":0,"y":0,"width":null,"height":null}
      """#
    )
    let objects = board.snapshots
    let forms: [DrawingForm] = [.roundedRectangle, .ellipse, .diamond, .arrow, .line, .line, .arrow, .rectangle]
    #expect(objects.map(\.form) == forms)
    #expect(objects[0].centerPosition == Point(x: 60, y: 40) && objects[0].size == Size(width: 100, height: 40))
    #expect(objects[0].color == 0xE031_31FF && objects[0].lineWidth == 2)
    #expect(objects[1].color == nil && objects[1].style.lineStyle == .dotted)
    #expect(objects[2].style.fill == 0xFFC9_C940 && objects[2].style.opacity == 128.0 / 255)
    let (sine, cosine) = (objects[3].rotation.sine, objects[3].rotation.cosine)
    // The arrow points down, rotated about the center of its shaft.
    let tip = try #require(objects[3].points?.last)
    #expect(isNear(objects[3].shown(tip, sine: sine, cosine: cosine), Point(x: 50, y: 50)))
    #expect(objects[3].style.end == .arrow && objects[3].style.start == .dot)
    #expect(objects[4].style.isCurved && objects[4].style.lineStyle == .dashed && objects[4].style.end == .none)
    #expect(objects[4].link == "https://example.org")
    #expect(objects[5].outline?.isClosed == true && objects[5].style.fill == 0xFF69_B4FF)
    #expect(objects[6].points?.count == 2 && objects[6].style.start == .bar && objects[6].style.end == .none)
    #expect(objects[7].size == Size(width: 8, height: 8) && objects[7].color == 0)
    #expect(
      imported.warnings == [
        "arrowheads are replaced by similar ones: 1",
        "elements of type \"hologram\" are not supported and are left out: 1",
        "fills with a pattern become translucent: 1", "invisible elements are left out: 2",
      ]
    )
  }

  @Test("the text of a shape becomes its label") func labels() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","id":"r","x":0,"y":0,"width":160,"height":60,"backgroundColor":"#000000","boundElements":[{"type":"text","id":"t"}]},
      {"type":"text","id":"t","x":10,"y":17.5,"width":139,"height":25,"fontSize":20,"fontFamily":5,"lineHeight":1.25,"text":"Load\nbalancer","originalText":"Load balancer","textAlign":"right","verticalAlign":"middle","containerId":"r","strokeColor":"#ffffff"},
      {"type":"arrow","id":"a","x":0,"y":100,"points":[[0,0],[100,0]]},
      {"type":"text","id":"u","x":10,"y":17.5,"width":139,"height":25,"fontSize":16,"text":"calls","containerId":"a","strokeColor":"#e03131"}
      """#
    )
    let objects = board.snapshots
    #expect(objects.map(\.text) == ["Load balancer", "calls"])
    #expect(objects[0].style.textSize == 25 && objects[0].style.typeface == .hand)
    #expect(objects[0].style.alignment == .right && objects[0].style.textColor == nil)
    #expect(objects[1].style.textSize == 20 && objects[1].style.textColor == 0xE031_31FF)
    #expect(imported.warnings == [])
  }

  @Test("letters in a shape become smaller if their columns would need more rows than in the file")
  func narrowLabels() throws {
    func label(_ text: String, _ original: String, width: Double = 120) throws -> ([String], Double, [String]) {
      let (board, imported) = try board(
        #"""
        {"type":"rectangle","id":"r","x":0,"y":0,"width":\#(width),"height":60},
        {"type":"text","id":"t","x":10,"y":17.5,"width":100,"height":25,"fontSize":20,"text":"\#(text)","originalText":"\#(original)","verticalAlign":"middle","containerId":"r"}
        """#
      )
      let snapshot = board.snapshots[0]
      return (BoardPicture.lines(of: snapshot), snapshot.style.textSize, imported.remarks)
    }
    let note = "letters are a little smaller, so that their rows fit: 1"
    // 104 units are left for 10 columns.
    #expect(try label("Controller", "Controller") == (["Controller"], 20.796875, [note]))
    #expect(try label("Main\\nController", "Main Controller") == (["Main", "Controller"], 20.796875, [note]))
    #expect(try label("Control", "Control") == (["Control"], 25, []))
    // Smaller letters would be illegible.
    #expect(try label("A long row of text", "A long row of text").1 == 25)
  }

  @Test("a text with a width of its own keeps its rows") func wrappedTexts() throws {
    let (board, _) = try board(
      #"""
      {"type":"text","x":0,"y":0,"width":100,"height":50,"fontSize":20,"text":"ten letter\nlines","originalText":"ten letter lines","autoResize":false}
      """#
    )
    let text = board.snapshots[0]
    #expect(BoardPicture.lines(of: text) == ["ten letter", "lines"] && text.style.textSize == 20)
    #expect(isNear(text.bounds.least, Point(x: 0, y: 0), 5.1))
  }

  @Test("rows that are far apart do not make the letters larger") func rowHeights() throws {
    let (board, imported) = try board(
      #"""
      {"type":"text","x":0,"y":0,"width":100,"height":80,"fontSize":20,"lineHeight":2,"text":"a\nb"},
      {"type":"text","x":0,"y":0,"width":100,"height":27,"fontSize":20,"lineHeight":1.35,"text":"a"},
      {"type":"text","x":0,"y":0,"width":100,"height":23,"fontSize":20,"lineHeight":1.15,"text":"a"}
      """#
    )
    #expect(board.snapshots.map(\.style.textSize) == [25, 25, 23])
    #expect(imported.warnings == ["lines of text are closer together: 1"])
  }

  @Test("a text at the top of a shape stays there, in a group with the shape") func titles() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","id":"r","x":0,"y":0,"width":300,"height":200,"groupIds":["g"]},
      {"type":"text","id":"t","x":100,"y":5,"width":100,"height":25,"fontSize":20,"text":"Backend","originalText":"Backend","textAlign":"center","verticalAlign":"top","containerId":"r","groupIds":["g"]},
      {"type":"rectangle","id":"s","x":0,"y":0,"width":100,"height":35},
      {"type":"text","id":"u","x":0,"y":5,"width":100,"height":25,"fontSize":20,"text":"low","verticalAlign":"top","containerId":"s"},
      {"type":"arrow","id":"a","x":0,"y":0,"points":[[0,0],[99,0]]},
      {"type":"text","id":"v","x":0,"y":5,"width":100,"height":25,"fontSize":20,"text":"one\ntwo","originalText":"one two","verticalAlign":"middle","containerId":"a"}
      """#
    )
    let objects = board.snapshots
    #expect(objects.map(\.kind) == [.drawing, .text, .drawing, .drawing])
    #expect(objects[0].text == "" && objects[2].text == "low" && objects[3].text == "one\ntwo")
    #expect(objects[1].text == "Backend" && isNear(objects[1].bounds.center, Point(x: 150, y: 17.5)))
    #expect(objects[0].groups.count == 2 && objects[0].groups == objects[1].groups)
    #expect(imported.warnings == ["texts at the top or bottom of a shape become separate texts in its group: 1"])
  }

  @Test("a freehand line with a fill becomes a closed curve") func filledInk() throws {
    let (board, imported) = try board(
      #"""
      {"type":"freedraw","x":0,"y":0,"points":[[0,0],[50,40],[100,0],[0,3]],"backgroundColor":"#ffc9c9","fillStyle":"solid","strokeColor":"transparent"},
      {"type":"freedraw","x":0,"y":0,"points":[[0,0],[50,40],[100,0]],"backgroundColor":"#ffc9c9"}
      """#
    )
    let objects = board.snapshots
    #expect(objects.map(\.form) == [.line, nil])
    #expect(objects[0].outline?.isClosed == true && objects[0].style.isCurved && objects[0].style.fill == 0xFFC9_C9FF)
    #expect(imported.warnings == ["freehand lines with a fill become curves: 1"])
  }

  @Test("the grid is the board's, if it is shown") func grid() throws {
    func grid(_ state: String) throws -> Double? {
      try read(#"{"type":"excalidraw","elements":[],"appState":\#(state)}"#).settings.grid
    }
    #expect(try grid(#"{"gridSize":20,"gridModeEnabled":true}"#) == 20)
    #expect(try grid(#"{"gridSize":20,"gridModeEnabled":false}"#) == nil)
  }

  @Test("arrows of the present version") func presentArrows() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","id":"b","x":0,"y":0,"width":100,"height":60,"index":"a1","customData":{"note":1}},
      {"type":"arrow","x":100,"y":30,"points":[[0,0],[50,0],[50,90],[100,90]],"elbowed":true,"fixedSegments":null,"roundness":null,"startBinding":{"elementId":"b","fixedPoint":[1,0.5],"focus":0,"gap":0},"endArrowhead":"crowfoot_many","index":"a0"}
      """#
    )
    let arrow = try #require(board.snapshots.last)
    #expect(arrow.points?.count == 4 && !arrow.style.isCurved && arrow.start?.target == board.objectIDs[0])
    #expect(imported.warnings == ["arrowheads are replaced by similar ones: 1"])
    #expect(
      imported.remarks == [
        "data that other programs added to elements is left out: 1",
        "elbow arrows keep their corners when a shape moves: 1",
      ]
    )
  }

  @Test("bound arrows follow their shapes") func bindings() throws {
    let (board, _) = try board(
      #"""
      {"type":"arrow","id":"a","x":105,"y":30,"points":[[0,0],[190,0]],"startBinding":{"elementId":"b","focus":0,"gap":5},"endBinding":{"elementId":"c","focus":0,"gap":5}},
      {"type":"rectangle","id":"b","x":0,"y":0,"width":100,"height":60},
      {"type":"rectangle","id":"c","x":300,"y":0,"width":100,"height":60}
      """#
    )
    let ids = board.objectIDs
    let arrow = try #require(board.snapshot(ids[0]))
    #expect(arrow.start?.target == ids[1] && arrow.end?.target == ids[2])
    let before = try #require(arrow.points?.last).x + arrow.centerPosition.x
    #expect(abs(before - 295) < 2)
    try board.move([ids[2]], by: Point(x: 100, y: 0))
    let moved = try #require(board.snapshot(ids[0]))
    #expect(abs(try #require(moved.points?.last).x + moved.centerPosition.x - before - 100) < 0.1)
  }

  @Test("frames contain their elements, and links lead to addresses and elements") func frames() throws {
    let (board, imported) = try board(
      #"""
      {"type":"rectangle","x":40,"y":60,"width":120,"height":80,"frameId":"f","groupIds":["g"],"link":"http://a.b/?x=1&element=f"},
      {"type":"frame","id":"f","x":0,"y":0,"width":400,"height":300,"name":"Sprint one"},
      {"type":"embeddable","x":0,"y":0,"width":4,"height":3,"frameId":"none","link":"https://example.org/video"},
      {"type":"text","text":"a","x":0,"y":0,"link":"mailto:a@b"},
      {"type":"text","text":"b","x":0,"y":0,"link":"?element=none"}
      """#
    )
    let objects = board.snapshots
    #expect(objects.map(\.form) == [.rectangle, .frame, .rectangle, nil, nil] && objects[1].text == "Sprint one")
    #expect(objects[0].frame == objects[1].id && objects[0].groups.count == 1)
    #expect(objects[0].link == "#\(objects[1].id)" && objects[2].link == "https://example.org/video")
    #expect(objects[2].frame == nil && objects[3].link == nil)
    #expect(
      imported.warnings == [
        "embedded pages become rectangles: 1", "links that do not begin with https:// are left out: 1",
        "links to elements that are not in the file are left out: 1",
      ]
    )
  }

  @Test("images keep the part that is shown, and are mirrored") func crops() throws {
    let (_, imported) = try board(
      #"""
      {"type":"image","fileId":"p","x":0,"y":0,"width":40,"height":20,"scale":[-1,1],"crop":{"x":1,"y":0,"width":1,"height":2,"naturalWidth":4,"naturalHeight":2}}
      """#
    )
    #expect(imported.warnings == ["images without their file are left out: 1"])
    let sample = try SampleBoard()
    let photo = try #require(sample.board.snapshots.first { $0.kind == .photo }?.id)
    try sample.board.crop(photo, to: Rectangle(Point(x: 0.25, y: 0), Point(x: 0.5, y: 1)))
    try sample.board.flip([photo], .horizontally)
    for text in [ExcalidrawFile.text(sample.export), BoardJSON.text(sample.export)] {
      let copy = try SampleBoard.empty(2)
      let imported = try read(text)
      try copy.add(imported.objects, groups: imported.groups)
      let (old, new) = (try #require(sample.board.snapshot(photo)), copy.snapshots.first { $0.kind == .photo })
      #expect(new?.crop == old.crop && new?.isFlippedHorizontally == true && new?.isFlippedVertically == false)
      #expect(abs((new?.size.width ?? 0) - old.size.width) < 0.04)
    }
  }

  @Test("forms are unchanged when they are exported and imported") func formsRoundTrip() throws {
    let board = try SampleBoard.empty()
    var style = ObjectStyle(form: .rectangle)
    (style.fill, style.lineStyle, style.opacity) = (0xA5D8_FF80, .dashed, 0.3)
    (style.textSize, style.typeface, style.isBold, style.isItalic) = (24, .code, true, true)
    (style.alignment, style.textColor) = (.right, 0xE031_31FF)
    let size = Size(width: 120.5, height: 40)
    var targets: [ObjectID] = []
    for (index, form) in DrawingForm.allCases.filter({ !$0.hasPoints && $0 != .frame }).enumerated() {
      let id = try board.createForm(
        form,
        at: Point(x: Double(index) * 200, y: 0.25),
        size: size,
        label: "two words",
        lineWidth: 3,
        color: form == .note ? nil : 0x3060_C0FF,
        style: form == .diamond ? nil : style
      )
      try board.object(id)?.rotate(to: .degrees(Double(index) * 10))
      targets.append(id)
    }
    let zigzag = [Point(x: -100, y: 0), Point(x: 0, y: 50), Point(x: 50, y: -80), Point(x: 100, y: 0)]
    for (start, end) in [(LineEnd.none, LineEnd.none), (.arrow, .triangle), (.bar, .dot)] {
      for form in [DrawingForm.line, .arrow] {
        var style = ObjectStyle(form: form)
        (style.start, style.end, style.isCurved, style.fill) = (start, end, start == .bar, 0xFFEC_99FF)
        let id = try board.createForm(form, at: Point(x: 5, y: 300), points: zigzag, color: 0xFF, style: style)
        try board.object(id)?.rotate(to: .degrees(33))
      }
    }
    try board.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: [Point(x: 0, y: 0), Point(x: 10, y: 0)],
      label: "calls",
      from: Binding(to: targets[0]),
      to: Binding(to: targets[1], at: Point(x: 0.25, y: -0.5), isExact: true)
    )
    let text = try board.createText("a text\nof two rows", at: Point(x: 0, y: -100))
    try board.restyle([text], [.textSize(32), .alignment(.center), .isAutoWidth(true), .fill(0xFFEC_99FF)])
    try board.createText("a longer text that is wrapped to the width of its box", at: Point(x: 0, y: -200))
    let imported = try read(ExcalidrawFile.text(BoardExport(of: board, id: "", name: "")))
    #expect(imported.warnings == [])
    let copy = try SampleBoard.empty(2)
    try copy.add(imported.objects, groups: imported.groups)
    #expect(board.snapshots.count == copy.snapshots.count)
    for (one, other) in zip(board.snapshots, copy.snapshots) {
      #expect(one.form == other.form && one.style == other.style && one.text == other.text)
      #expect(one.color == other.color && one.lineWidth == other.lineWidth && one.angle == other.angle)
      #expect(isNear(one.centerPosition, other.centerPosition, 0.02), "\(one)")
      if !one.style.isAutoWidth { #expect(abs(one.size.width - other.size.width) < 0.04) }
      #expect((one.points ?? []).count == (other.points ?? []).count)
      #expect(zip(one.points ?? [], other.points ?? []).allSatisfy { isNear($0, $1, 0.04) })
      #expect(one.start?.anchor == other.start?.anchor && one.end?.anchor == other.end?.anchor)
      #expect(one.end?.isExact == other.end?.isExact)
    }
  }

  /// The elements of a document, without the keys that differ in every file; ids are replaced by their order.
  private func canonical(_ text: String) throws -> [[String: JSONTree]] {
    let tree = try JSONReader.read(Array(text.utf8))
    var order: [String: String] = [:]
    func shortened(_ value: JSONTree) -> JSONTree {
      switch value {
      case .string(let text):
        // The id of an object, possibly at the end of a link, or with the name of a part after it.
        let parts = (text.split(separator: "=").last ?? "").split(separator: "-", maxSplits: 2)
        guard parts.count > 1, parts[1].count == 13, UInt64(parts[0]) != nil else { return value }
        let id = "\(parts[0])-\(parts[1])"
        order[id] = order[id] ?? "object \(order.count)"
        return .string(([order[id] ?? ""] + parts.dropFirst(2).map(String.init)).joined(separator: "-"))
      case .list(let list): return .list(list.map(shortened))
      case .object(let members):
        let sorted = members.sorted { $0.key < $1.key }
        return .object(Dictionary(uniqueKeysWithValues: sorted.map { ($0.key, shortened($0.value)) }))
      default: return value
      }
    }
    return try #require(tree["elements"]?.list).map { element in
      guard case .object(var members) = shortened(element) else { return [:] }
      for key in ["updated", "seed", "versionNonce"] { members[key] = nil }
      return members
    }
  }

  @Test("an exported document is the same after it was imported: ids, groups, labels and bound ends included")
  func documentRoundTrip() throws {
    let board = try SampleBoard.empty()
    let size = Size(width: 120.5, height: 40)
    let boxes = try [DrawingForm.rectangle, .ellipse, .note].enumerated().map { index, form in
      try board.createForm(form, at: Point(x: Double(index) * 300, y: 0), size: size, label: "box \(index)")
    }
    let ends = [Point(x: 0, y: 0), Point(x: 10, y: 0)]
    let arrow = try board.createForm(
      .arrow,
      at: Point(x: 0, y: 0),
      points: ends,
      label: "calls",
      from: Binding(to: boxes[0]),
      to: Binding(to: boxes[1], at: Point(x: 0.25, y: -0.5), isExact: true)
    )
    try board.createForm(
      .line,
      at: Point(x: 0, y: 0),
      points: ends,
      from: Binding(to: boxes[1]),
      to: Binding(to: boxes[2])
    )
    let frame = try board.createForm(
      .frame,
      at: Point(x: 0, y: 0),
      size: Size(width: 250, height: 100),
      label: "Area"
    )
    try board.setLink("#\(frame)", of: [boxes[1]])
    try board.setLink("https://example.org/", of: [boxes[2]])
    let inner = try board.group([boxes[0], arrow])
    try board.group([inner, boxes[1]])
    let text = try board.createText("words", at: Point(x: 0, y: 200))
    let dot = try board.createDrawing(try SampleBoard.ink([(0, 300), (7, 320)]), lineWidth: 20)
    try board.group([text, dot])
    let first = ExcalidrawFile.text(BoardExport(of: board, id: "", name: ""))
    let imported = try read(first)
    let copy = try SampleBoard.empty(2)
    try copy.add(imported.objects, groups: imported.groups)
    let second = ExcalidrawFile.text(BoardExport(of: copy, id: "", name: ""))
    let (before, after) = (try canonical(first), try canonical(second))
    #expect(before.count == 12 && after.count == before.count)
    #expect(before.contains { $0["frameId"] != .null })
    for (one, other) in zip(before, after) {
      for key in Set(one.keys).union(other.keys) {
        let (old, new) = (one[key], other[key])
        #expect(old == new, "\(key)")
      }
    }
  }

  @Test("libraries, copied elements and notes of Obsidian are imported") func containers() throws {
    let item =
      #"[{"type":"rectangle","id":"r","x":5,"y":7,"width":60,"height":90},{"type":"ellipse","id":"r","x":0,"y":0,"width":60,"height":60}]"#
    for library in [
      #"{"type":"excalidrawlib","version":1,"library":[\#(item),\#(item)]}"#,
      #"{"type":"excalidrawlib","version":2,"libraryItems":[{"id":"i","elements":\#(item)},{"elements":\#(item)}]}"#,
    ] {
      let imported = try read(library)
      #expect(imported.objects.map(\.group) == [0, 0, 1, 1])
      let (first, second) = (imported.objects[0].bounds, imported.objects[2].bounds)
      #expect(second.least.x - first.least.x > 65 && second.least.y == first.least.y)
    }
    #expect(try read(item).objects.count == 2)
    #expect(try read(#"{"type":"excalidraw/clipboard","elements":\#(item),"files":{}}"#).objects.count == 2)
    let document = #"{"type":"excalidraw","elements":\#(item)}"#
    #expect(
      try read("---\nexcalidraw-plugin: parsed\n---\n## Drawing\n```json\n\(document)\n```\n%%").objects.count == 2
    )
    // LZString.compressToBase64 of {"type":"excalidraw","elements":[{"type":"ellipse","x":1,"y":2,"width":30,"height":40}]}
    let compressed =
      "N4IgLgngDgpiBcIYA8DGBDANgSwCYCd0B3EAGiUxgFsYA7MAZwQG1RJYEKcoG5zkEARnIQEAJnJE8YABYIAzAAZyMmNgDmMsAgAsigL4BdfUA==="
    #expect(try read("---\n# Drawing\n```compressed-json\n\(compressed)\n```\n").objects.count == 1)
    #expect(throws: ImportError.self) { try read("# Notes\n```compressed-json\nAAAA\n```") }
  }

  @Test("an item of a library that does not fit on the board is left out; the others are imported", arguments: 0..<3)
  func largeItems(place: Int) throws {
    var items = (0..<2).map { _ in #"{"elements":[{"type":"ellipse","x":0,"y":0,"width":60,"height":60}]}"# }
    let group = #""y":0,"width":9,"height":9,"groupIds":["g"]}"#
    items.insert(
      #"{"elements":[{"type":"diamond","x":-3e7,\#(group),{"type":"diamond","x":3e7,\#(group)]}"#,
      at: place
    )
    let imported = try read(#"{"type":"excalidrawlib","version":2,"libraryItems":[\#(items.joined(separator: ","))]}"#)
    #expect(imported.objects.map(\.bounds.least.x) == [0, 100])
    #expect(
      imported.warnings == ["items that are too large, because their elements are far apart, are left out: 1"]
    )
    let board = try SampleBoard.empty()
    try board.add(imported.objects, groups: imported.groups)
    #expect(board.snapshots.count == 2 && imported.groups.count == 2)
  }

  @Test("only the elements with numbers out of range, or without points, are left out") func damagedElements() throws {
    let imported = try read(
      #"""
      {"type":"excalidraw","elements":[{"type":"rectangle","id":"a","x":0,"y":0,"width":10,"height":10},
      {"type":"rectangle","x":1e999,"y":0,"width":10,"height":10},{"type":"ellipse","x":5,"y":5,"width":-1e999,"height":2},
      {"type":"line","x":0,"y":0,"width":5,"height":5,"points":[]},{"type":"line","x":0,"y":0,"points":null},
      {"type":"arrow","x":0,"y":0,"points":[[0,0],[1e999,3]]},{"type":"text","x":0,"y":0,"text":"b","fontSize":1e999},
      {"type":"arrow","x":0,"y":50,"points":[[0,0],[9,9]],"startBinding":{"elementId":"a","fixedPoint":[1e999,0],"mode":"orbit"}}]}
      """#
    )
    #expect(imported.objects.count == 3)
    #expect(imported.warnings.count { $0.hasSuffix("left out: 1") || $0.hasSuffix("left out: 2") } == 4)
    #expect(imported.objects[2].start?.anchor.x.isFinite == true)
    // In a board of this program, such a number is damage.
    #expect(throws: ImportError.self) {
      try read(#"{"format":"whiteboard-board","version":1,"objects":[{"type":"text","centerPosition":[1e999,0]}]}"#)
    }
  }

  @Test("elements of Excalidraw's programming interface are completed") func skeletons() throws {
    let imported = try read(
      #"""
      {"type":"excalidraw-api/clipboard","elements":[{"type":"rectangle","id":"a","x":0,"y":0,"label":{"text":"Hello"}},
      {"type":"ellipse","id":"b","x":300,"y":0,"width":80},{"type":"arrow","x":100,"y":50,"width":200,"start":{"id":"a"},
      "end":{"id":"b"},"label":{"text":"to"}},{"type":"text","x":0,"y":200,"text":"note"},7]}
      """#
    )
    #expect(imported.objects.count == 4)
    #expect(imported.objects[0].bounds == Rectangle(Point(x: 0, y: 0), Point(x: 100, y: 100)))
    guard case .form(.rectangle, _, _, "Hello", _) = imported.objects[0].content,
      case .form(.arrow, _, _, "to", _) = imported.objects[2].content
    else { return #expect(Bool(false), "\(imported.objects)") }
    #expect(imported.objects[2].start?.object == 0 && imported.objects[2].end?.object == 1)
  }

  @Test("an object at the end of an arrow is created beside the end, and bound", arguments: ["-api/clipboard", ""])
  func skeletonEnds(format: String) throws {
    let imported = try read(
      #"""
      {"type":"excalidraw\#(format)","elements":[{"type":"arrow","x":100,"y":50,"width":200,"start":{"type":"rectangle"},
      "end":{"type":"text","text":"four","fontSize":16}},{"type":"arrow","x":0,"y":200,"points":[[0,0],[0,80]],
      "start":{"type":"ellipse","id":"e","width":40,"height":20,"label":{"text":"Hi"}},"end":{"type":"diamond","x":7,"y":300}},
      {"type":"arrow","x":0,"y":180,"points":[[0,0],[-50,0]],"start":{"type":"ellipse","id":"e"},"end":{"type":"text"}},
      {"type":"arrow","x":0,"y":0,"end":{"id":"missing"}}]}
      """#
    )
    let objects = imported.objects
    try #require(objects.count == 8)
    func bounds(_ index: Int) -> [Double] {
      let box = objects[index].bounds
      return [box.least.x, box.least.y, box.greatest.x, box.greatest.y]
    }
    #expect(bounds(1) == [0, 0, 100, 100] && bounds(2) == [300, 40, 340, 60])
    #expect(bounds(4) == [-20, 180, 20, 200] && bounds(5) == [7, 300, 107, 400])
    #expect([0, 3, 6].map { objects[$0].start?.object } == [1, 4, 4])
    #expect([0, 3, 6].map { objects[$0].end?.object } == [2, 5, nil])
    guard case .form(.ellipse, _, _, "Hi", _) = objects[4].content else {
      return #expect(Bool(false), "\(objects[4])")
    }
    #expect(
      imported.warnings == [
        "ends of lines are bound to elements that are left out: 1",
        "objects at the ends of lines that are not shapes or texts are left out: 1",
      ]
    )
  }

  @Test("the children of a frame belong to it, and a frame without a place surrounds them") func skeletonFrames()
    throws
  {
    let imported = try read(
      #"""
      {"type":"excalidraw-api/clipboard","elements":[{"type":"rectangle","id":"a","x":0,"y":0},
      {"type":"ellipse","id":"b","x":300,"y":20,"height":200},{"type":"ellipse","id":"c","x":900,"y":0},
      {"type":"arrow","x":100,"y":50,"width":200,"start":{"id":"a"},"end":{"id":"b"}},
      {"type":"arrow","x":400,"y":50,"width":500,"start":{"id":"b"},"end":{"id":"c"}},
      {"type":"frame","name":"Plan","children":["a","b","missing"]},
      {"type":"frame","x":880,"y":-20,"width":200,"height":300,"children":["c"]}]}
      """#
    )
    let objects = imported.objects
    try #require(objects.count == 7)
    #expect(objects.map(\.frameIndex) == [5, 5, 6, 5, nil, nil, nil])
    #expect(objects[5].bounds == Rectangle(Point(x: -10, y: -10), Point(x: 410, y: 230)))
    #expect(objects[6].bounds == Rectangle(Point(x: 880, y: -20), Point(x: 1080, y: 280)))
    #expect(imported.warnings == ["children of frames that are not in the file are left out: 1"])
  }

  @Test("texts keep their size and the side to which they are aligned") func words() throws {
    let (board, _) = try board(
      #"""
      {"type":"text","x":100,"y":100,"width":90,"height":50,"fontSize":20,"text":"bound\nwords","originalText":"bound words","containerId":"x","groupIds":["a","b"]},
      {"type":"text","x":0,"y":0,"width":400,"height":25,"fontSize":20,"text":"a long line of words that is longer than a box","groupIds":["b"],"locked":true},
      {"type":"text","x":0,"y":0,"width":400,"height":25,"text":"right","textAlign":"right"},
      {"type":"text","x":150,"y":0,"width":60,"height":36,"text":"Old","font":"36px Virgil","baseline":27}
      """#
    )
    let objects = board.snapshots
    #expect(objects[0].text == "bound\nwords")
    #expect(objects[0].centerPosition == Point(x: 145, y: 125))
    #expect(objects[0].style.textSize == 25 && objects[0].scale == 1)
    #expect(objects[0].groups.count == 2)
    #expect(objects[1].groups == [objects[0].groups[1]])
    #expect(objects[1].isLocked && objects[1].style.isAutoWidth)
    #expect(objects[2].centerPosition.x + objects[2].size.width / 2 == 400 && objects[2].style.alignment == .right)
    #expect(objects[3].style.textSize == 45 && objects[3].style.typeface == .hand)
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
    #expect(imported.warnings.count >= 4)
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
