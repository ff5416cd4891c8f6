import ArgumentParser
import AvahiDiscovery
import CommandLines
import FoundationEssentials
import PeerCore
import PeerDiscovery
import PeerSession
import WhiteboardDoctor
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRendering
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

@main struct WhiteboardPeer: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-peer",
    abstract: "A whiteboard for the people in the room, without a server.",
    discussion: """
      EXAMPLES
        whiteboard-peer                       the boards nearby and your own
        whiteboard-peer demo                  see two peers share a board
        whiteboard-peer host standup          open a board; you decide who joins
        whiteboard-peer join standup          join it from another computer nearby
        whiteboard-peer join 192.168.1.20:26273   join without discovery
        whiteboard-peer host retro --code "river maple candy frost"
        whiteboard-peer join retro --code "river maple candy frost"
        whiteboard-peer invite retro          show its link, code and QR code
        printf 'text 0,0 "hi"\\n' | whiteboard-peer run --host notes
        whiteboard-peer export notes -o notes.svg
        whiteboard-peer help verbs            list the commands for an open board

      \(ExitStatus.help)
      """,
    version: ProgramVersion.text,
    subcommands: [
      LobbyCommand.self, HostCommand.self, JoinCommand.self, RunCommand.self, InviteCommand.self, BoardsCommand.self,
      BroadcastCommand.self, WatchCommand.self, ExportCommand.self, ImportCommand.self, NearbyCommand.self,
      PeersCommand.self, ProfileCommand.self, IdentityCommand.self, ConfigCommand.self, DoctorCommand.self,
      DemoCommand.self, VerbsCommand.self,
      CompletionsCommand<WhiteboardPeer>.self, ManualCommand<WhiteboardPeer>.self,
    ],
    defaultSubcommand: LobbyCommand.self
  )

  static let about = ManualPage.Program(
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
          + "peers.json, the known peers; settings.json, the name, the icon and the hidden authors; boards, the saved "
          + "boards; inbox, received files."
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

struct VerbsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verbs",
    abstract: "List the board commands for scripts and line mode."
  )

  mutating func run() throws { try Console.tell(CommandTable.text + "\n") }
}

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find out why boards are not found or not drawn correctly, and suggest solutions.",
    discussion: """
      Checks the interfaces, multicast, D-Bus, the Avahi daemon, the port, the firewall, the clock, the data \
      directory and the terminal. The exit status is 1 if a check finds a problem.
      """
  )

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings()
    let listen = settings.value(.listen)
    let doctor = Doctor(
      port: listen.flatMap { $0.port > 0 ? $0.port : nil } ?? HostPort.defaultPort,
      interface: settings.value(.interface),
      dataDirectory: try settings.chosenDataDirectory()
    )
    let terminal = TerminalCheck(.machine, TerminalSettings(settings), size: Console.size)
    let report = await doctor.run(and: [terminal.finding])
    if common.json {
      try Console.tell(String(decoding: EventLine.json("doctor", report), as: UTF8.self))
    } else {
      for finding in report.findings {
        let mark =
          switch finding.verdict {
          case .fine: "ok   "
          case .note: "note "
          case .fault: "FAULT"
          }
        try Console.tell("\(mark) \(finding.check): \(finding.seen)\n")
        if let advice = finding.advice { try Console.tell("        \(advice)\n") }
      }
      if !report.isHealthy, let cause = report.likelyCause { try Console.tell("\nLikely cause: \(cause)\n") }
    }
    guard report.isHealthy else { throw ExitCode(WhiteboardError.Code.no.rawValue) }
  }
}

struct IdentityCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "identity",
    abstract: "Show the identity of this computer, or give it a new one.",
    subcommands: [Show.self, New.self],
    defaultSubcommand: Show.self
  )

  private struct IdentityLine: Encodable {
    let peer: String
    var former: String?
    var formerFile: String?
    var formerBoards: [UntrustedText]?

    var json: String { String(decoding: EventLine.json("identity", self), as: UTF8.self) }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Print the id of this peer.")

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let directory = try common.chosenDataDirectory()
      do {
        let identity = try PeerIdentity.loadOrCreate(forBoardsIn: directory)
        try Console.tell(common.json ? IdentityLine(peer: identity.peerID.text).json : "\(identity.peerID.text)\n")
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }
  }

  struct New: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Give this computer a new identity; boards, names and settings stay.",
      discussion: """
        Use it if the data directory was copied to another computer, so that two computers have one identity. Other
        peers then see this computer as a new peer: it needs the join code again, and boards that the old identity
        hosts keep the old identity as their host. The old identity is kept in a file beside the new one.
        """
    )

    @OptionGroup var confirmation: Confirmation

    @OptionGroup var common: CommonOptions

    mutating func run() async throws {
      let directory = try common.chosenDataDirectory()
      try await confirmation.confirm("identity new", or: "the identity was not changed") {
        "Give this computer a new identity? Other peers then see it as a new peer, which needs their join code again."
      }
      do {
        let (old, new, file) = try PeerIdentity.renew(inDirectory: directory)
        let boards = await BoardFile.boards(hostedBy: old, dataDirectory: directory)
        guard !common.json else {
          var line = IdentityLine(peer: new.peerID.text, former: old.text, formerFile: file)
          line.formerBoards = boards.isEmpty ? nil : boards.map { UntrustedText($0.name) }
          return try Console.tell(line.json)
        }
        try Console.tell(
          "This computer is now \(new.peerID.short), and no longer \(old.short).\n"
            + "The old identity is kept in \(file).\n"
            + "Start programs that are running here again; until then they use the old identity.\n"
            + Self.text(about: boards)
        )
      } catch { throw WhiteboardError(error, inDataDirectory: directory) }
    }

    private static func text(about boards: [(name: String, path: String)]) -> String {
      guard !boards.isEmpty else { return "" }
      let isOne = boards.count == 1
      let lines = boards.map { "  \(UntrustedText($0.name).quoted(limit: 128))  \($0.path)\n" }.joined()
      return
        "The old identity remains the host of \(isOne ? "this board" : "these boards"). Members cannot be removed from "
        + "\(isOne ? "it" : "them"):\n\(lines)To host a copy of your own, run: whiteboard-peer boards duplicate BOARD NAME\n"
    }
  }
}

struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    abstract: "Try the program alone: on a terminal, draw with a simulated peer.",
    discussion: """
      Two real peers find each other by discovery: yours, and one named Ada in the same program. Nothing \
      is saved. Without a terminal, or with --accessible, two peers share a board for a moment, print what \
      they do, and compare their boards.
      """
  )

  @OptionGroup(title: "Terminal") var terminal: TerminalOptions

  @OptionGroup var common: CommonOptions

  mutating func run() async throws {
    let settings = try common.settings(terminal.flags)
    let template = (Environment["TMPDIR"] ?? "/tmp") + "/whiteboard-demo-XXXXXX"
    var path = Array(template.utf8CString)
    guard mkdtemp(&path) != nil else {
      throw WhiteboardError(.cannotCreate, "cannot create a temporary directory; check TMPDIR")
    }
    let directory = String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let discovery = AvahiDiscovery(interface: settings.value(.interface))
    guard !Console.hasScreen(settings) else {
      let companion = DemoCompanion(
        discovery: discovery,
        directory: directory,
        logger: settings.logger("whiteboard-peer")
      )
      let name = settings.value(.personName) ?? Environment.userName
      try await Program.withScreen(dataDirectory: directory, settings) { screen throws(WhiteboardError) in
        try await companion.run(for: name) { (configuration) throws(WhiteboardError) in
          try await screen.run(configuration)
        }
      }
      return
    }
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let say: @Sendable (String?, String) async -> Void = { who, line in
      let prefix = who.map { "\($0) | " } ?? ""
      for part in line.split(separator: "\n") { try? await writer.write(Array("\(prefix)\(part)\n".utf8)) }
    }
    await say(nil, "Ada hosts a board, and Ben searches for it. Each has a separate key and directory.")
    let demo = Demo(
      discovery: discovery,
      directory: directory,
      listen: PeerAddress(host: "0.0.0.0", port: 0),
      logger: settings.logger("whiteboard-peer"),
      narrate: say
    )
    let termination = Termination {
      await demo.stop()
      // The program must end even if its output is not read.
      await writer.giveUp(ifStalledFor: .seconds(2))
    }
    defer { withExtendedLifetime(termination) {} }
    let digest: String
    do throws(WhiteboardError) { digest = try await demo.run() } catch {
      guard await demo.isStopped else { throw error }
      await say(nil, "The demo was stopped.")
      try? await writer.flush()
      return
    }
    await say(nil, "Both boards are the same: \(digest)")
    await say(nil, "Try it yourself: whiteboard-peer host, and whiteboard-peer join on another computer.")
    try? await writer.flush()
  }
}

/// `whiteboard-peer` without a command: the lobby, which lists the boards nearby and the user's own boards.
struct LobbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lobby",
    abstract: "Show the boards nearby and your own boards on a terminal (the default command)."
  )

  @OptionGroup var options: BoardOptions

  /// Runs the lobby until the user leaves it. Throws if the lobby cannot start. If the user chose line mode, or the
  /// terminal has no screen, the lobby consists of lines. If the program does not run on a terminal, it prints the
  /// help, and fails with the exit status for wrong usage.
  mutating func run() async throws {
    let settings = try options.settings()
    let isInLines = !Console.hasScreen(settings)
    guard Console.isTerminal || settings.value(.accessible) == true else {
      Console.complain(WhiteboardPeer.helpMessage())
      throw ExitCode(WhiteboardError.Code.usage.rawValue)
    }
    let directory = try settings.chosenDataDirectory()
    let library = BoardLibrary(inDataDirectory: directory)
    let lobby = Lobby(
      discovery: AvahiDiscovery(interface: settings.value(.interface)),
      isReachable: { addresses in
        await PeerTransport.answers(at: addresses.compactMap { PeerAddress($0) }, within: .seconds(2))
      },
      suggestion: try HostedBoard(nil, isKept: true, settings).name,
      hasCode: settings.value(.code) != nil,
      boards: { await Self.own(library) },
      configuration: { [options] (choice) throws(WhiteboardError) in try await Self.configuration(choice, options) }
    )
    guard !isInLines else { return try await Program.runInLines(lobby) }
    try await Program.withScreen(dataDirectory: directory, settings) { screen in await screen.run(lobby) }
  }

  private static func own(_ library: BoardLibrary) async -> [LobbyClient.OwnBoard] {
    // If the boards cannot be listed, the lobby shows none; `whiteboard-peer boards` reports the reason.
    let summaries = (try? await library.list(by: .changed)) ?? []
    return summaries.prefix(50).map { summary in
      let count = summary.objects.map { $0 == 1 ? "1 object  " : "\($0) objects  " } ?? ""
      let damage = summary.damage.map { _ in "DAMAGED: run whiteboard-peer boards recover \(shellQuoted(summary.path))"
      }
      let about = damage ?? summary.error?.message ?? "\(count)\(BoardFile.time(summary.changed).prefix(10))"
      return LobbyClient.OwnBoard(
        name: summary.name,
        path: summary.path,
        about: about,
        board: summary.board.flatMap { SessionID(bytes: $0)?.text },
        title: summary.title
      )
    }
  }

  private static func configuration(_ choice: LobbyClient.Choice, _ options: BoardOptions) async throws(WhiteboardError)
    -> BoardConfiguration?
  {
    var options = options
    if case .join(_, let code) = choice { options.code = code ?? options.code }
    let settings = try options.settings()
    switch choice {
    case .quit: return nil
    case .host(let name):
      let hosted = try HostedBoard(name, isKept: !options.ephemeral, settings)
      var configuration = try await options.configuration(.host(boardName: hosted.name), isInteractive: true, settings)
      configuration.boardFile = hosted.file
      configuration.isTyped = true
      return configuration
    case .join(let target, _), .rejoin(let target, _):
      // If no member answers soon, the lobby opens the user's own copy.
      let wait: Double = if case .rejoin = choice { 5 } else { 30 }
      var configuration = try await options.configuration(
        try Program.joining(target, wait: wait),
        isInteractive: true,
        settings
      )
      configuration.isTyped = true
      return configuration
    }
  }
}
