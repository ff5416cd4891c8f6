import PeerCore
import Whiteboard

/// The words of a line after the name of the command.
///
/// The parser of a command first removes the options, which can be anywhere in the line, and then reads the other words
/// in their order.
struct LineArguments {
  private var words: [LineWords.Word]
  private var index = 0

  init(_ words: some Sequence<LineWords.Word>) { self.words = Array(words) }

  mutating func nextIfAny() -> LineWords.Word? {
    guard index < words.count else { return nil }
    defer { index += 1 }
    return words[index]
  }

  mutating func next(_ what: String) throws(CommandError) -> LineWords.Word {
    guard let word = nextIfAny() else { throw CommandError(.missingArgument, "give \(what)") }
    return word
  }

  mutating func words(_ what: String) throws(CommandError) -> String {
    let word = try next(what)
    try expectEnd(after: word)
    return try CommandLimits.checkedWords(word.text, what: what)
  }

  mutating func wordsIfAny(_ what: String) throws(CommandError) -> String? {
    guard index < words.count else { return nil }
    return try words(what)
  }

  mutating func file() throws(CommandError) -> String { try CommandLimits.checkedFile(next("the file").text) }

  mutating func point(_ what: String) throws(CommandError) -> BoardPoint {
    try TextCommandParser.point(next(what).text)
  }

  mutating func points(_ what: String, limit: Int, of line: String) throws(CommandError) -> [BoardPoint] {
    var points = [try point(what)]
    while let word = nextIfAny() {
      guard points.count < limit else { throw CommandError(.tooBig, "\(line) has at most \(limit) points") }
      points.append(try TextCommandParser.point(word.text))
    }
    return points
  }

  mutating func pointIfAny() throws(CommandError) -> BoardPoint? {
    guard let word = nextIfAny() else { return nil }
    return try TextCommandParser.point(word.text)
  }

  mutating func position(_ what: String) throws(CommandError) -> Int {
    try CommandLimits.checkedPosition(Int64(next(what).text) ?? -1, key: "the position")
  }

  mutating func checkpoint() throws(CommandError) -> String {
    try CommandLimits.checkedCheckpoint(next("the name of the checkpoint").text)
  }

  mutating func reference() throws(CommandError) -> ObjectReference {
    try CommandParser.reference(next("the object").text)
  }

  mutating func references() throws(CommandError) -> [ObjectReference] {
    var references = [try reference()]
    while let word = nextIfAny() { references.append(try CommandParser.reference(word.text)) }
    return try CommandLimits.checkedReferences(references)
  }

  /// Reads all further words: the last one separately, and the others as objects.
  mutating func references(before what: String) throws(CommandError) -> ([ObjectReference], LineWords.Word) {
    var references = [try reference()]
    var last = try next(what)
    while let word = nextIfAny() {
      references.append(try CommandParser.reference(last.text))
      last = word
    }
    return (try CommandLimits.checkedReferences(references), last)
  }

  mutating func target(_ what: String) throws(CommandError) -> String {
    try CommandLimits.checkedTarget(next(what).text, what: what)
  }

  mutating func removeRequest() throws(CommandError) -> RequestMark? {
    guard let value = try removeValue("request") else { return nil }
    return try CommandParser.checkedMark(value)
  }

  mutating func removeAlias() throws(CommandError) -> ObjectAlias? {
    guard let value = try removeValue("as") else { return nil }
    return try CommandParser.alias(value)
  }

  mutating func removeColor() throws(CommandError) -> UInt32? {
    guard let value = try removeValue("color") else { return nil }
    return try CommandParser.color(value)
  }

  mutating func removePen() throws(CommandError) -> Pen {
    var pen = Pen(color: try removeColor())
    if let width = try removeNumber("width") { pen.width = try CommandLimits.checkedWidth(width, key: "width") }
    return pen
  }

  mutating func removeSeconds(_ key: String) throws(CommandError) -> Double? {
    guard let value = try removeValue(key) else { return nil }
    return try CommandLimits.checkedSeconds(Double(value) ?? .nan, key: key)
  }

  mutating func removeNumber(_ key: String) throws(CommandError) -> Double? {
    guard let value = try removeValue(key) else { return nil }
    return TextCommandParser.number(value) ?? .nan
  }

  mutating func removePoint(_ key: String) throws(CommandError) -> BoardPoint? {
    guard let value = try removeValue(key) else { return nil }
    return try TextCommandParser.point(value)
  }

  mutating func removeRegion(_ key: String) throws(CommandError) -> Rectangle? {
    guard let value = try removeValue(key) else { return nil }
    return try CommandParser.region(value)
  }

  mutating func removePosition(_ key: String) throws(CommandError) -> Int? {
    guard let value = try removeValue(key) else { return nil }
    return try CommandLimits.checkedPosition(Int64(value) ?? -1, key: key)
  }

  /// The value can begin with a `+`, as in `move`.
  mutating func removeDistance(_ key: String) throws(CommandError) -> BoardPoint? {
    guard let value = try removeValue(key) else { return nil }
    return try TextCommandParser.point(value.hasPrefix("+") ? value.dropFirst() : value[...])
  }

  mutating func removeReference(_ key: String) throws(CommandError) -> ObjectReference? {
    guard let value = try removeValue(key) else { return nil }
    return try CommandParser.reference(value)
  }

  mutating func removeTarget(_ key: String) throws(CommandError) -> String? {
    guard let value = try removeValue(key) else { return nil }
    return try CommandLimits.checkedTarget(value, what: key)
  }

  mutating func removeValue(_ key: String) throws(CommandError) -> String? {
    var found: String?
    for (index, word) in words.enumerated().reversed() {
      guard let value = word.value(of: key) else { continue }
      guard found == nil else { throw CommandError(.badArgument, "give \(key)= only once") }
      found = value
      words.remove(at: index)
    }
    return found
  }

  /// Removes an option without a value, and returns whether the line had it.
  mutating func removeFlag(_ name: String) -> Bool {
    guard let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) else { return false }
    words.remove(at: index)
    return true
  }

  /// Removes every occurrence of an option together with its value, and returns the values.
  mutating func removeOptions(_ name: String, what: String) throws(CommandError) -> [String] {
    var values: [String] = []
    while let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) {
      guard index + 1 < words.count else { throw CommandError(.missingArgument, "give \(what) after \(name)") }
      values.append(words[index + 1].text)
      words.removeSubrange(index...(index + 1))
      guard values.count <= 64 else { throw CommandError(.tooBig, "give \(name) at most 64 times") }
    }
    return values
  }

  func expectEnd() throws(CommandError) {
    guard index < words.count else { return }
    throw CommandError(.unknownArgument, "\(UntrustedText(words[index].text).quoted()) is one argument too many")
  }

  /// Throws an error if there is another word.
  ///
  /// If the previous word is not quoted, the error explains that text with spaces needs quotes.
  func expectEnd(after word: LineWords.Word) throws(CommandError) {
    guard index < words.count else { return }
    guard !word.isQuoted else {
      try expectEnd()
      return
    }
    throw CommandError(.unknownArgument, "put words with spaces in double quotes")
  }
}
