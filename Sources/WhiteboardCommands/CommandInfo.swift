import ArgumentParser
import FoundationEssentials

/// The description of a command, decoded from the JSON of the argument parser.
package struct CommandInfo: Decodable {
  /// An argument, option or flag of a command.
  struct Argument: Decodable {
    /// A name of an option or flag.
    struct Name: Decodable {
      let kind: String
      let name: String

      /// The name with its dashes, as a user types it.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let discussion: String?

    /// The names and the placeholder for the value, for example `-o, --output FILE`.
    var usage: String {
      let value = valueName ?? "VALUE"
      guard kind != "positional" else { return isOptional ? "[\(value)]" : value }
      let names = (names ?? []).map(\.text).joined(separator: ", ")
      return kind == "option" ? "\(names) \(value)" : names
    }
  }

  let superCommands: [String]?
  let shouldDisplay: Bool?
  let commandName: String
  let abstract: String?
  let discussion: String?
  let subcommands: [CommandInfo]?
  let arguments: [Argument]?

  /// The names of the parent commands, followed by the name of this command.
  package var path: [String] { (superCommands ?? []) + [commandName] }

  /// Returns the subcommand at `path` below this command; nil if it does not exist.
  package func command(_ path: some Collection<String>) -> CommandInfo? {
    guard let first = path.first else { return self }
    return subcommands?.first { $0.commandName == first }?.command(path.dropFirst())
  }

  /// Returns the program with all its commands; nil if the parser's JSON has an unknown format.
  package static func program(_ program: any ParsableCommand.Type) -> CommandInfo? {
    struct Dump: Decodable { let command: CommandInfo }
    return try? JSONDecoder().decode(Dump.self, from: Data(program._dumpHelp().utf8)).command
  }
}
