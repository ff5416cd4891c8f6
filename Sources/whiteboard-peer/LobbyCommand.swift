import ArgumentParser
import AvahiDiscovery
import PeerCore
import PeerDiscovery
import PeerSession
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardKit
import WhiteboardTerminal

/// `whiteboard-peer` without a command: the lobby, which lists the boards nearby and the user's own boards.
struct LobbyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "lobby",
    abstract: "Show the boards nearby and your own boards on a terminal (the default command)."
  )

  @OptionGroup var options: BoardOptions

  /// Runs the lobby until the user leaves it.
  ///
  /// If the user chose line mode, or the terminal has no screen, the lobby consists of lines. If the program does not
  /// run on a terminal, it prints the help, and fails with the exit status for wrong usage.
  ///
  /// - Throws: ``WhiteboardError`` if the lobby cannot start.
  mutating func run() async throws {
    let settings = try options.settings()
    let isInLines = !Console.hasScreen(settings)
    guard Console.isTerminal || settings.value(.accessible) == true else {
      Console.complain(WhiteboardPeer.helpMessage())
      throw ExitCode(WhiteboardError.Code.usage.rawValue)
    }
    let directory = try settings.chosenDataDirectory()
    let library = BoardLibrary(directory: directory + "/boards")
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
      let count = summary.objects == 1 ? "1 object" : "\(summary.objects) objects"
      let damage = summary.damage.map { _ in "DAMAGED: run whiteboard-peer boards recover \(shellQuoted(summary.path))"
      }
      let about = damage ?? summary.error?.message ?? "\(count)  \(BoardFile.time(summary.changed).prefix(10))"
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
