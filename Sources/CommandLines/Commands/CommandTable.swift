import WhiteboardKit

/// The table of all commands; the parsers, the help and the usage messages use it.
package enum CommandTable {
  /// Returns the row of a command.
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

  /// Returns the output of `help`.
  ///
  /// - Parameter topic: The name of a command; nil or `verbs` for all commands.
  /// - Returns: The text.
  /// - Throws: ``CommandError`` if there is no such command.
  static func help(_ topic: String?) throws(CommandError) -> String {
    guard let topic, topic != "verbs" else { return text }
    guard let name = CommandName(rawValue: topic) else { throw CommandParser.unknownCommand(topic) }
    let entry = entry(name)
    var lines = [entry.usage] + ([entry.summary] + entry.notes).map { "    \($0)" }
    let keys = ["verb"] + entry.keys + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  /// Returns the command nearest in spelling to a word; nil if no command is near.
  package static func nearest(to word: String) -> CommandName? {
    Spelling.nearest(to: word, in: CommandName.allCases.map(\.rawValue)).flatMap(CommandName.init)
  }
}

extension CommandName {
  /// Returns whether an argument of the command can be a color.
  ///
  /// The `#` of a color does not begin a comment.
  var acceptsColor: Bool { CommandTable.entry(self).acceptsColor }
}
