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

  mutating func next(_ what: String) throws(CommandError) -> LineWords.Word {
    guard let word = nextIfAny() else {
      throw CommandError(.missingArgument, "give \(what)")
    }
    return word
  }

  mutating func words(_ what: String) throws(CommandError) -> String {
    let word = try next(what)
    try expectEnd(after: word)
    return try CommandParser.checkedWords(word.text, what: what)
  }

  mutating func wordsIfAny(_ what: String) throws(CommandError) -> String? {
    guard position < words.count else { return nil }
    return try words(what)
  }

  mutating func file() throws(CommandError) -> String {
    try CommandParser.checkedFile(next("the file").text)
  }

  mutating func point(_ what: String) throws(CommandError) -> BoardPoint {
    try TextCommandParser.point(next(what).text)
  }

  /// All words that are left, as points.
  mutating func points(
    _ what: String,
    limit: Int,
    of line: String
  ) throws(CommandError) -> [BoardPoint] {
    var points = [try point(what)]
    while let word = nextIfAny() {
      guard points.count < limit else {
        throw CommandError(.tooBig, "\(line) has at most \(limit) points")
      }
      points.append(try TextCommandParser.point(word.text))
    }
    return points
  }

  mutating func place(_ what: String) throws(CommandError) -> Int {
    try CommandParser.checkedPlace(Int64(next(what).text) ?? -1, key: "a place in a text")
  }

  mutating func checkpoint() throws(CommandError) -> String {
    try CommandParser.checkedCheckpoint(next("the name of the checkpoint").text)
  }

  mutating func reference() throws(CommandError) -> ObjectReference {
    try CommandParser.reference(next("the object").text)
  }

  /// All words that are left, as objects.
  mutating func references() throws(CommandError) -> [ObjectReference] {
    var references = [try reference()]
    while let word = nextIfAny() {
      references.append(try CommandParser.reference(word.text))
    }
    return try CommandParser.checkedReferences(references)
  }

  /// All words that are left but the last, as objects, and the last.
  mutating func references(
    before what: String
  ) throws(CommandError) -> ([ObjectReference], LineWords.Word) {
    var references = [try reference()]
    var last = try next(what)
    while let word = nextIfAny() {
      references.append(try CommandParser.reference(last.text))
      last = word
    }
    return (try CommandParser.checkedReferences(references), last)
  }

  mutating func target(_ what: String) throws(CommandError) -> String {
    try CommandParser.target(next(what).text, what: what)
  }

  mutating func takeRequest() throws(CommandError) -> RequestMark? {
    guard let value = try takeValue("request") else { return nil }
    return try CommandParser.checkedMark(value)
  }

  mutating func takeAlias() throws(CommandError) -> ObjectAlias? {
    guard let value = try takeValue("as") else { return nil }
    return try CommandParser.alias(value)
  }

  mutating func takeColor() throws(CommandError) -> UInt32? {
    guard let value = try takeValue("color") else { return nil }
    return try CommandParser.color(value)
  }

  mutating func takePen() throws(CommandError) -> Pen {
    var pen = Pen(color: try takeColor())
    if let width = try takeNumber("width") {
      pen.width = try CommandParser.checkedWidth(width, key: "width")
    }
    return pen
  }

  mutating func takeSeconds(_ key: String) throws(CommandError) -> Double? {
    guard let value = try takeValue(key) else { return nil }
    return try CommandParser.checkedSeconds(Double(value) ?? .nan, key: key)
  }

  mutating func takeNumber(_ key: String) throws(CommandError) -> Double? {
    guard let value = try takeValue(key) else { return nil }
    return TextCommandParser.number(value) ?? .nan
  }

  mutating func takePlace(_ key: String) throws(CommandError) -> Int? {
    guard let value = try takeValue(key) else { return nil }
    return try CommandParser.checkedPlace(Int64(value) ?? -1, key: key)
  }

  /// A distance, with or without the `+` of `move`.
  mutating func takeDistance(_ key: String) throws(CommandError) -> BoardPoint? {
    guard let value = try takeValue(key) else { return nil }
    return try TextCommandParser.point(value.hasPrefix("+") ? value.dropFirst() : value[...])
  }

  mutating func takeReference(_ key: String) throws(CommandError) -> ObjectReference? {
    guard let value = try takeValue(key) else { return nil }
    return try CommandParser.reference(value)
  }

  mutating func takeTarget(_ key: String) throws(CommandError) -> String? {
    guard let value = try takeValue(key) else { return nil }
    return try CommandParser.target(value, what: key)
  }

  /// Takes `key=value` off the line, wherever it stands.
  mutating func takeValue(_ key: String) throws(CommandError) -> String? {
    var found: String?
    for (index, word) in words.enumerated().reversed() {
      guard let value = word.value(of: key) else { continue }
      guard found == nil else {
        throw CommandError(.badArgument, "\(key)= is given twice")
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
  mutating func takeOptions(_ name: String, what: String) throws(CommandError) -> [String] {
    var values: [String] = []
    while let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) {
      guard index + 1 < words.count else {
        throw CommandError(.missingArgument, "give \(what) after \(name)")
      }
      values.append(words[index + 1].text)
      words.removeSubrange(index...(index + 1))
      guard values.count <= 64 else {
        throw CommandError(.tooBig, "\(name) can be given at most 64 times")
      }
    }
    return values
  }

  func expectEnd() throws(CommandError) {
    guard position < words.count else { return }
    throw CommandError(
      .unknownArgument,
      "\(TerminalText.quoted(words[position].text)) is too much here"
    )
  }

  /// Words without their quotes are the commonest slip, so it gets its own answer.
  func expectEnd(after word: LineWords.Word) throws(CommandError) {
    guard position < words.count else { return }
    guard !word.isQuoted else {
      try expectEnd()
      return
    }
    throw CommandError(.unknownArgument, "put words with spaces in double quotes")
  }
}

/// How points and numbers are written in words.
extension TextCommandParser {
  static func point(_ text: some StringProtocol) throws(CommandError) -> BoardPoint {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let x = number(parts[0]), let y = number(parts[1]) else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(text)) is no point; write X,Y like 120,-40.5"
      )
    }
    guard let point = BoardPoint(x: x, y: y) else {
      throw CommandError(
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
