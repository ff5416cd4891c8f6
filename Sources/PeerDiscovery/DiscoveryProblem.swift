import PeerCore

/// The reason why the discovery system cannot find peers or publish announcements at the moment.
///
/// Sessions continue during these problems, and peers can still connect by address or join link. Implements DSC-20.
public enum DiscoveryProblem: Error, Hashable, Sendable {
  /// Avahi is not installed on this machine.
  case notInstalled
  /// The Avahi daemon is installed but not running.
  case daemonNotRunning
  /// The Avahi daemon or the D-Bus system bus is running, but does not answer.
  case notAnswering
  /// The D-Bus system bus, through which programs use Avahi, is not running.
  case busNotRunning
  /// The D-Bus system bus does not allow this program to use Avahi.
  case busRefused
  /// The Avahi daemon's configuration does not allow programs to publish services.
  case publishingDisabled
  /// The Avahi daemon has reached its limit of clients or records.
  case daemonBusy
  /// The requested network interface does not exist.
  case noSuchInterface(String)
  /// Another error from the Avahi daemon, with its code and message.
  case failed(code: Int32, reason: String)

  /// A sentence that describes the problem.
  public var summary: String {
    switch self {
    case .notInstalled: "Avahi is not installed, so peers nearby cannot be found."
    case .daemonNotRunning: "The Avahi daemon is not running, so peers nearby cannot be found."
    case .notAnswering: "The Avahi daemon does not answer, so peers nearby cannot be found."
    case .busNotRunning: "The system D-Bus is not running, so Avahi cannot be reached."
    case .busRefused: "The system D-Bus does not allow this program to use Avahi."
    case .publishingDisabled: "Avahi's configuration does not allow programs to publish services."
    case .daemonBusy: "The Avahi daemon has too many clients."
    case .noSuchInterface(let name): "There is no network interface \(UntrustedText(name).displayed)."
    case .failed(let code, let reason): "Avahi failed: \(UntrustedText(reason).displayed) (\(code))."
    }
  }

  /// A sentence that tells the user how to solve the problem.
  public var advice: String {
    switch self {
    case .notInstalled: "Install Avahi (on Debian: apt install avahi-daemon), or connect with HOST:PORT or a join link."
    case .daemonNotRunning: "Start the daemon (systemctl start avahi-daemon), or connect with HOST:PORT or a join link."
    case .notAnswering: "Restart it (systemctl restart avahi-daemon), or connect with HOST:PORT or a join link."
    case .busNotRunning: "Start D-Bus (systemctl start dbus), or connect with HOST:PORT or a join link."
    case .busRefused: "Check the policy in avahi-dbus.conf (group netdev may be needed), or connect with HOST:PORT."
    case .publishingDisabled:
      """
      Set disable-publishing=no and disable-user-service-publishing=no in \
      /etc/avahi/avahi-daemon.conf, or give others your HOST:PORT or join link.
      """
    case .daemonBusy: "Close other programs that use Avahi, or restart the daemon (systemctl restart avahi-daemon)."
    case .noSuchInterface: "List the network interfaces with: ip link."
    case .failed: "Read Avahi's log (journalctl -u avahi-daemon), or connect with HOST:PORT or a join link."
    }
  }
}

extension DiscoveryProblem: CustomStringConvertible {
  /// The description of the problem, followed by the advice.
  public var description: String { "\(summary) \(advice)" }
}
