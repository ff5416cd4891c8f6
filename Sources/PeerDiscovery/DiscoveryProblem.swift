/// Why peers cannot be found, or we cannot be found, at the moment.
///
/// None of these stops a session, or a connection to an address or a link that somebody gave.
/// Implements DSC-20.
public enum DiscoveryProblem: Error, Hashable, Sendable {
  /// There is no Avahi on this machine.
  case notInstalled
  /// The Avahi daemon is installed, but does not run, or has just stopped.
  case daemonNotRunning
  /// The system's D-Bus, over which Avahi is reached, does not run.
  case busNotRunning
  /// The system's D-Bus does not let this program speak to Avahi.
  case busRefused
  /// The daemon's configuration forbids programs to publish.
  case publishingDisabled
  /// The daemon already serves as many programs or records as it will.
  case daemonBusy
  /// The interface that was asked for does not exist.
  case noSuchInterface(String)
  /// The daemon said something else; its number and its words.
  case failed(code: Int32, reason: String)

  /// The problem, in a sentence.
  public var summary: String {
    switch self {
    case .notInstalled: "Avahi is not installed, so peers nearby cannot be found."
    case .daemonNotRunning: "The Avahi daemon is not running, so peers nearby cannot be found."
    case .busNotRunning: "The system D-Bus is not running, so Avahi cannot be reached."
    case .busRefused: "The system D-Bus does not let this program use Avahi."
    case .publishingDisabled: "Avahi is configured not to let programs publish."
    case .daemonBusy: "The Avahi daemon accepts no more programs."
    case .noSuchInterface(let name):
      "There is no network interface \(UntrustedText(name).displayed)."
    case .failed(let code, let reason):
      "Avahi failed: \(UntrustedText(reason).displayed) (\(code))."
    }
  }

  /// The advice for the user, in a sentence.
  public var advice: String {
    switch self {
    case .notInstalled:
      "Install it (on Debian: apt install avahi-daemon), or connect by HOST:PORT or a link."
    case .daemonNotRunning:
      "Start it (systemctl start avahi-daemon), or connect by HOST:PORT or a link."
    case .busNotRunning:
      "Start it (systemctl start dbus), or connect by HOST:PORT or a link."
    case .busRefused:
      "See the policy in avahi-dbus.conf (the group netdev may be needed), or connect by HOST:PORT."
    case .publishingDisabled:
      """
      Set disable-publishing=no and disable-user-service-publishing=no in \
      /etc/avahi/avahi-daemon.conf, or give others your HOST:PORT or link.
      """
    case .daemonBusy:
      "Close other programs that use it, or restart it (systemctl restart avahi-daemon)."
    case .noSuchInterface:
      "See the names with: ip link."
    case .failed:
      "See the daemon's log (journalctl -u avahi-daemon), or connect by HOST:PORT or a link."
    }
  }
}

extension DiscoveryProblem: CustomStringConvertible {
  /// The problem and the advice.
  public var description: String { "\(summary) \(advice)" }
}
