import FoundationEssentials

/// The JSON form of the verb grammar: `{"verb":"move","id":"last","by":[10,0]}`.
enum JSONVerbParser {
  static func parse(_ line: [UInt8]) throws(VerbError) -> VerbRequest? {
    let fields: Fields
    do {
      fields = try JSONDecoder().decode(Fields.self, from: Data(line))
    } catch let error as VerbError {
      throw error
    } catch let error as DecodingError {
      throw VerbError(.syntax, describe(error))
    } catch {
      throw VerbError(.syntax, "the line is not JSON")
    }
    let request = fields.request
    guard let word = fields.verb else {
      throw VerbError(
        .missingArgument,
        #"a line of JSON needs "verb", like {"verb":"digest"}"#,
        request: request
      )
    }
    guard let name = VerbName(rawValue: word) else {
      throw VerbParser.unknownVerb(word)
        .answering(verb: TerminalText.cleaned(word, limit: 64), request: request)
    }
    do throws(VerbError) {
      try fields.expectOnly(VerbTable.entry(name).keys)
      return VerbRequest(try verb(name, fields), request: request)
    } catch {
      throw error.answering(verb: name.rawValue, request: request)
    }
  }

  private static func verb(_ name: VerbName, _ fields: Fields) throws(VerbError) -> Verb {
    switch name {
    case .text:
      return .text(
        at: try fields.point("at"),
        words: try VerbParser.checkedWords(fields.string("text"), what: "text"),
        alias: try fields.alias()
      )
    case .stroke:
      let over = try fields.numberIfAny("over") ?? 0
      return .stroke(
        points: try fields.points(),
        seconds: try VerbParser.checkedSeconds(over, key: "over"),
        alias: try fields.alias()
      )
    case .photo:
      return .photo(at: try fields.point("at"), file: try fields.file(), alias: try fields.alias())
    case .select:
      return .select(try fields.reference())
    case .deselect:
      return .deselect
    case .move:
      return .move(try fields.reference(), try fields.movement())
    case .scale:
      return .scale(
        try fields.reference(),
        factor: try VerbParser.checkedFactor(fields.number("factor"))
      )
    case .rotate:
      return .rotate(
        try fields.reference(),
        degrees: try VerbParser.checkedDegrees(fields.number("degrees"))
      )
    case .edit:
      return .edit(
        try fields.reference(),
        words: try VerbParser.checkedWords(fields.string("text"), what: "text")
      )
    case .delete:
      return .delete(try fields.reference())
    case .accept:
      return .accept(target: try fields.target())
    case .decline:
      return .decline(target: try fields.target(), reason: try fields.reason())
    case .kick:
      return .kick(target: try fields.target(), reason: try fields.reason())
    case .cancel:
      return .cancel(target: try fields.target(), reason: try fields.reason())
    case .leave:
      return .leave
    case .say:
      return .say(words: try VerbParser.checkedWords(fields.string("text"), what: "text"))
    case .send:
      return .send(
        bytes: try VerbParser.checkedMessage(fields.payload()),
        to: try fields.recipients(),
        isUnreliable: try fields.flag("unreliable")
      )
    case .resource:
      return .resource(
        file: try fields.file(),
        name: try VerbParser.checkedName(fields.string("name")),
        to: try fields.recipients()
      )
    case .stream:
      return .stream(
        name: try VerbParser.checkedName(fields.string("name")),
        file: try fields.file(),
        to: try fields.recipients()
      )
    case .objects:
      return .objects
    case .peers:
      return .peers
    case .digest:
      return .digest
    case .wait:
      return .wait(try fields.condition(), timeout: try fields.timeout())
    case .quit:
      return .quit
    case .help:
      return .help(topic: try fields.stringIfAny("topic"))
    }
  }

  private static func describe(_ error: DecodingError) -> String {
    switch error {
    case .dataCorrupted:
      return "the line is not one whole JSON object"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      let key = context.codingPath.first?.stringValue ?? "the line"
      return "\(TerminalText.quoted(key)) is not of the kind it has to be; see `help verbs`"
    case .keyNotFound(let key, _):
      return "\(TerminalText.quoted(key.stringValue)) is missing"
    @unknown default:
      return "the line is not one whole JSON object"
    }
  }
}

/// The members of a line of JSON, each read into the one type its key has in every verb.
private struct Fields: Decodable {
  private var values: [String: Value] = [:]
  private(set) var verb: String?
  private(set) var request: RequestMark?

  private enum Value {
    case string(String)
    case strings([String])
    case number(Double)
    case flag(Bool)
    case point([Double])
    case points([[Double]])
  }

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
      self.stringValue = stringValue
    }

    init?(intValue: Int) {
      nil
    }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    guard container.allKeys.count <= 32 else {
      throw VerbError(.unknownArgument, "no verb has so many keys")
    }
    // The mark first, so that whatever else is wrong is answered under it.
    let mark = Key(stringValue: "request")
    if container.contains(mark), try !container.decodeNil(forKey: mark) {
      if let number = try? container.decode(Int64.self, forKey: mark) {
        request = .number(number)
      } else if let word = try? container.decode(String.self, forKey: mark) {
        request = try VerbParser.checkedMark(word)
      } else {
        throw VerbError(.badArgument, "request is a string or a whole number")
      }
    }
    verb = try? container.decode(String.self, forKey: Key(stringValue: "verb"))
    for key in container.allKeys {
      let name = key.stringValue
      guard name != "verb", name != "request", name != "v" else { continue }
      guard try !container.decodeNil(forKey: key) else { continue }
      do {
        values[name] = try Fields.value(name, verb: verb, in: container, key)
      } catch is DecodingError {
        throw VerbError(
          .badArgument,
          "\(TerminalText.quoted(name)) is not \(Fields.kind(name, verb: verb))",
          verb: verb.map { TerminalText.cleaned($0, limit: 64) },
          request: request
        )
      } catch let error as VerbError {
        throw error.answering(
          verb: verb.map { TerminalText.cleaned($0, limit: 64) },
          request: request
        )
      }
    }
  }

  private static func value(
    _ name: String,
    verb: String?,
    in container: KeyedDecodingContainer<Key>,
    _ key: Key
  ) throws -> Value {
    switch name {
    case "at", "by":
      return .point(try container.decode([Double].self, forKey: key))
    case "to" where verb == "move":
      return .point(try container.decode([Double].self, forKey: key))
    case "to":
      if let one = try? container.decode(String.self, forKey: key) {
        return .strings([one])
      }
      return .strings(try container.decode([String].self, forKey: key))
    case "points":
      return .points(try container.decode([[Double]].self, forKey: key))
    case "over", "factor", "degrees", "peers", "objects", "seconds", "timeout":
      return .number(try container.decode(Double.self, forKey: key))
    case "unreliable", "synced":
      return .flag(try container.decode(Bool.self, forKey: key))
    case "id":
      if let sequence = try? container.decode(UInt64.self, forKey: key) {
        return .string("\(sequence)")
      }
      return .string(try container.decode(String.self, forKey: key))
    case "text", "as", "file", "name", "base64", "target", "reason", "topic":
      return .string(try container.decode(String.self, forKey: key))
    default:
      throw VerbError(
        .unknownArgument,
        "no verb has the key \(TerminalText.quoted(name)); see `help verbs`"
      )
    }
  }

  private static func kind(_ name: String, verb: String?) -> String {
    switch name {
    case "at", "by": "a point, like [10,20]"
    case "to": verb == "move" ? "a point, like [10,20]" : "a peer or a list of peers"
    case "points": "a list of points, like [[0,0],[10,20]]"
    case "over", "factor", "degrees", "peers", "objects", "seconds", "timeout": "a number"
    case "unreliable", "synced": "true or false"
    default: "a string"
    }
  }

  func expectOnly(_ keys: [String]) throws(VerbError) {
    for name in values.keys.sorted() where !keys.contains(name) {
      let known = (["verb"] + keys + ["request"]).joined(separator: ", ")
      throw VerbError(
        .unknownArgument,
        "\(TerminalText.quoted(name)) is no key of this verb; it has \(known)"
      )
    }
  }

  func stringIfAny(_ key: String) throws(VerbError) -> String? {
    guard case .string(let string)? = values[key] else { return nil }
    return string
  }

  func string(_ key: String) throws(VerbError) -> String {
    guard let string = try stringIfAny(key) else { throw Fields.missing(key) }
    return string
  }

  func numberIfAny(_ key: String) throws(VerbError) -> Double? {
    guard case .number(let number)? = values[key] else { return nil }
    return number
  }

  func number(_ key: String) throws(VerbError) -> Double {
    guard let number = try numberIfAny(key) else { throw Fields.missing(key) }
    return number
  }

  func flag(_ key: String) throws(VerbError) -> Bool {
    guard case .flag(let flag)? = values[key] else { return false }
    return flag
  }

  func point(_ key: String) throws(VerbError) -> BoardPoint {
    guard case .point(let pair)? = values[key] else { throw Fields.missing(key) }
    return try Fields.point(pair, key: key)
  }

  func points() throws(VerbError) -> [BoardPoint] {
    guard case .points(let pairs)? = values["points"] else { throw Fields.missing("points") }
    guard !pairs.isEmpty else {
      throw VerbError(.missingArgument, "points is empty; a stroke has at least one")
    }
    guard pairs.count <= VerbParser.maximumPoints else {
      throw VerbError(.tooBig, "a stroke has at most \(VerbParser.maximumPoints) points")
    }
    var points: [BoardPoint] = []
    points.reserveCapacity(pairs.count)
    for pair in pairs {
      points.append(try Fields.point(pair, key: "points"))
    }
    return points
  }

  func movement() throws(VerbError) -> Movement {
    switch (values["to"], values["by"]) {
    case (_?, nil): return .to(try point("to"))
    case (nil, _?): return .by(try point("by"))
    case (nil, nil):
      throw VerbError(.missingArgument, #"say where: "to":[x,y] or "by":[dx,dy]"#)
    case (_?, _?):
      throw VerbError(.badArgument, #"say where once: "to" or "by", not both"#)
    }
  }

  func reference() throws(VerbError) -> ObjectReference {
    try VerbParser.reference(string("id"))
  }

  func alias() throws(VerbError) -> ObjectAlias? {
    guard let text = try stringIfAny("as") else { return nil }
    return try VerbParser.alias(text)
  }

  func target() throws(VerbError) -> String {
    try VerbParser.target(string("target"), what: "target")
  }

  func reason() throws(VerbError) -> String? {
    guard let reason = try stringIfAny("reason") else { return nil }
    return try VerbParser.checkedWords(reason, what: "reason")
  }

  func file() throws(VerbError) -> String {
    let file = try string("file")
    guard !file.isEmpty, !file.utf8.contains(0) else {
      throw VerbError(.badArgument, "a file needs a name")
    }
    return file
  }

  func recipients() throws(VerbError) -> [String] {
    guard case .strings(let names)? = values["to"] else { return [] }
    guard (1...64).contains(names.count) else {
      throw VerbError(.badArgument, "to names 1 to 64 peers; leave it out for everybody")
    }
    for name in names {
      _ = try VerbParser.target(name, what: "to")
    }
    return names
  }

  func payload() throws(VerbError) -> [UInt8] {
    switch (try stringIfAny("text"), try stringIfAny("base64")) {
    case (let text?, nil):
      return Array(text.utf8)
    case (nil, let base64?):
      guard let data = Data(base64Encoded: base64) else {
        throw VerbError(.badArgument, "base64 is not base64")
      }
      return Array(data)
    case (nil, nil):
      throw VerbError(.missingArgument, #"give the message as "text" or as "base64""#)
    case (_?, _?):
      throw VerbError(.badArgument, #"give the message once: "text" or "base64", not both"#)
    }
  }

  func condition() throws(VerbError) -> WaitCondition {
    let given = ["peers", "objects", "synced", "seconds"].filter { values[$0] != nil }
    guard given.count == 1, let key = given.first else {
      throw VerbError(
        .missingArgument,
        "wait takes one of peers, objects, synced and seconds"
      )
    }
    switch key {
    case "synced":
      guard try flag("synced") else {
        throw VerbError(.badArgument, #"to wait for all to be everywhere, write "synced":true"#)
      }
      return .synced
    case "seconds":
      return .seconds(try VerbParser.checkedSeconds(number(key), key: key))
    default:
      guard let whole = Int64(exactly: try number(key)) else {
        throw VerbError(.badArgument, "\(key) is a whole number")
      }
      let count = try VerbParser.checkedCount(whole, key: key)
      return key == "peers" ? .peers(count) : .objects(count)
    }
  }

  func timeout() throws(VerbError) -> Double? {
    guard let timeout = try numberIfAny("timeout") else { return nil }
    return try VerbParser.checkedSeconds(timeout, key: "timeout")
  }

  private static func point(_ pair: [Double], key: String) throws(VerbError) -> BoardPoint {
    guard pair.count == 2 else {
      throw VerbError(.badArgument, "\(key) is not made of pairs [x,y]")
    }
    guard let point = BoardPoint(x: pair[0], y: pair[1]) else {
      throw VerbError(
        .badArgument,
        "\(key) lies outside the board: x and y go from -33554432 to just below 33554432"
      )
    }
    return point
  }

  private static func missing(_ key: String) -> VerbError {
    VerbError(.missingArgument, "\(TerminalText.quoted(key)) is missing")
  }
}
