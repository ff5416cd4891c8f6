import CommandLines
import PeerCore
import PeerDiscovery
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardTerminal

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

extension Program {
  static func runInLines(_ lobby: Lobby) async throws(WhiteboardError) {
    let reader = try lineReader(STDIN_FILENO)
    let writer = LineWriter(descriptor: STDOUT_FILENO)
    let ending = EndRequest()
    let isTyped = isatty(STDIN_FILENO) == 1
    let termination = Termination { signal in
      guard await ending.hasBoard else { exit(128 + signal) }
      guard await ending.request(asksFirst: isTyped && signal != SIGHUP) else { return false }
      await writer.giveUp(ifStalledFor: .seconds(2))
      return true
    }
    defer { withExtendedLifetime(termination) {} }
    let shown = ShownLobby(LineLobby(suggestion: lobby.suggestion), writer)
    await shown.list(await lobby.boards())
    while let choice = await choice(lobby, shown, reader) {
      do throws(WhiteboardError) { return try await open(choice, lobby, isTyped, reader, writer, ending) } catch {
        await shown.fail(error, choice)
      }
    }
    // If the output is closed, there is no user to tell.
    try? await writer.flush()
  }

  private static func choice(_ lobby: Lobby, _ shown: ShownLobby, _ reader: LineReader) async -> LobbyClient.Choice? {
    // The code below waits for this task.
    let browsing = Task {
      await lobby.discovery.browse(BrowserQuery(excluding: nil)) { events in
        for await event in events { await shown.show(event) }
      }
    }
    var choice: LobbyClient.Choice?
    while choice == nil, let line = (try? await reader.nextLine()) ?? nil {
      guard case .line(let bytes) = line else { continue }
      choice = await shown.enter(String(decoding: bytes, as: UTF8.self))
    }
    browsing.cancel()
    await browsing.value
    return choice
  }

  /// Opens the chosen board, and runs it until the user leaves it. If the user quits, does nothing. Throws the error
  /// that closed the board.
  private static func open(
    _ choice: LobbyClient.Choice,
    _ lobby: Lobby,
    _ isTyped: Bool,
    _ reader: LineReader,
    _ writer: LineWriter,
    _ ending: EndRequest
  ) async throws(WhiteboardError) {
    guard var configuration = try await lobby.configuration(choice) else { return }
    configuration.isTyped = isTyped
    do throws(WhiteboardError) { try await run(configuration, from: reader, to: writer, isJSON: false, ending) } catch {
      // The announcement may be outdated. The local copy is always available.
      guard case .rejoin(_, let path) = choice,
        error.code == .unreachable || error.code == .timedOut || error.isRemoval,
        var own = try await lobby.configuration(.host(path))
      else { throw error }
      own.isTyped = isTyped
      Console.complain("No member answered. This is your own copy. \(error.message)")
      try await run(own, from: reader, to: writer, isJSON: false, ending)
    }
  }
}

private actor ShownLobby {
  private var lobby: LineLobby
  private let writer: LineWriter

  init(_ lobby: LineLobby, _ writer: LineWriter) {
    self.lobby = lobby
    self.writer = writer
  }

  func list(_ boards: [LobbyClient.OwnBoard]) async {
    lobby.setBoards(boards)
    await write(lobby.list())
  }

  func show(_ event: BrowserEvent) async {
    switch event {
    case .found(let peer), .updated(let peer): await write(lobby.found(.init(peer)))
    case .lost(let peer): await write(lobby.lost(.init(peer)))
    case .unavailable(let problem): await write(["! \(UntrustedText(problem.description).escaped())"])
    case .available: break
    }
  }

  func enter(_ line: String) async -> LobbyClient.Choice? {
    switch lobby.enter(line) {
    case .choice(let choice): return choice
    case .lines(let lines):
      await write(lines)
      return nil
    }
  }

  func fail(_ error: WhiteboardError, _ choice: LobbyClient.Choice) async { await write(lobby.fail(error, choice)) }

  private func write(_ lines: [String]) async {
    guard !lines.isEmpty else { return }
    // If the output is closed, there is no user to tell.
    try? await writer.write(Array(lines.map { $0 + "\n" }.joined().utf8))
  }
}
