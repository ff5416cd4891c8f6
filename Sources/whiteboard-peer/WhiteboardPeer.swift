import ArgumentParser
import CommandLines
import PeerCore
import WhiteboardCommands
import WhiteboardKit
import WhiteboardRendering
import WhiteboardTerminal

/// The program `whiteboard-peer`, which hosts and joins whiteboards.
@main struct WhiteboardPeer: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-peer",
    abstract: "A whiteboard for the people in the room, without a server.",
    discussion: """
      EXAMPLES
        whiteboard-peer                       the boards nearby and your own
        whiteboard-peer demo                  see two peers share a board
        whiteboard-peer host standup          open a board, and print its link
        whiteboard-peer invite standup        show its link, code and QR code
        whiteboard-peer join --code "WORDS"   join the only board nearby
        whiteboard-peer join 192.168.1.20:26273 --code "river maple candy frost"
        whiteboard-peer export standup -o standup.svg
        printf 'text 0,0 "hi"\\n' | whiteboard-peer run --join standup --code "…"
        whiteboard-peer help verbs            list the commands for an open board

      \(ExitStatus.help)
      """,
    version: "0.1.0",
    subcommands: [
      LobbyCommand.self, HostCommand.self, JoinCommand.self, RunCommand.self, InviteCommand.self, BoardsCommand.self,
      ExportCommand.self, ImportCommand.self, NearbyCommand.self, PeersCommand.self, IdentityCommand.self,
      ConfigCommand.self, DoctorCommand.self, DemoCommand.self, VerbsCommand.self,
      CompletionsCommand<WhiteboardPeer>.self, ManualCommand<WhiteboardPeer>.self,
    ],
    defaultSubcommand: LobbyCommand.self
  )

  static let about = ManualPage.Program(
    version: configuration.version,
    settings: CommonOptions.entries,
    sections: [
      ("BOARD COMMANDS", CommandTable.text), ("KEYS", KeyMap.standard.manual),
      ("WHAT PROGRAMS REPORT", ReportedWord.text),
    ],
    files: [
      ("$XDG_CONFIG_HOME/whiteboard/config", "The configuration file (default: ~/.config/whiteboard/config)."),
      (
        "$XDG_DATA_HOME/whiteboard",
        "The data directory (default: ~/.local/share/whiteboard). It holds identity.pem, the key of this peer; "
          + "peers.json, the known peers; boards, the saved boards; inbox, received files."
      ),
    ]
  )

  static func main() async { await runMain(runArguments) }

  private static func runArguments(_ arguments: [String]) async throws {
    if arguments.prefix(2) == ["help", "verbs"] {
      try Console.tell(CommandTable.text + "\n")
      return
    }
    try CommandSpelling.check(arguments, of: Self.self) { word in
      guard CommandName(rawValue: word) == nil else {
        return "`\(word)` is a command for an open board; `whiteboard-peer help verbs` lists these commands"
      }
      return "there is no command \(UntrustedText(word).quoted()); `whiteboard-peer help` lists the commands, "
        + "`whiteboard-peer help verbs` lists the commands for an open board"
    }
    try await runCommand(arguments)
  }
}

/// The command `verbs`, which prints the same text as `help verbs`.
struct VerbsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verbs",
    abstract: "List the board commands for scripts and line mode."
  )

  mutating func run() throws { try Console.tell(CommandTable.text + "\n") }
}
