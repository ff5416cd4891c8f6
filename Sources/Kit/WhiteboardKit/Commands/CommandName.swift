import PeerCore

/// The names of the commands, in the order in which the help lists them.
///
/// The command table has a row for each name.
package enum CommandName: String, CaseIterable, Encodable, Sendable {
  case text
  case stroke
  case pen
  case lift
  case photo
  case game
  case duplicate
  case select
  case take
  case deselect
  case move
  case scale
  case rotate
  case color
  case width
  case order
  case group
  case ungroup
  case lock
  case unlock
  case edit
  case insert
  case erase
  case delete
  case undelete
  case purge
  case play
  case undo
  case redo
  case set
  case point
  case view
  case accept
  case decline
  case kick
  case hide
  case unhide
  case role
  case invite
  case web
  case cancel
  case leave
  case `continue`
  case profile
  case say
  case send
  case resource
  case stream
  case objects
  case show
  case find
  case chat
  case settings
  case peers
  case digest
  case checkpoint
  case checkpoints
  case diff
  case restore
  case saveAs = "save-as"
  case save
  case export
  case `import`
  case copy
  case paste
  case wait
  case quit
  case help
}

extension CommandName {
  private var rules: CommandRules { CommandTable.entry(self).rules }

  var requirement: CommandRules.Requirement { rules.requirement }

  package var changesBoard: Bool { rules.effect == .changesBoard }

  /// Whether the command changes no stored data, so that its answer does not wait for a save.
  var changesNothing: Bool { rules.effect == .changesNothing }

  /// The `#` of a color does not begin a comment.
  var acceptsColor: Bool { CommandTable.entry(self).acceptsColor }
}

/// A namespace for finding the word that a user most likely meant by a mistyped word.
package enum Spelling {
  /// Returns the valid word whose spelling is closest to a mistyped word; nil if no word is similar enough.
  ///
  /// Only the first 32 bytes of the mistyped word are compared.
  package static func nearest(to word: String, in words: some Sequence<String>) -> String? {
    let letters = Array(word.lowercased().utf8.prefix(32))
    let candidates = words.map { (word: $0, distance: distance(letters, Array($0.utf8))) }
    guard let best = candidates.min(by: { $0.distance < $1.distance }), best.distance <= 2,
      best.distance < best.word.utf8.count - 1
    else { return nil }
    return best.word
  }

  /// Returns the number of letters that must be added, removed or replaced.
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
  /// All commands, in the order of the help.
  private static let entries = [
    DrawingCommands.all, ArrangingCommands.all, EditingCommands.all, MemberCommands.all, MessageCommands.all,
    QueryCommands.all, FileCommands.all, ProgramCommands.all,
  ].joined()
  private static let table = Dictionary(uniqueKeysWithValues: entries.map { ($0.name, $0) })
  private static let kinds = Dictionary(
    entries.flatMap(\.keys).map { ($0.name, $0.kind) },
    uniquingKeysWith: { first, _ in first }
  )

  package static func entry(_ name: CommandName) -> CommandEntry {
    guard let entry = table[name] else { preconditionFailure("the command \(name) has no entry") }
    return entry
  }

  /// Returns the type of a key in the JSON form of a command; nil if no command has such a key.
  static func kind(of key: String, in verb: String?) -> JSONKind? {
    let entry = verb.flatMap(CommandName.init).map(entry)
    return entry?.keys.first { $0.name == key }?.kind ?? kinds[key]
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
    let keys = ["verb"] + entry.keys.map(\.name) + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  package static func nearest(to word: String) -> CommandName? {
    Spelling.nearest(to: word, in: CommandName.allCases.map(\.rawValue)).flatMap(CommandName.init)
  }
}
