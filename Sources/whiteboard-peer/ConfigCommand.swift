import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRendering
import WhiteboardTerminal

/// `whiteboard-peer config`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the settings and the path of the configuration file.",
    discussion: """
      The file has lines NAME = VALUE and comments after #, as TOML has them; a value needs double \
      quotes only where it begins or ends with a blank, or has a # after one. After a line [keys] \
      the lines are COMMAND = KEY, KEY and bind keys; keys.COMMAND = KEY does so anywhere.

      A flag beats the environment, which beats the file, which beats the default. What the file \
      does not say right is an error that names the line and what is allowed, with exit status 78.

      The settings:
      \(CommonOptions.entries.map(Self.line).joined(separator: "\n"))
      """,
    subcommands: [Show.self, Path.self],
    defaultSubcommand: Show.self
  )

  /// A setting in the help, with the option and the variable that set it too.
  private static func line(_ entry: SettingEntry) -> String {
    let variables = [entry.variable, entry.otherwise?.variable].compactMap { $0 }
    return
      "  \(entry.name) is \(entry.allowed) [\(entry.flag), \(variables.joined(separator: ", "))]"
  }

  /// `whiteboard-peer config show`.
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the current values in the format of the configuration file."
    )

    @Flag(
      help: "Show where each value was set: a file and line, a variable, an option, or nowhere."
    )
    var origin = false

    @OptionGroup var options: BoardOptions

    mutating func run() async throws {
      let settings = try options.settings()
      // The names of commands and keys are known to the terminal alone.
      _ = try KeyMap(settings.keys)
      let isJSON = options.common.json
      let lines =
        CommonOptions.entries.map { SettingLine($0, settings) }
        .map { isJSON ? $0.json : $0.text(withOrigin: origin) }
        + settings.keys.enumerated().map { index, binding in
          isJSON
            ? KeyLine(binding).json
            : (index == 0 ? "\n[keys]\n" : "") + KeyLine(binding).text(withOrigin: origin)
        }
      try Console.tell(lines.joined())
    }
  }

  /// `whiteboard-peer config path`.
  struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the path of the configuration file."
    )

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let place = SettingsFile.Place(common.config, environment: { Environment[$0] }) else {
        throw NodeError(.badConfiguration, "HOME is not set; name the file with --config")
      }
      struct Line: Encodable { let path: String }
      try Console.tell(
        common.json
          ? String(decoding: EventLine.json("config-path", Line(path: place.path)), as: UTF8.self)
          : TerminalText.cleaned(place.path, limit: 4096) + "\n"
      )
    }
  }
}
