import ArgumentParser
import CommandLines
import PeerCore
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the settings and the path of the configuration file.",
    discussion: """
      \(SettingsFile.format) After a line [keys], each line binds keys: COMMAND = KEY, KEY. A line \
      keys.COMMAND = KEY does so anywhere in the file.

      Options override the environment, the environment overrides the file, and the file overrides \
      the defaults. If the file has a mistake, the exit status is 78, and the message names the \
      line and the allowed values.

      The settings:
      \(CommonOptions.entries.map(\.line).joined(separator: "\n"))
      """,
    subcommands: [Show.self, Path.self],
    defaultSubcommand: Show.self
  )

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the current values in the format of the configuration file."
    )

    @Flag(help: "Show the source of each value: file and line, variable, option or default.") var origin = false

    @OptionGroup var options: BoardOptions

    mutating func run() async throws {
      let settings = try options.settings()
      // Check the key bindings too. Only the terminal module knows the names of commands and keys.
      _ = try KeyMap(settings.keys)
      let isJSON = options.common.json
      let lines =
        CommonOptions.entries.map { SettingLine($0, settings) }.map { isJSON ? $0.json : $0.text(withOrigin: origin) }
        + settings.keys.enumerated().map { index, binding in
          isJSON ? KeyLine(binding).json : (index == 0 ? "\n[keys]\n" : "") + KeyLine(binding).text(withOrigin: origin)
        }
      try Console.tell(lines.joined())
    }
  }

  struct Path: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show the path of the configuration file.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      guard let place = SettingsFile.Place(common.config, environment: { Environment[$0] }) else {
        throw WhiteboardError(.badConfiguration, "HOME is not set; name the file with --config")
      }
      struct Line: Encodable { let path: String }
      try Console.tell(
        common.json
          ? String(decoding: EventLine.json("config-path", Line(path: place.path)), as: UTF8.self)
          : UntrustedText(place.path).escaped(limit: 4096) + "\n"
      )
    }
  }
}
