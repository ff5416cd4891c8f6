import Testing
import WhiteboardRendering

@testable import Whiteboard
@testable import WhiteboardKit
@testable import WhiteboardTerminal

@Suite("Presenting frames, opening links, and the system clipboard") struct PresentingTests {
  @Test("frames are presented one after the other, each as large as possible and with nothing around it")
  func frames() throws {
    var desk = try Desk()
    #expect(desk.type("F") == [])
    #expect(desk.client.messages.notice?.text.contains("no frames") == true)
    try desk.board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "outside")
    for (index, name) in ["Goals", "Plan", "End"].enumerated() {
      let center = Point(x: 4_000 * Double(index + 1), y: 0)
      try desk.board.createForm(.frame, at: center, size: Size(width: 400, height: 200), label: name)
      try desk.board.createText("about \(name)", at: center, isAutoWidth: true)
    }
    try desk.board.createText("beside Goals", at: Point(x: 4_210, y: 0), isAutoWidth: true)
    desk.sync()
    func shown() -> String { desk.lines().joined(separator: "\n") }
    #expect(desk.type("F") == [])
    #expect(shown().contains("about Goals") && shown().contains("frame 1 of 3: Goals"))
    #expect(!shown().contains("beside Goals"), "\(shown())")
    #expect(desk.client.workspace.toolbox.tool == .laser)
    _ = desk.type(" ")
    #expect(shown().contains("about Plan") && shown().contains("frame 2 of 3"))
    _ = desk.type("^[C^[C^[C")
    #expect(shown().contains("about End") && shown().contains("frame 3 of 3"))
    _ = desk.type("^[D")
    #expect(shown().contains("frame 2 of 3"))
    // A frame that another member moves stays in view, and after a deletion the next frame is shown.
    let plan = desk.client.workspace.scene.frames[1]
    try desk.board.move([plan], by: Point(x: 0, y: 9_000))
    desk.sync()
    #expect(shown().contains("about Plan"))
    try desk.board.delete(plan)
    desk.sync()
    #expect(shown().contains("about End") && shown().contains("frame 2 of 2"))
    _ = desk.type("^")
    #expect(!shown().contains("frame 2 of 2"))
    #expect(desk.client.workspace.toolbox.tool == .pen)
    #expect(desk.type(":present\r") == [] && shown().contains("frame 1 of 2"))
  }

  @Test("a link is shown before it is opened, and a link to an object goes there") func links() throws {
    var desk = try Desk()
    let id = try desk.board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "Docs")
    let far = try desk.board.createText("far away", at: Point(x: 9_000, y: 0))
    try desk.board.setLink("https://example.org/a?b=c", of: [id])
    try desk.board.select([id])
    desk.sync()
    #expect(desk.type("O") == [])
    #expect(desk.lines().contains { $0.contains("https://example.org/a?b=c") })
    #expect(desk.type("x") == [], "another key closes the question, and does nothing else")
    #expect(desk.type("O\r") == ["OPEN https://example.org/a?b=c"])
    #expect(desk.type("Oc") == ["CLIPBOARD https://example.org/a?b=c"])
    try desk.board.setLink("#\(far)", of: [id])
    desk.sync()
    #expect(desk.type("O") == ["select \(far)"])
    #expect(desk.lines().contains { $0.contains("far away") })
    try desk.board.delete(far)
    desk.sync()
    #expect(desk.type("O") == [])
    #expect(desk.lines().last?.contains("no longer on the board") == true)
    try desk.board.setLink(nil, of: [id])
    desk.sync()
    #expect(desk.type("O") == [] && desk.client.messages.notice?.text.contains("no link") == true)
  }

  @Test("the mark of an object's link opens it on a terminal that shows links") func linkMarks() throws {
    var desk = try Desk()
    let id = try desk.board.createForm(.rectangle, at: Point(x: 0, y: 0), label: "Docs")
    try desk.board.setLink("https://example.org/a", of: [id])
    desk.sync()
    let writer = ScreenWriter(depth: .full)
    func written() -> String {
      String(decoding: writer.bytes(from: nil, to: desk.client.frame().screen), as: UTF8.self)
    }
    #expect(written().contains("↗") && !written().contains("\u{1B}]8"))
    desk.client.showsLinks = true
    let text = written()
    let parts = text.split(separator: "\u{1B}]8;;", omittingEmptySubsequences: false)
    #expect(parts.count == 3 && parts[1].hasPrefix("https://example.org/a\u{1B}\\") && parts[1].contains("↗"))
    #expect(parts[1].filter { !$0.isASCII } == "↗", "only the mark is a link")
  }

  @Test("Enter labels the form drawn last, even before the board has added it") func earlyLabel() throws {
    var desk = try Desk()
    func draw(_ x: Int) -> [String] { desk.type("^[<0;\(x);5M^[<32;\(x + 10);9M^[<0;\(x + 10);9m") }
    /// Adds the form that was drawn last to the board.
    func add(_ x: Double) throws -> ObjectID {
      let id = try desk.board.createForm(.rectangle, at: Point(x: x, y: 0))
      let request = desk.client.workspace.requests.nextID - 1
      _ = desk.client.receive(CommandOutcome(id: id), of: .number(request))
      desk.sync()
      return id
    }
    _ = desk.type("r")
    #expect(draw(5).first?.hasPrefix("rect ") == true)
    _ = try add(-200)
    #expect(draw(25).first?.hasPrefix("rect ") == true)
    #expect(desk.type("\r") == [] && desk.client.workspace.typing == nil)
    let second = try add(0)
    #expect(desk.type("Two\r").contains { $0.hasPrefix("insert \(second) ") })
  }

  @Test("Enter edits what was drawn or selected last, whatever it is") func latest() throws {
    var desk = try Desk()
    let form = try desk.board.createForm(.rectangle, at: Point(x: -200, y: 0))
    let other = try desk.board.createForm(.ellipse, at: Point(x: -200, y: 100))
    desk.sync()
    func draw(_ tool: String) -> [String] { desk.type("\(tool)^[<0;45;5M^[<32;55;9M^[<0;55;9m") + desk.tick() }
    /// Reports that the board has added the object that was drawn last.
    func added(_ id: ObjectID, by request: Int64) {
      _ = desk.client.receive(CommandOutcome(id: id), of: .number(request))
      desk.sync()
    }
    func next() -> Int64 { desk.client.workspace.requests.nextID }
    func label() -> String? { desk.type("\rx\r").first { $0.hasPrefix("insert ") || $0.hasPrefix("label ") } }
    let points = [Point(x: 0, y: 0), Point(x: 80, y: 0)]
    for tool in ["a", "l"] {
      // The form was selected before, and is still selected.
      try desk.board.select([form])
      desk.sync()
      let request = next()
      #expect(draw(tool).first?.hasPrefix("arrow ") == (tool == "a"))
      let line = try desk.board.createForm(.arrow, at: Point(x: 0, y: 0), points: points)
      added(line, by: request)
      #expect(label()?.hasPrefix("insert \(line) ") == true, "\(tool)")
      #expect(label()?.hasPrefix("insert \(line) ") == true, "\(tool): again")
      try desk.board.deselect([form])
      desk.sync()
    }
    // A stroke has no label, and no other object gets a label in its place.
    let request = next()
    #expect(draw("p").first?.hasPrefix("pen ") == true)
    added(try desk.board.createDrawing([try InkPoint(Point(x: 0, y: 0))]), by: request)
    #expect(desk.type("\r") == [] && desk.client.workspace.typing == nil)
    #expect(desk.client.messages.notice?.text == "this object has no text")
    try desk.board.select([other])
    desk.sync()
    try desk.board.deselect([other])
    desk.sync()
    #expect(label()?.hasPrefix("insert \(other) ") == true, "selected last")
  }

  @Test("the mark of a link hides no other text") func linkMarkBesideText() throws {
    var desk = try Desk()
    let id = try desk.board.createForm(
      .rectangle,
      at: Point(x: 0, y: 0),
      size: Size(width: 80, height: 48),
      label: "Docs"
    )
    try desk.board.setLink("https://example.org/a", of: [id])
    desk.sync()
    let row = try #require(desk.lines().firstIndex { $0.contains("↗") })
    let column = try #require(desk.lines()[row].firstIndex(of: "↗"))
    let x = desk.lines()[row].distance(from: desk.lines()[row].startIndex, to: column)
    // A text in the row of the mark, at the place that the mark would cover.
    let scene = desk.client.workspace.scene
    let place = scene.viewport.place(
      atColumn: Double(x - 8),
      row: Double(row - desk.client.layout.board.rows.lowerBound)
    )
    try desk.board.createText("important text", at: place, isAutoWidth: true)
    desk.sync()
    let lines = desk.lines()
    #expect(lines.contains { $0.contains("important text") }, "\(lines)")
    #expect(lines.contains { $0.contains("↗") }, "\(lines)")
  }

  @Test("a board whose objects are out of view is shown completely when it is opened") func firstView() throws {
    for isLate in [false, true] {
      var desk = try Desk()
      try desk.board.createText("far away", at: Point(x: 9_000, y: -4_000), isAutoWidth: true)
      try desk.board.createText("farther", at: Point(x: 9_400, y: -4_100), isAutoWidth: true)
      // If the user has moved the view, the view stays.
      if isLate { _ = desk.type("+") }
      desk.sync()
      _ = desk.tick()
      let text = desk.lines().joined()
      #expect(text.contains("far away") == !isLate && text.contains("farther") == !isLate, "\(desk.lines())")
    }
    var desk = try Desk()
    try desk.board.createText("near", at: Point(x: 0, y: 0), isAutoWidth: true)
    try desk.board.createText("far away", at: Point(x: 9_000, y: 0), isAutoWidth: true)
    desk.sync()
    let view = desk.client.workspace.scene.viewport
    _ = desk.tick()
    #expect(desk.client.workspace.scene.viewport == view)
  }

  @Test("a browser is opened only on a screen") func browsers() {
    let path = ["PATH": "/none:/usr/bin"]
    let screen = path.merging(["DISPLAY": ":0"]) { $1 }
    #expect(Browser.program(path) { _ in true } == nil)
    #expect(Browser.program(screen) { $0.hasPrefix("/usr/bin/") } == "/usr/bin/xdg-open")
    #expect(Browser.program(screen) { _ in false } == nil)
    #expect(!Browser.open("file:///etc/passwd"))
  }

  @Test("copied objects are in the system clipboard, and a drawing from it is pasted as objects") func clipboard()
    throws
  {
    var desk = try Desk()
    #expect(
      desk.client.receive(CommandOutcome(ids: [], clipboard: "{}"), of: .number(1)) == [.clipboard("{}")]
    )
    let drawing = #"{ "type": "excalidraw/clipboard", "elements": [] }"#
    for text in [drawing, #"{"format":"whiteboard-board","version":1}"#] {
      let actions = desk.client.handleInput(.paste(text), now: .seconds(1))
      #expect(actions.first == .storeCopies(text))
      #expect(actions.dropFirst().compactMap(Desk.line).map { $0.hasPrefix("paste ") } == [true], "\(actions)")
    }
    let long = #"{"type":"excalidraw/clipboard","elements":["# + String(repeating: " ", count: 20_000) + "]}"
    #expect(desk.client.handleInput(.paste(long), now: .seconds(1)).first == .storeCopies(long), "a paste is not cut")
    let other = desk.client.handleInput(.paste(#"{"type":"other"}"#), now: .seconds(1)).compactMap(Desk.line)
    #expect(other.first?.hasPrefix("text ") == true)
  }

  @Test("a diagram of 12 labeled boxes and 14 connectors takes 54 actions, and moving a box one") func diagram() throws
  {
    var desk = try Desk()
    var actions = 0
    func act(_ text: String) -> [String] {
      actions += 1
      return desk.type(text)
    }
    func drag(_ from: (Int, Int), _ to: (Int, Int)) -> [String] {
      act("^[<0;\(from.0);\(from.1)M^[<32;\(to.0);\(to.1)M^[<0;\(to.0);\(to.1)m")
    }
    _ = act("r")
    var boxes: [ObjectID] = []
    for index in 0..<12 {
      let (x, y) = (3 + index % 4 * 18, 3 + index / 4 * 7)
      #expect(drag((x, y), (x + 10, y + 3)).contains { $0.hasPrefix("rect ") })
      // The board adds the form that the command names.
      let view = desk.client.workspace.scene.viewport
      let center = view.place(atColumn: Double(x) + 5, row: Double(y) + 0.5)
      let id = try desk.board.createForm(.rectangle, at: center, size: Size(width: 80, height: 48))
      let request = desk.client.workspace.requests.nextID - 1
      _ = desk.client.receive(CommandOutcome(id: id), of: .number(request))
      desk.sync()
      _ = act("\r")
      #expect(act("Box \(index)\r").contains { $0.hasPrefix("insert \(id) ") })
      boxes.append(id)
    }
    _ = act("a")
    for index in 0..<14 {
      let (from, to) = (boxes[index % 11], boxes[index % 11 + 1])
      let cells = [from, to].map { id -> (Int, Int) in
        let scene = desk.client.workspace.scene
        let cell = scene.viewport.cell(of: scene.snapshot(id)?.centerPosition ?? Point(x: 0, y: 0))
        return (cell.x + 1, cell.y + 2)
      }
      #expect(drag(cells[0], cells[1]).contains { $0.hasPrefix("arrow ") })
    }
    #expect(actions == 1 + 12 * 3 + 1 + 14)
    actions = 0
    try desk.board.select([boxes[0]])
    desk.sync()
    #expect(act("^[C").first?.hasPrefix("move \(boxes[0])") == true && actions == 1)
  }
}
