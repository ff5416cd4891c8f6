import PeerCore

package enum CommandTable {
  package static func entry(_ name: CommandName) -> CommandEntry {
    switch name {
    case .text: DrawingCommands.text
    case .stroke: DrawingCommands.stroke
    case .pen: DrawingCommands.pen
    case .lift: DrawingCommands.lift
    case .photo: DrawingCommands.photo
    case .game: DrawingCommands.game
    case .duplicate: DrawingCommands.duplicate
    case .select: ArrangingCommands.select
    case .take: ArrangingCommands.take
    case .deselect: ArrangingCommands.deselect
    case .move: ArrangingCommands.move
    case .scale: ArrangingCommands.scale
    case .rotate: ArrangingCommands.rotate
    case .color: EditingCommands.color
    case .width: EditingCommands.width
    case .order: ArrangingCommands.order
    case .group: ArrangingCommands.group
    case .ungroup: ArrangingCommands.ungroup
    case .lock: ArrangingCommands.lock
    case .unlock: ArrangingCommands.unlock
    case .edit: EditingCommands.edit
    case .insert: EditingCommands.insert
    case .erase: EditingCommands.erase
    case .delete: EditingCommands.delete
    case .undelete: EditingCommands.undelete
    case .purge: EditingCommands.purge
    case .play: DrawingCommands.play
    case .undo: EditingCommands.undo
    case .redo: EditingCommands.redo
    case .set: EditingCommands.set
    case .point: MemberCommands.point
    case .view: MemberCommands.view
    case .accept: MemberCommands.accept
    case .decline: MemberCommands.decline
    case .kick: MemberCommands.kick
    case .hide: MemberCommands.hide
    case .unhide: MemberCommands.unhide
    case .role: MemberCommands.role
    case .invite: MemberCommands.invite
    case .web: MemberCommands.web
    case .cancel: MessageCommands.cancel
    case .leave: ProgramCommands.leave
    case .continue: ProgramCommands.continue
    case .profile: MemberCommands.profile
    case .say: MessageCommands.say
    case .send: MessageCommands.send
    case .resource: MessageCommands.resource
    case .stream: MessageCommands.stream
    case .objects: QueryCommands.objects
    case .show: QueryCommands.show
    case .find: QueryCommands.find
    case .chat: QueryCommands.chat
    case .settings: QueryCommands.settings
    case .peers: QueryCommands.peers
    case .digest: QueryCommands.digest
    case .checkpoint: FileCommands.checkpoint
    case .checkpoints: FileCommands.checkpoints
    case .diff: FileCommands.diff
    case .restore: FileCommands.restore
    case .saveAs: FileCommands.saveAs
    case .save: FileCommands.save
    case .export: FileCommands.export
    case .import: FileCommands.import
    case .copy: FileCommands.copy
    case .paste: FileCommands.paste
    case .wait: ProgramCommands.wait
    case .quit: ProgramCommands.quit
    case .help: ProgramCommands.help
    }
  }

  /// The output of `help verbs`.
  package static var text: String {
    let entries = CommandName.allCases.map(entry)
    var lines = ["Commands, one per line:", ""]
    for entry in entries {
      lines.append("  \(entry.usage)")
      lines.append("      \(entry.summary)")
    }
    lines += [
      "", "ID is an alias, `last`, an object id (SEQ-INCARNATION), or just its SEQ if that is unique.",
      "`selected` means all selected objects. The id of a group means all its objects.",
      "PEER and INVITATION are an id, an id prefix or a name. A prefix or name must match only one.",
      #"Put words with spaces in double quotes: \" is a quote, \\ a backslash, \n a new line."#,
      "A double quote starts a quoted text only at the start of a word or right after =.",
      #"Elsewhere, a quote is an ordinary character, as in --name {"a":1}."#,
      "If you join by name or address and the host's `admit` is `ask`, both users compare words and type `accept`.",
      "X and Y are board units from -33554432 to just below 33554432. Y points down.",
      "A # at the start of a word begins a comment, except in a color.",
      "request=ID adds a request id. The answer repeats it.",
      #"A line that begins with { is JSON: {"verb":"move","id":"last","to":[10,20],"request":1}"#,
    ]
    return lines.joined(separator: "\n")
  }

  /// Returns the output of `help`; throws if there is no such command.
  static func help(_ topic: String?) throws(CommandError) -> String {
    guard let topic, topic != "verbs" else { return text }
    guard let name = CommandName(rawValue: topic) else { throw CommandParser.unknownCommand(topic) }
    let entry = entry(name)
    var lines = [entry.usage] + ([entry.summary] + entry.notes).map { "    \($0)" }
    let keys = ["verb"] + entry.keys + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  package static func nearest(to word: String) -> CommandName? {
    Spelling.nearest(to: word, in: CommandName.allCases.map(\.rawValue)).flatMap(CommandName.init)
  }
}

extension CommandName {
  /// The `#` of a color does not begin a comment.
  var acceptsColor: Bool { CommandTable.entry(self).acceptsColor }
}

enum QueryCommands {
  static let objects = CommandEntry(.objects, summary: "list the objects on the board")

  static let show = CommandEntry(
    .show,
    summary: "show all properties of an object or group, and the state of a game as you see it",
    object: { .show($0) }
  )

  static let find = CommandEntry(
    .find,
    arguments: "X,Y [X,Y] [inside]",
    summary: "list the objects at a point, or those that touch a rectangle; with `inside`, only those wholly inside it",
    keys: ["at", "to", "inside"],
    words: { arguments throws(CommandError) in
      let isInside = arguments.removeFlag("inside")
      let corner = try arguments.point("the point, as X,Y")
      guard let other = try arguments.pointIfAny() else {
        guard !isInside else { throw CommandError(.missingArgument, "`inside` needs a rectangle; give two corners") }
        return .find(.point(corner))
      }
      return .find(.rectangle(corner, other, isInside: isInside))
    },
    json: { fields throws(CommandError) in
      let corner = try fields.point("at")
      let isInside = fields.flag("inside")
      guard let other = try fields.pointIfAny("to") else {
        guard !isInside else {
          throw CommandError(.missingArgument, #""inside" needs a rectangle; give "at" and "to""#)
        }
        return .find(.point(corner))
      }
      return .find(.rectangle(corner, other, isInside: isInside))
    }
  )

  static let chat = CommandEntry(.chat, summary: "show the chat")

  static let settings = CommandEntry(.settings, summary: "show the settings of the board")

  static let peers = CommandEntry(.peers, summary: "list the peers of the session")

  static let digest = CommandEntry(.digest, summary: "show the digest of the board")
}

enum ProgramCommands {
  static let leave = CommandEntry(.leave, summary: "leave the board, but stay in the program")

  static let `continue` = CommandEntry(
    .continue,
    summary: "continue on your own copy of a board from which the host removed you",
    notes: ["Until you use this command, your changes are refused. Your later changes are not sent to other members."]
  )

  static let wait = CommandEntry(
    .wait,
    arguments: "peers=N|objects=N|synced|SECONDS [timeout=SECONDS]",
    summary:
      "wait until there are at least N peers or objects (0: none at all), all boards are equal, or SECONDS have passed",
    keys: ["peers", "objects", "synced", "seconds", "timeout"],
    words: { arguments throws(CommandError) in
      let timeout = try arguments.removeSeconds("timeout")
      return .wait(try condition(&arguments), timeout: timeout)
    },
    json: { fields throws(CommandError) in .wait(try condition(fields), timeout: try fields.secondsIfAny("timeout")) }
  )

  private static func condition(_ arguments: inout LineArguments) throws(CommandError) -> WaitCondition {
    let word = try arguments.next("a condition, like peers=1")
    if word.text == "synced" { return .synced }
    if let count = word.value(of: "peers") { return .peers(try Self.count(count, key: "peers")) }
    if let count = word.value(of: "objects") { return .objects(try Self.count(count, key: "objects")) }
    guard let seconds = TextCommandParser.number(word.text) else {
      throw CommandError(
        .badArgument,
        "cannot wait for \(UntrustedText(word.text).quoted()); give peers=N, objects=N, synced or SECONDS"
      )
    }
    return .seconds(try CommandLimits.checkedSeconds(seconds, key: "the time to wait"))
  }

  private static func count(_ text: String, key: String) throws(CommandError) -> Int {
    guard let count = Int64(text) else {
      throw CommandError(.badArgument, "\(key)= must be a whole number, like \(key)=2")
    }
    return try CommandLimits.checkedCount(count, key: key)
  }

  private static func condition(_ fields: JSONFields) throws(CommandError) -> WaitCondition {
    guard ["peers", "objects", "synced", "seconds"].filter(fields.has).count == 1 else {
      throw CommandError(.missingArgument, "give one condition: peers, objects, synced or seconds")
    }
    if fields.has("peers") { return .peers(try fields.count("peers")) }
    if fields.has("objects") { return .objects(try fields.count("objects")) }
    if fields.has("synced") {
      guard fields.flag("synced") else {
        throw CommandError(.badArgument, #"to wait for equal boards, write "synced":true"#)
      }
      return .synced
    }
    return .seconds(try CommandLimits.checkedSeconds(fields.number("seconds"), key: "seconds"))
  }

  static let quit = CommandEntry(
    .quit,
    arguments: "[anyway]",
    summary: "leave the board and end the program; with `anyway`, even if work is not saved",
    keys: ["anyway"],
    words: { arguments in arguments.removeFlag("anyway") ? .quitAnyway : .quit },
    json: { fields in fields.flag("anyway") ? .quitAnyway : .quit }
  )

  static let help = CommandEntry(
    .help,
    arguments: "[COMMAND|verbs]",
    summary: "explain one command, or list all",
    keys: ["topic"],
    words: { arguments throws(CommandError) in .help(text: try CommandTable.help(arguments.nextIfAny()?.text)) },
    json: { fields throws(CommandError) in .help(text: try CommandTable.help(fields.stringIfAny("topic"))) }
  )
}

enum MessageCommands {
  static let say = CommandEntry(
    .say,
    arguments: #""WORDS""#,
    summary: "write a chat message",
    keys: ["text"],
    words: { arguments throws(CommandError) in .say(words: try arguments.words("the text")) },
    json: { fields throws(CommandError) in .say(words: try fields.words()) }
  )

  static let send = CommandEntry(
    .send,
    arguments: #"[--to PEER] [--unreliable] "WORDS""#,
    summary: "send a message to all peers or to one; the answer comes when the message has arrived or failed",
    keys: ["text", "base64", "to", "unreliable"],
    words: { arguments throws(CommandError) in
      let to = try arguments.removeOptions("--to", what: "the peer")
      let isUnreliable = arguments.removeFlag("--unreliable")
      let word = try arguments.next("the message")
      try arguments.expectEnd(after: word)
      return .send(bytes: try CommandLimits.checkedMessage(Array(word.text.utf8)), to: to, isUnreliable: isUnreliable)
    },
    json: { fields throws(CommandError) in
      .send(
        bytes: try CommandLimits.checkedMessage(fields.payload()),
        to: try fields.recipients(),
        isUnreliable: fields.flag("unreliable")
      )
    }
  )

  static let resource = CommandEntry(
    .resource,
    arguments: "FILE|FOLDER... [--name TEXT] [--to PEER]",
    summary: "send files, and all files of folders; --name gives a single file another name; "
      + "the answer comes when the files have arrived",
    keys: ["file", "files", "name", "to"],
    words: { arguments throws(CommandError) in
      let to = try arguments.removeOptions("--to", what: "the peer")
      let names = try arguments.removeOptions("--name", what: "the name")
      var files = [try arguments.file()]
      while let file = arguments.nextIfAny() { files.append(try CommandLimits.checkedFile(file.text)) }
      guard let name = names.first else { return .files(try CommandLimits.checkedFiles(files), to: to) }
      guard names.count == 1, files.count == 1 else {
        throw CommandError(.badArgument, "--name TEXT gives exactly one file a name")
      }
      return .resource(file: files[0], name: try CommandLimits.checkedName(name), to: to)
    },
    json: { fields throws(CommandError) in
      let to = try fields.recipients()
      guard fields.has("name") else {
        let files = try fields.has("files") ? fields.files() : [fields.file()]
        return .files(try CommandLimits.checkedFiles(files), to: to)
      }
      guard !fields.has("files") else {
        throw CommandError(.badArgument, "the key \"name\" gives exactly one \"file\" a name")
      }
      return .resource(file: try fields.file(), name: try CommandLimits.checkedName(fields.string("name")), to: to)
    }
  )

  static let stream = CommandEntry(
    .stream,
    arguments: "NAME FILE [--to PEER]",
    summary: "send a file through a byte stream; the answer comes when the receiver has read the file",
    keys: ["name", "file", "to"],
    words: { arguments throws(CommandError) in
      let to = try arguments.removeOptions("--to", what: "the peer")
      let name = try CommandLimits.checkedName(arguments.next("the name of the stream").text)
      return .stream(name: name, file: try arguments.file(), to: to)
    },
    json: { fields throws(CommandError) in
      .stream(
        name: try CommandLimits.checkedName(fields.string("name")),
        file: try fields.file(),
        to: try fields.recipients()
      )
    }
  )

  static let cancel = CommandEntry(
    .cancel,
    arguments: #"TRANSFER ["WHY"]"#,
    summary: "cancel a transfer that you send or receive",
    keys: ["target", "reason"],
    words: { arguments throws(CommandError) in
      let target = try arguments.target("the transfer")
      return .cancel(target: target, reason: try arguments.wordsIfAny("the reason"))
    },
    json: { fields throws(CommandError) in .cancel(target: try fields.target(), reason: try fields.reason()) }
  )
}
