/// The words form of the verb grammar: `move last +10,0`.
enum TextVerbParser {
  static func parse(_ line: some StringProtocol) throws(VerbError) -> VerbRequest? {
    let words = try LineWords.split(line)
    guard let first = words.first else { return nil }
    var arguments = Arguments(words.dropFirst())
    // The mark is taken off first, so that whatever else is wrong is answered under it.
    let request = try arguments.takeRequest()
    guard let name = VerbName(rawValue: first.text), !first.isQuoted else {
      throw VerbParser.unknownVerb(first.text)
        .answering(verb: TerminalText.cleaned(first.text, limit: 64), request: request)
    }
    do throws(VerbError) {
      let verb = try verb(name, &arguments)
      try arguments.expectEnd()
      return VerbRequest(verb, request: request)
    } catch {
      let usage = VerbTable.entry(name).usage
      let message =
        switch error.code {
        case .missingArgument, .badArgument, .unknownArgument: "\(error.message). Usage: \(usage)"
        default: error.message
        }
      throw VerbError(error.code, message, verb: name.rawValue, request: request)
    }
  }

  private static func verb(
    _ name: VerbName,
    _ arguments: inout Arguments
  ) throws(VerbError) -> Verb {
    switch name {
    case .text:
      let alias = try arguments.takeAlias()
      let at = try point(arguments.next("where it goes, as X,Y"))
      return .text(at: at, words: try arguments.words("the words"), alias: alias)
    case .stroke:
      let alias = try arguments.takeAlias()
      let over = try arguments.takeSeconds("over") ?? 0
      var points: [BoardPoint] = []
      while let word = arguments.nextIfAny() {
        guard points.count < VerbParser.maximumPoints else {
          throw VerbError(.tooBig, "a stroke has at most \(VerbParser.maximumPoints) points")
        }
        points.append(try point(word))
      }
      guard !points.isEmpty else {
        throw VerbError(.missingArgument, "give the points of the line, as X,Y X,Y …")
      }
      return .stroke(points: points, seconds: over, alias: alias)
    case .photo:
      let alias = try arguments.takeAlias()
      let at = try point(arguments.next("where it goes, as X,Y"))
      return .photo(at: at, file: try arguments.file(), alias: alias)
    case .select:
      return .select(try arguments.reference())
    case .deselect:
      return .deselect
    case .move:
      let reference = try arguments.reference()
      return .move(reference, try movement(arguments.next("where to, as X,Y or +DX,DY")))
    case .scale:
      let reference = try arguments.reference()
      let word = try arguments.next("the scale, like 1.5")
      return .scale(reference, factor: try VerbParser.checkedFactor(number(word.text) ?? .nan))
    case .rotate:
      let reference = try arguments.reference()
      let word = try arguments.next("the angle in degrees, like 90")
      return .rotate(reference, degrees: try VerbParser.checkedDegrees(number(word.text) ?? .nan))
    case .edit:
      let reference = try arguments.reference()
      return .edit(reference, words: try arguments.words("the words"))
    case .delete:
      return .delete(try arguments.reference())
    case .accept:
      return .accept(target: try arguments.target("the invitation"))
    case .decline:
      let target = try arguments.target("the invitation")
      return .decline(target: target, reason: try arguments.wordsIfAny("the reason"))
    case .kick:
      let target = try arguments.target("the peer")
      return .kick(target: target, reason: try arguments.wordsIfAny("the reason"))
    case .cancel:
      let target = try arguments.target("the transfer")
      return .cancel(target: target, reason: try arguments.wordsIfAny("the reason"))
    case .leave:
      return .leave
    case .say:
      return .say(words: try arguments.words("the words"))
    case .send:
      let to = try arguments.takeOptions("--to", what: "the peer")
      let isUnreliable = arguments.takeFlag("--unreliable")
      let word = try arguments.next("the words")
      try arguments.expectEnd(after: word)
      return .send(
        bytes: try VerbParser.checkedMessage(Array(word.text.utf8)),
        to: to,
        isUnreliable: isUnreliable
      )
    case .resource:
      let to = try arguments.takeOptions("--to", what: "the peer")
      let names = try arguments.takeOptions("--name", what: "the name")
      let file = try arguments.file()
      guard let name = names.first, names.count == 1 else {
        throw VerbError(.missingArgument, "give the resource one name, with --name TEXT")
      }
      return .resource(file: file, name: try VerbParser.checkedName(name), to: to)
    case .stream:
      let to = try arguments.takeOptions("--to", what: "the peer")
      let name = try VerbParser.checkedName(arguments.next("the name of the stream").text)
      return .stream(name: name, file: try arguments.file(), to: to)
    case .objects:
      return .objects
    case .peers:
      return .peers
    case .digest:
      return .digest
    case .wait:
      let timeout = try arguments.takeSeconds("timeout")
      return .wait(try condition(&arguments), timeout: timeout)
    case .quit:
      return .quit
    case .help:
      return .help(topic: arguments.nextIfAny()?.text)
    }
  }

  private static func condition(_ arguments: inout Arguments) throws(VerbError) -> WaitCondition {
    let word = try arguments.next("what to wait for")
    if word.text == "synced" {
      return .synced
    }
    for key in ["peers", "objects"] {
      guard let value = word.value(of: key) else { continue }
      guard let count = Int64(value) else {
        throw VerbError(.badArgument, "\(key)= takes a whole number, like \(key)=2")
      }
      let checked = try VerbParser.checkedCount(count, key: key)
      return key == "peers" ? .peers(checked) : .objects(checked)
    }
    guard let seconds = number(word.text) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(word.text)) is nothing to wait for"
      )
    }
    return .seconds(try VerbParser.checkedSeconds(seconds, key: "the time to wait"))
  }

  private static func movement(_ word: LineWords.Word) throws(VerbError) -> Movement {
    guard word.text.utf8.first == UInt8(ascii: "+") else { return .to(try point(word)) }
    return .by(try point(LineWords.Word(text: String(word.text.dropFirst()), isQuoted: false)))
  }

  private static func point(_ word: LineWords.Word) throws(VerbError) -> BoardPoint {
    let parts = word.text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let x = number(parts[0]), let y = number(parts[1]) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(word.text)) is no point; write X,Y like 120,-40.5"
      )
    }
    guard let point = BoardPoint(x: x, y: y) else {
      throw VerbError(
        .badArgument,
        "\(TerminalText.quoted(word.text)) is outside the board: X and Y go from -33554432 to just below 33554432"
      )
    }
    return point
  }

  /// A decimal number; the words for infinity and the hexadecimal forms that `Double` reads are
  /// not of this grammar.
  private static func number(_ text: some StringProtocol) -> Double? {
    guard (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 == 0x45
          || $0 == 0x65
      })
    else { return nil }
    return Double(text)
  }
}

/// The words of a line after its verb, taken one by one.
private struct Arguments {
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
    let word = try next("the file")
    guard !word.text.isEmpty, !word.text.utf8.contains(0) else {
      throw VerbError(.badArgument, "a file needs a name")
    }
    return word.text
  }

  mutating func reference() throws(VerbError) -> ObjectReference {
    try VerbParser.reference(next("the object").text)
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

  mutating func takeSeconds(_ key: String) throws(VerbError) -> Double? {
    guard let value = try takeValue(key) else { return nil }
    return try VerbParser.checkedSeconds(Double(value) ?? .nan, key: key)
  }

  /// Takes `key=value` off the line, wherever it stands.
  private mutating func takeValue(_ key: String) throws(VerbError) -> String? {
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
