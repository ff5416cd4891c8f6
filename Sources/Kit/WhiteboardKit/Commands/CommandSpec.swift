struct CommandRules: Equatable, Sendable {
  /// The requirement that must be met before a joined peer runs the command.
  enum Requirement: Equatable, Sendable {
    /// The command concerns only the program or the list of members.
    case nothing
    /// The command sends data that the board does not store, so at least one member must be connected.
    case member
    /// The command reads or changes the board, so the board must have arrived from at least one member.
    case board
  }

  enum Effect: Equatable, Sendable {
    /// The command waits until the local role is known.
    case changesBoard
    /// Data such as the selection, roles, the profile or checkpoints.
    case changesOtherData
    /// The answer does not wait for a save.
    case changesNothing
  }

  let requirement: Requirement
  let effect: Effect

  init(requires requirement: Requirement, _ effect: Effect) {
    self.requirement = requirement
    self.effect = effect
  }

  static let editing = CommandRules(requires: .board, .changesBoard)
  static let reading = CommandRules(requires: .board, .changesNothing)
}

struct CommandSpec<each Value: Equatable & Sendable>: Sendable {
  typealias Body =
    nonisolated(nonsending) @Sendable (CommandRunner, CommandRequest, repeat each Value)
    async throws(CommandError) -> CommandOutcome?
  typealias Edit = @Sendable (BoardEditor, repeat each Value) throws(CommandError) -> CommandOutcome
  typealias Check = @Sendable (repeat each Value) throws(CommandError) -> Void

  private let name: CommandName
  private let rules: CommandRules
  private let usage: String?
  private let summary: String
  private let notes: [String]
  private let parameters: (repeat Parameter<each Value>)
  private let check: Check?
  private let body: Body

  /// If `usage` is nil, the usage message shows the arguments in the order of the parameters, which is also the order
  /// of their words and keys. `check` tests values that depend on each other. `body` returns nil if the command is
  /// answered later.
  init(
    _ name: CommandName,
    rules: CommandRules = .editing,
    usage: String? = nil,
    _ summary: String,
    notes: [String] = [],
    _ parameters: repeat Parameter<each Value>,
    check: Check? = nil,
    run body: @escaping Body
  ) {
    self.name = name
    self.rules = rules
    self.usage = usage
    self.summary = summary
    self.notes = notes
    self.parameters = (repeat each parameters)
    self.check = check
    self.body = body
  }

  /// Creates an entry for a command that changes the board in one step.
  init(
    _ name: CommandName,
    rules: CommandRules = .editing,
    _ summary: String,
    notes: [String] = [],
    _ parameters: repeat Parameter<each Value>,
    edit: @escaping Edit
  ) {
    self.init(name, rules: rules, summary, notes: notes, repeat each parameters) {
      (runner, _, values: repeat each Value) async throws(CommandError) in
      try await runner.withEditor { (editor) throws(CommandError) in try edit(editor, repeat each values) }
    }
  }

  func callAsFunction(_ values: repeat each Value) -> Command {
    var arguments: [any Equatable & Sendable] = []
    repeat arguments.append(each values)
    return Command(name, arguments) { () throws(CommandError) in
      try self.checked(repeat try (each self.parameters).check(each values))
    } run: { (runner, request) async throws(CommandError) in
      try await self.body(runner, request, repeat each values)
    }
  }

  private func checked(_ values: repeat each Value) throws(CommandError) -> Command {
    try check?(repeat each values)
    return self(repeat each values)
  }

  var entry: CommandEntry {
    var usages: [String] = []
    var keys: [CommandEntry.Key] = []
    var options: [LineOption] = []
    for parameter in repeat each parameters {
      usages.append(parameter.usage)
      keys += parameter.keys
      options += parameter.options
    }
    let found = options
    return CommandEntry(
      name: name,
      rules: rules,
      arguments: usage ?? usages.joined(separator: " "),
      summary: summary,
      notes: notes,
      keys: keys,
      parseWords: { (arguments) throws(CommandError) in
        for option in found { try arguments.remove(option) }
        repeat arguments.reserve(each self.parameters)
        return try self.checked(repeat try arguments.read(each self.parameters))
      },
      parseJSON: { (fields) throws(CommandError) in
        // Check the numbers first: if a number and the objects are missing, the error then names the number.
        for parameter in repeat each self.parameters { if parameter.isNumber { _ = try parameter.json(fields) } }
        return try self.checked(repeat try (each self.parameters).json(fields))
      }
    )
  }
}

package struct CommandEntry: Sendable {
  struct Key: Sendable {
    let name: String
    let kind: JSONKind
  }

  package let name: CommandName
  let rules: CommandRules
  package let arguments: String
  package let summary: String
  package let notes: [String]
  /// The keys of the JSON form, without `verb` and `request`.
  let keys: [Key]
  let parseWords: @Sendable (inout LineArguments) throws(CommandError) -> Command
  let parseJSON: @Sendable (JSONFields) throws(CommandError) -> Command

  package var usage: String { arguments.isEmpty ? name.rawValue : "\(name.rawValue) \(arguments)" }

  /// Returns the possible forms of the word at an index after the name, as in the usage message. A form in lower case
  /// is the word itself; a form in upper case is a kind of argument, such as `ID` or `PEER`. Options follow the first
  /// word, unless the command has only options.
  package func forms(at index: Int) -> [String] {
    var required: [[String]] = []
    var options: [String] = []
    var isOption = false
    var repeated: Int?
    for token in arguments.replacing(" | ", with: "|").split(separator: " ") {
      isOption = isOption || token.hasPrefix("[")
      if isOption {
        options += Self.forms(token.drop { $0 == "[" }.prefix { $0 != "]" })
      } else if token == "…" {
        repeated = required.count - 1
      } else {
        if token.hasSuffix("...") { repeated = required.count }
        required.append(Self.forms(token))
      }
      if token.hasSuffix("]") { isOption = false }
    }
    let fitting = repeated.flatMap { index > $0 ? required[$0...] : nil } ?? required.dropFirst(index).prefix(1)
    return fitting.joined() + (index > 0 || required.isEmpty ? options : [])
  }

  /// Splits alternatives. For `key=A|B`, each alternative has the key.
  private static func forms(_ token: Substring) -> [String] {
    let parts = token.split(separator: "|")
    guard let first = parts.first, let equals = first.firstIndex(of: "=") else { return parts.map(String.init) }
    return parts.map { $0.contains("=") ? String($0) : "\(first[...equals])\($0)" }
  }
}
