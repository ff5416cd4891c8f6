import WhiteboardRendering

/// The verbs about people, versions and scripts.
extension TextVerbParser {
  static func accept(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let isAlways = arguments.takeFlag("always")
    return .accept(target: try arguments.target("the invitation"), isAlways: isAlways)
  }

  static func decline(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let target = try arguments.target("the invitation")
    return .decline(target: target, reason: try arguments.wordsIfAny("the reason"))
  }

  static func kick(_ arguments: inout Arguments) throws(VerbError) -> Verb {
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

  static func role(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let target = try arguments.target("the peer")
    return .role(target: target, try VerbParser.role(arguments.next("editor or viewer").text))
  }

  static func invite(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let expires = try arguments.takeValue("expires")
    let isView = arguments.takeFlag("view")
    return .invite(try VerbParser.terms(isView: isView, expires: expires))
  }

  static func cancel(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let target = try arguments.target("the transfer")
    return .cancel(target: target, reason: try arguments.wordsIfAny("the reason"))
  }

  static func profile(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let name = try arguments.takeValue("name")
    let icon = try arguments.takeValue("icon")
    return .profile(
      name: try name.map { (name) throws(VerbError) in try VerbParser.checkedPerson(name) },
      icon: try icon.map { (icon) throws(VerbError) in try VerbParser.icon(icon) }
    )
  }

  static func send(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let isUnreliable = arguments.takeFlag("--unreliable")
    let word = try arguments.next("the words")
    try arguments.expectEnd(after: word)
    return .send(
      bytes: try VerbParser.checkedMessage(Array(word.text.utf8)),
      to: to,
      isUnreliable: isUnreliable
    )
  }

  static func resource(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let names = try arguments.takeOptions("--name", what: "the name")
    let file = try arguments.file()
    guard let name = names.first, names.count == 1 else {
      throw VerbError(.missingArgument, "give the resource one name, with --name TEXT")
    }
    return .resource(file: file, name: try VerbParser.checkedName(name), to: to)
  }

  static func stream(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let to = try arguments.takeOptions("--to", what: "the peer")
    let name = try VerbParser.checkedName(arguments.next("the name of the stream").text)
    return .stream(name: name, file: try arguments.file(), to: to)
  }

  static func diff(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let from = try arguments.checkpoint()
    guard let other = arguments.nextIfAny() else { return .diff(from: from, to: nil) }
    return .diff(from: from, to: try VerbParser.checkedCheckpoint(other.text))
  }

  static func export(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let region = try arguments.takeValue("region").map { (value) throws(VerbError) in
      try VerbParser.region(value)
    }
    let scale = try arguments.takeNumber("scale") ?? 1
    let isReplacing = arguments.takeFlag("force")
    return .export(
      file: try arguments.file(),
      region: region,
      scale: try VerbParser.checkedPixels(scale),
      isReplacing: isReplacing
    )
  }

  static func `import`(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let place = try arguments.takeValue("at").map { (value) throws(VerbError) in try point(value) }
    return .import(file: try arguments.file(), at: place)
  }

  static func paste(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    .paste(at: try arguments.nextIfAny().map { (word) throws(VerbError) in try point(word.text) })
  }

  static func wait(_ arguments: inout Arguments) throws(VerbError) -> Verb {
    let timeout = try arguments.takeSeconds("timeout")
    return .wait(try condition(&arguments), timeout: timeout)
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
}
