import ArgumentParser
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

/// `whiteboard-relay serve`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve boards until it is told to end; done where no command is given.",
    discussion: """
      SIGTERM, SIGINT and `drain` end it in good order: everybody is told, and every board is kept. \
      A second signal ends it at once. At SIGHUP the settings are read again.
      """
  )

  @OptionGroup var options: ServeOptions

  mutating func run() async throws {
    let settings = try options.settings()
    let configuration = try options.configuration(settings)
    let control = try ControlServer(
      at: RelayConfiguration.controlPath(
        dataDirectory: configuration.dataDirectory,
        runtimeDirectory: Environment["RUNTIME_DIRECTORY"]
      )
    )
    let relay = try Relay(configuration)
    let logger = configuration.logger
    let options = options
    let termination = Termination {
      await relay.requestEnd()
    } reload: {
      do throws(NodeError) {
        await relay.reload(RelayConfiguration.Limits(try options.settings()))
      } catch {
        logger.error("the settings stay as they were: \(error.message)")
      }
    }
    defer { withExtendedLifetime(termination) {} }
    let isJSON = options.place.json
    try await withControl(control, relay) { () async throws(NodeError) in
      try await relay.run { relay in
        let lines = await relay.answer(ControlRequest(.status))
        // Where nobody reads it, nobody misses it.
        for line in lines { try? Console.tell(line.text(json: isJSON)) }
      }
    }
  }

  /// Answers over the control socket while something runs.
  private func withControl(
    _ control: ControlServer,
    _ relay: Relay,
    _ body: () async throws(NodeError) -> Void
  ) async throws(NodeError) {
    // Ended below, whatever comes of the relay.
    let answering = Task { await control.run { await relay.answer($0) } }
    let outcome: Result<Void, NodeError>
    do throws(NodeError) {
      outcome = .success(try await body())
    } catch {
      outcome = .failure(error)
    }
    answering.cancel()
    await answering.value
    try outcome.get()
  }
}
