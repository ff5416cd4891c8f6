import ArgumentParser
import RelayOperations
import WhiteboardCommands
import WhiteboardKit
import WhiteboardRelay

/// `whiteboard-relay health`.
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

/// `whiteboard-relay unit`.
struct UnitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unit",
    abstract: "Print a systemd unit or a firewall profile for the relay.",
    discussion: """
        whiteboard-relay unit > /etc/systemd/system/whiteboard-relay.service
        systemctl daemon-reload && systemctl enable --now whiteboard-relay
      """
  )

  /// The program that reads the printed configuration.
  enum Reader: String, ExpressibleByArgument, CaseIterable {
    case systemd
    case ufw
    case firewalld
  }

  @Argument(help: "The program to configure: systemd, ufw or firewalld.") var reader = Reader.systemd

  @Option(help: ArgumentHelp("The installed path of this program; by default, its current path.", valueName: "FILE"))
  var executable: String?

  mutating func run() async throws {
    switch reader {
    case .ufw: try Console.tell(FirewallProfile().ufw)
    case .firewalld: try Console.tell(FirewallProfile().firewalld)
    case .systemd:
      do throws(SystemdUnit.CommandError) {
        let unit = try SystemdUnit(executable: executable ?? Console.program, arguments: ["serve"])
        try? Console.tell(unit.text)
      } catch { throw WhiteboardError(.usage, "\(error)") }
    }
  }
}
