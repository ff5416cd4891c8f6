/// The verbs about people, versions and scripts.
extension JSONCommandParser {
  static func profile(_ fields: JSONFields) throws(CommandError) -> Command {
    let name = try fields.stringIfAny("name")
    let icon = try fields.stringIfAny("icon")
    return .profile(
      name: try name.map { (name) throws(CommandError) in try CommandParser.checkedPerson(name) },
      icon: try icon.map { (icon) throws(CommandError) in try CommandParser.icon(icon) }
    )
  }

  static func send(_ fields: JSONFields) throws(CommandError) -> Command {
    .send(
      bytes: try CommandParser.checkedMessage(fields.payload()),
      to: try fields.recipients(),
      isUnreliable: try fields.flag("unreliable")
    )
  }

  static func resource(_ fields: JSONFields) throws(CommandError) -> Command {
    .resource(
      file: try fields.file(),
      name: try CommandParser.checkedName(fields.string("name")),
      to: try fields.recipients()
    )
  }

  static func stream(_ fields: JSONFields) throws(CommandError) -> Command {
    .stream(
      name: try CommandParser.checkedName(fields.string("name")),
      file: try fields.file(),
      to: try fields.recipients()
    )
  }

  static func diff(_ fields: JSONFields) throws(CommandError) -> Command {
    .diff(
      from: try fields.checkpoint("from"),
      to: fields.has("to") ? try fields.checkpoint("to") : nil
    )
  }

  static func export(_ fields: JSONFields) throws(CommandError) -> Command {
    let scale = try fields.numberIfAny("scale") ?? 1
    return .export(
      file: try fields.file(),
      region: try fields.regionIfAny(),
      scale: try CommandParser.checkedPixels(scale),
      isReplacing: try fields.flag("force")
    )
  }

  static func wait(_ fields: JSONFields) throws(CommandError) -> Command {
    let timeout = try fields.numberIfAny("timeout")
    return .wait(
      try condition(fields),
      timeout: try timeout.map { (time) throws(CommandError) in
        try CommandParser.checkedSeconds(time, key: "timeout")
      }
    )
  }

  private static func condition(_ fields: JSONFields) throws(CommandError) -> WaitCondition {
    let given = ["peers", "objects", "synced", "seconds"].filter { fields.has($0) }
    guard given.count == 1, let key = given.first else {
      throw CommandError(
        .missingArgument,
        "wait takes one of peers, objects, synced and seconds"
      )
    }
    switch key {
    case "synced":
      guard try fields.flag("synced") else {
        throw CommandError(.badArgument, #"to wait for all to be everywhere, write "synced":true"#)
      }
      return .synced
    case "seconds":
      return .seconds(try CommandParser.checkedSeconds(fields.number("seconds"), key: key))
    default:
      let count = try CommandParser.checkedCount(fields.whole(key), key: key)
      return key == "peers" ? .peers(count) : .objects(count)
    }
  }
}
