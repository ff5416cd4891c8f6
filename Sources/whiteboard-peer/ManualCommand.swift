import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRendering

/// `whiteboard-peer manual`.
struct ManualCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual",
    abstract: "Print the page of the manual for the program or one of its commands.",
    discussion: """
      To read it, and to keep it where man looks:

        whiteboard-peer manual host | man -l -
        whiteboard-peer manual > ~/.local/share/man/man1/whiteboard-peer.1
      """
  )

  @Argument(
    help: ArgumentHelp("Of which command; else of the program.", valueName: "COMMAND"),
    completion: .list(ManualCommand.names)
  )
  var command: [String] = []

  private static var names: [String] {
    WhiteboardPeer.configuration.subcommands.compactMap { $0.configuration.commandName }
  }

  private static let about = ManualPage.Program(
    version: WhiteboardPeer.configuration.version,
    settings: CommonOptions.entries,
    sections: [("VERBS", VerbTable.text)],
    files: [
      ("$XDG_CONFIG_HOME/whiteboard/config", "The settings, else ~/.config/whiteboard/config."),
      (
        "$XDG_DATA_HOME/whiteboard",
        "Else ~/.local/share/whiteboard: identity.pem, the key that we are; peers.json, whom we met; "
          + "boards, the boards; inbox, files that were received."
      ),
    ]
  )

  mutating func run() async throws {
    guard let program = CommandInfo.program(WhiteboardPeer.self) else {
      throw NodeError(.internal, "the command line cannot be described")
    }
    guard let meant = program.command(command) else {
      throw NodeError(
        .usage,
        "there is no command \(TerminalText.quoted(command.joined(separator: " ")))"
      )
    }
    try Console.tell(ManualPage(meant, Self.about).text)
  }
}
