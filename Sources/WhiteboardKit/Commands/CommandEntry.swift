/// A row of the command table: the name, parsers and help of a command.
package struct CommandEntry: Sendable {
  /// A function that parses the words after the name of the command.
  typealias WordsParser = @Sendable (inout LineArguments) throws(CommandError) -> Command
  /// A function that parses the members of a JSON object.
  typealias JSONParser = @Sendable (JSONFields) throws(CommandError) -> Command

  package let name: CommandName
  /// The arguments after the name, as the usage message shows them.
  package let arguments: String
  package let summary: String
  /// Additional lines for the help about this command.
  package let notes: [String]
  /// The keys of the JSON form, besides `verb` and `request`.
  package let keys: [String]
  /// Whether an argument can be a color, so that `#` before a color does not begin a comment.
  let acceptsColor: Bool
  /// The parser of the command's text form.
  let parseWords: WordsParser
  let parseJSON: JSONParser

  package var usage: String { arguments.isEmpty ? name.rawValue : "\(name.rawValue) \(arguments)" }

  init(
    _ name: CommandName,
    arguments: String,
    summary: String,
    notes: [String] = [],
    keys: [String],
    acceptsColor: Bool = false,
    words: @escaping WordsParser,
    json: @escaping JSONParser
  ) {
    self.name = name
    self.arguments = arguments
    self.summary = summary
    self.notes = notes
    self.keys = keys
    self.acceptsColor = acceptsColor
    parseWords = words
    parseJSON = json
  }
}

extension CommandEntry {
  /// Creates the row of a command without arguments.
  init(_ command: Command, summary: String, notes: [String] = []) {
    self.init(
      command.name,
      arguments: "",
      summary: summary,
      notes: notes,
      keys: [],
      words: { _ in command },
      json: { _ in command }
    )
  }

  /// Creates the row of a command whose only argument is an object.
  init(_ name: CommandName, summary: String, object command: @escaping @Sendable (ObjectReference) -> Command) {
    self.init(
      name,
      arguments: "ID",
      summary: summary,
      keys: ["id"],
      words: { arguments throws(CommandError) in command(try arguments.reference()) },
      json: { fields throws(CommandError) in command(try fields.reference()) }
    )
  }

  /// Creates the row of a command whose only argument is a list of objects.
  init(
    _ name: CommandName,
    summary: String,
    notes: [String] = [],
    objects command: @escaping @Sendable ([ObjectReference]) -> Command
  ) {
    self.init(
      name,
      arguments: "ID …",
      summary: summary,
      notes: notes,
      keys: ["id", "ids"],
      words: { arguments throws(CommandError) in command(try arguments.references()) },
      json: { fields throws(CommandError) in command(try fields.references()) }
    )
  }
}
