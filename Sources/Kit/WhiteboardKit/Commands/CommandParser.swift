import FoundationEssentials
import PeerCore
import Whiteboard

/// Parses lines with commands, from a script, the prompt or a program. A line is JSON if its first character that is
/// not a space is `{`. Any other line is in text form.
package enum CommandParser {
  /// The maximum length of a line, in bytes. The limit is enough for a message of 16 MiB in base64, and the other keys
  /// of the command.
  package static let maximumLineLength = 23 * 1024 * 1024
  /// The maximum length of a request id, in bytes of UTF-8.
  package static let maximumRequestLength = 256

  /// Parses a line; returns nil if the line is empty or only a comment. The error contains the command and the request
  /// id, if these could be read.
  package static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    guard line.utf8.count <= maximumLineLength else {
      throw CommandError(
        .lineTooLong,
        "the line has \(line.utf8.count) bytes; at most \(maximumLineLength) are allowed"
      )
    }
    guard let first = line.utf8.first(where: { !isBlank($0) }) else { return nil }
    if first == UInt8(ascii: "{") { return try JSONCommandParser.parse(Array(line.utf8)) }
    return try TextCommandParser.parse(line)
  }

  /// Parses a line; returns nil if the line is empty or only a comment. The error has the code `syntax` if the bytes
  /// are not UTF-8.
  package static func parse(bytes: [UInt8]) throws(CommandError) -> CommandRequest? {
    guard bytes.count <= maximumLineLength else {
      throw CommandError(.lineTooLong, "the line has \(bytes.count) bytes; at most \(maximumLineLength) are allowed")
    }
    if bytes.first(where: { !isBlank($0) }) == UInt8(ascii: "{") { return try JSONCommandParser.parse(bytes) }
    guard let line = String(validating: bytes, as: UTF8.self) else {
      throw CommandError(.syntax, "the line is not valid UTF-8")
    }
    return try parse(line)
  }

  static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A }

  static func unknownCommand(_ word: String) -> CommandError {
    let hint =
      if let nearest = CommandTable.nearest(to: word) { "did you mean \(nearest.rawValue)?" } else {
        "`help verbs` lists all commands"
      }
    return CommandError(.unknownCommand, "there is no command \(UntrustedText(word).quoted()); \(hint)")
  }
}

/// Parses commands in JSON form, such as `{"verb":"move","id":"last","by":[10,0]}`.
enum JSONCommandParser {
  static func parse(_ line: [UInt8]) throws(CommandError) -> CommandRequest? {
    let fields = try JSONFields(line)
    let request = fields.request
    guard let word = fields.verb else {
      throw CommandError(.missingArgument, #"a line of JSON needs "verb", like {"verb":"digest"}"#, request: request)
    }
    guard let name = CommandName(rawValue: word) else {
      throw CommandParser.unknownCommand(word).answering(verb: UntrustedText(word).escaped(limit: 64), request: request)
    }
    let entry = CommandTable.entry(name)
    do throws(CommandError) {
      try fields.expectOnly(entry.keys.map(\.name))
      return CommandRequest(try entry.parseJSON(fields), request: request)
    } catch { throw error.answering(verb: name.rawValue, request: request) }
  }
}

extension CommandParser {
  /// `keep` means that scaling does not change the width of lines.
  static func keepsLineWidth(_ word: String) throws(CommandError) -> Bool {
    guard word == "keep" else {
      throw CommandError(
        .badArgument,
        "the value of line must be keep; without line=keep, the width of lines is scaled too"
      )
    }
    return true
  }

  static func startsAtCorner(_ word: String) throws(CommandError) -> Bool {
    guard word == "corner" else {
      throw CommandError(.badArgument, "the value of from must be corner; without it, X,Y is the center of the text")
    }
    return true
  }

  static func checkedMark(_ mark: String) throws(CommandError) -> RequestMark {
    guard mark.utf8.count <= maximumRequestLength else {
      throw CommandError(
        .tooBig,
        "the request id has \(mark.utf8.count) bytes; at most \(maximumRequestLength) are allowed"
      )
    }
    return .word(mark)
  }

  static func reference(_ text: String) throws(CommandError) -> ObjectReference {
    if let reference = ObjectReference(text) { return reference }
    guard !hasFormOfID(text) else {
      throw CommandError(.noSuchObject, "there is no object \(text); `objects` lists the ids")
    }
    throw CommandError(
      .badArgument,
      "\(UntrustedText(text).quoted()) is not an object; give an alias, last, selected, or an id like 12-abcdefghijklm"
    )
  }

  /// Returns whether a text looks like an id, even if the id is mistyped.
  private static func hasFormOfID(_ text: String) -> Bool {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    return parts.count == 2 && UInt64(parts[0]) != nil && parts[0].utf8.allSatisfy { (0x30...0x39).contains($0) }
      && parts[0].utf8.first != 0x30 && parts[1].utf8.count == 13
      && parts[1].utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x32...0x37).contains($0) }
  }

  static func alias(_ text: String) throws(CommandError) -> ObjectAlias {
    guard let alias = ObjectAlias(text) else {
      throw CommandError(
        .badArgument,
        "\(UntrustedText(text).quoted()) is not an alias; an alias is a letter, followed by letters, digits, -, _ or ."
      )
    }
    return alias
  }

  static func color(_ text: String) throws(CommandError) -> UInt32? {
    guard text != "default" else { return nil }
    guard let color = ColorText.color(text) else {
      throw CommandError(
        .badArgument,
        "\(UntrustedText(text).quoted()) is not a color; write #RRGGBB, #RRGGBBAA or default"
      )
    }
    return color
  }

  static func game(_ text: String) throws(CommandError) -> GameName {
    guard let game = GameName(rawValue: text) else {
      let known = GameName.allCases.map(\.rawValue).joined(separator: " and ")
      throw CommandError(.badArgument, "no game is called \(UntrustedText(text).quoted()); the games are \(known)")
    }
    return game
  }

  static func iconChange(_ text: String) throws(CommandError) -> IconChange {
    guard text != "none" else { return .removed }
    let shape = iconShape(text)
    for icon in ProfileIcon.allCases where "\(icon)" == text || iconShape(icon.emoji) == shape { return .to(icon) }
    let known = ProfileIcon.allCases.map { "\($0)" }.joined(separator: ", ")
    throw CommandError(.badArgument, "no icon is called \(UntrustedText(text).quoted()); use none, or one of \(known)")
  }

  package static let icons = ProfileIcon.allCases.map { "\($0) \($0.emoji)" }.joined(separator: ", ")

  /// Removes the variation selector, because only some keyboards add it.
  private static func iconShape(_ text: String) -> [Unicode.Scalar] { text.unicodeScalars.filter { $0 != "\u{FE0F}" } }

  /// Parses `X,Y,W,H`.
  package static func region(_ text: String) throws(CommandError) -> Rectangle {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    return try CommandLimits.checkedRegion(parts.map { TextCommandParser.number($0) ?? .nan })
  }

  /// Parses `X,Y`.
  package static func point(_ text: String) throws(CommandError) -> Point { Point(try TextCommandParser.point(text)) }

  static func role(_ word: String) throws(CommandError) -> BoardRole {
    guard let role = BoardRole(rawValue: word.lowercased()) else {
      throw CommandError(.badArgument, "the role must be editor or viewer")
    }
    return role
  }

  static func webAccess(_ word: String) throws(CommandError) -> WebAccess {
    guard let access = WebAccess(rawValue: word.lowercased()) else {
      throw CommandError(.badArgument, "give on, off or revoke")
    }
    return access
  }

  static func broadcast(
    _ action: String,
    fps: Double?,
    size: String?,
    codec: String?,
    region: Rectangle?,
    follow: String?,
    showsFrames: Bool
  ) throws(CommandError) -> BroadcastOrder {
    let hasOptions = fps != nil || size != nil || codec != nil || region != nil || follow != nil || showsFrames
    let order: BroadcastOrder
    switch action.lowercased() {
    case "start":
      return .start(
        try broadcastOptions(
          fps: fps,
          size: size,
          codec: codec,
          region: region,
          follow: follow,
          showsFrames: showsFrames
        )
      )
    case "pause": order = .pause
    case "resume": order = .resume
    case "finish": order = .finish
    default: throw CommandError(.badArgument, "give start, pause, resume or finish")
    }
    guard !hasOptions else { throw CommandError(.badArgument, "only `broadcast start` has options") }
    return order
  }

  /// Returns the options of a broadcast; throws if a value is not allowed.
  package static func broadcastOptions(
    fps: Double?,
    size: String?,
    codec: String?,
    region: Rectangle?,
    follow: String?,
    showsFrames: Bool
  ) throws(CommandError) -> Broadcast.Options {
    var options = Broadcast.Options()
    if let fps {
      guard let rate = Int(exactly: fps), BroadcastFormat.rates.contains(rate) else {
        throw CommandError(.badArgument, "the number of pictures per second must be from 1 to 60")
      }
      options.rate = rate
    }
    if let size {
      guard let size = FrameSize(size) else {
        throw CommandError(
          .badArgument,
          "give a size like 1920x1080, with at most \(FrameSize.sideLimit) pixels on a side and 8 million in all"
        )
      }
      options.size = size
    }
    if let codec {
      guard let codec = FrameCodec(rawValue: codec.lowercased()) else {
        throw CommandError(.badArgument, "the encoding must be jpeg, png or raw")
      }
      options.codec = codec
    }
    guard [region != nil, follow != nil, showsFrames].count(where: { $0 }) <= 1 else {
      throw CommandError(.badArgument, "give only one of region, follow and frames")
    }
    if let region { options.area = .region(region) }
    if let follow { options.area = .member(try CommandLimits.checkedTarget(follow, what: "the member to follow")) }
    if showsFrames { options.area = .latestFrame }
    return options
  }

  static func terms(isView: Bool, isForBrowsers: Bool, isOnce: Bool, expires: String?) throws(CommandError)
    -> InvitationTerms
  {
    guard isForBrowsers || !isOnce else {
      throw CommandError(.badArgument, "only a browser link can admit one person; add `web`")
    }
    var terms = InvitationTerms(isView: isView, isForBrowsers: isForBrowsers, isOnce: isOnce)
    guard let expires else { return terms }
    guard let seconds = InvitationTerms.seconds(expires) else {
      throw CommandError(.badArgument, "give a time such as 90s, 15m, 2h or 7d, at most 30d")
    }
    terms.seconds = seconds
    return terms
  }
}

/// Parses commands in text form, such as `move last +10,0`.
enum TextCommandParser {
  static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    let words = try LineWords.split(line)
    guard let first = words.first else { return nil }
    var arguments = LineArguments(words.dropFirst())
    // Read the request id first, so that an error about any other argument contains it.
    let request = try arguments.removeRequest()
    guard let name = CommandName(rawValue: first.text), !first.isQuoted else {
      throw CommandParser.unknownCommand(first.text).answering(
        verb: UntrustedText(first.text).escaped(limit: 64),
        request: request
      )
    }
    let entry = CommandTable.entry(name)
    do throws(CommandError) {
      let command = try entry.parseWords(&arguments)
      try arguments.expectEnd()
      return CommandRequest(command, request: request)
    } catch {
      let isAboutUsage = [.missingArgument, .badArgument, .unknownArgument].contains(error.code)
      let message = isAboutUsage ? "\(error.message). Usage: \(entry.usage)" : error.message
      throw CommandError(error.code, message, verb: name.rawValue, request: request)
    }
  }
}

extension TextCommandParser {
  static func point(_ text: some StringProtocol) throws(CommandError) -> BoardPoint {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    guard parts.count == 2, let x = number(parts[0]), let y = number(parts[1]) else {
      throw CommandError(.badArgument, "\(UntrustedText(text).quoted()) is not a point; write X,Y, like 120,-40.5")
    }
    guard let point = BoardPoint(x: x, y: y) else {
      throw CommandError(
        .badArgument,
        "\(UntrustedText(text).quoted()) is outside the board: X and Y go from -33554432 to just below 33554432"
      )
    }
    return point
  }

  /// Rejects other forms that `Double` accepts, such as hexadecimal numbers.
  static func number(_ text: some StringProtocol) -> Double? {
    guard (1...64).contains(text.utf8.count),
      text.utf8.allSatisfy({
        (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E || $0 == 0x45 || $0 == 0x65
      })
    else { return nil }
    return Double(text)
  }
}
