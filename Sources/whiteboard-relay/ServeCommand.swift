import ArgumentParser
import CommandLines
import FoundationEssentials
import Glibc
import Logging
import Metrics
import RelayOperations
import WhiteboardCommands
import WhiteboardKit
import WhiteboardRelay

/// `whiteboard-relay serve`.
struct ServeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "serve",
    abstract: "Serve boards until the relay is stopped (the default command).",
    discussion: """
      SIGTERM, SIGINT and `drain` shut the relay down gracefully: it notifies all peers, and saves every board. A \
      second signal ends it immediately. On SIGHUP, the relay reads the settings again. Settings for accepting and \
      removing boards take effect immediately, all others at the next start.
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
    do throws(WhiteboardError) { try await serve(settings, metrics, output) } catch {
      // A blocked reader of the log must not delay the exit of the program.
      log.write("\(WhiteboardRelayProgram.complaint(error))\n")
      throw ExitCode(error.code.rawValue)
    }
  }

  private func serve(_ settings: Settings, _ metrics: PrometheusMetrics, _ output: LogWriter)
    async throws(WhiteboardError)
  {
    let configuration = try options.configuration(settings)
    let notifier: ServiceNotifier
    do throws(ServiceNotifier.EnvironmentError) {
      notifier = try ServiceNotifier(environment: ProcessInfo.processInfo.environment)
    } catch { throw WhiteboardError(.badConfiguration, "\(error)") }
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
    try await withHealth(relay, metrics, at: settings.value(.http) ?? .standard) { () async throws(WhiteboardError) in
      try await withServices(relay, control, notifier) { () async throws(WhiteboardError) in
        try await relay.run { relay in
          let lines = await relay.answer(ControlRequest(.status))
          // A slow reader of the output must not delay the relay.
          for line in lines { output.write(line.text(json: isJSON)) }
          notifier.ready(status: "\(relay.reports().count) boards")
        }
      }
    }
  }

  private func termination(_ relay: Relay, _ notifier: ServiceNotifier, _ logger: Logger) -> Termination {
    let options = options
    return Termination {
      notifier.stopping()
      await relay.requestEnd()
    } reload: {
      notifier.reloading()
      do throws(WhiteboardError) { await relay.reload(try RelayConfiguration.Limits(try options.settings())) } catch {
        logger.error("Settings were not reloaded: \(error.message)")
      }
      notifier.ready()
    }
  }

  /// Serves health checks and metrics over HTTP while `body` runs, if the settings ask for it.
  private func withHealth(
    _ relay: Relay,
    _ metrics: PrometheusMetrics,
    at place: HealthPlace,
    _ body: () async throws(WhiteboardError) -> Void
  ) async throws(WhiteboardError) {
    guard case .at(let address) = place else { return try await body() }
    var configuration = HealthServer.Configuration()
    configuration.host = address.host
    configuration.port = address.port
    let process = ProcessMetrics(factory: metrics, start: Date.now.timeIntervalSince1970)
    let endpoints = HealthEndpoints(
      program: "whiteboard-relay",
      version: WhiteboardRelayProgram.configuration.version,
      ailments: {
        // The relay is alive if its actor answers this call.
        _ = await relay.hindrances
        return []
      },
      hindrances: { await relay.hindrances },
      metrics: {
        process.read()
        return metrics.text()
      }
    )
    var outcome: Result<Void, WhiteboardError> = .success(())
    do {
      try await withHealthServer(endpoints, configuration: configuration) { _ in
        do throws(WhiteboardError) { try await body() } catch { outcome = .failure(error) }
      }
    } catch {
      throw WhiteboardError(.system, "\(error): choose another address with --http ADDR:PORT, or use --http none")
    }
    try outcome.get()
  }

  /// Serves the control socket and notifies the service manager's watchdog while `body` runs.
  private func withServices(
    _ relay: Relay,
    _ control: ControlServer,
    _ notifier: ServiceNotifier,
    _ body: () async throws(WhiteboardError) -> Void
  ) async throws(WhiteboardError) {
    // Both tasks are canceled and awaited below, even if `body` fails.
    let answering = Task { await control.run { await relay.answer($0) } }
    let watching = Task {
      await notifier.keepWatchdogQuiet {
        _ = await relay.hindrances
        return true
      }
    }
    var outcome: Result<Void, WhiteboardError> = .success(())
    do throws(WhiteboardError) { try await body() } catch { outcome = .failure(error) }
    answering.cancel()
    watching.cancel()
    await answering.value
    await watching.value
    try outcome.get()
  }
}

extension LogFormat {
  /// Creates the log format that the settings choose.
  init(_ settings: Settings) {
    self =
      switch settings.value(.logFormat) ?? .auto {
      case .auto: .chosen(environment: ProcessInfo.processInfo.environment)
      case .text: .text
      case .json: .json
      }
  }
}
