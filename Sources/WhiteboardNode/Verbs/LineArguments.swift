import WhiteboardRendering

/// The words of a line after its verb, taken one by one.
struct Arguments {
  private var words: [LineWords.Word]
  private var position = 0

  init(_ words: some Sequence<LineWords.Word>) {
    self.words = Array(words)
  }

  mutating func nextIfAny() -> LineWords.Word? {
    guard position < words.count else { return nil }
    defer { position += 1 }
    return words[position]
  }

  mutating func next(_ what: String) throws(VerbError) -> LineWords.Word {
    guard let word = nextIfAny() else {
      throw VerbError(.missingArgument, "give \(what)")
    }
    return word
  }

  mutating func words(_ what: String) throws(VerbError) -> String {
    let word = try next(what)
    try expectEnd(after: word)
    return try VerbParser.checkedWords(word.text, what: what)
  }

  mutating func wordsIfAny(_ what: String) throws(VerbError) -> String? {
    guard position < words.count else { return nil }
    return try words(what)
  }

  mutating func file() throws(VerbError) -> String {
    try VerbParser.checkedFile(next("the file").text)
  }

  mutating func point(_ what: String) throws(VerbError) -> BoardPoint {
    try TextVerbParser.point(next(what).text)
  }

  /// All words that are left, as points.
  mutating func points(
    _ what: String,
    limit: Int,
    of line: String
  ) throws(VerbError) -> [BoardPoint] {
    var points = [try point(what)]
    while let word = nextIfAny() {
      guard points.count < limit else {
        throw VerbError(.tooBig, "\(line) has at most \(limit) points")
      }
      points.append(try TextVerbParser.point(word.text))
    }
    return points
  }

  mutating func place(_ what: String) throws(VerbError) -> Int {
    try VerbParser.checkedPlace(Int64(next(what).text) ?? -1, key: "a place in a text")
  }

  mutating func checkpoint() throws(VerbError) -> String {
    try VerbParser.checkedCheckpoint(next("the name of the checkpoint").text)
  }

  mutating func reference() throws(VerbError) -> ObjectReference {
    try VerbParser.reference(next("the object").text)
  }

  /// All words that are left, as objects.
  mutating func references() throws(VerbError) -> [ObjectReference] {
    var references = [try reference()]
    while let word = nextIfAny() {
      references.append(try VerbParser.reference(word.text))
    }
    return try VerbParser.checkedReferences(references)
  }

  /// All words that are left but the last, as objects, and the last.
  mutating func references(
    before what: String
  ) throws(VerbError) -> ([ObjectReference], LineWords.Word) {
    var references = [try reference()]
    var last = try next(what)
    while let word = nextIfAny() {
      references.append(try VerbParser.reference(last.text))
      last = word
    }
    return (try VerbParser.checkedReferences(references), last)
  }

  mutating func target(_ what: String) throws(VerbError) -> String {
    try VerbParser.target(next(what).text, what: what)
  }

  mutating func takeRequest() throws(VerbError) -> RequestMark? {
    guard let value = try takeValue("request") else { return nil }
    return try VerbParser.checkedMark(value)
  }

  mutating func takeAlias() throws(VerbError) -> ObjectAlias? {
    guard let value = try takeValue("as") else { return nil }
    return try VerbParser.alias(value)
  }

  mutating func takeColor() throws(VerbError) -> UInt32? {
    guard let value = try takeValue("color") else { return nil }
    return try VerbParser.color(value)
  }

  mutating func takePen() throws(VerbError) -> Pen {
    var pen = Pen(color: try takeColor())
    if let width = try takeNumber("width") {
      pen.width = try VerbParser.checkedWidth(width, key: "width")
    }
    return pen
  }

  mutating func takeSeconds(_ key: String) throws(VerbError) -> Double? {
    guard let value = try takeValue(key) else { return nil }
    return try VerbParser.checkedSeconds(Double(value) ?? .nan, key: key)
  }

  mutating func takeNumber(_ key: String) throws(VerbError) -> Double? {
    guard let value = try takeValue(key) else { return nil }
    return TextVerbParser.number(value) ?? .nan
  }

  mutating func takePlace(_ key: String) throws(VerbError) -> Int? {
    guard let value = try takeValue(key) else { return nil }
    return try VerbParser.checkedPlace(Int64(value) ?? -1, key: key)
  }

  /// A distance, with or without the `+` of `move`.
  mutating func takeDistance(_ key: String) throws(VerbError) -> BoardPoint? {
    guard let value = try takeValue(key) else { return nil }
    return try TextVerbParser.point(value.hasPrefix("+") ? value.dropFirst() : value[...])
  }

  mutating func takeReference(_ key: String) throws(VerbError) -> ObjectReference? {
    guard let value = try takeValue(key) else { return nil }
    return try VerbParser.reference(value)
  }

  mutating func takeTarget(_ key: String) throws(VerbError) -> String? {
    guard let value = try takeValue(key) else { return nil }
    return try VerbParser.target(value, what: key)
  }

  /// Takes `key=value` off the line, wherever it stands.
  mutating func takeValue(_ key: String) throws(VerbError) -> String? {
    var found: String?
    for (index, word) in words.enumerated().reversed() {
      guard let value = word.value(of: key) else { continue }
      guard found == nil else {
        throw VerbError(.badArgument, "\(key)= is given twice")
      }
      found = value
      words.remove(at: index)
    }
    return found
  }

  mutating func takeFlag(_ name: String) -> Bool {
    guard let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) else {
      return false
    }
    words.remove(at: index)
    return true
  }

  /// Takes every `name value` pair off the line, wherever it stands.
  mutating func takeOptions(_ name: String, what: String) throws(VerbError) -> [String] {
    var values: [String] = []
    while let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) {
      guard index + 1 < words.count else {
        throw VerbError(.missingArgument, "give \(what) after \(name)")
      }
      values.append(words[index + 1].text)
      words.removeSubrange(index...(index + 1))
      guard values.count <= 64 else {
        throw VerbError(.tooBig, "\(name) can be given at most 64 times")
      }
    }
    return values
  }

  func expectEnd() throws(VerbError) {
    guard position < words.count else { return }
    throw VerbError(
      .unknownArgument,
      "\(TerminalText.quoted(words[position].text)) is too much here"
    )
  }

  /// Words without their quotes are the commonest slip, so it gets its own answer.
  func expectEnd(after word: LineWords.Word) throws(VerbError) {
    guard position < words.count else { return }
    guard !word.isQuoted else {
      try expectEnd()
      return
    }
    throw VerbError(.unknownArgument, "put words with spaces in double quotes")
  }
}

/// How points and numbers are written in words.
extension TextVerbParser {
  static func point(_ text: some StringProtocol) throws(VerbError) -> BoardPoint {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let x = number(parts[0]), let y = number(parts[1]) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(text)) is no point; write X,Y like 120,-40.5"
      )
    }
    guard let point = BoardPoint(x: x, y: y) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(text)) is outside the board: X and Y go from -33554432 to just below 33554432"
      )
    }
    return point
  }

  /// A decimal number; the words for infinity and the hexadecimal forms that `Double` reads are
  /// not of this grammar.
  static func number(_ text: some StringProtocol) -> Double? {
    guard (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 == 0x45
          || $0 == 0x65
      })
    else { return nil }
    return Double(text)
  }
}
