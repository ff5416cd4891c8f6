import ArgumentParser
import PeerSession
import WhiteboardDocument
import WhiteboardKit
import WhiteboardPrograms

struct CatchUpOptions: ParsableArguments {
  @Option(
    name: .customLong("sync-timeout"),
    help: ArgumentHelp("How long piped commands wait for the board to arrive.", valueName: "SECONDS")
  ) var timeout = 30.0

  @Flag(help: "Use the copy of the board on this computer, without connecting to other peers.") var offline = false

  mutating func validate() throws {
    guard (0...86_400).contains(timeout) else {
      throw ValidationError("--sync-timeout must be from 0 to 86400 seconds.")
    }
  }

  /// Applies these options to the configuration of a shared board that joins a session; throws if `--offline` needs a
  /// saved copy, but there is none.
  func apply(to configuration: inout BoardConfiguration, isKept: Bool) async throws(WhiteboardError) {
    configuration.catchUpTimeout = .seconds(timeout)
    guard offline, case .join(let target, _) = configuration.part else { return }
    guard isKept else { throw WhiteboardError(.usage, "--offline needs a saved copy, and --ephemeral saves none") }
    let wanted: String
    switch target {
    case .name(let name): wanted = name
    case .link(let link): wanted = link.board
    case .nearby, .address:
      throw WhiteboardError(.usage, "--offline needs the board's name, the start of its id, or its link")
    }
    let library = BoardLibrary(inDataDirectory: configuration.dataDirectory)
    configuration.boardFile = try await library.file(of: wanted)
    configuration.part = .host(boardName: "")
    configuration.isOffline = true
    configuration.isAnnounced = false
    configuration.discovery = nil
    configuration.carrier = nil
    configuration.admission = .known
    configuration.isListening = false
  }
}
