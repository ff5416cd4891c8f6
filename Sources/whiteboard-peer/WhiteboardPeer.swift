import ArgumentParser
import WhiteboardNode

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// The program of a person at a whiteboard.
@main
struct WhiteboardPeer: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-peer",
    abstract: "A whiteboard for the people in the room, without a server.",
    discussion: """
      EXAMPLES
        whiteboard-peer demo                    see two peers share a board
        whiteboard-peer host standup            make a board; prints a code and a link
        whiteboard-peer join --code "WORDS"     join the board nearby, which admits by a code
        whiteboard-peer join 192.168.1.20:26273 --code "river maple candy frost"
        printf 'text 0,0 "hi"\\n' | whiteboard-peer run --join standup --code "…"
        whiteboard-peer help verbs              what can be typed once on a board

      EXIT STATUS
        0 ok · 1 the answer is no, or a verb failed · 64 usage · 65 a line that cannot be read ·
        66 no such file · 69 unreachable · 70 internal · 71 the system refuses · 73 cannot create ·
        74 input or output · 75 not in time · 76 other version · 77 not let in · 78 bad settings ·
        128+N ended at once by signal N
      """,
    subcommands: [
      HostCommand.self, JoinCommand.self, RunCommand.self, NearbyCommand.self, PeersCommand.self,
      DoctorCommand.self, DemoCommand.self, VerbsCommand.self,
    ]
  )

  /// Without a command: help, as usage is not right.
  mutating func run() async throws {
    Console.complain(WhiteboardPeer.helpMessage())
    throw ExitCode(NodeError.Code.usage.rawValue)
  }

  static func main() async {
    // Whoever reads our output may leave; that is an error of the write, not the end of us.
    signal(SIGPIPE, SIG_IGN)
    if Array(CommandLine.arguments.dropFirst()) == ["help", "verbs"] {
      print(VerbTable.text)
      return
    }
    do {
      var command = try parseAsRoot(nil)
      if var asynchronous = command as? any AsyncParsableCommand {
        try await asynchronous.run()
      } else {
        try command.run()
      }
    } catch let error as NodeError {
      Console.complain("whiteboard-peer: \(error.message)")
      Glibc.exit(error.code.rawValue)
    } catch {
      exit(withError: error)
    }
  }
}

/// What `help verbs` prints, as a command of its own.
struct VerbsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verbs",
    abstract: "List the verbs that scripts and the line mode take."
  )

  mutating func run() {
    print(VerbTable.text)
  }
}
