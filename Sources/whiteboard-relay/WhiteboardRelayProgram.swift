import ArgumentParser
import CommandLines
import WhiteboardCommands
import WhiteboardKit
import WhiteboardRelay

/// The program `whiteboard-relay`, which serves boards while their hosts are offline.
@main struct WhiteboardRelayProgram: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-relay",
    abstract: "Keep whiteboards online, and connect peers that cannot reach each other.",
    discussion: """
      EXAMPLES
        whiteboard-relay                          serve boards until you stop the relay
        whiteboard-relay boards create standup    create a board, and print its link
        whiteboard-relay boards                   list the boards, and the peers on them
        whiteboard-relay status                   show the state of the relay
        whiteboard-relay backup -o /mnt/relay     copy all data while the relay runs
        whiteboard-relay drain                    shut down gracefully

      \(ExitStatus.help)
      """,
    version: "0.1.0",
    subcommands: [
      ServeCommand.self, StatusCommand.self, BoardsCommand.self, PeersCommand.self, DrainCommand.self,
      BackupCommand.self, RestoreCommand.self, CompactCommand.self, HealthCommand.self, UnitCommand.self,
      ConfigCommand.self, CompletionsCommand<WhiteboardRelayProgram>.self, ManualCommand<WhiteboardRelayProgram>.self,
    ],
    defaultSubcommand: ServeCommand.self
  )

  static let about = ManualPage.Program(
    version: configuration.version,
    settings: SettingEntry.ofRelay,
    sections: [],
    files: [
      ("/etc/whiteboard-relay/relay.conf", "The configuration file."),
      (
        "$STATE_DIRECTORY",
        "The data directory; by default $XDG_DATA_HOME/whiteboard/relay, or ~/.local/share/whiteboard/relay. It "
          + "holds identity.pem, the key of the relay; relay.json, the list of its boards; boards, their files."
      ), ("$RUNTIME_DIRECTORY/control.sock", "The socket for commands; by default, it is in the data directory."),
    ]
  )

  static func main() async { await runMain() }
}
