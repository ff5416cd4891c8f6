import WhiteboardRendering

/// The words form of the verb grammar: `move last +10,0`.
enum TextCommandParser {
  static func parse(_ line: some StringProtocol) throws(CommandError) -> CommandRequest? {
    let words = try LineWords.split(line)
    guard let first = words.first else { return nil }
    var arguments = Arguments(words.dropFirst())
    // The mark is taken off first, so that whatever else is wrong is answered under it.
    let request = try arguments.takeRequest()
    guard let name = CommandName(rawValue: first.text), !first.isQuoted else {
      throw CommandParser.unknownCommand(first.text)
        .answering(verb: TerminalText.cleaned(first.text, limit: 64), request: request)
    }
    do throws(CommandError) {
      let verb = try verb(name, &arguments)
      try arguments.expectEnd()
      return CommandRequest(verb, request: request)
    } catch {
      let usage = CommandTable.entry(name).usage
      let message =
        switch error.code {
        case .missingArgument, .badArgument, .unknownArgument: "\(error.message). Usage: \(usage)"
        default: error.message
        }
      throw CommandError(error.code, message, verb: name.rawValue, request: request)
    }
  }

  private static func verb(
    _ name: CommandName,
    _ arguments: inout Arguments
  ) throws(CommandError) -> Command {
    switch name {
    case .text: try text(&arguments)
    case .stroke: try stroke(&arguments)
    case .pen: try pen(&arguments)
    case .lift: .lift
    case .photo: try photo(&arguments)
    case .game: try game(&arguments)
    case .duplicate: try duplicate(&arguments)
    case .select: .select(try arguments.references())
    case .deselect: .deselect
    case .move: try move(&arguments)
    case .scale: try scale(&arguments)
    case .rotate: try rotate(&arguments)
    case .color: try color(&arguments)
    case .width: try width(&arguments)
    case .order: try order(&arguments)
    case .group: try group(&arguments)
    case .ungroup: .ungroup(try arguments.reference())
    case .lock: .lock(try arguments.references())
    case .unlock: .unlock(try arguments.references())
    case .edit: .edit(try arguments.reference(), words: try arguments.words("the words"))
    case .insert: try insert(&arguments)
    case .erase: try erase(&arguments)
    case .delete: .delete(try arguments.references())
    case .undelete: .undelete(try arguments.reference())
    case .purge: try purge(&arguments)
    case .play: try play(&arguments)
    case .undo: .undo
    case .redo: .redo
    case .set: .set(try setting(&arguments))
    case .point: try pointer(&arguments)
    case .view: try view(&arguments)
    case .accept: try accept(&arguments)
    case .decline: try decline(&arguments)
    case .kick: try kick(&arguments)
    case .hide: .hide(target: try arguments.target("the author"), isHidden: true)
    case .unhide: .hide(target: try arguments.target("the author"), isHidden: false)
    case .role: try role(&arguments)
    case .invite: try invite(&arguments)
    case .cancel: try cancel(&arguments)
    case .leave: .leave
    case .continue: .continue
    case .profile: try profile(&arguments)
    case .say: .say(words: try arguments.words("the words"))
    case .send: try send(&arguments)
    case .resource: try resource(&arguments)
    case .stream: try stream(&arguments)
    case .objects: .objects
    case .show: .show(try arguments.reference())
    case .find: .find(try area(&arguments))
    case .chat: .chat
    case .settings: .settings
    case .peers: .peers
    case .digest: .digest
    case .checkpoint: .checkpoint(name: try arguments.checkpoint())
    case .checkpoints: .checkpoints
    case .diff: try diff(&arguments)
    case .restore: .restore(name: try arguments.checkpoint())
    case .saveAs: .saveAs(file: try arguments.file())
    case .save: .save
    case .export: try export(&arguments)
    case .import: try `import`(&arguments)
    case .copy: .copy(try arguments.references())
    case .paste: try paste(&arguments)
    case .wait: try wait(&arguments)
    case .quit: arguments.takeFlag("anyway") ? .quitAnyway : .quit
    case .help: .help(topic: arguments.nextIfAny()?.text)
    }
  }
}
