import WhiteboardKit

/// The commands that send chat lines, messages and files to other members.
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
    summary:
      "send a message to all peers or to one; the answer comes when the message has arrived or failed",
    keys: ["text", "base64", "to", "unreliable"],
    words: { arguments throws(CommandError) in
      let to = try arguments.removeOptions("--to", what: "the peer")
      let isUnreliable = arguments.removeFlag("--unreliable")
      let word = try arguments.next("the message")
      try arguments.expectEnd(after: word)
      return .send(
        bytes: try CommandLimits.checkedMessage(Array(word.text.utf8)),
        to: to,
        isUnreliable: isUnreliable
      )
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
    arguments: "FILE --name TEXT [--to PEER]",
    summary: "send a file under a name; the answer comes when the file has arrived",
    keys: ["file", "name", "to"],
    words: { arguments throws(CommandError) in
      let to = try arguments.removeOptions("--to", what: "the peer")
      let names = try arguments.removeOptions("--name", what: "the name")
      let file = try arguments.file()
      guard let name = names.first, names.count == 1 else {
        throw CommandError(.missingArgument, "give the resource exactly one name, with --name TEXT")
      }
      return .resource(file: file, name: try CommandLimits.checkedName(name), to: to)
    },
    json: { fields throws(CommandError) in
      .resource(
        file: try fields.file(),
        name: try CommandLimits.checkedName(fields.string("name")),
        to: try fields.recipients()
      )
    }
  )

  static let stream = CommandEntry(
    .stream,
    arguments: "NAME FILE [--to PEER]",
    summary:
      "send a file through a byte stream; the answer comes when the receiver has read the file",
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
    json: { fields throws(CommandError) in
      .cancel(target: try fields.target(), reason: try fields.reason())
    }
  )
}
