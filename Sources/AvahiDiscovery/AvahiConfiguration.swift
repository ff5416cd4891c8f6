/// The settings for reaching the Avahi daemon; only tests set more than the interface.
package struct AvahiConfiguration: Sendable {
  /// The name of the only interface to use, or nil to use all.
  package var interface: String?
  /// Paths to look for; if at least one of them exists, Avahi is installed.
  package var installation = [
    "/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon", "/sbin/avahi-daemon",
    "/usr/local/sbin/avahi-daemon", "/run/current-system/sw/bin/avahi-daemon",
    "/usr/share/dbus-1/system-services/org.freedesktop.Avahi.service",
  ]
  /// The path of the system bus's socket, or nil if it is unknown.
  package var busSocket = SystemBus.socketPath
  /// The first delay before a new attempt to connect; it doubles each time.
  package var shortestPause = Duration.milliseconds(200)
  /// The longest delay before a new attempt to connect.
  package var longestPause = Duration.seconds(5)
  /// How long `advertise` or `browse` waits for an unresponsive daemon before it returns.
  package var farewell = Duration.seconds(3)

  /// Creates the configuration for this machine.
  package init(interface: String? = nil) { self.interface = interface }
}
