import PeerCore
import Whiteboard

struct Flowchart {
  enum Direction { case down, up, right, left }

  /// A box, or the frame of a subgraph.
  struct Node {
    var label: String
    var form = DrawingForm.rectangle
    var classes: [String] = []
    /// The index of the frame around the node.
    var frame: Int?
    /// The direction inside a frame; nil if it is the same as outside the frame.
    var direction: Direction?
    var link: String?
  }

  struct Edge {
    var ends: (from: Int, to: Int)
    var label = ""
    var line = LineStyle.solid
    var isThick = false
    /// Whether the edge is not drawn and only affects the layout, as in `A ~~~ B`.
    var isHidden = false
    var marks = (start: LineEnd.none, end: LineEnd.none)
    /// The number of layers between the nodes.
    var length = 1
    var style: [(name: String, value: String)] = []
  }

  var direction = Direction.down
  var nodes: [Node] = []
  var edges: [Edge] = []
  /// The properties of styles by class. Properties of a single node are in the class `#` followed by the index of the
  /// node.
  var styles: [String: [(name: String, value: String)]] = [:]
  /// Descriptions of the parts that were not understood, with line numbers.
  var warnings: [String] = []

  init() {}

  init(_ text: String) throws(ImportError) { self = try FlowchartParser.parse(text) }
}

/// A parser of flowcharts. The parser reports each line that it does not understand, and continues with the next line.
private struct FlowchartParser {
  private enum Detail {
    case classes(String)
    case style([(name: String, value: String)])
    case link(String)
  }

  private var chart = Flowchart()
  private var indexes: [String: Int] = [:]
  /// The names of the nodes, at the same indexes as the nodes.
  private var ids: [String] = []
  /// The names of edges, as in `A e1@--> B`.
  private var edgeIDs: Set<String> = []
  /// The details of nodes from statements. A node may be created after the statement.
  private var details: [(line: Int, id: String, detail: Detail)] = []
  /// The frames around the present line, outermost first; nil for a subgraph without a frame.
  private var frames: [Int?] = []
  /// The lines of subgraphs that are too deep to become frames.
  private var deepLines: [Int] = []
  private var edgeStyle: [(name: String, value: String)] = []
  private var line = 0
  private var text: [Character] = []
  private var place = 0

  /// The brackets around a label, the form, and whether the form only resembles the shape in Mermaid.
  private static let shapes: [(open: String, close: [String], form: DrawingForm, isSimilar: Bool)] = [
    ("(((", [")))"], .ellipse, true), ("((", ["))"], .ellipse, false), ("([", ["])"], .roundedRectangle, false),
    ("[(", [")]"], .roundedRectangle, true), ("[[", ["]]"], .rectangle, true), ("{{", ["}}"], .roundedRectangle, true),
    ("[/", ["/]", "\\]"], .rectangle, true), ("[\\", ["\\]", "/]"], .rectangle, true), (">", ["]"], .rectangle, true),
    ("(", [")"], .roundedRectangle, false), ("[", ["]"], .rectangle, false), ("{", ["}"], .diamond, false),
  ]
  /// The maximum number of edges. This is also the maximum number of objects of one author.
  private static let edgeLimit = BoardLimits.objectsPerAuthor
  /// The maximum number of lines of one quoted label or list of properties.
  private static let joinLimit = 30
  /// The maximum depth of subgraphs that become frames.
  private static let depthLimit = 32
  /// The names of shapes, the form, and whether the form only resembles the shape in Mermaid.
  private static let names: [(names: String, form: DrawingForm, isSimilar: Bool)] = [
    ("rect proc process rectangle", .rectangle, false),
    ("rounded event stadium pill terminal", .roundedRectangle, false), ("circle circ", .ellipse, false),
    ("diam decision diamond question", .diamond, false), ("sm-circ start dbl-circ stop fr-circ", .ellipse, true),
    (
      "cyl database db cylinder h-cyl das lin-cyl disk hex hexagon prepare cloud delay half-rounded-rectangle",
      .roundedRectangle, true
    ),
    (
      "subproc subroutine subprocess fr-rect lean-r in-out lean-l out-in trap-b priority trap-t manual odd text "
        + "notch-rect card div-rect lin-rect lin-proc doc document docs documents st-rect processes procs win-pane "
        + "sl-rect manual-input bow-rect stored-data tag-rect tag-doc lin-doc flag paper-tape", .rectangle, true
    ),
  ]

  static func parse(_ text: String) throws(ImportError) -> Flowchart {
    var parser = FlowchartParser()
    // Some editors begin a file with a byte order mark.
    let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    let lines = lines(of: text)
    guard let header = header(of: text) else { throw .unknownFormat }
    for setting in header.settings {
      parser.line = setting.line
      parser.report(setting.problem)
    }
    var next = header.line
    while next < lines.count {
      parser.line = next + 1
      let line = parser.joined(next == header.line ? header.rest : lines[next], lines, &next)
      for statement in statements(of: line) { try parser.parse(statement: statement) }
    }
    parser.applyDetails()
    parser.finish()
    return parser.chart
  }

  private static func lines(of text: String) -> [Substring] {
    text.split(omittingEmptySubsequences: false) { $0.isNewline }
  }

  /// Returns the index of the first line of the chart, the text after the word `flowchart` or `graph` in this line, and
  /// the settings before this line. The import leaves these settings out.
  static func header(of text: String) -> (line: Int, rest: Substring, settings: [(line: Int, problem: String)])? {
    var (isInSettings, isInDirective) = (false, false)
    var settings: [(line: Int, problem: String)] = []
    for (index, line) in text.prefix(10_000).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let line = trimmed(line)
      if line.hasPrefix("%%{") {
        isInDirective = true
        settings.append((index + 1, "the settings in %%{…}%% are left out"))
      }
      if isInDirective {
        isInDirective = !line.contains("}%%")
        continue
      }
      if line == "---" { isInSettings.toggle() }
      if isInSettings || line == "---" || line.isEmpty || line.hasPrefix("%%") {
        if isInSettings, line.hasPrefix("title:") { settings.append((index + 1, "the title of the chart is left out")) }
        continue
      }
      let word = line.prefix { $0.isLetter || $0 == "-" }
      guard ["flowchart", "graph", "flowchart-elk"].contains(word) else { return nil }
      return (index, " " + line.dropFirst(word.count), settings)
    }
    return nil
  }

  /// Returns a line without its comment. If quotes or braces in the line are still open, the next lines are added until
  /// they are closed. `next` becomes the index of the next line to read.
  private mutating func joined(_ first: Substring, _ lines: [Substring], _ next: inout Int) -> Substring {
    next += 1
    if Self.trimmed(first).hasPrefix("%%{") {
      report("the settings in %%{…}%% are left out")
      if first.contains("}%%") { return "" }
      while next < lines.count, !lines[next].contains("}%%") { next += 1 }
      next += 1
      return ""
    }
    let line = Self.withoutComment(first)
    guard Self.isOpen(line) else { return line }
    var whole = String(line)
    for index in next..<min(next + Self.joinLimit, max(lines.count, next)) {
      whole += "\n" + lines[index]
      if !Self.isOpen(whole[...]) {
        next = index + 1
        return Self.withoutComment(whole[...])
      }
    }
    return line
  }

  private static func withoutComment(_ line: Substring) -> Substring {
    var (isQuoted, last) = (false, Character(" "))
    for index in line.indices {
      if line[index] == "\"" { isQuoted.toggle() }
      if !isQuoted, last == " " || last == "\t", line[index...].hasPrefix("%%") { return line[..<index] }
      last = line[index]
    }
    return line
  }

  /// Whether quotes, or the braces after `@` or a description, are not closed.
  private static func isOpen(_ text: Substring) -> Bool {
    var (isQuoted, isInBraces, last) = (false, false, Character(" "))
    let isDescription = trimmed(text).hasPrefix("accDescr")
    for character in text {
      if character == "\"" { isQuoted.toggle() }
      if !isQuoted, character == "{", last == "@" || isDescription { isInBraces = true }
      if !isQuoted, character == "}" { isInBraces = false }
      last = character
    }
    return isQuoted || isInBraces
  }

  private mutating func finish() {
    // The style of an edge overrides the style of all edges.
    if !edgeStyle.isEmpty {
      for index in chart.edges.indices { chart.edges[index].style = edgeStyle + chart.edges[index].style }
    }
    guard let first = deepLines.first else { return }
    line = first
    report(
      deepLines.count == 1
        ? "a subgraph inside \(Self.depthLimit) others has no frame"
        : "\(deepLines.count) subgraphs inside \(Self.depthLimit) others have no frames; this is the first"
    )
  }

  private mutating func applyDetails() {
    for (line, id, detail) in details {
      self.line = line
      guard let index = indexes[id] else {
        report("there is no box “\(id.prefix(80))”")
        continue
      }
      switch detail {
      case .classes(let name): chart.nodes[index].classes.append(name)
      case .style(let properties): chart.styles["#\(index)", default: []] += properties
      case .link(let address): chart.nodes[index].link = address
      }
    }
  }

  private static func trimmed(_ text: some StringProtocol) -> Substring {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
    var text = Substring(text).drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return text
  }

  /// Splits a line at semicolons that are not in quotes or brackets.
  private static func statements(of line: Substring) -> [Substring] {
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

  private mutating func report(_ problem: String) {
    chart.warnings.append("line \(line): \(UntrustedText(problem).escaped())")
  }

  // MARK: - Statements

  private mutating func parse(statement: Substring) throws(ImportError) {
    let whole = Self.trimmed(statement)
    guard !whole.isEmpty else { return }
    let word = String(whole.prefix { $0 != " " && $0 != "\t" })
    let rest = Self.trimmed(whole.dropFirst(word.count))
    switch word {
    case "TD", "TB", "BT", "LR", "RL", "<", ">", "^", "v":
      guard rest.isEmpty, chart.nodes.isEmpty, frames.isEmpty else { return try parse(chain: whole) }
      chart.direction = Self.direction(word)
    case "subgraph": begin(subgraph: rest)
    case "end" where rest.isEmpty:
      if frames.popLast() == nil { report("there is no subgraph for `end`") }
    case "direction" where Self.directions.contains(String(rest)):
      if frames.isEmpty { chart.direction = Self.direction(String(rest)) }
      if let frame = frames.last ?? nil { chart.nodes[frame].direction = Self.direction(String(rest)) }
    case "classDef":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("classDef needs a name and a style") }
      for name in words[0].split(separator: ",") { chart.styles[String(name), default: []] += properties(words[1]) }
    case "class":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("class needs names and a class") }
      for id in words[0].split(separator: ",") {
        details.append((line, String(Self.trimmed(id)), .classes(String(words[1]))))
      }
    case "style":
      let words = rest.split(separator: " ", maxSplits: 1)
      guard words.count == 2 else { return report("style needs a name and a style") }
      details.append((line, String(words[0]), .style(properties(words[1]))))
    case "linkStyle": style(links: rest)
    case "click": click(rest)
    case "accTitle:", "accDescr:", "accDescr": report("`\(word)` is left out")
    default:
      if let end = word.firstRange(of: "@{"), edgeIDs.contains(String(word[..<end.lowerBound])) {
        return report("the properties of a line are left out")
      }
      try parse(chain: whole)
    }
  }

  private static let directions = ["TD", "TB", "BT", "LR", "RL"]

  private static func direction(_ word: String) -> Flowchart.Direction {
    ["BT": .up, "^": .up, "LR": .right, ">": .right, "RL": .left, "<": .left][word] ?? .down
  }

  /// Reads `id [Title]`, `id`, or a title of several words.
  private mutating func begin(subgraph text: Substring) {
    guard frames.count < Self.depthLimit else {
      deepLines.append(line)
      return frames.append(nil)
    }
    let bracket = text.firstIndex(of: "[")
    let id = String(Self.trimmed(text[..<(bracket ?? text.endIndex)]))
    let title = bracket.map { start in
      let inner = text[start...].dropFirst()
      return label(String(inner.last == "]" ? inner.dropLast() : inner))
    }
    let index = node(id.isEmpty ? "subgraph \(chart.nodes.count)" : id)
    chart.nodes[index].form = .frame
    if frames.last != nil { report("the frame of a subgraph does not move with the one around it") }
    if chart.nodes[index].frame == nil, !frames.contains(index) { chart.nodes[index].frame = frames.last ?? nil }
    chart.nodes[index].label = title ?? label(id)
    frames.append(frames.contains(index) ? nil : index)
  }

  /// Reads `0,2 stroke:red` or `default stroke:red`.
  private mutating func style(links text: Substring) {
    let words = text.split(separator: " ", maxSplits: 1)
    guard words.count == 2 else { return report("linkStyle needs numbers and a style") }
    let style = properties(words[1])
    for word in words[0].split(separator: ",") {
      guard word != "default" else {
        edgeStyle += style
        continue
      }
      guard let number = Int(word), chart.edges.indices.contains(number) else {
        report("there is no line \(word) yet")
        continue
      }
      chart.edges[number].style += style
    }
  }

  /// Reads `id "https://example.org"` or `id href "https://example.org" "Tip"`.
  private mutating func click(_ text: Substring) {
    let words = text.split(separator: " ")
    let address = words.dropFirst().first { $0 != "href" }.map { String($0).replacing("\"", with: "") }
    guard let id = words.first, let address, ObjectLink.isValid(address) else {
      return report("`click` is left out; boxes can only have links that begin with https://")
    }
    details.append((line, String(id), .link(address)))
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
    // A line has a meaning only if it has an edge, or a node with more than a name.
    var (hasMeaning, start) = (false, 0)
    var before = (nodes: chart.nodes.count, warnings: chart.warnings.count)
    guard var last = nodes() else { return leaveOut(from: 0, before) }
    hasMeaning = text[..<place].contains { "[({>@:".contains($0) }
    skipBlanks()
    while place < text.count {
      if hasMeaning { (start, before) = (place, (chart.nodes.count, chart.warnings.count)) }
      guard var edge = edge(), let next = nodes() else { return leaveOut(from: start, before) }
      hasMeaning = true
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

  /// Reports the rest of a statement, and removes the nodes that it created.
  private mutating func leaveOut(from start: Int, _ before: (nodes: Int, warnings: Int)) {
    for id in ids[before.nodes...] { indexes[id] = nil }
    ids.removeSubrange(before.nodes...)
    chart.nodes.removeSubrange(before.nodes...)
    chart.warnings.removeSubrange(before.warnings...)
    report("“\(String(text[start...].prefix(80)))” is not understood and is left out")
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

  /// Returns the index of a node; a node that is not known yet has its name as label. A node belongs to the first
  /// subgraph that contains it.
  private mutating func node(_ id: String) -> Int {
    let index = indexes[id] ?? chart.nodes.count
    if index == chart.nodes.count {
      chart.nodes.append(Flowchart.Node(label: id))
      ids.append(id)
      indexes[id] = index
    }
    if chart.nodes[index].frame == nil, chart.nodes[index].form != .frame {
      chart.nodes[index].frame = frames.last ?? nil
    }
    return index
  }

  private mutating func node() -> Int? {
    func isWord(_ index: Int) -> Bool {
      index < text.count && (text[index].isLetter || text[index].isNumber || text[index] == "_")
    }
    let start = place
    func isInner(_ index: Int) -> Bool {
      index < text.count && ("+?!*'#$%".contains(text[index]) || ("-./".contains(text[index]) && isWord(index + 1)))
    }
    while isWord(place) || (place > start && isInner(place)) { place += 1 }
    guard place > start else { return nil }
    let index = node(String(text[start..<place]))
    if let shape = Self.shapes.first(where: { isNext($0.open) }) {
      place += shape.open.count
      guard let label = label(until: shape.close) else { return nil }
      (chart.nodes[index].label, chart.nodes[index].form) = (label, shape.form)
      if shape.isSimilar { reportSimilar("a shape \(shape.open)…\(shape.close[0])", shape.form) }
    } else if accept("@{") {
      var isQuoted = false
      let end = text[place...].firstIndex { character in
        if character == "\"" { isQuoted.toggle() }
        return character == "}" && !isQuoted
      }
      guard let end else { return nil }
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

  private mutating func reportSimilar(_ shape: String, _ form: DrawingForm) {
    report(
      "\(shape) becomes \(form == .ellipse ? "an" : "a") \(form == .roundedRectangle ? "rounded rectangle" : form.name)"
    )
  }

  /// Reads `shape: diamond, label: "Text"`.
  private mutating func read(properties: String, of index: Int) {
    var isQuoted = false
    let list = properties.split { character in
      if character == "\"" { isQuoted.toggle() }
      return !isQuoted && (character == "," || character.isNewline)
    }
    for property in list {
      let parts = property.split(separator: ":", maxSplits: 1).map { String(Self.trimmed($0)) }
      guard parts.count == 2 else {
        if parts.first?.isEmpty == false { report("“\(parts[0])” is not used") }
        continue
      }
      switch (parts[0], parts[1]) {
      case ("label", let text): chart.nodes[index].label = label(text)
      case ("shape", let name):
        guard let shape = Self.names.first(where: { $0.names.split(separator: " ").contains(name[...]) }) else {
          report("“shape: \(name)” is not used")
          continue
        }
        chart.nodes[index].form = shape.form
        if shape.isSimilar { reportSimilar("a shape \(name)", shape.form) }
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
        let label = self.label(String(text[start..<place]))
        place += close.count
        return label
      }
      place += 1
    }
    return nil
  }

  /// The HTML tags that a label can contain. The tags are removed and have no other effect.
  private static let tags: Set<String> = [
    "a", "b", "big", "center", "code", "del", "div", "em", "font", "i", "img", "kbd", "li", "mark", "ol", "p", "pre",
    "s", "small", "span", "strong", "sub", "sup", "tt", "u", "ul",
  ]
  /// The maximum length of a tag. Without a limit, a label of many `<` would be searched once for each of them.
  private static let tagLimit = 300
  private static let escapes: [Substring: Character] = [
    "quot": "\"", "lt": "<", "gt": ">", "amp": "&", "apos": "'", "nbsp": "\u{A0}",
  ]

  /// Returns a label without quotes, tags, escapes and icons.
  private mutating func label(_ raw: String) -> String {
    var label = String(Self.trimmed(raw))
    var isMarkdown = false
    for quote in ["\"", "`"] where label.count > 1 && label.hasPrefix(quote) && label.hasSuffix(quote) {
      label = String(label.dropFirst().dropLast())
      isMarkdown = quote == "`"
    }
    if isMarkdown { label = label.replacing("**", with: "").replacing("__", with: "") }
    var (rest, result) = (label.replacing("\\n", with: "\n")[...], "")
    while let character = rest.first {
      let after = rest.dropFirst()
      if character == "<", let end = after.prefix(Self.tagLimit).firstIndex(of: ">") {
        let name = after[..<end].drop { $0 == "/" }.prefix { $0.isLetter || $0.isNumber }.lowercased()
        if name == "br" || name == "hr" || Self.tags.contains(name) {
          if name == "br" || name == "hr" { result.append("\n") }
          rest = rest[end...].dropFirst()
          continue
        }
      }
      if character == "#" || character == "&", let end = after.prefix(10).firstIndex(of: ";") {
        let name = after[..<end].drop { $0 == "#" }
        let number = name.hasPrefix("x") ? UInt32(name.dropFirst(), radix: 16) : UInt32(name)
        if let escape = Self.escapes[name] ?? number.flatMap(Unicode.Scalar.init).map(Character.init) {
          result.append(escape)
          rest = rest[end...].dropFirst()
          continue
        }
      }
      if character == "f", let icon = Self.icon(rest) {
        report("the icon “\(icon)” is left out")
        rest = rest.dropFirst(icon.count).drop { $0 == " " }
        continue
      }
      result.append(character)
      rest = after
    }
    let rows = result.split(omittingEmptySubsequences: false) { $0.isNewline }.map { String(Self.trimmed($0)) }
    return rows.joined(separator: "\n")
  }

  /// Returns the name of an icon, such as `fa:fa-car`, at the beginning of a text.
  private static func icon(_ text: Substring) -> Substring? {
    guard text.hasPrefix("fa"), let colon = text.prefix(4).firstIndex(of: ":") else { return nil }
    guard text[colon...].hasPrefix(":fa-") else { return nil }
    let name = text[colon...].dropFirst().prefix { $0.isLetter || $0.isNumber || $0 == "-" }
    return text[..<name.endIndex]
  }

  // MARK: - Edges

  private mutating func edge() -> Flowchart.Edge? {
    var edge = Flowchart.Edge(ends: (0, 0))
    skipBlanks()
    // A line can have a name, as in `A e1@--> B`.
    let end = text[place...].prefix { $0.isLetter || $0.isNumber || $0 == "_" }.endIndex
    if end > place, end + 1 < text.count, text[end] == "@", "<-=~ox".contains(text[end + 1]) {
      edgeIDs.insert(String(text[place..<end]))
      place = end + 1
    }
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

  private mutating func mark(_ arrow: String) -> LineEnd {
    accept(arrow) ? .arrow : accept("o") ? .dot : accept("x") ? .bar : .none
  }

  /// Accepts `first` and all characters that match `letter` after it; returns the number of accepted characters.
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
