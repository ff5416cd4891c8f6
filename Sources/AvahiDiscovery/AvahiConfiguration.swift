/// How to reach the daemon; all but the interface is for tests.
package struct AvahiConfiguration: Sendable {
  /// The one interface to use; nil for all.
  package var interface: String?
  /// Files whose existence shows that Avahi is installed; one of them is enough.
  package var installation = [
    "/usr/sbin/avahi-daemon", "/usr/bin/avahi-daemon", "/sbin/avahi-daemon",
    "/usr/local/sbin/avahi-daemon", "/run/current-system/sw/bin/avahi-daemon",
    "/usr/share/dbus-1/system-services/org.freedesktop.Avahi.service",
  ]
  /// The path of the system bus's socket; nil if it is not known.
  package var busSocket = SystemBus.socketPath
  /// The first pause before a new attempt; it doubles each time.
  package var shortestPause = Duration.milliseconds(200)
  /// The longest pause before a new attempt.
  package var longestPause = Duration.seconds(5)
  /// How long the end of a scope waits for a daemon that does not answer.
  package var farewell = Duration.seconds(3)

  /// The configuration for this machine.
  package init(interface: String? = nil) { self.interface = interface }
}
