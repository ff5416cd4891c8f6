import AvahiDiscovery
import PeerDiscovery
import WhiteboardDocument
import WhiteboardNode
import WhiteboardTerminal

/// `whiteboard-peer` by itself, on a terminal: the boards nearby, one's own, and the way to others.
enum LobbyProgram {
  /// Runs until the person leaves.
  ///
  /// - Throws: ``NodeError`` where it cannot begin.
  static func run() async throws {
    let options = try BoardOptions.parse([])
    let library = try options.common.library()
    let lobby = Lobby(
      discovery: AvahiDiscovery(interface: options.common.chosenInterface),
      suggestion: try HostedBoard(nil, isKept: true).name,
      boards: { await own(library) },
      configuration: { (choice) throws(NodeError) in try await configuration(choice, options) }
    )
    try await Program.withScreen(dataDirectory: options.common.chosenDataDirectory()) { screen in
      await screen.run(lobby)
    }
  }

  private static func own(_ library: BoardLibrary) async -> [LobbyClient.OwnBoard] {
    // Those that cannot be listed cannot be opened either; `boards` says why.
    let summaries = (try? await library.list(by: .changed)) ?? []
    return summaries.prefix(50).map { summary in
      let count = summary.objects == 1 ? "1 object" : "\(summary.objects) objects"
      let about =
        summary.error?.message ?? "\(count)  \(BoardFile.time(summary.changed).prefix(10))"
      return LobbyClient.OwnBoard(name: summary.name, path: summary.path, about: about)
    }
  }

  private static func configuration(
    _ choice: LobbyClient.Choice,
    _ options: BoardOptions
  ) async throws(NodeError) -> NodeConfiguration? {
    var options = options
    switch choice {
    case .quit: return nil
    case .host(let name):
      let hosted = try HostedBoard(name, isKept: true)
      var configuration = try await options.configuration(
        .host(boardName: hosted.name),
        isInteractive: true
      )
      configuration.boardFile = hosted.file
      configuration.isTyped = true
      return configuration
    case .join(let target, let code):
      options.code = code ?? options.code
      var configuration = try await options.configuration(
        try Program.joining(target, wait: 30),
        isInteractive: true
      )
      configuration.isTyped = true
      return configuration
    }
  }
}
