import ArgumentParser
import PeerSession
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

/// `whiteboard-relay config`.
struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Tell the settings, or check the file that they are in.",
    discussion: """
      The file has lines NAME = VALUE and comments after #. A flag beats the environment, which \
      beats the file, which beats the default. A relay that runs reads it again at SIGHUP.

      The settings:
      \(SettingEntry.ofRelay.map(Self.line).joined(separator: "\n"))
      """,
    subcommands: [Show.self, Check.self],
    defaultSubcommand: Show.self
  )

  /// A setting in the help, with the option and the variable that set it too.
  private static func line(_ entry: SettingEntry) -> String {
    "  \(entry.name) is \(entry.allowed) [\(entry.flag), \(entry.variable)]"
  }

  /// `whiteboard-relay config show`.
  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Tell what holds, in lines that can be a file of settings."
    )

    @Flag(help: "Tell of each setting who said so.")
    var origin = false

    @OptionGroup var options: ServeOptions

    mutating func run() async throws {
      let settings = try options.settings()
      for line in SettingEntry.ofRelay.map({ SettingLine($0, settings) }) {
        try Console.tell(options.place.json ? line.json : line.text(withOrigin: origin))
      }
    }
  }

  /// `whiteboard-relay config check`.
  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say what is wrong with the settings, if anything, and what they bound."
    )

    @OptionGroup var options: ServeOptions

    mutating func run() async throws {
      let settings = try options.settings()
      _ = try settings.relayDirectory()
      let limits = try RelayConfiguration.Limits(settings)
      let bounds = RelayBound.all(limits, RelayLimits(settings))
      if options.place.json {
        for bound in bounds { try Console.tell(EventLine.json("bound", bound)) }
        return
      }
      try Console.tell("The settings are right. What is bounded, and what happens then:\n")
      let rows = bounds.map { ["  \($0.what)", "\($0.limit)", "then \($0.then)"] }
      try Console.tell(TextTable.text(rows))
    }
  }
}
