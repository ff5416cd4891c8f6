import PeerCore

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
