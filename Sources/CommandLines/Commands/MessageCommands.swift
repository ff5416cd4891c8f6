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
