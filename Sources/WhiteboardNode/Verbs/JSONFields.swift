import FoundationEssentials
import Whiteboard
import WhiteboardRendering

/// The members of a line of JSON, each read into the one type its key has in that verb.
struct JSONFields: Decodable {
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
    let shown = verb.map { TerminalText.cleaned($0, limit: 64) }
    for key in container.allKeys {
      let name = key.stringValue
      guard name != "verb", name != "request", name != "v" else { continue }
      guard try !container.decodeNil(forKey: key) else { continue }
      guard let kind = JSONKind(key: name, verb: verb) else {
        throw VerbError(
          .unknownArgument,
          "no verb has the key \(TerminalText.quoted(name)); see `help verbs`",
          verb: shown,
          request: request
        )
      }
      do {
        values[name] = try JSONFields.value(kind, in: container, key)
      } catch is DecodingError {
        throw VerbError(
          .badArgument,
          "\(TerminalText.quoted(name)) is not \(kind.description)",
          verb: shown,
          request: request
        )
      }
    }
  }

  private static func value(
    _ kind: JSONKind,
    in container: KeyedDecodingContainer<Key>,
    _ key: Key
  ) throws -> Value {
    switch kind {
    case .point, .region:
      return .point(try container.decode([Double].self, forKey: key))
    case .points:
      return .points(try container.decode([[Double]].self, forKey: key))
    case .number:
      return .number(try container.decode(Double.self, forKey: key))
    case .flag:
      return .flag(try container.decode(Bool.self, forKey: key))
    case .string:
      return .string(try container.decode(String.self, forKey: key))
    case .peers:
      if let one = try? container.decode(String.self, forKey: key) {
        return .strings([one])
      }
      return .strings(try container.decode([String].self, forKey: key))
    case .wordOrNumber:
      return .string(try container.decode(WordOrNumber.self, forKey: key).text)
    case .objects:
      return .strings(try container.decode([WordOrNumber].self, forKey: key).map(\.text))
    }
  }

  /// A string, or a whole number as it is written.
  private struct WordOrNumber: Decodable {
    let text: String

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let number = try? container.decode(UInt64.self) {
        text = "\(number)"
      } else {
        text = try container.decode(String.self)
      }
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

  static func missing(_ key: String) -> VerbError {
    VerbError(.missingArgument, "\(TerminalText.quoted(key)) is missing")
  }
}

/// The values of the fields, by key.
extension JSONFields {
  func has(_ key: String) -> Bool {
    values[key] != nil
  }

  func stringIfAny(_ key: String) throws(VerbError) -> String? {
    guard case .string(let string)? = values[key] else { return nil }
    return string
  }

  func string(_ key: String) throws(VerbError) -> String {
    guard let string = try stringIfAny(key) else { throw JSONFields.missing(key) }
    return string
  }

  func numberIfAny(_ key: String) throws(VerbError) -> Double? {
    guard case .number(let number)? = values[key] else { return nil }
    return number
  }

  func number(_ key: String) throws(VerbError) -> Double {
    guard let number = try numberIfAny(key) else { throw JSONFields.missing(key) }
    return number
  }

  func whole(_ key: String) throws(VerbError) -> Int64 {
    guard let whole = Int64(exactly: try number(key)) else {
      throw VerbError(.badArgument, "\(key) is a whole number")
    }
    return whole
  }

  func placeIfAny(_ key: String) throws(VerbError) -> Int? {
    guard has(key) else { return nil }
    return try VerbParser.checkedPlace(whole(key), key: key)
  }

  func flag(_ key: String) throws(VerbError) -> Bool {
    guard case .flag(let flag)? = values[key] else { return false }
    return flag
  }

  func pointIfAny(_ key: String) throws(VerbError) -> BoardPoint? {
    guard case .point(let pair)? = values[key] else { return nil }
    return try JSONFields.point(pair, key: key)
  }

  func regionIfAny() throws(VerbError) -> Rectangle? {
    guard case .point(let numbers)? = values["region"] else { return nil }
    return try VerbParser.checkedRegion(numbers)
  }

  func point(_ key: String) throws(VerbError) -> BoardPoint {
    guard let point = try pointIfAny(key) else { throw JSONFields.missing(key) }
    return point
  }

  func colorIfAny() throws(VerbError) -> UInt32? {
    try stringIfAny("color").flatMap { (text) throws(VerbError) in try VerbParser.color(text) }
  }

  func pen() throws(VerbError) -> Pen {
    var pen = Pen(color: try colorIfAny())
    if let width = try numberIfAny("width") {
      pen.width = try VerbParser.checkedWidth(width, key: "width")
    }
    return pen
  }

  func points(limit: Int, of line: String) throws(VerbError) -> [BoardPoint] {
    guard case .points(let pairs)? = values["points"] else { throw JSONFields.missing("points") }
    guard !pairs.isEmpty else {
      throw VerbError(.missingArgument, "points is empty; \(line) has at least one")
    }
    guard pairs.count <= limit else {
      throw VerbError(.tooBig, "\(line) has at most \(limit) points")
    }
    var points: [BoardPoint] = []
    points.reserveCapacity(pairs.count)
    for pair in pairs {
      points.append(try JSONFields.point(pair, key: "points"))
    }
    return points
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

  func referenceIfAny(_ key: String) throws(VerbError) -> ObjectReference? {
    guard let text = try stringIfAny(key) else { return nil }
    return try VerbParser.reference(text)
  }

  func reference() throws(VerbError) -> ObjectReference {
    try VerbParser.reference(string("id"))
  }

  /// The objects of `id` or `ids`.
  func references() throws(VerbError) -> [ObjectReference] {
    guard case .strings(let names)? = values["ids"] else { return [try reference()] }
    guard !has("id") else {
      throw VerbError(.badArgument, #"name the objects once: "id" or "ids", not both"#)
    }
    // Counted before they are read.
    guard names.count <= VerbParser.maximumReferences else {
      throw VerbError(.tooBig, "a verb takes at most \(VerbParser.maximumReferences) objects")
    }
    var references: [ObjectReference] = []
    for name in names {
      references.append(try VerbParser.reference(name))
    }
    return try VerbParser.checkedReferences(references)
  }

  func alias() throws(VerbError) -> ObjectAlias? {
    guard let text = try stringIfAny("as") else { return nil }
    return try VerbParser.alias(text)
  }

  func words() throws(VerbError) -> String {
    try VerbParser.checkedWords(string("text"), what: "text")
  }

  func checkpoint(_ key: String) throws(VerbError) -> String {
    try VerbParser.checkedCheckpoint(string(key))
  }

  func target() throws(VerbError) -> String {
    try VerbParser.target(string("target"), what: "target")
  }

  func reason() throws(VerbError) -> String? {
    guard let reason = try stringIfAny("reason") else { return nil }
    return try VerbParser.checkedWords(reason, what: "reason")
  }

  func file() throws(VerbError) -> String {
    try VerbParser.checkedFile(string("file"))
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
}
