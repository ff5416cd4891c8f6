import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program that keeps boards alive.
@main
struct WhiteboardRelayProgram: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-relay",
    abstract: "Keep whiteboards alive, and link peers that cannot reach each other.",
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
      ConfigCommand.self,
    ],
    defaultSubcommand: ServeCommand.self
  )

  static func main() async {
    // Whoever reads our output may leave; that is an error of the write, not the end of us.
    signal(SIGPIPE, SIG_IGN)
    do {
      var command = try await asyncParseAsRoot(Array(CommandLine.arguments.dropFirst()))
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as NodeError {
      Console.complain("whiteboard-relay: \(error.message)")
      Glibc.exit(error.code.rawValue)
    } catch {
      exit(withError: error)
    }
  }
}
