import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Metrics
import RelayOperations
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
      A second signal ends it at once. At SIGHUP the settings are read again: whose boards are taken and all \
      limits hold from then on, everything else from the next start.
      """
  )

  @OptionGroup var options: ServeOptions

  mutating func run() async throws {
    let settings = try options.settings()
    let format = LogFormat(settings)
    let metrics = PrometheusMetrics(ProcessMetrics.families + MetricFamily.ofRelay)
    MetricsSystem.bootstrap(metrics)
    let dropped = Counter(label: "whiteboard_log_lines_dropped_total")
    let log = LogWriter(descriptor: STDERR_FILENO) { dropped.increment() }
    LoggingSystem.bootstrap { OperatorLogHandler(label: $0, format: format, writer: log) }
    let output = LogWriter(descriptor: STDOUT_FILENO)
    defer {
      output.flush()
      log.flush()
    }
    do throws(NodeError) {
      try await serve(settings, metrics, output)
    } catch {
      // A reader that reads nothing must not delay the end.
      log.write("\(WhiteboardRelayProgram.complaint(error))\n")
      throw ExitCode(error.code.rawValue)
    }
  }

  private func serve(
    _ settings: Settings,
    _ metrics: PrometheusMetrics,
    _ output: LogWriter
  ) async throws(NodeError) {
    let configuration = try options.configuration(settings)
    let notifier: ServiceNotifier
    do throws(ServiceNotifier.EnvironmentError) {
      notifier = try ServiceNotifier(environment: ProcessInfo.processInfo.environment)
    } catch {
      throw NodeError(.badConfiguration, "\(error)")
    }
    let control = try ControlServer(
      at: RelayConfiguration.controlPath(
        dataDirectory: configuration.dataDirectory,
        runtimeDirectory: Environment["RUNTIME_DIRECTORY"]
      )
    )
    let relay = try Relay(configuration)
    let termination = termination(relay, notifier, configuration.logger)
    defer { withExtendedLifetime(termination) {} }
    let isJSON = options.place.json
    try await withHealth(relay, metrics, at: settings.value(.http) ?? .standard) {
      () async throws(NodeError) in
      try await withServices(relay, control, notifier) { () async throws(NodeError) in
        try await relay.run { relay in
          let lines = await relay.answer(ControlRequest(.status))
          // The relay must not wait for a reader.
          for line in lines { output.write(line.text(json: isJSON)) }
          notifier.ready(status: "\(relay.reports().count) boards")
        }
      }
    }
  }

  private func termination(
    _ relay: Relay,
    _ notifier: ServiceNotifier,
    _ logger: Logger
  ) -> Termination {
    let options = options
    return Termination {
      notifier.stopping()
      await relay.requestEnd()
    } reload: {
      notifier.reloading()
      do throws(NodeError) {
        await relay.reload(try RelayConfiguration.Limits(try options.settings()))
      } catch {
        logger.error("the settings stay as they were: \(error.message)")
      }
      notifier.ready()
    }
  }

  /// Answers over HTTP while something runs, where that is wanted.
  private func withHealth(
    _ relay: Relay,
    _ metrics: PrometheusMetrics,
    at place: HealthPlace,
    _ body: () async throws(NodeError) -> Void
  ) async throws(NodeError) {
    guard case .at(let address) = place else { return try await body() }
    var configuration = HealthServer.Configuration()
    configuration.host = address.host
    configuration.port = address.port
    let process = ProcessMetrics(factory: metrics, start: Date.now.timeIntervalSince1970)
    let endpoints = HealthEndpoints(
      program: "whiteboard-relay",
      version: WhiteboardRelayProgram.configuration.version,
      ailments: {
        // It answers when the relay does.
        _ = await relay.hindrances
        return []
      },
      hindrances: { await relay.hindrances },
      metrics: {
        process.read()
        return metrics.text()
      }
    )
    var outcome: Result<Void, NodeError> = .success(())
    do {
      try await withHealthServer(endpoints, configuration: configuration) { _ in
        do throws(NodeError) {
          try await body()
        } catch {
          outcome = .failure(error)
        }
      }
    } catch {
      throw NodeError(
        .system,
        "\(error): name another place with --http ADDR:PORT, or say --http none"
      )
    }
    try outcome.get()
  }

  /// Answers over the control socket, and keeps the service manager's watchdog quiet, while something runs.
  private func withServices(
    _ relay: Relay,
    _ control: ControlServer,
    _ notifier: ServiceNotifier,
    _ body: () async throws(NodeError) -> Void
  ) async throws(NodeError) {
    // Both end below, whatever comes of the relay.
    let answering = Task { await control.run { await relay.answer($0) } }
    let watching = Task {
      await notifier.keepWatchdogQuiet {
        _ = await relay.hindrances
        return true
      }
    }
    var outcome: Result<Void, NodeError> = .success(())
    do throws(NodeError) {
      try await body()
    } catch {
      outcome = .failure(error)
    }
    answering.cancel()
    watching.cancel()
    await answering.value
    await watching.value
    try outcome.get()
  }
}

extension LogFormat {
  /// The format that settings say.
  init(_ settings: Settings) {
    self =
      switch settings.value(.logFormat) ?? .auto {
      case .auto: .chosen(environment: ProcessInfo.processInfo.environment)
      case .text: .text
      case .json: .json
      }
  }
}
