import ArgumentParser
import PeerSession
import WhiteboardCommands
import WhiteboardDocument
import WhiteboardNode

/// Whether commands wait for the board of the others, and how long.
struct CatchUpOptions: ParsableArguments {
  @Option(
    name: .customLong("sync-timeout"),
    help: ArgumentHelp(
      "How long commands that are not typed wait until the board has arrived.",
      valueName: "SECONDS"
    )
  )
  var timeout = 30.0

  @Flag(help: "Use the copy of the board on this computer, and connect to no other peer.")
  var offline = false

  mutating func validate() throws {
    guard (0...86_400).contains(timeout) else {
      throw ValidationError("--sync-timeout is a time from 0 to 86400 seconds.")
    }
  }

  /// Applies these options to a configuration that joins.
  ///
  /// - Parameters:
  ///   - configuration: The configuration.
  ///   - isKept: Whether boards are kept in the data directory.
  /// - Throws: ``NodeError`` where there is no copy to use.
  func apply(to configuration: inout NodeConfiguration, isKept: Bool) async throws(NodeError) {
    configuration.catchUpTimeout = .seconds(timeout)
    guard offline, case .join(let target, _) = configuration.part else { return }
    guard isKept else {
      throw NodeError(.usage, "--ephemeral keeps no board, so that --offline has none to use")
    }
    let wanted: String
    switch target {
    case .name(let name): wanted = name
    case .link(let link): wanted = link.board
    case .nearby, .address:
      throw NodeError(.usage, "--offline needs the board's name, the start of its id, or its link")
    }
    let library = BoardLibrary(directory: configuration.dataDirectory + "/boards")
    configuration.boardFile = try await library.file(of: wanted)
    configuration.part = .host(boardName: "")
    configuration.isOffline = true
    configuration.isAnnounced = false
    configuration.discovery = nil
    configuration.carrier = nil
    configuration.admission = .known
    configuration.listen = PeerAddress(host: "127.0.0.1", port: 0)
  }
}
