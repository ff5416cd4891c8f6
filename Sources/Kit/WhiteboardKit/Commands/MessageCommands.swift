enum MessageCommands {
  private static let sending = CommandRules(requires: .member, .changesNothing)

  static let cancel = CommandSpec(
    .cancel,
    rules: CommandRules(requires: .nothing, .changesNothing),
    "cancel a transfer that you send or receive",
    .target("TRANSFER", "the transfer"),
    .reason
  ) { (runner, _, target, reason) async throws(CommandError) in
    .done(try runner.transfers.cancel(target, reason: reason ?? ""))
  }

  static let say = CommandSpec(.say, "write a chat message", .text("the message")) {
    (runner, _, words) async throws(CommandError) in
    try await runner.withEditor(endsStroke: false) { (editor) throws(CommandError) in try editor.say(words) }
  }

  static let send = CommandSpec(
    .send,
    rules: sending,
    usage: #"[--to PEER] [--unreliable] "WORDS""#,
    "send a message to all peers or to one; the answer comes when the message has arrived or failed",
    .message,
    .recipients,
    .flag("--unreliable", "unreliable")
  ) { (runner, request, bytes, recipients, isUnreliable) async throws(CommandError) in
    let messages = try runner.board.messages
    guard isUnreliable else {
      try await messages.send(bytes, to: recipients, answering: request)
      return nil
    }
    return .done(try messages.sendDatagram(bytes, to: recipients))
  }

  static let resource = CommandSpec(
    .resource,
    rules: sending,
    "send files, and all files of folders; --name gives a single file another name; "
      + "the answer comes when the files have arrived",
    .sentFiles,
    .recipients
  ) { (runner, request, files, recipients) async throws(CommandError) in
    let peers = try runner.board.messages.recipients(recipients)
    runner.runConcurrently(request) { sharedBoard throws(CommandError) in
      switch files {
      case .named(let file, let name): try await sharedBoard.transfers.sendResource(file, named: name, to: peers)
      case .files(let files): try await sharedBoard.transfers.sendFiles(files, to: peers)
      }
    }
    return nil
  }

  static let stream = CommandSpec(
    .stream,
    rules: sending,
    "send a file through a byte stream; the answer comes when the receiver has read the file",
    .streamName,
    .file,
    .recipients
  ) { (runner, request, name, file, recipients) async throws(CommandError) in
    let peers = try runner.board.messages.recipients(recipients)
    runner.runConcurrently(request) { sharedBoard throws(CommandError) in
      try await sharedBoard.transfers.sendStream(file, named: name, to: peers)
    }
    return nil
  }
}

extension Command {
  /// Cancels a transfer, incoming or outgoing.
  public static func cancel(target: String, reason: String?) -> Command { MessageCommands.cancel(target, reason) }

  /// Writes a line in the chat.
  public static func say(words: String) -> Command { MessageCommands.say(words) }

  /// Sends a message to peers without changing the board; an empty list means all peers.
  public static func send(bytes: [UInt8], to recipients: [String], isUnreliable: Bool) -> Command {
    MessageCommands.send(bytes, recipients, isUnreliable)
  }

  /// Sends a file as a named resource; an empty list means all peers.
  public static func resource(file: String, name: String, to recipients: [String]) -> Command {
    MessageCommands.resource(.named(file: file, name: name), recipients)
  }

  /// Sends files under their own names, and all files in folders; an empty list of peers means all peers.
  public static func files(_ files: [String], to recipients: [String]) -> Command {
    MessageCommands.resource(.files(files), recipients)
  }

  /// Sends a file through a named byte stream; an empty list means all peers.
  public static func stream(name: String, file: String, to recipients: [String]) -> Command {
    MessageCommands.stream(name, file, recipients)
  }
}
