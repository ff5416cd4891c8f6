/// The settings for connecting to the Avahi daemon.
///
/// Only tests change settings other than the interface.
package struct AvahiConfiguration: Sendable {
  /// The name of the only interface to use, or `nil` to use all.
  package var interface: String?
  /// Paths that indicate that Avahi is installed, if at least one of them exists.
  package var installation = [
    "/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon", "/sbin/avahi-daemon", "/usr/local/sbin/avahi-daemon",
    "/run/current-system/sw/bin/avahi-daemon", "/usr/share/dbus-1/system-services/org.freedesktop.Avahi.service",
  ]
  /// The path of the system bus socket, or `nil` if it is unknown.
  package var busSocket = SystemBus.socketPath
  /// The delay before the first reconnection attempt.
  ///
  /// The delay doubles after each attempt.
  package var shortestPause = Duration.milliseconds(200)
  /// The maximum delay before a reconnection attempt.
  package var longestPause = Duration.seconds(5)
  /// The time after which a daemon that does not answer is reported.
  package var stall = Duration.milliseconds(2_500)
  /// How long `advertise` or `browse` waits for an unresponsive daemon before it returns.
  package var farewell = Duration.seconds(3)

  /// Creates the configuration for this machine.
  package init(interface: String? = nil) { self.interface = interface }
}
