import ArgumentParser
import RelayOperations
import WhiteboardCommands
import WhiteboardNode
import WhiteboardRelay

/// `whiteboard-relay health`.
struct HealthCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "health",
    abstract:
      "Check whether the relay on this machine is ready; for the health check of a container.",
    discussion:
      "Exits with 0 where it is, with 1 where it says that it is not, and with 69 where it does not answer."
  )

  @Option(help: .of(.http, "ADDR:PORT"))
  var http: String?

  @OptionGroup var place: PlaceOptions

  mutating func run() async throws {
    var flags: [String: String] = [:]
    flags[.http] = http
    guard case .at(let address) = try place.settings(flags).value(.http) ?? .standard else {
      throw NodeError(.usage, "health is served nowhere: http is none")
    }
    let answer: HealthProbe.Answer
    do throws(HealthProbe.Failure) {
      answer = try await HealthProbe(host: address.host, port: address.port).ask("/readyz")
    } catch {
      throw NodeError(.unreachable, "\(error)")
    }
    try Console.tell(answer.body)
    if answer.status != 200 { throw ExitCode(NodeError.Code.no.rawValue) }
  }
}

/// `whiteboard-relay unit`.
struct UnitCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "unit",
    abstract: "Print what systemd or a firewall is to know of the relay.",
    discussion: """
        whiteboard-relay unit > /etc/systemd/system/whiteboard-relay.service
        systemctl daemon-reload && systemctl enable --now whiteboard-relay
      """
  )

  /// The reader of the result.
  enum Reader: String, ExpressibleByArgument, CaseIterable {
    case systemd
    case ufw
    case firewalld
  }

  @Argument(help: "systemd, ufw or firewalld.")
  var reader = Reader.systemd

  @Option(
    help: ArgumentHelp("Where this program is installed; else where it is now.", valueName: "FILE")
  )
  var executable: String?

  mutating func run() async throws {
    switch reader {
    case .ufw: try Console.tell(FirewallProfile().ufw)
    case .firewalld: try Console.tell(FirewallProfile().firewalld)
    case .systemd:
      do throws(SystemdUnit.CommandError) {
        let unit = try SystemdUnit(executable: executable ?? Console.program, arguments: ["serve"])
        try? Console.tell(unit.text)
      } catch {
        throw NodeError(.usage, "\(error)")
      }
    }
  }
}
