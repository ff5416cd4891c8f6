/// The systemd unit of the relay, with notifications, a watchdog, and a sandbox. The relay stores its files in
/// `/var/lib/whiteboard-relay`, a directory that systemd creates.
package struct SystemdUnit: Hashable, Sendable {
  package struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// The name of the service, of its user, and of its directories.
  package static let name = "whiteboard-relay"
  package static let runtimeDirectory = "/run/whiteboard-relay"

  private let command: String
  private let user: String?

  /// Creates the unit for a service that runs a command. If `user` is nil, systemd creates a user that exists only while
  /// the service runs. Throws if the executable is not an absolute path, if a word contains a control character, or if
  /// `user` is not the name of a user.
  package init(executable: String, arguments: [String] = [], user: String? = nil) throws(CommandError) {
    guard executable.hasPrefix("/") else {
      throw CommandError(description: "the path of the executable must be absolute")
    }
    for word in [executable] + arguments
    where word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw CommandError(description: "a unit must not contain control characters")
    }
    if let user {
      let isName = user.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
          || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
      guard isName, let first = user.utf8.first, first > UInt8(ascii: "9") else {
        throw CommandError(description: "the user must be a name of a-z, 0-9, - and _ that begins with a letter")
      }
    }
    self.user = user
    // systemd expands `$` in arguments, but not in the path of the executable.
    let words = [Self.quoted(executable)] + arguments.map { Self.quoted($0).replacing("$", with: "$$") }
    command = words.joined(separator: " ")
  }

  private var account: String { user.map { "User=\($0)" } ?? "DynamicUser=yes\nUser=\(Self.name)" }

  package var text: String {
    """
    [Unit]
    Description=Whiteboard relay
    Wants=network-online.target
    After=network-online.target avahi-daemon.service
    StartLimitIntervalSec=60
    StartLimitBurst=5

    [Service]
    Type=notify
    NotifyAccess=main
    ExecStart=\(command)
    ExecReload=/bin/kill -HUP $MAINPID
    WatchdogSec=30
    Restart=on-failure
    RestartSec=1
    # Do not restart after an error in the command line or configuration.
    RestartPreventExitStatus=64 78
    # The relay is ready within seconds, and may then still open and check boards.
    TimeoutStartSec=120
    # The relay drains within 10 s.
    TimeoutStopSec=15

    # The service has its own user and can write only to its own directories.
    \(account)
    StateDirectory=\(Self.name)
    StateDirectoryMode=0700
    RuntimeDirectory=\(Self.name)
    RuntimeDirectoryMode=0750
    ConfigurationDirectory=\(Self.name)
    UMask=0077
    ProtectSystem=strict
    ProtectHome=yes
    PrivateTmp=yes
    PrivateDevices=yes
    PrivateMounts=yes
    PrivateUsers=yes
    PrivateIPC=yes
    RemoveIPC=yes
    KeyringMode=private

    # The service cannot see other processes or change kernel settings.
    ProtectProc=invisible
    ProcSubset=pid
    ProtectClock=yes
    ProtectControlGroups=yes
    ProtectHostname=yes
    ProtectKernelLogs=yes
    ProtectKernelModules=yes
    ProtectKernelTunables=yes

    # The service has no privileges and cannot gain any.
    NoNewPrivileges=yes
    CapabilityBoundingSet=
    AmbientCapabilities=
    LockPersonality=yes
    MemoryDenyWriteExecute=yes
    RestrictNamespaces=yes
    RestrictRealtime=yes
    RestrictSUIDSGID=yes
    SystemCallArchitectures=native
    SystemCallFilter=@system-service
    SystemCallFilter=~@privileged @resources
    SystemCallErrorNumber=EPERM
    # Unix sockets reach the service manager and Avahi; netlink reports the machine's addresses.
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

    # Resource limits.
    MemoryMax=1G
    # The number of threads grows with the number of cores.
    TasksMax=1024
    # Seven for each of up to 10,000 boards, and one for each connection.
    LimitNOFILE=131072
    LimitCORE=0

    [Install]
    WantedBy=multi-user.target

    """
  }

  /// Returns a word in the syntax of systemd.service(5): quoted if necessary, and with escaped specifiers.
  private static func quoted(_ word: String) -> String {
    let word = word.replacing("%", with: "%%")
    let isPlain = !word.isEmpty && word != ";" && !word.contains { " \"'\\".contains($0) }
    if isPlain { return word }
    return "\"" + word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}

/// The ports that a firewall must open: the relay's port, the port of the page for browsers, and multicast DNS for
/// discovery.
package struct FirewallProfile: Hashable, Sendable {
  /// The port on which the relay listens, over TCP for links and UDP for datagrams.
  package let port: UInt16
  /// The port of the page for browsers, over TCP.
  package let webPort: UInt16

  package init(port: UInt16 = 26_273, webPort: UInt16 = 26_443) {
    self.port = port
    self.webPort = webPort
  }

  /// The profile for ufw. Save it as `/etc/ufw/applications.d/whiteboard-relay` and run `ufw allow whiteboard-relay`.
  package var ufw: String {
    """
    [whiteboard-relay]
    title=Whiteboard relay
    description=Links and datagrams of a whiteboard relay, its page for browsers, and multicast DNS for finding it
    ports=\(port),\(webPort)/tcp|\(port),5353/udp

    """
  }

  /// The service file for firewalld. Save it as `/etc/firewalld/services/whiteboard-relay.xml`, then run `firewall-cmd
  /// --reload` and `firewall-cmd --permanent --add-service=whiteboard-relay`.
  package var firewalld: String {
    """
    <?xml version="1.0" encoding="utf-8"?>
    <service>
      <short>Whiteboard relay</short>
      <description>Links and datagrams of a whiteboard relay, its page for browsers, and multicast DNS for finding it.
      </description>
      <port protocol="tcp" port="\(port)"/>
      <port protocol="udp" port="\(port)"/>
      <port protocol="tcp" port="\(webPort)"/>
      <include service="mdns"/>
    </service>

    """
  }
}
