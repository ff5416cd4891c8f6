import ArgumentParser
import CommandLines
import PeerSession
import RelayCluster
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRelay

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the settings, or check them.",
    discussion: """
      \(SettingsFile.format)

      Options override the environment, the environment overrides the file, and the file overrides \
      the defaults. \
      A running relay reads the file again at SIGHUP.

      The settings:
      \(SettingEntry.ofRelay.map(\.line).joined(separator: "\n"))
      """,
    subcommands: [Show.self, Check.self],
    defaultSubcommand: Show.self
  )

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the current values in the format of the configuration file."
    )

    @Flag(help: "Show the source of each value: file and line, variable, option or default.") var origin = false

    @OptionGroup var options: ServeOptions

    mutating func run() async throws {
      let settings = try options.settings()
      for line in SettingEntry.ofRelay.map({ SettingLine($0, settings) }) {
        try Console.tell(options.place.json ? line.json : line.text(withOrigin: origin))
      }
    }
  }

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Check the settings, and show the limits that they set.")

    @OptionGroup var options: ServeOptions

    mutating func run() async throws {
      let settings = try options.settings()
      _ = try settings.relayDirectory()
      _ = try ClusterSettings(settings, name: "")
      let limits = try RelayConfiguration.Limits(settings)
      let bounds = RelayBound.all(limits, RelayLimits(settings))
      if options.place.json {
        for bound in bounds { try Console.tell(EventLine.json("bound", bound)) }
        return
      }
      try Console.tell("The settings are valid. The limits, and what happens beyond them:\n")
      let rows = bounds.map { ["  \($0.what)", "\($0.limit)", "then \($0.then)"] }
      try Console.tell(TextTable.text(rows))
    }
  }
}
