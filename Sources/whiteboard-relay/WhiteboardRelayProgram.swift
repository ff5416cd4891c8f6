import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

/// The program that keeps boards alive.
@main
struct WhiteboardRelayProgram: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-relay",
    abstract: "Keep whiteboards online, and connect peers that cannot reach each other.",
    discussion: """
      EXAMPLES
        whiteboard-relay                          serve, until it is told to end
        whiteboard-relay boards create standup    a board of its own; prints a link
        whiteboard-relay boards                   the boards, and who is on them
        whiteboard-relay status                   how it is
        whiteboard-relay backup -o /mnt/relay     a copy of all of it, while it runs
        whiteboard-relay drain                    end in good order

      \(ExitStatus.help)
      """,
    version: "0.1.0",
    subcommands: [
      ServeCommand.self, StatusCommand.self, BoardsCommand.self, PeersCommand.self,
      DrainCommand.self, BackupCommand.self, RestoreCommand.self, CompactCommand.self,
      HealthCommand.self, UnitCommand.self, ConfigCommand.self,
      CompletionsCommand<WhiteboardRelayProgram>.self,
      ManualCommand<WhiteboardRelayProgram>.self,
    ],
    defaultSubcommand: ServeCommand.self
  )

  static let about = ManualPage.Program(
    version: configuration.version,
    settings: SettingEntry.ofRelay,
    sections: [],
    files: [
      ("/etc/whiteboard-relay/relay.conf", "The settings."),
      (
        "$STATE_DIRECTORY",
        "Else $XDG_DATA_HOME/whiteboard/relay, else ~/.local/share/whiteboard/relay: identity.pem, the key "
          + "that the relay is; relay.json, which boards it serves; boards, the boards."
      ),
      ("$RUNTIME_DIRECTORY/control.sock", "Else beside those: where the relay is asked."),
    ]
  )

  static func main() async { await runMain() }
}
