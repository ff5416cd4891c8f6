import PeerCore
import Whiteboard

/// Commands for links, votes, comments, and the visible part of a picture.
enum ReferenceCommands {
  static let link = CommandSpec(
    .link,
    "set the link of an object, or remove it with `none`",
    notes: ["A link leads to an address that begins with https://, or to an object of this board: #ID or only ID."],
    .object,
    .word("URL|#ID|none", "link", "the link, like https://example.org", checkedLink)
  ) { (editor, object, link) throws(CommandError) in
    let id = try editor.resolve(object)
    let stored = try link.map { (link) throws(CommandError) in try storedLink(link, by: editor) }
    try editor.edit { (board) throws(BoardError) in try board.setLink(stored, of: [id]) }
    return CommandOutcome(id: id)
  }

  static let vote = CommandSpec(
    .vote,
    "give an object your vote with a reaction, such as 👍; with `off`, withdraw it",
    notes: ["Each member has at most one vote for each object and reaction."],
    .object,
    .word("REACTION", "reaction", "the reaction, like 👍", checkedReaction),
    .flag("off")
  ) { (editor, object, reaction, isOff) throws(CommandError) in
    let id = try editor.resolve(object)
    try editor.edit { (board) throws(BoardError) in try board.vote(reaction, for: id, !isOff) }
    return CommandOutcome(id: id)
  }

  static let comment = CommandSpec(
    .comment,
    "write a chat line about an object",
    .object,
    .text("the comment")
  ) { (editor, object, words) throws(CommandError) in try editor.say(words, about: try editor.resolve(object)) }

  static let resolve = CommandSpec(
    .resolve,
    "mark a comment as resolved; with `off`, as open again",
    notes: ["LINE is the id of the comment, which `comment` answers and `chat` lists."],
    .word("LINE", "line", "the id of the comment", checkedLine),
    .flag("off")
  ) { (editor, line, isOff) throws(CommandError) in
    guard editor.board.chatLine(line)?.about != nil else {
      throw CommandError(.noSuchObject, "there is no comment \(line); `chat` lists the lines with their ids")
    }
    try editor.edit { (board) throws(BoardError) in try board.resolve(line, !isOff) }
    return CommandOutcome(id: line)
  }

  static let crop = CommandSpec(
    .crop,
    "show only a part of a photo, or all of it with `none`",
    notes: ["The sides of the part are in percent of the width and the height of the whole photo, like 0,0,50,100."],
    .object,
    .word("LEFT,TOP,RIGHT,BOTTOM|none", "part", "the part, like 0,0,50,100", checkedPart)
  ) { (editor, object, part) throws(CommandError) in
    let id = try editor.resolve(object)
    try editor.edit { (board) throws(BoardError) in try board.crop(id, to: part) }
    return CommandOutcome(id: id)
  }

  private static func checkedLink(_ word: String) throws(CommandError) -> String? {
    if word == "none" { return nil }
    // The names and ids of objects contain no colon.
    if word.contains(":") {
      if let problem = problem(ofAddress: word) { throw CommandError(.badArgument, problem) }
    } else {
      _ = try linkedObject(word)
    }
    return word
  }

  private static func linkedObject(_ link: String) throws(CommandError) -> ObjectReference {
    try CommandParser.reference(link.hasPrefix("#") ? String(link.dropFirst()) : link)
  }

  private static func storedLink(_ link: String, by editor: BoardEditor) throws(CommandError) -> String {
    guard !link.contains(":") else { return link }
    let object = try linkedObject(link)
    do throws(CommandError) {
      let id = try editor.resolve(object)
      return "#\(id)"
    } catch {
      guard case .alias = object, link.contains(".") else { throw error }
      throw CommandError(error.code, "\(error.message); an address begins with https://")
    }
  }

  /// Returns the reason why a link cannot lead to this address, with advice; nil if a link can lead to this address.
  private static func problem(ofAddress word: String) -> String? {
    switch ObjectLink.problem(in: word) {
    case nil: nil
    case .tooLong: "the link has \(word.utf8.count) bytes; use an address of at most \(BoardLimits.linkBytes) bytes"
    case .otherScheme where word.lowercased().hasPrefix("https://"):
      "write https:// at the start of the link in small letters"
    case .otherScheme, .notAnObject:
      "\(UntrustedText(word).quoted()) is not a link; give an address that begins with https://, an object, or none"
    case .noHost: "the link has no host; give an address like https://example.org"
    // The message does not repeat the link, because it can contain a password.
    case .hasUser: "a link must not contain a user name or password; remove the part up to @ before the host"
    case .hostNotASCII: "write the host of the link in its ASCII form, which begins with xn--"
    case .notASCII: "write letters like é in a link as percent codes, like %C3%A9"
    case .forbiddenCharacter: #"write spaces, " and \ in a link as percent codes, like %20 for a space"#
    }
  }

  private static func checkedReaction(_ word: String) throws(CommandError) -> String {
    guard (1...BoardLimits.iconBytes).contains(word.utf8.count) else {
      throw CommandError(
        .badArgument,
        "a reaction is one emoji or a short word, at most \(BoardLimits.iconBytes) bytes"
      )
    }
    return word
  }

  private static func checkedLine(_ word: String) throws(CommandError) -> ObjectID {
    guard let id = ObjectID(word) else {
      throw CommandError(.badArgument, "\(UntrustedText(word).quoted()) is not the id of a chat line")
    }
    return id
  }

  private static func checkedPart(_ word: String) throws(CommandError) -> Rectangle? {
    if word == "none" { return nil }
    let sides = word.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) ?? .nan }
    guard sides.count == 4, sides.allSatisfy({ (0...100).contains($0) }), sides[0] < sides[2], sides[1] < sides[3]
    else {
      throw CommandError(
        .badArgument,
        "\(UntrustedText(word).quoted()) is not a part of a photo; give LEFT,TOP,RIGHT,BOTTOM in percent, like 0,0,50,100"
      )
    }
    return Rectangle(Point(x: sides[0] / 100, y: sides[1] / 100), Point(x: sides[2] / 100, y: sides[3] / 100))
  }
}

extension Command {
  /// Sets the link of an object; nil to remove it.
  public static func link(_ object: ObjectReference, _ link: String?) -> Command {
    ReferenceCommands.link(object, link)
  }

  /// Gives an object the local member's vote with a reaction, or withdraws the vote.
  public static func vote(_ object: ObjectReference, _ reaction: String, isWithdrawn: Bool = false) -> Command {
    ReferenceCommands.vote(object, reaction, isWithdrawn)
  }

  /// Writes a chat line about an object.
  public static func comment(_ object: ObjectReference, _ words: String) -> Command {
    ReferenceCommands.comment(object, words)
  }

  /// Marks a comment as resolved or open.
  public static func resolve(_ line: ObjectID, isOpen: Bool = false) -> Command {
    ReferenceCommands.resolve(line, isOpen)
  }

  /// Shows a part of a photo, as fractions of its width and height; nil for all of it.
  public static func crop(_ object: ObjectReference, to part: Rectangle?) -> Command {
    ReferenceCommands.crop(object, part)
  }
}
