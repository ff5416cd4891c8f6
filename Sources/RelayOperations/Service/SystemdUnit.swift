/// The unit by which systemd runs the relay: told when it is ready, watched, and shut off from all it does not need.
///
/// The program keeps its files in ``stateDirectory``, which systemd makes and gives to a user that exists while the service runs.
public struct SystemdUnit: Hashable, Sendable {
  /// A description of why a command cannot be written into a unit.
  public struct CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The sentence.
    public let description: String
  }

  /// The name of the service, its user and its directories.
  public static let name = "whiteboard-relay"
  /// The directory for the service's files.
  public static let stateDirectory = "/var/lib/whiteboard-relay"
  /// The directory for the service's control socket.
  public static let runtimeDirectory = "/run/whiteboard-relay"
  /// The directory for the service's configuration.
  public static let configurationDirectory = "/etc/whiteboard-relay"

  /// Memory beyond which the kernel ends the service, in systemd's words: `1G`, `512M`, `infinity`.
  public var maximumMemory = "1G"
  /// The maximum number of file descriptors of the service, for connections and boards.
  public var maximumOpenFiles = 8_192
  /// How long the service may be silent before it is restarted.
  public var watchdog: Duration = .seconds(30)

  private let command: String

  /// The unit of a service that is started by this command.
  ///
  /// - Throws: when the executable is not an absolute path, or a word holds a control character.
  public init(executable: String, arguments: [String] = []) throws(CommandError) {
    guard executable.hasPrefix("/") else {
      throw CommandError(description: "the executable is an absolute path")
    }
    for word in [executable] + arguments
    where word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw CommandError(description: "a unit must not contain control characters")
    }
    // `$` is expanded in arguments, and in the path is itself.
    let words =
      [Self.quoted(executable)] + arguments.map { Self.quoted($0).replacing("$", with: "$$") }
    command = words.joined(separator: " ")
  }

  /// The text of `whiteboard-relay.service`.
  public var text: String {
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
    WatchdogSec=\(watchdog.components.seconds)
    Restart=on-failure
    RestartSec=1
    # A command line or configuration that is wrong stays so.
    RestartPreventExitStatus=64 78
    # Every board is opened and looked through before it is ready.
    TimeoutStartSec=120
    # It drains within 10 s.
    TimeoutStopSec=15

    # Its own user and files, and no others.
    DynamicUser=yes
    User=\(Self.name)
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

    # Nothing of the kernel, nor of other processes.
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
    # Unix for the service manager and Avahi, netlink to learn the machine's addresses.
    RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK

    # What it may take.
    MemoryMax=\(maximumMemory)
    # Threads grow with the cores.
    TasksMax=1024
    LimitNOFILE=\(maximumOpenFiles)
    LimitCORE=0

    [Install]
    WantedBy=multi-user.target

    """
  }

  /// A word as systemd.service(5) reads it: quoted where it must be, with no specifier in it.
  private static func quoted(_ word: String) -> String {
    let word = word.replacing("%", with: "%%")
    let isPlain = !word.isEmpty && word != ";" && !word.contains { " \"'\\".contains($0) }
    if isPlain { return word }
    return "\"" + word.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
