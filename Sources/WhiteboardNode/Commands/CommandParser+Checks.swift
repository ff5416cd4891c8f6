import Whiteboard
import WhiteboardRendering

/// The checks of values that both input formats share.
extension CommandParser {
  static func checkedWords(_ words: String, what: String) throws(CommandError) -> String {
    let words = PlainText.lines(words)
    guard words.utf8.count <= maximumTextLength else {
      throw CommandError(
        .tooBig,
        "\(what) has \(words.utf8.count) bytes; at most \(maximumTextLength) are allowed"
      )
    }
    return words
  }

  static func checkedName(_ name: String) throws(CommandError) -> String {
    guard name.utf8.count <= maximumNameLength else {
      throw CommandError(
        .tooBig,
        "the name has \(name.utf8.count) bytes; at most \(maximumNameLength) are allowed"
      )
    }
    return name
  }

  static func checkedMessage(_ bytes: [UInt8]) throws(CommandError) -> [UInt8] {
    guard bytes.count <= maximumMessageLength else {
      throw CommandError(
        .tooBig,
        "the message has \(bytes.count) bytes; at most \(maximumMessageLength) are allowed"
      )
    }
    return bytes
  }

  static func checkedSeconds(_ seconds: Double, key: String) throws(CommandError) -> Double {
    guard seconds.isFinite, (0...maximumSeconds).contains(seconds) else {
      throw CommandError(.badArgument, "\(key) must be a number of seconds from 0 to 86400")
    }
    return seconds
  }

  static func checkedFactor(_ factor: Double) throws(CommandError) -> Double {
    guard factor.isFinite, (1.0 / 1_024...1_024).contains(factor) else {
      throw CommandError(.badArgument, "the scale must be a number from 1/1024 to 1024, like 1.5")
    }
    return factor
  }

  /// Returns whether the width of lines does not change, for a value of `line`.
  ///
  /// - Throws: `badArgument` if the value is not `keep`.
  static func keepsLineWidth(_ word: String?) throws(CommandError) -> Bool {
    guard let word else { return false }
    guard word == "keep" else {
      throw CommandError(
        .badArgument,
        "line must be keep; leave it out to scale the width of lines"
      )
    }
    return true
  }

  static func checkedDegrees(_ degrees: Double) throws(CommandError) -> Double {
    guard degrees.isFinite, abs(degrees) <= BoardPoint.bound else {
      throw CommandError(
        .badArgument,
        "the angle must be a number of degrees from -33554432 to 33554432, like 90 or -45"
      )
    }
    return degrees
  }

  static func checkedCount(_ count: Int64, key: String) throws(CommandError) -> Int {
    guard (0...1_000_000).contains(count) else {
      throw CommandError(.badArgument, "\(key) must be a whole number from 0 to 1000000")
    }
    return Int(count)
  }

  static func checkedMark(_ mark: String) throws(CommandError) -> RequestMark {
    guard mark.utf8.count <= maximumRequestLength else {
      throw CommandError(
        .tooBig,
        "request has \(mark.utf8.count) bytes; at most \(maximumRequestLength) are allowed"
      )
    }
    return .word(mark)
  }

  static func reference(_ text: String) throws(CommandError) -> ObjectReference {
    guard let reference = ObjectReference(text) else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(text)) is not an object; give an alias, last, selected, or an id like 12-abcdefghijklm"
      )
    }
    return reference
  }

  static func alias(_ text: String) throws(CommandError) -> ObjectAlias {
    guard let alias = ObjectAlias(text) else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(text)) is not an alias; an alias is a letter and then letters, digits, - _ or ."
      )
    }
    return alias
  }

  static func target(_ text: String, what: String) throws(CommandError) -> String {
    guard !text.isEmpty, text.utf8.count <= 256 else {
      throw CommandError(.badArgument, "\(what) must be an id, an id prefix or a name")
    }
    return text
  }

  static func checkedReferences(
    _ references: [ObjectReference]
  ) throws(CommandError) -> [ObjectReference] {
    guard !references.isEmpty else {
      throw CommandError(.missingArgument, "give at least one object")
    }
    guard references.count <= maximumReferences else {
      throw CommandError(.tooBig, "a command takes at most \(maximumReferences) objects")
    }
    return references
  }

  static func checkedWidth(_ width: Double, key: String) throws(CommandError) -> Double {
    guard width.isFinite, width > 0, width <= maximumWidth else {
      throw CommandError(.badArgument, "\(key) must be a number above 0, at most 1024, like 5")
    }
    return width
  }

  static let laserWithoutPoint = CommandError(.badArgument, "the laser needs a point")

  static func checkedExtent(_ extent: Double, key: String) throws(CommandError) -> Int {
    let whole = extent.rounded()
    guard whole >= 1, whole <= Double(BoardLimits.viewExtent) else {
      throw CommandError(.badArgument, "\(key) must be a number from 1 to 67108864, like 800")
    }
    return Int(whole)
  }

  static func checkedPosition(_ position: Int64, key: String) throws(CommandError) -> Int {
    guard (0...Int64(maximumCharacters)).contains(position) else {
      throw CommandError(
        .badArgument,
        "\(key) must be a whole number of characters from 0 to 65536"
      )
    }
    return Int(position)
  }

  static func color(_ text: String) throws(CommandError) -> UInt32? {
    guard text != "default" else { return nil }
    guard let color = ColorText.color(text) else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(text)) is not a color; write #RRGGBB, #RRGGBBAA or default"
      )
    }
    return color
  }

  static func game(_ text: String) throws(CommandError) -> GameName {
    guard let game = GameName(rawValue: text) else {
      let known = GameName.allCases.map(\.rawValue).joined(separator: " and ")
      throw CommandError(
        .badArgument,
        "no game is called \(TerminalText.quoted(text)); the games are \(known)"
      )
    }
    return game
  }

  static func checkedMove(_ move: String) throws(CommandError) -> String {
    guard !move.isEmpty, move.utf8.count <= maximumMoveLength else {
      throw CommandError(.badArgument, "the move must be a word, a column from 1 to 7, or resign")
    }
    return move
  }

  static func checkedGrid(_ spacing: Double) throws(CommandError) -> Double {
    guard spacing >= 0, spacing <= maximumGrid else {
      throw CommandError(
        .badArgument,
        "the grid must be the distance between its lines in board units, like 50, at most 65536; 0 is no grid"
      )
    }
    return spacing
  }

  static func checkedTitle(_ title: String) throws(CommandError) -> String {
    let title = PlainText.line(title)
    guard title.utf8.count <= maximumTitleLength else {
      throw CommandError(
        .tooBig,
        "the title has \(title.utf8.count) bytes; at most \(maximumTitleLength) are allowed"
      )
    }
    return title
  }

  static func checkedLanguage(_ tag: String) throws(CommandError) -> String {
    guard (1...16).contains(tag.utf8.count), tag.utf8.first.map(isLetter) == true,
      tag.utf8.allSatisfy({ isLetter($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
    else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(tag)) is not a language; write a tag like en or pt-BR"
      )
    }
    return tag
  }

  static func displayName(_ name: String?) throws(CommandError) -> String? {
    guard let name else { return nil }
    let line = PlainText.line(name)
    guard !line.isEmpty else { throw CommandError(.badArgument, "the name must not be empty") }
    guard line.utf8.count <= maximumPersonLength else {
      throw CommandError(
        .tooBig,
        "the name has \(line.utf8.count) bytes; at most \(maximumPersonLength) are allowed"
      )
    }
    return line
  }

  /// Parses a change of the icon: the name of an icon, its emoji, or `none`.
  static func iconChange(_ text: String?) throws(CommandError) -> IconChange? {
    guard let text else { return nil }
    guard text != "none" else { return .removed }
    let shape = iconShape(text)
    for icon in ProfileIcon.allCases where "\(icon)" == text || iconShape(icon.emoji) == shape {
      return .to(icon)
    }
    let known = ProfileIcon.allCases.map { "\($0)" }.joined(separator: ", ")
    throw CommandError(
      .badArgument,
      "no icon is called \(TerminalText.quoted(text)); the icons are \(known), and none"
    )
  }

  /// All icons, with their names and emoji.
  static let icons = ProfileIcon.allCases.map { "\($0) \($0.emoji)" }.joined(separator: ", ")

  /// Returns an emoji without the variation selector, which only some keyboards add.
  private static func iconShape(_ text: String) -> [Unicode.Scalar] {
    text.unicodeScalars.filter { $0 != "\u{FE0F}" }
  }

  static func checkedCheckpoint(_ name: String) throws(CommandError) -> String {
    let name = PlainText.line(name)
    guard !name.isEmpty else {
      throw CommandError(.badArgument, "the name of a checkpoint must not be empty")
    }
    guard name.utf8.count <= maximumTitleLength else {
      throw CommandError(
        .tooBig,
        "the name has \(name.utf8.count) bytes; at most \(maximumTitleLength) are allowed"
      )
    }
    return name
  }

  /// Parses a region in the form `X,Y,W,H`.
  package static func region(_ text: String) throws(CommandError) -> Rectangle {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    return try checkedRegion(parts.map { TextCommandParser.number($0) ?? .nan })
  }

  /// Parses a point in the form `X,Y`.
  package static func point(_ text: String) throws(CommandError) -> Point {
    Point(try TextCommandParser.point(text))
  }

  /// Returns the region with the least x and y, the width and the height in a list.
  static func checkedRegion(_ numbers: [Double]) throws(CommandError) -> Rectangle {
    guard numbers.count == 4, numbers[2] > 0, numbers[3] > 0,
      let corner = BoardPoint(x: numbers[0], y: numbers[1]),
      let opposite = BoardPoint(x: numbers[0] + numbers[2], y: numbers[1] + numbers[3])
    else {
      throw CommandError(
        .badArgument,
        "a region must be X,Y,W,H on the board, with a width and a height above 0, like 0,0,400,300"
      )
    }
    return Rectangle(Point(corner), Point(opposite))
  }

  /// Returns the number of pixels per board unit if it is valid.
  package static func checkedPixels(_ scale: Double) throws(CommandError) -> Double {
    guard scale > 0, scale <= maximumPixels else {
      throw CommandError(
        .badArgument,
        "scale must be a number of pixels above 0, at most 64, like 2"
      )
    }
    return scale
  }

  static func checkedFile(_ name: String) throws(CommandError) -> String {
    guard !name.isEmpty, !name.utf8.contains(0) else {
      throw CommandError(.badArgument, "the name of the file is empty or contains a zero byte")
    }
    return name
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  static func role(_ word: String) throws(CommandError) -> BoardRole {
    guard let role = BoardRole(rawValue: word.lowercased()) else {
      throw CommandError(.badArgument, "the role must be editor or viewer")
    }
    return role
  }

  static func terms(isView: Bool, expires: String?) throws(CommandError) -> InvitationTerms {
    guard let expires else { return InvitationTerms(isView: isView) }
    guard let seconds = InvitationTerms.seconds(expires) else {
      throw CommandError(
        .badArgument,
        "the time must be like 90s, 15m, 2h or 7d, at most 30d"
      )
    }
    return InvitationTerms(isView: isView, seconds: seconds)
  }
}
