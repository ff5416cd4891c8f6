import WhiteboardRendering

/// The verbs about people, versions and scripts.
extension TextCommandParser {
  static func accept(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let isAlways = arguments.takeFlag("always")
    return .accept(target: try arguments.target("the invitation"), isAlways: isAlways)
  }

  static func decline(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let target = try arguments.target("the invitation")
    return .decline(target: target, reason: try arguments.wordsIfAny("the reason"))
  }

  static func kick(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let withAdmitted = arguments.takeFlag("--with-admitted")
    let keepsCode = arguments.takeFlag("--keep-code")
    let target = try arguments.target("the peer")
    return .kick(
      target: target,
      reason: try arguments.wordsIfAny("the reason"),
      withAdmitted: withAdmitted,
      keepsCode: keepsCode
    )
  }

  static func role(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let target = try arguments.target("the peer")
    return .role(target: target, try CommandParser.role(arguments.next("editor or viewer").text))
  }

  static func invite(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let expires = try arguments.takeValue("expires")
    let isView = arguments.takeFlag("view")
    return .invite(try CommandParser.terms(isView: isView, expires: expires))
  }

  static func cancel(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let target = try arguments.target("the transfer")
    return .cancel(target: target, reason: try arguments.wordsIfAny("the reason"))
  }

  static func profile(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let name = try arguments.takeValue("name")
    let icon = try arguments.takeValue("icon")
    return .profile(
      name: try name.map { (name) throws(CommandError) in try CommandParser.checkedPerson(name) },
      icon: try icon.map { (icon) throws(CommandError) in try CommandParser.icon(icon) }
    )
  }

  static func send(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let isUnreliable = arguments.takeFlag("--unreliable")
    let word = try arguments.next("the words")
    try arguments.expectEnd(after: word)
    return .send(
      bytes: try CommandParser.checkedMessage(Array(word.text.utf8)),
      to: to,
      isUnreliable: isUnreliable
    )
  }

  static func resource(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let names = try arguments.takeOptions("--name", what: "the name")
    let file = try arguments.file()
    guard let name = names.first, names.count == 1 else {
      throw CommandError(.missingArgument, "give the resource one name, with --name TEXT")
    }
    return .resource(file: file, name: try CommandParser.checkedName(name), to: to)
  }

  static func stream(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let name = try CommandParser.checkedName(arguments.next("the name of the stream").text)
    return .stream(name: name, file: try arguments.file(), to: to)
  }

  static func diff(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let from = try arguments.checkpoint()
    guard let other = arguments.nextIfAny() else { return .diff(from: from, to: nil) }
    return .diff(from: from, to: try CommandParser.checkedCheckpoint(other.text))
  }

  static func export(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let region = try arguments.takeValue("region").map { (value) throws(CommandError) in
      try CommandParser.region(value)
    }
    let scale = try arguments.takeNumber("scale") ?? 1
    let isReplacing = arguments.takeFlag("force")
    return .export(
      file: try arguments.file(),
      region: region,
      scale: try CommandParser.checkedPixels(scale),
      isReplacing: isReplacing
    )
  }

  static func `import`(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let place = try arguments.takeValue("at").map { (value) throws(CommandError) in try point(value)
    }
    return .import(file: try arguments.file(), at: place)
  }

  static func paste(_ arguments: inout Arguments) throws(CommandError) -> Command {
    .paste(
      at: try arguments.nextIfAny().map { (word) throws(CommandError) in try point(word.text) }
    )
  }

  static func wait(_ arguments: inout Arguments) throws(CommandError) -> Command {
    let timeout = try arguments.takeSeconds("timeout")
    return .wait(try condition(&arguments), timeout: timeout)
  }

  private static func condition(_ arguments: inout Arguments) throws(CommandError) -> WaitCondition
  {
    let word = try arguments.next("what to wait for")
    if word.text == "synced" {
      return .synced
    }
    for key in ["peers", "objects"] {
      guard let value = word.value(of: key) else { continue }
      guard let count = Int64(value) else {
        throw CommandError(.badArgument, "\(key)= takes a whole number, like \(key)=2")
      }
      let checked = try CommandParser.checkedCount(count, key: key)
      return key == "peers" ? .peers(checked) : .objects(checked)
    }
    guard let seconds = number(word.text) else {
      throw CommandError(
        .badArgument,
        "\(TerminalText.quoted(word.text)) is nothing to wait for"
      )
    }
    return .seconds(try CommandParser.checkedSeconds(seconds, key: "the time to wait"))
  }
}
