import PeerTestKit
import Testing
import Whiteboard

@testable import WhiteboardRendering

@Suite("Flowcharts of Mermaid") struct FlowchartTests {
  private static let tree: String = {
    var text = "graph TD\n"
    for number in 1..<40 { text += "  n\(number / 3)[Step \(number / 3)] --> n\(number)[Step \(number)]\n" }
    return text
  }()

  /// Flowcharts of the kinds that people write, with the numbers of their boxes, lines and warnings.
  static let charts: [(text: String, boxes: Int, lines: Int, warnings: Int)] = [
    (
      """
      flowchart TD
          A[Christmas] -->|Get money| B(Go shopping)
          B --> C{Let me think}
          C -->|One| D[Laptop]
          C -->|Two| E[iPhone]
          C -->|Three| F[Car]
      """, 6, 5, 0
    ),
    (
      """
      %% How we deploy
      graph LR; push([Push]) --> ci{Tests pass?}; ci -- yes --> build[Build image]
      ci -- no --> fix[Fix it] --> push
      build ==> deploy((Live)); deploy -. alert .-> fix
      """, 5, 6, 0
    ),
    (
      """
      ---
      title: Services
      ---
      flowchart LR
        user([User]) & admin([Admin]) --> web[Web app]
        web <--> cache[(Cache)]
        web --o queue[[Queue]] --x worker{{Worker}}
        worker ---> db[(Database)]
        web --- db
      """, 7, 7, 5
    ),
    (
      """
      flowchart TB
        subgraph one [Front "end"]
          direction LR
          a1 --> a2
        end
        subgraph two
          b1 --> b2
        end
        a2 --> b1
        one --> two
        b1 --> top
      """, 5, 5, 0
    ),
    (
      """
      graph BT
        Leaf1 --> Branch --> Tree
        Leaf2 --> Branch
        Leaf3 ----> Tree
        classDef green fill:#9f6,stroke:#333,stroke-width:4px
        class Leaf1,Leaf2 green
        style Tree fill:#bbf,stroke:#f66,color:#fff,stroke-dasharray: 5 5
        Leaf3:::green
      """, 5, 4, 0
    ),
    (
      """
      flowchart RL
        idea["An idea (with brackets), and #quot;quotes#quot;"] --> plan["`**Plan**`"]
        plan --> work["Line one<br/>line two"]
        plan --> plan
        work -->|again; and again| idea
        work --> idea
      """, 3, 5, 0
    ),
    (
      """
      flowchart TD
        A --> B
        A ==>
        click B "https://example.org"
        ???
        C@{ shape: diamond, label: "Sure?" } ~~~ D@{ shape: blob }
        B -->|no| C
      """, 4, 2, 3
    ),
    (
      """
      graph TD
      A-->B
      B-->C
      C-->A
      C-->|x|D & E
      D-.-E
      E o==o F
      """, 6, 7, 0
    ),
    ("flowchart\nstart-1.a --> stop-2 --text--> end_3 -.-> start-1.a\n", 3, 3, 0),
    (tree, 40, 39, 0),
  ]

  private static func read(_ text: String) throws -> ImportedBoard {
    try ImportedBoard(reading: Array(text.utf8)) { _ in nil }
  }

  private static func board(_ imported: ImportedBoard) throws -> Board {
    let board = try SampleBoard.empty()
    try board.add(imported.objects, groups: imported.groups)
    return board
  }

  @Test("boxes do not overlap, lines are bound at both ends, and the rest is reported", arguments: charts.indices)
  func layout(index: Int) throws {
    let chart = Self.charts[index]
    let imported = try Self.read(chart.text)
    let board = try Self.board(imported)
    let boxes = board.snapshots.filter { $0.form?.hasPoints == false && $0.form != .frame }
    let frames = board.snapshots.filter { $0.form == .frame }
    let lines = board.snapshots.filter { $0.form?.hasPoints == true }
    #expect(boxes.count == chart.boxes && lines.count == chart.lines)
    #expect(imported.warnings.count == chart.warnings, "\(imported.warnings)")
    #expect(imported.warnings.allSatisfy { $0.hasPrefix("line ") })
    for (index, box) in boxes.enumerated() {
      for other in boxes[..<index] { #expect(!box.formBounds.touches(other.formBounds), "\(box.text ?? "")") }
    }
    for frame in frames {
      // Every box is completely inside of a frame, or completely outside.
      for box in boxes where box.bounds.touches(frame.bounds) {
        #expect(frame.bounds.contains(box.formBounds), "\(frame.text ?? "") \(box.text ?? "")")
      }
    }
    let ids = Set((boxes + frames).map(\.id))
    for line in lines {
      let ends = [line.start, line.end].compactMap { $0?.target }
      #expect(ends.count == 2 && ids.isSuperset(of: ends))
    }
    #expect(try Self.read(chart.text).objects == imported.objects)
  }

  @Test("labels, forms, marks, styles and directions are those of the text") func meaning() throws {
    let objects = try Self.charts.map { try Self.board(Self.read($0.text)).snapshots }
    func box(_ chart: Int, _ label: String) throws -> ObjectSnapshot {
      try #require(objects[chart].first { $0.text == label })
    }
    #expect(
      try [box(0, "Go shopping"), box(0, "Let me think"), box(0, "Laptop")].map(\.form) == [
        .roundedRectangle, .diamond, .rectangle,
      ]
    )
    #expect(try box(0, "Christmas").centerPosition.y < box(0, "Go shopping").centerPosition.y)
    #expect(try box(0, "Get money").form == .arrow)
    #expect(try box(1, "Push").centerPosition.x < box(1, "Tests pass?").centerPosition.x)
    #expect(try box(1, "alert").style.lineStyle == .dashed)
    #expect(try box(4, "Tree").centerPosition.y < box(4, "Branch").centerPosition.y)
    #expect(try box(4, "Leaf3").style.fill == 0x99FF_66FF && box(4, "Leaf1").lineWidth == 4)
    #expect(try box(4, "Tree").style.textColor == 0xFFFF_FFFF && box(4, "Tree").style.lineStyle == .dashed)
    _ = try (box(5, "An idea (with brackets), and \"quotes\""), box(5, "Plan"), box(5, "again; and again"))
    #expect(try box(5, "Line one\nline two").centerPosition.x < box(5, "Plan").centerPosition.x)
    let marks = objects[2].filter { $0.form?.hasPoints == true }.map { [$0.style.start, $0.style.end] }
    #expect(
      marks.filter { $0 == [.arrow, .arrow] }.count == 1 && marks.contains([.none, .dot])
        && marks.contains([.none, .bar])
    )
    #expect(marks.contains([.none, .none]))
    #expect(try box(6, "Sure?").form == .diamond)
  }

  @Test("subgraphs become frames, each with its direction; lines can lead to them") func subgraphs() throws {
    let imported = try Self.read(
      """
      flowchart TB
        start --> api
        subgraph backend [Back end]
          direction LR
          api --> db[(Data)]
          subgraph jobs
            worker
          end
          db --> worker
        end
        backend -->|reports| done
        start --> jobs
        style backend fill:#eef,stroke:none
        click api href "https://example.org/api" "Documents"
        subgraph empty
        end
      """
    )
    let objects = try Self.board(imported).snapshots
    func find(_ label: String) throws -> ObjectSnapshot { try #require(objects.first { $0.text == label }) }
    let (outer, inner, empty) = try (find("Back end"), find("jobs"), find("empty"))
    #expect([outer, inner, empty].map(\.form) == [.frame, .frame, .frame])
    #expect(outer.bounds.contains(inner.bounds) && !outer.bounds.touches(empty.bounds))
    #expect(objects.firstIndex(of: outer)! < objects.firstIndex(of: inner)!)
    let (api, data, worker) = try (find("api"), find("Data"), find("worker"))
    #expect(api.frame == outer.id && data.frame == outer.id && worker.frame == inner.id)
    #expect(try find("start").frame == nil && find("done").frame == nil)
    #expect(api.centerPosition.x < data.centerPosition.x && abs(api.centerPosition.y - data.centerPosition.y) < 1)
    #expect(try find("start").centerPosition.y < outer.bounds.least.y)
    #expect(try find("done").centerPosition.y > outer.bounds.greatest.y)
    let reports = try find("reports")
    let done = try find("done").id
    #expect(reports.start?.target == outer.id && reports.end?.target == done)
    #expect(objects.contains { $0.end?.target == inner.id })
    #expect(objects.contains { $0.start?.target == api.id && $0.frame == outer.id })
    #expect(api.link == "https://example.org/api" && outer.style.fill == 0xEEEE_FFFF)
    #expect(
      imported.warnings == [
        "line 5: a shape [(…)] becomes a rounded rectangle",
        "line 6: the frame of a subgraph does not move with the one around it",
        "the style “stroke:none” is not used",
      ]
    )
  }

  @Test("lines have names, styles and all kinds of ends; shapes have names") func presentSyntax() throws {
    let imported = try Self.read(
      """
      flowchart LR
        A e1@--> B
        A o--o B x--x C <-.-> D <==> A
        linkStyle 0,1 stroke:#f00,stroke-width:4px
        linkStyle 9 stroke:blue
        E@{ shape: cyl, label: "Store" } --> F@{ shape: stadium }
        G["<b>bold</b> text"]
      """
    )
    let objects = try Self.board(imported).snapshots
    let lines = objects.filter { $0.form?.hasPoints == true }
    #expect(
      lines.map { [$0.style.start, $0.style.end] } == [
        [.none, .arrow], [.dot, .dot], [.bar, .bar], [.arrow, .arrow], [.arrow, .arrow], [.none, .arrow],
      ]
    )
    #expect(lines.map(\.color) == [0xFF00_00FF, 0xFF00_00FF, nil, nil, nil, nil])
    #expect(lines[0].lineWidth == 4 && lines[4].lineWidth == 4 && lines[3].style.lineStyle == .dashed)
    #expect(objects.contains { $0.text == "Store" && $0.form == .roundedRectangle })
    #expect(objects.contains { $0.text == "bold text" })
    #expect(
      imported.warnings == ["line 5: there is no line 9 yet", "line 6: a shape cyl becomes a rounded rectangle"]
    )
  }

  @Test("a longer line leads to a later row") func longLines() throws {
    let objects = try Self.board(Self.read("graph TD\nA --> B\nA ---> C\nA --- D\nA ---- E")).snapshots
    func row(_ label: String) throws -> Double {
      try #require(objects.first { $0.text == label }).centerPosition.y
    }
    #expect(try row("A") < row("B") && row("B") < row("C"))
    #expect(try row("D") == row("B") && row("E") == row("C"))
  }

  @Test("unknown statements are reported with their line") func reports() throws {
    let warnings = try Self.read(Self.charts[6].text).warnings
    #expect(
      warnings == [
        "line 3: “A ==>” is not understood and is left out", "line 5: “???” is not understood and is left out",
        "line 6: “shape: blob” is not used",
      ]
    )
    #expect(throws: ImportError.unknownFormat) { try Self.read("sequenceDiagram\n A->>B: hi") }
    #expect(throws: ImportError.unknownFormat) { try Self.read("graphs are nice") }
  }

  /// Charts with mistakes or rare features, with their labels and warnings.
  static let unusual: [(text: String, labels: [String], warnings: [String])] = [
    (
      "A --> B\nthis line means nothing\nhello world --> A\nC -->\n--> D",
      ["A", "B"],
      [
        "line 3: “this line means nothing” is not understood and is left out",
        "line 4: “hello world --> A” is not understood and is left out",
        "line 5: “C -->” is not understood and is left out", "line 6: “--> D” is not understood and is left out",
      ]
    ),
    (
      "A --> B\nB --> C[open\nD[also\nE[kept] nonsense",
      ["A", "B", "kept"],
      [
        "line 3: “B --> C[open” is not understood and is left out",
        "line 4: “D[also” is not understood and is left out",
        "line 5: “nonsense” is not understood and is left out",
      ]
    ),
    (
      "A --> B\nclass X red\nstyle Y fill:#f00\nclick Z \"https://example.org\"\nend",
      ["A", "B"],
      [
        "line 6: there is no subgraph for `end`", "line 3: there is no box “X”", "line 4: there is no box “Y”",
        "line 5: there is no box “Z”",
      ]
    ),
    ("A[\"open] --> B\nC --> D", ["C", "D"], ["line 2: “A[\"open] --> B” is not understood and is left out"]),
    (
      "%%{\n init: {}\n}%%\nA[\"one\n  two\"] --> B[\"`**bold**\n  next`\"] %% a comment\nB -- \"a -- b\" --> A",
      ["one\ntwo", "bold\nnext", "a -- b"], ["line 2: the settings in %%{…}%% are left out"]
    ),
    (
      "A[\"I #9829; &amp; <span style='x'>y</span>, a < b\"] --> C++\nB[fa:fa-car Car] --> done?",
      ["I ♥ & y, a < b", "C++", "Car", "done?"], ["line 3: the icon “fa:fa-car” is left out"]
    ),
    (
      "A e1@--> B\ne1@{ animate: true }\naccDescr {\n several words\n}\nC@{\n  shape: diamond\n  label: \"Sure, why?\"\n}",
      ["A", "B", "Sure, why?"], ["line 3: the properties of a line are left out", "line 4: `accDescr` is left out"]
    ),
    (
      "A --> B\n\u{1B}[2J\nstyle A a\u{7}b:1", ["A", "B"],
      ["line 3: “\\u{1b}[2J” is not understood and is left out", "the style “a\\u{7}b:1” is not used"]
    ),
    ("subgraph s[\"Sub (x) [1]\"]\nA\nend\nB --> s", ["A", "B", "Sub (x) [1]"], []),
    ("class A red\nclassDef red fill:#f00\nA --> B", ["A", "B"], []),
  ]

  @Test("mistakes leave no boxes and are reported; what few charts have is read", arguments: unusual.indices)
  func mistakes(index: Int) throws {
    let (text, labels, warnings) = Self.unusual[index]
    let imported = try Self.read("flowchart TD\n" + text)
    let shown = try Self.board(imported).snapshots.compactMap(\.text).filter { !$0.isEmpty }
    #expect(shown.sorted() == labels.sorted())
    #expect(imported.warnings == warnings)
  }

  @Test("a byte order mark is not part of a chart, and a label of many < takes no time") func marks() throws {
    let imported = try Self.read("\u{FEFF}graph TD\nA[\"" + String(repeating: "<", count: 100_000) + "\"]")
    #expect(try Self.board(imported).snapshots.compactMap(\.text).first?.hasPrefix("<<<") == true)
  }

  @Test("settings before a chart are no part of it") func settings() throws {
    let imported = try Self.read("---\ntitle: Plan\n---\n%%{init: {\n 'theme': 'base'\n}}%%\ngraph LR\n  A --> B")
    #expect(imported.objects.count == 3)
    #expect(
      imported.warnings == [
        "line 2: the title of the chart is left out", "line 4: the settings in %%{…}%% are left out",
      ]
    )
  }

  @Test("subgraphs that are too deep are reported in one line, with their number") func deep() throws {
    func warnings(_ depth: Int) throws -> [String] {
      let text = (0..<depth).map { "subgraph s\($0)\n" }.joined() + "a-->b\n" + String(repeating: "end\n", count: depth)
      return try Self.read("graph TD\n" + text).warnings.filter { $0.contains("inside 32 others") }
    }
    #expect(try warnings(32) == [])
    #expect(try warnings(33) == ["line 34: a subgraph inside 32 others has no frame"])
    #expect(try warnings(40) == ["line 34: 8 subgraphs inside 32 others have no frames; this is the first"])
  }

  @Test("the style of all lines applies to every line, and the last such style decides") func defaultStyle() throws {
    let styles = "linkStyle 0 stroke:#00f\nlinkStyle default stroke:#f00\nlinkStyle default stroke:#0f0\n"
    let text = "graph TD\na-->b\n\(styles)b-->c"
    let lines = try Self.board(Self.read(text)).snapshots.filter { $0.form == .arrow }
    #expect(lines.map(\.color) == [0x0000_FFFF, 0x00FF_00FF])
  }

  @Test("large, deep and random charts are laid out in bounded time") func large() throws {
    // In one line, a search to the end of the line for each arrow would take minutes.
    let line = "graph LR\n" + (0...20_000).map { "a\($0)" }.joined(separator: "-->")
    #expect(try Self.read(line).objects.count == 40_001)
    let chain = "graph LR\n" + (0..<3_000).map { "a\($0)-->a\($0 + 1)\n" }.joined()
    #expect(try Self.read(chain).objects.count == 6_001)
    var random = SeededGenerator(seed: 7)
    let mesh = "graph TD\n" + (0..<600).map { _ in "a\(random.below(300))-->a\(random.below(300))\n" }.joined()
    #expect(try Self.read(mesh).objects.count > 600)
    #expect(throws: ImportError.tooManyObjects) {
      let names = (0..<300).map { "a\($0)" }.joined(separator: "&")
      return try Self.read("graph TD\n\(names) --> \(names)")
    }
    let alphabet = Array("AB-=.>ox[](){}|\"&~<:;#% \n")
    for _ in 0..<300 {
      let text = String((0..<60).map { _ in alphabet[random.below(alphabet.count)] })
      _ = try? Self.read("graph TD\n" + text)
    }
  }
}
