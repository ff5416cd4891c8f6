import ArgumentParser
import FoundationEssentials

/// The description of a command, in the parser's own format.
package struct CommandInfo: Decodable {
  /// An argument or an option.
  struct Argument: Decodable {
    /// One of its names.
    struct Name: Decodable {
      let kind: String
      let name: String

      /// As it is typed.
      var text: String { (kind == "long" ? "--" : "-") + name }
    }

    let kind: String
    let shouldDisplay: Bool
    let isOptional: Bool
    let names: [Name]?
    let valueName: String?
    let abstract: String?
    let discussion: String?

    /// Its names with what stands after them.
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

  /// Its name with those of the commands that it is of.
  package var path: [String] { (superCommands ?? []) + [commandName] }

  /// The command of a path below this one, or nil.
  package func command(_ path: some Collection<String>) -> CommandInfo? {
    guard let first = path.first else { return self }
    return subcommands?.first { $0.commandName == first }?.command(path.dropFirst())
  }

  /// The program and all of its commands; nil if the parser writes another form than this.
  package static func program(_ program: any ParsableCommand.Type) -> CommandInfo? {
    struct Dump: Decodable { let command: CommandInfo }
    return try? JSONDecoder().decode(Dump.self, from: Data(program._dumpHelp().utf8)).command
  }
}
