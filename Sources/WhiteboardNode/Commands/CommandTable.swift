/// The one table from which usage, help and the parsers' messages are made.
package enum CommandTable {
  /// What is known of one verb.
  package struct Entry: Sendable {
    /// The verb.
    package let name: CommandName
    /// How to write it, after its name.
    package let arguments: String
    /// What it does, in one line.
    package let summary: String
    /// The keys of its JSON form, besides `verb` and `request`.
    package let keys: [String]
    /// What else there is to know, a line each; for the help of this verb alone.
    package let notes: [String]

    /// How to write the verb.
    package var usage: String {
      arguments.isEmpty ? name.rawValue : "\(name.rawValue) \(arguments)"
    }
  }

  /// What `help verbs` prints.
  package static var text: String {
    let entries = CommandName.allCases.map(entry)
    var lines = ["Verbs, one a line:", ""]
    for entry in entries {
      lines.append("  \(entry.usage)")
      lines.append("      \(entry.summary)")
    }
    lines += [
      "",
      "ID is an alias, `last`, an object id (SEQ-INCARNATION), or its SEQ where only one has it;",
      "`selected` is all that you have in hand. The id of a group stands for all that is in it.",
      "PEER and INVITATION are an id, the start of one, or a name, where only one fits.",
      #"Words with spaces go in double quotes; inside them \" is a quote, \\ a backslash, \n a new line."#,
      #"A quote opens at the start of a word or after =; elsewhere it is itself: --name {"a":1}"#,
      "Who joins by name or address a board that asks answers too: both compare the same words.",
      "X and Y are board units, y downwards, from -33554432 to just below 33554432.",
      "A # at the start of a word begins a comment, but for a colour. request=MARK comes back in the answer.",
      #"A line that starts with { is JSON: {"verb":"move","id":"last","to":[10,20],"request":1}"#,
    ]
    return lines.joined(separator: "\n")
  }

  /// Returns the output of `help VERB`.
  package static func text(for name: CommandName) -> String {
    let entry = entry(name)
    var lines = [entry.usage] + ([entry.summary] + entry.notes).map { "    \($0)" }
    let keys = ["verb"] + entry.keys + ["request"]
    lines.append("    JSON keys: \(keys.joined(separator: ", "))")
    return lines.joined(separator: "\n")
  }

  /// The verb nearest in spelling to a word; nil if none is near.
  package static func nearest(to word: String) -> CommandName? {
    Spelling.nearest(to: word, in: CommandName.allCases.map(\.rawValue)).flatMap(CommandName.init)
  }
}
