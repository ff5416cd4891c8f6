import Whiteboard

/// A flowchart in the language of Mermaid.
struct Flowchart {
  enum Direction { case down, up, right, left }

  struct Node {
    var label: String
    var form = DrawingForm.rectangle
    var classes: [String] = []
  }

  struct Edge {
    var ends: (from: Int, to: Int)
    var label = ""
    var line = LineStyle.solid
    var isThick = false
    /// Whether the edge only separates its nodes.
    var isHidden = false
    var marks = (start: LineEnd.none, end: LineEnd.none)
    /// The number of layers between the nodes.
    var length = 1
  }

  var direction = Direction.down
  var nodes: [Node] = []
  var edges: [Edge] = []
  /// The properties of styles by class; those of a node that has its own are in the class `#` and its index.
  var styles: [String: [(name: String, value: String)]] = [:]
  /// What could not be understood, with the numbers of lines.
  var warnings: [String] = []

  /// Whether a text is a flowchart, after comments and settings.
  static func isFlowchart(_ text: String) -> Bool { FlowchartParser.header(of: text) != nil }

  init() {}

  init(_ text: String) throws(ImportError) { self = try FlowchartParser.parse(text) }
}

/// The parser of flowcharts.
///
/// It reports each line that it does not understand, and goes on with the next one.
private struct FlowchartParser {
  private var chart = Flowchart()
  private var indexes: [String: Int] = [:]
  private var subgraphs: [String] = []
  private var depth = 0
  private var line = 0
  private var text: [Character] = []
  private var place = 0

  /// The brackets around a label, the forms, and whether that form only resembles Mermaid's.
  private static let shapes: [(open: String, close: [String], form: DrawingForm, isSimilar: Bool)] = [
    ("(((", [")))"], .ellipse, true), ("((", ["))"], .ellipse, false), ("([", ["])"], .roundedRectangle, false),
    ("[(", [")]"], .roundedRectangle, true), ("[[", ["]]"], .rectangle, true), ("{{", ["}}"], .roundedRectangle, true),
    ("[/", ["/]", "\\]"], .rectangle, true), ("[\\", ["\\]", "/]"], .rectangle, true), (">", ["]"], .rectangle, true),
    ("(", [")"], .roundedRectangle, false), ("[", ["]"], .rectangle, false), ("{", ["}"], .diamond, false),
  ]
  /// The maximum number of edges, which is also that of the objects of one author.
  private static let edgeLimit = BoardLimits.objectsPerAuthor

  static func parse(_ text: String) throws(ImportError) -> Flowchart {
    var parser = FlowchartParser()
    let lines = lines(of: text)
    guard let header = header(of: text) else { throw .unknownFormat }
    for (index, line) in lines.enumerated().dropFirst(header.line) {
      parser.line = index + 1
      let statements = statements(of: index == header.line ? header.rest : line)
      for statement in statements { try parser.parse(statement: statement) }
    }
    return parser.chart
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false) { $0.isNewline }
  }

  /// Returns the index of the first line of the chart, and what follows the word `flowchart` or `graph` there.
  static func header(of text: String) -> (line: Int, rest: Substring)? {
    var isInSettings = false
    for (index, line) in text.prefix(10_000).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let line = trimmed(line)
      if line == "---" { isInSettings.toggle() }
      if isInSettings || line == "---" || line.isEmpty || line.hasPrefix("%%") { continue }
      let word = line.prefix { $0.isLetter || $0 == "-" }
      guard ["flowchart", "graph", "flowchart-elk"].contains(word) else { return nil }
      return (index, " " + line.dropFirst(word.count))
    }
    return nil
  }

  private static func trimmed(_ text: some StringProtocol) -> Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    var text = Substring(text).drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  /// Splits a line at semicolons that are not in quotes or brackets.
  private static func statements(of line: Substring) -> [Substring] {
    guard !trimmed(line).hasPrefix("%%") else { return [] }
    var (isQuoted, depth, isPiped) = (false, 0, false)
    return line.split { character in
      switch character {
      case "\"": isQuoted.toggle()
      case "|" where !isQuoted: isPiped.toggle()
      case "[", "(", "{": if !isQuoted { depth += 1 }
      case "]", ")", "}": if !isQuoted { depth -= 1 }
      case ";": return !isQuoted && !isPiped && depth <= 0
      default: break
      }
      return false
    }
  }

  private mutating func report(_ problem: String) { chart.warnings.append("line \(line): \(problem)") }

  // MARK: - Statements

  private mutating func parse(statement: Substring) throws(ImportError) {
    let whole = Self.trimmed(statement)
    guard !whole.isEmpty else { return }
    let word = String(whole.prefix { $0 != " " && $0 != "\t" })
    let rest = Self.trimmed(whole.dropFirst(word.count))
    switch word {
    case "TD", "TB", "BT", "LR", "RL", "<", ">", "^", "v":
      guard rest.isEmpty, chart.nodes.isEmpty, depth == 0 else { return try parse(chain: whole) }
      chart.direction = ["BT": .up, "^": .up, "LR": .right, ">": .right, "RL": .left, "<": .left][word] ?? .down
    case "subgraph":
      depth += 1
      let id = String(rest.prefix { $0 != " " && $0 != "[" })
      let title = Self.label(String(rest.split(separator: "[").last ?? rest).replacing("]", with: ""))
      subgraphs.append(id)
      report("the frame of the subgraph “\(title)” is left out; its boxes are added")
    case "end" where rest.isEmpty && depth > 0: depth -= 1
    case "direction" where depth > 0: report("the direction of a subgraph is not used")
    case "classDef":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("classDef needs a name and a style") }
      for name in words[0].split(separator: ",") { chart.styles[String(name), default: []] += properties(words[1]) }
    case "class":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("class needs names and a class") }
      for id in words[0].split(separator: ",") {
        chart.nodes[node(String(Self.trimmed(id)))].classes.append(String(words[1]))
      }
    case "style":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("style needs a name and a style") }
      let index = node(String(words[0]))
      chart.styles["#\(index)", default: []] += properties(words[1])
    case "linkStyle", "click", "accTitle:", "accDescr:", "accDescr": report("`\(word)` is left out")
    default: try parse(chain: whole)
    }
  }

  private func properties(_ text: Substring) -> [(name: String, value: String)] {
    text.split(separator: ",").compactMap { property in
      let parts = property.split(separator: ":", maxSplits: 1).map { String(Self.trimmed($0)) }
      return parts.count == 2 ? (parts[0], parts[1]) : nil
    }
  }

  /// Parses nodes that are connected by edges: `A & B --> C -- text --> D`.
  private mutating func parse(chain: Substring) throws(ImportError) {
    (text, place) = (Array(chain), 0)
    guard var last = nodes() else { return reportRest() }
    skipBlanks()
    while place < text.count {
      let start = place
      guard var edge = edge(), let next = nodes() else {
        place = start
        return reportRest()
      }
      for from in last {
        for to in next {
          edge.ends = (from, to)
          guard chart.edges.count < Self.edgeLimit else { throw .tooManyObjects }
          chart.edges.append(edge)
        }
      }
      last = next
      skipBlanks()
    }
  }

  private mutating func reportRest() {
    report("“\(String(text[place...].prefix(80)))” is not understood and is left out")
  }

  // MARK: - Nodes

  private mutating func nodes() -> [Int]? {
    var result: [Int] = []
    repeat {
      skipBlanks()
      guard let node = node() else { return nil }
      result.append(node)
      skipBlanks()
    } while accept("&")
    return result
  }

  /// Returns the index of a node; a node that is not known yet has its name as label.
  private mutating func node(_ id: String) -> Int {
    if let index = indexes[id] { return index }
    chart.nodes.append(Flowchart.Node(label: id))
    indexes[id] = chart.nodes.count - 1
    if subgraphs.contains(id) { report("the subgraph \(id) is connected as if it were a box") }
    return chart.nodes.count - 1
  }

  private mutating func node() -> Int? {
    func isWord(_ index: Int) -> Bool {
      index < text.count && (text[index].isLetter || text[index].isNumber || text[index] == "_")
    }
    let start = place
    while isWord(place) || (place > start && place < text.count && "-./".contains(text[place]) && isWord(place + 1)) {
      place += 1
    }
    guard place > start else { return nil }
    let index = node(String(text[start..<place]))
    if let shape = Self.shapes.first(where: { isNext($0.open) }) {
      place += shape.open.count
      guard let label = label(until: shape.close) else { return nil }
      (chart.nodes[index].label, chart.nodes[index].form) = (label, shape.form)
      if shape.isSimilar {
        let name = shape.form == .roundedRectangle ? "rounded rectangle" : shape.form.name
        report("a shape \(shape.open)…\(shape.close[0]) becomes a \(name)")
      }
    } else if accept("@{") {
      guard let end = text[place...].firstIndex(of: "}") else { return nil }
      read(properties: String(text[place..<end]), of: index)
      place = end + 1
    }
    while accept(":::") {
      let start = place
      while isWord(place) || (place < text.count && text[place] == "-" && isWord(place + 1)) { place += 1 }
      chart.nodes[index].classes.append(String(text[start..<place]))
    }
    return index
  }

  /// Reads `shape: diamond, label: "Text"`.
  private mutating func read(properties: String, of index: Int) {
    for property in properties.split(separator: ",") {
      let parts = property.split(separator: ":", maxSplits: 1).map { String(Self.trimmed($0)) }
      guard parts.count == 2 else { continue }
      switch (parts[0], parts[1]) {
      case ("label", let label): chart.nodes[index].label = Self.label(label)
      case ("shape", "rect"), ("shape", "process"): break
      case ("shape", "rounded"), ("shape", "stadium"), ("shape", "pill"): chart.nodes[index].form = .roundedRectangle
      case ("shape", "circle"), ("shape", "circ"): chart.nodes[index].form = .ellipse
      case ("shape", "diamond"), ("shape", "diam"), ("shape", "decision"): chart.nodes[index].form = .diamond
      default: report("“\(parts[0]): \(parts[1])” is not used")
      }
    }
  }

  /// Returns the label up to one of the closing brackets; nil if there is none.
  private mutating func label(until closings: [String]) -> String? {
    let start = place
    var isQuoted = false
    while place < text.count {
      if text[place] == "\"" { isQuoted.toggle() }
      if !isQuoted, let close = closings.first(where: { isNext($0) }) {
        let label = Self.label(String(text[start..<place]))
        place += close.count
        return label
      }
      place += 1
    }
    return nil
  }

  /// Returns a label without quotes, tags and escapes.
  private static func label(_ raw: String) -> String {
    var label = String(trimmed(raw))
    for quote in ["\"", "`"] where label.count > 1 && label.hasPrefix(quote) && label.hasSuffix(quote) {
      label = String(label.dropFirst().dropLast())
    }
    for (code, text) in [
      ("<br/>", "\n"), ("<br />", "\n"), ("<br>", "\n"), ("\\n", "\n"), ("#quot;", "\""), ("#lt;", "<"), ("#gt;", ">"),
      ("#35;", "#"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("#amp;", "&"), ("&amp;", "&"), ("**", ""),
    ] { label = label.replacing(code, with: text) }
    return label
  }

  // MARK: - Edges

  private mutating func edge() -> Flowchart.Edge? {
    var edge = Flowchart.Edge(ends: (0, 0))
    skipBlanks()
    if accept("~~~") {
      edge.isHidden = true
      while accept("~") { edge.length += 1 }
      return edge
    }
    edge.marks.start = mark("<")
    guard place < text.count else { return nil }
    switch text[place] {
    case "-" where isNext("-."):
      edge.line = .dashed
      edge.length = max(run(of: "-", then: "."), 1)
      if !accept("-") {
        guard let label = label(until: [".-"]) else { return nil }
        edge.label = label
      }
      edge.marks.end = mark(">")
    case "-", "=":
      let letter = text[place]
      edge.isThick = letter == "="
      let count = run(of: letter)
      guard count > 1 else { return nil }
      edge.marks.end = mark(">")
      edge.length = edge.marks.end == .none ? max(count - 2, 1) : count - 1
      guard edge.marks.end == .none, count == 2 else { break }
      guard let label = label(until: [String([letter, letter])]) else { return nil }
      edge.label = label
      let rest = run(of: letter)
      edge.marks.end = mark(">")
      edge.length = max(edge.marks.end == .none ? rest : rest + 1, 1)
    default: return nil
    }
    skipBlanks()
    if accept("|") {
      guard let label = label(until: ["|"]) else { return nil }
      edge.label = label
    }
    return edge
  }

  /// Accepts the mark at an end of an edge: `arrow`, o or x.
  private mutating func mark(_ arrow: String) -> LineEnd {
    accept(arrow) ? .arrow : accept("o") ? .dot : accept("x") ? .bar : .none
  }

  /// Accepts `first` and all of `letter` after it, and returns the number of these.
  private mutating func run(of first: Character, then letter: Character? = nil) -> Int {
    let start = letter == nil ? place : place + 1
    place = start
    while place < text.count, text[place] == letter ?? first { place += 1 }
    return place - start
  }

  // MARK: - Characters

  private func isNext(_ word: String) -> Bool { text[place...].starts(with: word) }

  private mutating func accept(_ word: String) -> Bool {
    guard isNext(word) else { return false }
    place += word.count
    return true
  }

  private mutating func skipBlanks() {
    while place < text.count, text[place] == " " || text[place] == "\t" { place += 1 }
  }
}
