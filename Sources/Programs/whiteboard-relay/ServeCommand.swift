import ArgumentParser
import CommandLines
import FoundationEssentials
import Glibc
import Logging
import PeerCore
import WhiteboardKit
import WhiteboardPrograms
import WhiteboardRelay
import WhiteboardWeb

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
    let metrics = RelayMetrics()
    let log = LogOutput(descriptor: STDERR_FILENO) { metrics.logLineWasDropped() }
    LoggingSystem.bootstrap { OperatorLogHandler(label: $0, format: format, writer: log) }
    let output = LogOutput(descriptor: STDOUT_FILENO)
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

  private func serve(_ settings: Settings, _ metrics: RelayMetrics, _ output: LogOutput)
    async throws(WhiteboardError)
  {
    var configuration = try options.configuration(settings)
    configuration.metrics = metrics
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
    // Each board has several open files.
    raiseDescriptorLimit()
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
    _ metrics: RelayMetrics,
    at place: HealthPlace,
    _ body: () async throws(WhiteboardError) -> Void
  ) async throws(WhiteboardError) {
    guard case .at(let address) = place else { return try await body() }
    var configuration = HealthServer.Configuration()
    configuration.host = address.host
    configuration.port = address.port
    let endpoints = HealthEndpoints(
      program: "whiteboard-relay",
      version: ProgramVersion.number,
      ailments: {
        // The relay is alive if its actor answers this call.
        _ = await relay.hindrances
        return []
      },
      hindrances: { await relay.hindrances },
      metrics: { metrics.text() }
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
  init(_ settings: Settings) {
    self =
      switch settings.value(.logFormat) ?? .auto {
      case .auto: .chosen(environment: ProcessInfo.processInfo.environment)
      case .text: .text
      case .json: .json
      }
  }
}

@main struct WhiteboardRelayProgram: DocumentedProgram {
  static let configuration = CommandConfiguration(
    commandName: "whiteboard-relay",
    abstract: "Keep whiteboards online, and connect peers that cannot reach each other.",
    discussion: """
      EXAMPLES
        whiteboard-relay                          serve boards until you stop the relay
        whiteboard-relay boards create standup    create a board, and print its link
        whiteboard-relay boards                   list the boards, and the peers on them
        whiteboard-relay status                   show the state of the relay
        whiteboard-relay backup -o /mnt/relay     copy all data while the relay runs
        whiteboard-relay drain                    shut down gracefully

      \(ExitStatus.help)
      """,
    version: ProgramVersion.text,
    subcommands: [
      ServeCommand.self, StatusCommand.self, BoardsCommand.self, PeersCommand.self, ClusterCommand.self,
      DrainCommand.self,
      BackupCommand.self, RestoreCommand.self, CompactCommand.self, HealthCommand.self, UnitCommand.self,
      ConfigCommand.self, CompletionsCommand<WhiteboardRelayProgram>.self, ManualCommand<WhiteboardRelayProgram>.self,
    ],
    defaultSubcommand: ServeCommand.self
  )

  static let about = ManualPage.Program(
    settings: SettingEntry.ofRelay,
    sections: [("CLUSTERS", ClusterCommand.manual)],
    files: [
      ("/etc/whiteboard-relay/relay.conf", "The configuration file."),
      (
        "$STATE_DIRECTORY",
        "The data directory; by default $XDG_DATA_HOME/whiteboard/relay, or ~/.local/share/whiteboard/relay. It "
          + "holds identity.pem, the key of the relay; relay.json, the list of its boards; boards, their files; "
          + "cluster.json, the deletions that the other relays of a cluster do not know yet."
      ), ("$RUNTIME_DIRECTORY/control.sock", "The socket for commands; by default, it is in the data directory."),
    ]
  )

  static func main() async { await runMain() }
}

struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract: "Check whether the relay on this computer is ready, for example as a container's health check.",
    discussion: "The exit status is 0 if the relay is ready, 1 if it is not, and 69 if it does not answer."
  )

  @Option(help: .of(.http, "ADDR:PORT")) var http: String?

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    var flags: [String: String] = [:]
    flags[.http] = http
    guard case .at(let address) = try place.settings(flags).value(.http) ?? .standard else {
      throw WhiteboardError(.usage, "`http` is `none`, so the relay serves no health checks; set `http` to ADDR:PORT")
    }
    let answer: HealthProbe.Answer
    do throws(HealthProbe.Failure) {
      answer = try await HealthProbe(host: address.host, port: address.port).ask("/readyz")
    } catch { throw WhiteboardError(.unreachable, "\(error)") }
    try Console.tell(answer.body)
    if answer.status != 200 { throw ExitCode(WhiteboardError.Code.no.rawValue) }
  }
}

struct UnitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unit",
    abstract: "Print a systemd unit or a firewall profile for the relay.",
    discussion: """
        whiteboard-relay unit > /etc/systemd/system/whiteboard-relay.service
        systemctl daemon-reload && systemctl enable --now whiteboard-relay
      """
  )

  enum Reader: String, ExpressibleByArgument, CaseIterable {
    case systemd, ufw, firewalld
  }

  @Argument(help: "The program to configure: systemd, ufw or firewalld.") var reader = Reader.systemd

  @Option(
    help: ArgumentHelp("The installed path of this program; by default, its current path.", valueName: "FILE"),
    completion: .file()
  ) var executable: String?

  @Option(
    help: ArgumentHelp(
      "The user that runs the relay; by default, a user that exists only while the relay runs.",
      valueName: "USER"
    )
  ) var user: String?

  mutating func run() async throws {
    switch reader {
    case .ufw: try Console.tell(FirewallProfile().ufw)
    case .firewalld: try Console.tell(FirewallProfile().firewalld)
    case .systemd:
      do throws(SystemdUnit.CommandError) {
        let unit = try SystemdUnit(executable: executable ?? Console.program, arguments: ["serve"], user: user)
        try? Console.tell(unit.text)
      } catch { throw WhiteboardError(.usage, "\(error)") }
    }
  }
}

extension PlaceOptions {
  func say(_ event: String, _ words: String, path: String) throws(WhiteboardError) {
    struct Line: Encodable { let path: String }
    try Console.tell(json ? String(decoding: EventLine.json(event, Line(path: path)), as: UTF8.self) : words + "\n")
  }
}

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copy the relay's key, known peers and boards to a directory, even while the relay runs.",
    discussion: """
      Anyone who has the copy can impersonate this relay, so keep it as safe as the relay itself. The copy of each \
      board is consistent, and includes its photos.
      """
  )

  @Option(
    name: [.customShort("o"), .customLong("output")],
    help: ArgumentHelp("The directory to create.", valueName: "DIR"),
    completion: .directory
  ) var output: String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let target = BoardFile.absolute(output)
    let count = try await RelayBackup.make(of: try place.settings().relayDirectory(), at: target)
    let boards = count == 1 ? "1 board" : "\(count) boards"
    try place.say("backup-made", "Copied \(boards) to \(output).", path: target)
  }
}

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Restore the relay's data directory from a backup.",
    discussion: """
      Every board is checked first. The restored relay has the same key and the same boards, so run it \
      instead of the original, never at the same time.
      """
  )

  @Argument(help: ArgumentHelp("The directory with the backup.", valueName: "DIR"), completion: .directory) var source:
    String

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    let directory = try place.settings().relayDirectory()
    let count = try await RelayBackup.restore(BoardFile.absolute(source), to: directory)
    let boards = count == 1 ? "1 board" : "\(count) boards"
    try place.say("backup-restored", "Restored \(boards) to \(directory).", path: directory)
  }
}

struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Delete old history from the boards of the running relay.",
    discussion: "The checkpoints and the objects on the boards are kept."
  )

  @Argument(help: "The name or id of the board, or the start of its id; by default, all boards.") var board: String?

  @Option(help: ArgumentHelp("The number of days of history to keep.", valueName: "DAYS")) var keep: Int?

  @OptionGroup var confirmation: Confirmation

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    try await confirmation.confirm("compact", or: "nothing was deleted") {
      let boards = board.map { UntrustedText($0).quoted() } ?? "all boards"
      return "Delete the old history of \(boards)? The objects and checkpoints stay."
    }
    var request = ControlRequest(.compact, board: board)
    request.days = keep
    try await place.tell(request, empty: "No board is open.")
  }
}
