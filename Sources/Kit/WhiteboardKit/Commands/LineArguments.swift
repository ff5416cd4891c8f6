import PeerCore
import Whiteboard

/// An option of a command, which can be anywhere in the line.
enum LineOption: Sendable {
  /// `key=value`.
  case value(String)
  case flag(String)
  /// A word followed by a value; the option can occur several times in a line. The second string names the value in
  /// errors.
  case list(String, String)
}

/// The words of a line after the name of the command. The parser of a command first removes the options, and then reads
/// the other words in order.
struct LineArguments {
  private var words: [LineWords.Word]
  private var index = 0
  private var values: [String: String] = [:]
  private var flags: Set<String> = []
  private var lists: [String: [String]] = [:]
  /// The number of words that later parameters need.
  private var reserved = 0

  init(_ words: some Sequence<LineWords.Word>) { self.words = Array(words) }

  mutating func remove(_ option: LineOption) throws(CommandError) {
    switch option {
    case .value(let key): values[key] = try removeValue(key)
    case .flag(let name): if removeFlag(name) { flags.insert(name) }
    case .list(let name, let what): lists[name, default: []] += try removeOptions(name, what: what)
    }
  }

  func value(_ key: String) -> String? { values[key] }

  func hasFlag(_ name: String) -> Bool { flags.contains(name) }

  func list(_ name: String) -> [String] { lists[name] ?? [] }

  mutating func reserve<Value>(_ parameter: Parameter<Value>) { reserved += wordCount(of: parameter) }

  private func wordCount<Value>(of parameter: Parameter<Value>) -> Int {
    let hasOption = parameter.options.contains { if case .value(let key) = $0 { values[key] != nil } else { false } }
    return hasOption ? 0 : parameter.wordCount
  }

  mutating func read<Value>(_ parameter: Parameter<Value>) throws(CommandError) -> Value {
    reserved -= wordCount(of: parameter)
    return try parameter.words(&self)
  }

  mutating func nextIfAny() -> LineWords.Word? {
    guard index < words.count else { return nil }
    defer { index += 1 }
    return words[index]
  }

  mutating func next(_ what: String) throws(CommandError) -> LineWords.Word {
    guard let word = nextIfAny() else { throw CommandError(.missingArgument, "give \(what)") }
    return word
  }

  var isAtEnd: Bool { index == words.count }

  mutating func skip(_ word: String) -> Bool {
    guard index < words.count, !words[index].isQuoted, words[index].text == word else { return false }
    index += 1
    return true
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

  mutating func reference() throws(CommandError) -> ObjectReference {
    try CommandParser.reference(next("the object").text)
  }

  /// Reads all further words, except the words that later parameters need.
  mutating func references() throws(CommandError) -> [ObjectReference] {
    var references = [try reference()]
    while words.count - index > reserved, let word = nextIfAny() {
      references.append(try CommandParser.reference(word.text))
    }
    return try CommandLimits.checkedReferences(references)
  }

  mutating func target(_ what: String) throws(CommandError) -> String {
    try CommandLimits.checkedTarget(next(what).text, what: what)
  }

  mutating func removeRequest() throws(CommandError) -> RequestMark? {
    guard let value = try removeValue("request") else { return nil }
    return try CommandParser.checkedMark(value)
  }

  private mutating func removeValue(_ key: String) throws(CommandError) -> String? {
    var found: String?
    for (index, word) in words.enumerated().reversed() {
      guard let value = word.value(of: key) else { continue }
      guard found == nil else { throw CommandError(.badArgument, "give \(key)= only once") }
      found = value
      words.remove(at: index)
    }
    return found
  }

  private mutating func removeFlag(_ name: String) -> Bool {
    guard let index = words.firstIndex(where: { !$0.isQuoted && $0.text == name }) else { return false }
    words.remove(at: index)
    return true
  }

  private mutating func removeOptions(_ name: String, what: String) throws(CommandError) -> [String] {
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

enum LineWords {
  struct Word: Equatable, Sendable {
    /// The text of the word, without quotes and escapes.
    let text: String
    let isQuoted: Bool

    func value(of key: String) -> String? {
      guard !isQuoted, text.hasPrefix(key + "=") else { return nil }
      return String(text.dropFirst(key.count + 1))
    }
  }

  static func split(_ line: some StringProtocol) throws(CommandError) -> [Word] {
    var words: [Word] = []
    // The line is valid UTF-8 and is split at ASCII characters, so each word is valid UTF-8.
    var current: [UInt8] = []
    var isInWord = false
    var isAfterEquals = false
    var isQuoted = false
    var isInQuotes = false
    var isEscaped = false
    let bytes = line.utf8
    for index in bytes.indices {
      let byte = bytes[index]
      if isEscaped {
        switch byte {
        case UInt8(ascii: "n"): current.append(0x0A)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): current.append(byte)
        default: throw CommandError(.syntax, #"inside quotes, a backslash must be before ", \ or n"#)
        }
        isEscaped = false
      } else if isInQuotes {
        switch byte {
        case UInt8(ascii: "\\"): isEscaped = true
        case UInt8(ascii: "\""): isInQuotes = false
        default: current.append(byte)
        }
      } else if CommandParser.isBlank(byte) {
        if isInWord { words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted)) }
        current.removeAll(keepingCapacity: true)
        isInWord = false
        isAfterEquals = false
        isQuoted = false
      } else if byte == UInt8(ascii: "#"), !isInWord,
        words.isEmpty || bytes[index...].dropFirst().first.map(CommandParser.isBlank) ?? true
      {
        return words
      } else if byte == UInt8(ascii: "\""), !isInWord || isAfterEquals {
        isInQuotes = true
        isAfterEquals = false
        if !isInWord { isQuoted = true }
        isInWord = true
      } else {
        current.append(byte)
        isInWord = true
        isAfterEquals = byte == UInt8(ascii: "=")
      }
    }
    guard !isInQuotes else { throw CommandError(.syntax, #"the closing quote is missing: add " at the end"#) }
    if isInWord { words.append(Word(text: String(decoding: current, as: UTF8.self), isQuoted: isQuoted)) }
    return words
  }
}
