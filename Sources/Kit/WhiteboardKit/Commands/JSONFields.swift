import FoundationEssentials
import PeerCore
import Whiteboard

/// The members of a JSON object. Each member is read as the type that its key has in the command.
struct JSONFields {
  private var values: [String: Value] = [:]
  let verb: String?
  let request: RequestMark?

  private enum Value {
    case string(String)
    case strings([String])
    case number(Double)
    case flag(Bool)
    case point([Double])
    case points([[Double]])
  }

  init(_ line: [UInt8]) throws(CommandError) {
    let members = try Self.members(of: line)
    // Read the request id first, so that an error about any other member contains it.
    request = try members["request"].flatMap { (tree) throws(CommandError) in try Self.mark(tree) }
    verb = members["verb"]?.string
    for (name, tree) in members where tree != .null {
      guard name != "verb", name != "request", name != "v" else { continue }
      do throws(CommandError) { values[name] = try Self.value(of: name, tree, in: verb) } catch {
        throw error.answering(verb: verb.map { UntrustedText($0).escaped(limit: 64) }, request: request)
      }
    }
  }

  private static func members(of line: [UInt8]) throws(CommandError) -> [String: JSONTree] {
    let tree: JSONTree
    do throws(JSONError) { tree = try JSONReader.read(line, allowsInfinity: true) } catch {
      throw CommandError(.syntax, words(for: error))
    }
    guard case .object(let members) = tree else { throw CommandError(.syntax, words(for: .notAnObject)) }
    guard members.count <= 32 else {
      throw CommandError(.unknownArgument, "the line has more keys than any command")
    }
    return members
  }

  private static func words(for error: JSONError) -> String {
    switch error {
    case .truncated, .notAnObject: "the line is not one complete JSON object"
    case .trailingBytes(let offset), .duplicateKey(let offset), .malformedString(let offset), .malformed(let offset):
      "the line is not one complete JSON object: there is an error at byte \(offset + 1)"
    case .tooDeep(let offset): "the line is nested too deeply at byte \(offset + 1)"
    case .invalidUTF8: "the line is not valid UTF-8"
    case .tooManyValues: "the line has more values than can be read"
    }
  }

  private static func mark(_ tree: JSONTree) throws(CommandError) -> RequestMark? {
    switch tree {
    case .null: return nil
    case .string(let word): return try CommandParser.checkedMark(word)
    case .number(let number): if let whole = Int64(exactly: number) { return .number(whole) }
    case .digits(let digits): if let whole = Int64(digits) { return .number(whole) }
    default: break
    }
    throw CommandError(.badArgument, "request must be a string or a whole number")
  }

  private static func value(of name: String, _ tree: JSONTree, in verb: String?) throws(CommandError) -> Value {
    guard let kind = CommandTable.kind(of: name, in: verb) else {
      throw CommandError(
        .unknownArgument,
        "no command has the key \(UntrustedText(name).quoted()); see `help verbs`"
      )
    }
    guard let value = Self.value(kind, tree) else {
      throw CommandError(.badArgument, "\(UntrustedText(name).quoted()) must be \(kind.description)")
    }
    let isFinite =
      switch value {
      case .number(let number): number.isFinite
      case .point(let numbers): numbers.allSatisfy(\.isFinite)
      case .points(let points): points.allSatisfy { $0.allSatisfy(\.isFinite) }
      case .string, .strings, .flag: true
      }
    guard isFinite else {
      throw CommandError(.syntax, "\(UntrustedText(name).quoted()) has a number that is out of range")
    }
    return value
  }

  private static func value(_ kind: JSONKind, _ tree: JSONTree) -> Value? {
    switch kind {
    case .point, .region: tree.numbers.map { .point($0) }
    case .points: all(tree) { $0.numbers }.map { .points($0) }
    case .number: tree.number.map { .number($0) }
    case .flag: tree.flag.map { .flag($0) }
    case .string: tree.string.map { .string($0) }
    case .peers, .files: (tree.string.map { [$0] } ?? all(tree) { $0.string }).map { .strings($0) }
    case .wordOrNumber: wordOrNumber(tree).map { .string($0) }
    case .objects: all(tree) { wordOrNumber($0) }.map { .strings($0) }
    }
  }

  /// Returns the elements of a list; nil if the tree is not a list, or an element has another type.
  private static func all<Element>(_ tree: JSONTree, _ read: (JSONTree) -> Element?) -> [Element]? {
    guard let list = tree.list else { return nil }
    let elements = list.compactMap(read)
    return elements.count == list.count ? elements : nil
  }

  private static func wordOrNumber(_ tree: JSONTree) -> String? {
    switch tree {
    case .string(let text): text
    case .number(let number): UInt64(exactly: number).map { "\($0)" }
    case .digits(let digits): UInt64(digits).map { "\($0)" }
    default: nil
    }
  }

  func expectOnly(_ keys: [String]) throws(CommandError) {
    for name in values.keys.sorted() where !keys.contains(name) {
      let known = (["verb"] + keys + ["request"]).joined(separator: ", ")
      throw CommandError(
        .unknownArgument,
        "\(UntrustedText(name).quoted()) is not a key of this command; its keys are \(known)"
      )
    }
  }

  static func missing(_ key: String) -> CommandError {
    CommandError(.missingArgument, "\(UntrustedText(key).quoted()) is missing")
  }
}

extension JSONFields {
  func has(_ key: String) -> Bool { values[key] != nil }

  func stringIfAny(_ key: String) -> String? {
    guard case .string(let string)? = values[key] else { return nil }
    return string
  }

  func string(_ key: String) throws(CommandError) -> String {
    guard let string = stringIfAny(key) else { throw JSONFields.missing(key) }
    return string
  }

  func numberIfAny(_ key: String) -> Double? {
    guard case .number(let number)? = values[key] else { return nil }
    return number
  }

  func number(_ key: String) throws(CommandError) -> Double {
    guard let number = numberIfAny(key) else { throw JSONFields.missing(key) }
    return number
  }

  func whole(_ key: String) throws(CommandError) -> Int64 {
    guard let whole = Int64(exactly: try number(key)) else {
      throw CommandError(.badArgument, "\(key) must be a whole number")
    }
    return whole
  }

  func positionIfAny(_ key: String) throws(CommandError) -> Int? {
    guard has(key) else { return nil }
    return try CommandLimits.checkedPosition(whole(key), key: key)
  }

  func flag(_ key: String) -> Bool {
    guard case .flag(let flag)? = values[key] else { return false }
    return flag
  }

  func pointIfAny(_ key: String) throws(CommandError) -> BoardPoint? {
    guard case .point(let pair)? = values[key] else { return nil }
    return try JSONFields.point(pair, key: key)
  }

  func regionIfAny() throws(CommandError) -> Rectangle? {
    guard case .point(let numbers)? = values["region"] else { return nil }
    return try CommandLimits.checkedRegion(numbers)
  }

  func point(_ key: String) throws(CommandError) -> BoardPoint {
    guard let point = try pointIfAny(key) else { throw JSONFields.missing(key) }
    return point
  }

  func pen(_ usual: Pen) throws(CommandError) -> Pen {
    var pen = usual
    if let color = stringIfAny("color") { pen.color = try CommandParser.color(color) }
    if let width = numberIfAny("width") { pen.width = try CommandLimits.checkedWidth(width, key: "width") }
    return pen
  }

  func points(limit: Int, of line: String) throws(CommandError) -> [BoardPoint] {
    guard case .points(let pairs)? = values["points"] else { throw JSONFields.missing("points") }
    guard !pairs.isEmpty else {
      throw CommandError(.missingArgument, "points is empty; \(line) needs at least one point")
    }
    guard pairs.count <= limit else { throw CommandError(.tooBig, "\(line) has at most \(limit) points") }
    var points: [BoardPoint] = []
    points.reserveCapacity(pairs.count)
    for pair in pairs { points.append(try JSONFields.point(pair, key: "points")) }
    return points
  }

  private static func point(_ pair: [Double], key: String) throws(CommandError) -> BoardPoint {
    guard pair.count == 2 else { throw CommandError(.badArgument, "\(key) must consist of pairs [x,y]") }
    guard let point = BoardPoint(x: pair[0], y: pair[1]) else {
      throw CommandError(.badArgument, "\(key) is outside the board: x and y go from -33554432 to just below 33554432")
    }
    return point
  }

  func referenceIfAny(_ key: String) throws(CommandError) -> ObjectReference? {
    guard let text = stringIfAny(key) else { return nil }
    return try CommandParser.reference(text)
  }

  func reference() throws(CommandError) -> ObjectReference { try CommandParser.reference(string("id")) }

  func references() throws(CommandError) -> [ObjectReference] {
    guard case .strings(let names)? = values["ids"] else { return [try reference()] }
    guard !has("id") else { throw CommandError(.badArgument, #"name the objects once: "id" or "ids", not both"#) }
    // Check the number of objects first, so that a long list is not parsed.
    guard names.count <= CommandLimits.maximumReferences else {
      throw CommandError(.tooBig, "a command takes at most \(CommandLimits.maximumReferences) objects")
    }
    var references: [ObjectReference] = []
    for name in names { references.append(try CommandParser.reference(name)) }
    return try CommandLimits.checkedReferences(references)
  }

  func words() throws(CommandError) -> String { try CommandLimits.checkedWords(string("text"), what: "text") }

  func checkpoint(_ key: String) throws(CommandError) -> String { try CommandLimits.checkedCheckpoint(string(key)) }

  func count(_ key: String) throws(CommandError) -> Int { try CommandLimits.checkedCount(whole(key), key: key) }

  func secondsIfAny(_ key: String) throws(CommandError) -> Double? {
    guard let seconds = numberIfAny(key) else { return nil }
    return try CommandLimits.checkedSeconds(seconds, key: key)
  }

  func target() throws(CommandError) -> String { try CommandLimits.checkedTarget(string("target"), what: "target") }

  func reason() throws(CommandError) -> String? {
    guard let reason = stringIfAny("reason") else { return nil }
    return try CommandLimits.checkedWords(reason, what: "reason")
  }

  func file() throws(CommandError) -> String { try CommandLimits.checkedFile(string("file")) }

  func files() throws(CommandError) -> [String] {
    guard case .strings(let files)? = values["files"] else { throw Self.missing("files") }
    for file in files { _ = try CommandLimits.checkedFile(file) }
    return files
  }

  func recipients() throws(CommandError) -> [String] {
    guard case .strings(let names)? = values["to"] else { return [] }
    guard (1...64).contains(names.count) else {
      throw CommandError(.badArgument, "the key \"to\" must name 1 to 64 peers; leave it out to send to all")
    }
    for name in names { _ = try CommandLimits.checkedTarget(name, what: "to") }
    return names
  }

  func payload() throws(CommandError) -> [UInt8] {
    switch (stringIfAny("text"), stringIfAny("base64")) {
    case (let text?, nil): return Array(text.utf8)
    case (nil, let base64?):
      guard let data = Data(base64Encoded: base64) else {
        throw CommandError(.badArgument, "the value of \"base64\" is not valid base64")
      }
      return Array(data)
    case (nil, nil): throw CommandError(.missingArgument, #"give the message as "text" or as "base64""#)
    case (_?, _?): throw CommandError(.badArgument, #"give the message once: "text" or "base64", not both"#)
    }
  }
}

enum JSONKind {
  /// `[x,y]`.
  case point
  /// `[x,y,width,height]`.
  case region
  /// `[[x,y],…]`.
  case points
  case number, flag, string
  /// A string or a list of strings.
  case peers
  /// A path or a list of paths.
  case files
  /// A string or a whole number, such as an object id or a move in a game.
  case wordOrNumber
  case objects

  var description: String {
    switch self {
    case .point: "a point, like [10,20]"
    case .region: "a region, like [0,0,400,300]"
    case .points: "a list of points, like [[0,0],[10,20]]"
    case .number: "a number"
    case .flag: "true or false"
    case .string: "a string"
    case .peers: "a peer or a list of peers"
    case .files: "a path or a list of paths"
    case .wordOrNumber: "a string or a whole number"
    case .objects: #"a list of objects, like ["last",12]"#
    }
  }
}

/// The role that the owner of a board gives a member.
public enum BoardRole: String, CaseIterable, Sendable {
  /// A member that can change the board.
  case editor
  /// A member that can only view the board.
  case viewer
}

/// The games, by their names in commands.
public enum GameName: String, CaseIterable, Sendable {
  /// A game for everyone: guess a word of five letters.
  case wordle
  /// A game for two: four in a row.
  case connectFour = "connect-four"
}

/// A setting of the board with its new value.
public enum Setting: Equatable, Sendable {
  /// The title of the board.
  case title(String)
  /// The background color, `0xRRGGBBAA`; nil for the viewer's own color.
  case background(UInt32?)
  /// The grid spacing, in board units; zero for no grid.
  case grid(Double)
  /// The language of games, as a BCP 47 tag.
  case language(String)
}

/// The condition of `wait`.
public enum WaitCondition: Equatable, Sendable {
  /// At least this number of other peers is connected. Zero means that no other peer is connected.
  case peers(Int)
  /// At least this number of objects is on the board. Zero means that the board is empty.
  case objects(Int)
  /// Every connected member has the same board as the local peer, and at least one member is connected.
  case synced
  /// A number of seconds has passed.
  case seconds(Double)
}

/// A command that starts, pauses, resumes or ends the broadcast of a board.
public enum BroadcastOrder: Equatable, Sendable {
  /// A broadcast begins.
  case start(Broadcast.Options)
  /// Viewers see the last picture until the broadcast continues.
  case pause
  /// A paused broadcast continues.
  case resume
  /// The broadcast ends.
  case finish
}

/// A change to the access that browsers have to a board.
public enum WebAccess: String, CaseIterable, Equatable, Sendable {
  /// Browsers with a browser link can join.
  case on
  /// All guests are disconnected, and no browser can join.
  case off
  /// All browser links are revoked, and the guests that joined with them are removed.
  case revoke
}
