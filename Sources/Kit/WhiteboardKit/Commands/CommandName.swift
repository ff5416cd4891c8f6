import PeerCore

/// The names of the commands, in the order in which the help lists them.
package enum CommandName: String, CaseIterable, Sendable {
  case text, rect, ellipse, diamond, note, frame, line, arrow, stroke, pen, lift, photo, game, duplicate, select, take
  case deselect, move, scale, rotate, color, width, style, resize, points, order, align, distribute, flip, crop, group
  case ungroup, lock, unlock, label, edit, insert, link, vote, erase, delete, clear, undelete, purge, play, undo, redo
  case set, point, view, accept, decline, kick, hide, unhide, role, invite, web, broadcast, cancel, leave, `continue`
  case profile, say, comment, resolve, send, resource, stream, objects, show, find, chat, settings, peers, digest
  case checkpoint, checkpoints, diff, restore
  case saveAs = "save-as"
  case save, export, `import`, copy, paste, wait, quit, help
}

extension CommandName {
  fileprivate var tableEntry: CommandEntry {
    switch self {
    case .text: DrawingCommands.text.entry
    case .rect: FormCommands.rect.entry
    case .ellipse: FormCommands.ellipse.entry
    case .diamond: FormCommands.diamond.entry
    case .note: FormCommands.note.entry
    case .frame: FormCommands.frame.entry
    case .line: FormCommands.line.entry
    case .arrow: FormCommands.arrow.entry
    case .stroke: DrawingCommands.stroke.entry
    case .pen: DrawingCommands.pen.entry
    case .lift: DrawingCommands.lift.entry
    case .photo: DrawingCommands.photo.entry
    case .game: DrawingCommands.game.entry
    case .duplicate: DrawingCommands.duplicate.entry
    case .select: ArrangingCommands.select.entry
    case .take: ArrangingCommands.take.entry
    case .deselect: ArrangingCommands.deselect.entry
    case .move: ArrangingCommands.move.entry
    case .scale: ArrangingCommands.scale.entry
    case .rotate: ArrangingCommands.rotate.entry
    case .color: ArrangingCommands.color.entry
    case .width: ArrangingCommands.width.entry
    case .style: FormCommands.style.entry
    case .resize: FormCommands.resize.entry
    case .points: FormCommands.points.entry
    case .order: ArrangingCommands.order.entry
    case .align: ArrangingCommands.align.entry
    case .distribute: ArrangingCommands.distribute.entry
    case .flip: ArrangingCommands.flip.entry
    case .crop: ReferenceCommands.crop.entry
    case .group: ArrangingCommands.group.entry
    case .ungroup: ArrangingCommands.ungroup.entry
    case .lock: ArrangingCommands.lock.entry
    case .unlock: ArrangingCommands.unlock.entry
    case .label: FormCommands.label.entry
    case .edit: EditingCommands.edit.entry
    case .insert: EditingCommands.insert.entry
    case .link: ReferenceCommands.link.entry
    case .vote: ReferenceCommands.vote.entry
    case .erase: EditingCommands.erase.entry
    case .delete: EditingCommands.delete.entry
    case .clear: EditingCommands.clear.entry
    case .undelete: EditingCommands.undelete.entry
    case .purge: EditingCommands.purge.entry
    case .play: EditingCommands.play.entry
    case .undo: EditingCommands.undo.entry
    case .redo: EditingCommands.redo.entry
    case .set: EditingCommands.set.entry
    case .point: MemberCommands.point.entry
    case .view: MemberCommands.view.entry
    case .accept: MemberCommands.accept.entry
    case .decline: MemberCommands.decline.entry
    case .kick: MemberCommands.kick.entry
    case .hide: MemberCommands.hide.entry
    case .unhide: MemberCommands.unhide.entry
    case .role: MemberCommands.role.entry
    case .invite: MemberCommands.invite.entry
    case .web: MemberCommands.web.entry
    case .broadcast: MemberCommands.broadcast.entry
    case .cancel: MessageCommands.cancel.entry
    case .leave: ProgramCommands.leave.entry
    case .continue: ProgramCommands.continue.entry
    case .profile: MemberCommands.profile.entry
    case .say: MessageCommands.say.entry
    case .comment: ReferenceCommands.comment.entry
    case .resolve: ReferenceCommands.resolve.entry
    case .send: MessageCommands.send.entry
    case .resource: MessageCommands.resource.entry
    case .stream: MessageCommands.stream.entry
    case .objects: QueryCommands.objects.entry
    case .show: QueryCommands.show.entry
    case .find: QueryCommands.find.entry
    case .chat: QueryCommands.chat.entry
    case .settings: QueryCommands.settings.entry
    case .peers: QueryCommands.peers.entry
    case .digest: QueryCommands.digest.entry
    case .checkpoint: FileCommands.checkpoint.entry
    case .checkpoints: FileCommands.checkpoints.entry
    case .diff: FileCommands.diff.entry
    case .restore: FileCommands.restore.entry
    case .saveAs: FileCommands.saveAs.entry
    case .save: FileCommands.save.entry
    case .export: FileCommands.export.entry
    case .import: FileCommands.import.entry
    case .copy: FileCommands.copy.entry
    case .paste: FileCommands.paste.entry
    case .wait: ProgramCommands.wait.entry
    case .quit: ProgramCommands.quit.entry
    case .help: ProgramCommands.help.entry
    }
  }

  private var rules: CommandRules { CommandTable.entry(self).rules }

  var requirement: CommandRules.Requirement { rules.requirement }

  package var changesBoard: Bool { rules.effect == .changesBoard }

  /// If a command changes nothing, its answer does not wait for a save.
  var changesNothing: Bool { rules.effect == .changesNothing }
}

package enum Spelling {
  /// Returns the word that is most similar to a mistyped word; nil if no word is similar enough. Only the first 32
  /// bytes of the mistyped word are compared.
  package static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().utf8.prefix(32))
    let candidates = words.map { (word: $0, distance: distance(letters, Array($0.utf8))) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= 2,
      best.distance < best.word.utf8.count - 1
    else { return nil }
    return best.word
  }

  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let substitution = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}

package enum CommandTable {
  private static let table = Dictionary(uniqueKeysWithValues: CommandName.allCases.map { ($0, $0.tableEntry) })
  private static let kinds = Dictionary(
    CommandName.allCases.flatMap { entry($0).keys }.map { ($0.name, $0.kind) },
    uniquingKeysWith: { first, _ in first }
  )

  package static func entry(_ name: CommandName) -> CommandEntry {
    guard let entry = table[name] else { preconditionFailure("the table has an entry for each case") }
    return entry
  }

  static func kind(of key: String, in verb: String?) -> JSONKind? {
    let entry = verb.flatMap(CommandName.init).map(entry)
    return entry?.keys.first { $0.name == key }?.kind ?? kinds[key]
  }

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
      "A # at the start of a line, or between spaces, begins a comment.",
      "request=ID adds a request id. The answer repeats it.",
      #"A line that begins with { is JSON: {"verb":"move","id":"last","to":[10,20],"request":1}"#,
    ]
    return lines.joined(separator: "\n")
  }

  static func help(_ topic: String?) throws(CommandError) -> String {
    guard let topic, topic != "verbs" else { return text }
    guard let name = CommandName(rawValue: topic) else { throw CommandParser.unknownCommand(topic) }
    let entry = entry(name)
    var lines = [entry.usage] + ([entry.summary] + entry.notes).map { "    \($0)" }
    let keys = ["verb"] + entry.keys.map(\.name) + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  package static func nearest(to word: String) -> CommandName? {
    Spelling.nearest(to: word, in: CommandName.allCases.map(\.rawValue)).flatMap(CommandName.init)
  }
}
