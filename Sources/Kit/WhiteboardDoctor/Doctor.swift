import AvahiDiscovery
import FoundationEssentials
import PeerCore
import PeerDiscovery
import WhiteboardKit

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Searches for reasons why boards cannot be found, joined or saved on this computer, and gives advice.
package struct Doctor: Sendable {
  package struct Finding: Encodable, Equatable, Sendable {
    package var check: String
    package var verdict: Verdict
    package var seen: String
    package var advice: String?

    package init(check: String, verdict: Verdict, seen: String, advice: String? = nil) {
      self.check = check
      self.verdict = verdict
      self.seen = seen
      self.advice = advice
    }

    static func fine(_ check: String, _ seen: String) -> Finding { Finding(check: check, verdict: .fine, seen: seen) }

    static func note(_ check: String, _ seen: String, _ advice: String? = nil) -> Finding {
      Finding(check: check, verdict: .note, seen: seen, advice: advice)
    }

    static func fault(_ check: String, _ seen: String, _ advice: String) -> Finding {
      Finding(check: check, verdict: .fault, seen: seen, advice: advice)
    }

    package enum Verdict: String, Encodable, Sendable {
      case fine, note, fault
    }
  }

  /// The result of one run; with `--json`, it is printed as a line `doctor`.
  package struct Report: Encodable, Sendable {
    package var findings: [Finding]
    package var likelyCause: String?

    package var isHealthy: Bool { !findings.contains { $0.verdict == .fault } }
  }

  package var port: Int
  package var interface: String?
  package var dataDirectory: String
  let reading: SystemReading

  package init(
    port: Int = HostPort.defaultPort,
    interface: String? = nil,
    dataDirectory: String,
    reading: SystemReading = .machine
  ) {
    self.port = port
    self.interface = interface
    self.dataDirectory = dataDirectory
    self.reading = reading
  }

  /// Takes a few seconds at most, and announces a test service. The findings of `others` come last in the report.
  package func run(and others: [Finding] = []) async -> Report {
    let interfaces = NetworkSurvey.interfaces()
    var findings = [
      interfacesFinding(interfaces), multicastFinding(interfaces), busFinding(NetworkSurvey.connectsToSystemBus()),
    ]
    findings.append(await daemonFinding(interfaces))
    findings.append(portFinding())
    findings += firewallFindings()
    findings.append(clockFinding(Date()))
    findings.append(dataDirectoryFinding())
    findings += others
    return report(findings)
  }

  func report(_ findings: [Finding]) -> Report {
    let findings = findings.map { finding in
      var finding = finding
      finding.advice = finding.advice.map(adapted)
      return finding
    }
    let worst = findings.first { $0.verdict == .fault } ?? findings.first { $0.advice != nil }
    return Report(
      findings: findings,
      likelyCause: worst.map { finding in finding.advice.map { "\(finding.seen) \($0)" } ?? finding.seen }
    )
  }

  private func interfacesFinding(_ interfaces: [NetworkSurvey.Interface]) -> Finding {
    if let interface, !interfaces.contains(where: { $0.name == interface }) {
      return .fault(
        "interfaces",
        "There is no interface \(UntrustedText(interface).quoted()) that is up.",
        "List the interfaces with: ip link"
      )
    }
    let outward = interfaces.filter { !$0.isLoopback && !$0.addresses.isEmpty }
    guard !outward.isEmpty else {
      return .fault(
        "interfaces",
        "No network interface is up with an address.",
        "Connect to a network. Boards on this machine work without a network."
      )
    }
    let list = outward.map { "\($0.name) (\($0.addresses.joined(separator: ", ")))" }
    return .fine("interfaces", list.joined(separator: "; ") + ".")
  }

  private func multicastFinding(_ interfaces: [NetworkSurvey.Interface]) -> Finding {
    let candidates = interfaces.filter {
      !$0.isLoopback && !$0.addresses.isEmpty && (interface == nil || $0.name == interface)
    }
    let deaf = candidates.filter { !$0.canMulticast || !NetworkSurvey.joinsMulticast($0) }
    guard !candidates.isEmpty, deaf.count < candidates.count else {
      return .fault(
        "multicast",
        "No interface supports multicast, which discovery needs.",
        "Join with a link or HOST:PORT, or turn multicast on: ip link set DEV multicast on"
      )
    }
    guard deaf.isEmpty else {
      return .note(
        "multicast",
        "\(deaf.map(\.name).joined(separator: ", ")) does not support multicast.",
        "Join the boards there with a link or HOST:PORT."
      )
    }
    return routesFinding(candidates.map(\.name))
  }

  func routesFinding(_ names: [String]) -> Finding {
    let shown = names.joined(separator: ", ")
    if let groups = reading.file("/proc/net/igmp") {
      let listening = MulticastReading.listening(igmp: groups)
      let idle = names.filter { !listening.contains($0) }
      guard idle.isEmpty || listening.isEmpty else {
        return .note(
          "multicast",
          "No program listens to mDNS on \(idle.joined(separator: ", ")).",
          "See allow-interfaces and deny-interfaces in /etc/avahi/avahi-daemon.conf, then: "
            + "systemctl restart avahi-daemon"
        )
      }
    }
    if let routes = reading.file("/proc/net/route"), !MulticastReading.hasRoute(routes) {
      return .note(
        "multicast",
        "\(shown) can join the mDNS group, but there is no route to it.",
        "If boards are not found, run: ip route add 224.0.0.0/4 dev \(names.first ?? "DEV")"
      )
    }
    return .fine("multicast", "\(shown) can join the mDNS group, and there is a route to it.")
  }

  /// The commands that have the effect of a command of systemd. Debian has a script for D-Bus, and none for Avahi.
  private static let withoutSystemd = [
    ("systemctl start dbus", "service dbus start"), ("systemctl start avahi-daemon", "avahi-daemon --daemonize"),
    ("systemctl restart avahi-daemon", "avahi-daemon --kill; avahi-daemon --daemonize"),
  ]

  /// Returns advice with commands that work on this computer, even without systemd, for example in a container or with
  /// WSL.
  private func adapted(_ advice: String) -> String {
    guard !reading.exists("/run/systemd/system") else { return advice }
    return Self.withoutSystemd.reduce(advice) { text, command in text.replacing(command.0, with: command.1) }
  }

  /// Returns the finding for the error number of a connection to the bus.
  func busFinding(_ number: Int32?) -> Finding {
    guard let number else { return .fine("bus", "The system D-Bus answers.") }
    let isInstalled = ["/usr/bin/dbus-daemon", "/usr/bin/dbus-broker"].contains(where: reading.exists)
    return .fault(
      "bus",
      "The system D-Bus does not answer (\(SystemError.words(for: number))).",
      isInstalled
        ? "Start D-Bus: systemctl start dbus"
        : "Install Avahi, which needs D-Bus (on Debian: apt install avahi-daemon)."
    )
  }

  private func daemonFinding(_ interfaces: [NetworkSurvey.Interface]) async -> Finding {
    guard let me = AnnouncedPeerID(bytes: randomBytes(32)), let board = AnnouncedSessionID(bytes: randomBytes(16)),
      // Use a separate service type, so that no peer mistakes the test service for a board.
      let service = try? ServiceType("whiteboard-test")
    else { return .note("daemon", "Discovery was not checked.") }
    let discovery = AvahiDiscovery(interface: interface)
    let announcement = Announcement(
      peer: me,
      session: board,
      incarnation: AnnouncedIncarnation(.random(in: 1...UInt64.max)),
      boardName: "whiteboard-peer doctor",
      hostName: "doctor"
    )
    let advertisement = Advertisement(service: service, port: 9, announcement: announcement)
    let hasNetwork = interfaces.contains { !$0.isLoopback && !$0.addresses.isEmpty }
    let answer = await firstOf(within: .seconds(6)) { () -> DaemonAnswer? in
      await discovery.advertise(advertisement) { advertising in
        for await event in advertising.events {
          switch event {
          case .unavailable(let problem): return .problem(problem)
          case .announced:
            return await firstOf(within: .seconds(3)) {
              await Self.find(me, service, discovery, hasNetwork: hasNetwork)
            } ?? .notFound
          case .renamed, .available: continue
          }
        }
        return nil
      }
    }
    switch answer ?? .problem(.notAnswering) {
    case .found: return .fine("daemon", "Avahi announces a service and finds it.")
    case .problem(let problem):
      return .fault("daemon", problem.summary, problem.advice)
    case .notFound:
      return .fault(
        "daemon",
        "Avahi announces a service, but others on the network cannot find it.",
        "Check publish-addresses (yes), allow-interfaces and deny-interfaces in "
          + "/etc/avahi/avahi-daemon.conf, restart Avahi (systemctl restart avahi-daemon), and open "
          + "UDP port 5353 in the firewall."
      )
    }
  }

  private enum DaemonAnswer {
    case found
    /// Avahi confirmed the announcement, but the service is not found on the network.
    case notFound
    case problem(DiscoveryProblem)
  }

  private static func find(
    _ peer: AnnouncedPeerID,
    _ service: ServiceType,
    _ discovery: AvahiDiscovery,
    hasNetwork: Bool
  ) async -> DaemonAnswer? {
    await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
      for await event in events {
        switch event {
        case .found(let found), .updated(let found):
          guard found.announcement.peer == peer,
            !hasNetwork || found.endpoints.contains(where: { !HostPort.isLoopback($0.host) })
          else { continue }
          return .found
        case .unavailable(let problem): return .problem(problem)
        case .lost, .available: continue
        }
      }
      return nil
    }
  }

  private func portFinding() -> Finding {
    switch NetworkSurvey.bindFailure(port: port) {
    case nil: return .fine("port", "Port \(port) is free for TCP and UDP.")
    case EADDRINUSE?:
      return .note(
        "port",
        "Port \(port) is used by another board or program; the next free port is used instead.",
        "Find the program that uses the port: ss -tulpn 'sport = :\(port)'"
      )
    case let number?:
      return .fault(
        "port",
        "Port \(port) cannot be opened (\(SystemError.words(for: number))).",
        "Choose another port: --listen 0.0.0.0:PORT"
      )
    }
  }

  /// Boards work with a wrong clock, but show wrong times.
  func clockFinding(_ now: Date) -> Finding {
    // The earliest plausible time is the day on which this code was written. The latest is 30 years later.
    let earliest = Date(timeIntervalSince1970: 1_795_219_200)
    let latest = earliest.addingTimeInterval(30 * 365 * 86_400)
    guard (earliest...latest).contains(now) else {
      return .fault(
        "clock",
        "The clock is in the \(now < earliest ? "past" : "future"): \(now.formatted(.iso8601)).",
        "Set the clock: timedatectl set-ntp true, or date -s"
      )
    }
    if reading.output(.clock)?.hasPrefix("no") == true {
      return .note(
        "clock",
        "The clock shows \(now.formatted(.iso8601)), and is not synchronized.",
        "Synchronize the clock: timedatectl set-ntp true"
      )
    }
    return .fine("clock", "The clock shows \(now.formatted(.iso8601)).")
  }

  private func dataDirectoryFinding() -> Finding {
    let shown = UntrustedText(dataDirectory).quoted(limit: 256)
    guard let status = NetworkSurvey.status(of: dataDirectory) else {
      return .fine("data", "\(shown) is created when it is first needed.")
    }
    // The user may have chosen a system directory by mistake. Do not advise a change of its owner or permissions.
    let problem: String? =
      if status.mode & S_IFMT != S_IFDIR { "\(shown) is not a directory." } else if status.owner != getuid() {
        "Another user owns \(shown)."
      } else if status.mode & S_ISVTX != 0 { "\(shown) is for files of all users." } else { nil }
    if let problem {
      let advice = "Choose another directory with --data-dir."
      return .fault("data", problem, advice)
    }
    guard status.mode & 0o077 == 0 else {
      return .fault(
        "data",
        "Other users can read \(shown), which holds your private key.",
        "Restrict access to it: chmod 700 \(shown)"
      )
    }
    let boards = BoardFile.directory(inDataDirectory: dataDirectory)
    for directory in [dataDirectory, boards] where reading.exists(directory) {
      guard let number = DiskProbe.writeFailure(in: directory) else { continue }
      let place = UntrustedText(directory).quoted(limit: 256)
      return .fault(
        "data",
        "Nothing can be saved in \(place): \(DiskSurvey.words(for: number)).",
        DiskProbe.advice(for: number, place)
      )
    }
    return .fine("data", "\(shown) is writable, and only this user can read it.")
  }

  private func randomBytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255) } }
}

enum MulticastReading {
  /// The mDNS multicast group 224.0.0.251, in the notation of the files in `/proc/net`.
  private static let group = "FB0000E0"

  /// Returns the interfaces on which a program listens to mDNS; `text` is `/proc/net/igmp`.
  static func listening(igmp text: String) -> Set<String> {
    var found: Set<String> = []
    var device = ""
    for row in text.split(separator: "\n").dropFirst() {
      let words = row.split(whereSeparator: \.isWhitespace)
      // The line of an interface contains its number and name. The lines of its groups begin with whitespace.
      if row.first?.isNumber == true, words.count >= 2 {
        device = String(words[1].prefix { $0 != ":" })
      } else if words.first.map(String.init) == group {
        found.insert(device)
      }
    }
    return found
  }

  static func hasRoute(_ text: String) -> Bool {
    text.split(separator: "\n").dropFirst().contains { row in
      let words = row.split(whereSeparator: \.isWhitespace)
      guard words.count >= 8, let destination = UInt32(words[1], radix: 16), let mask = UInt32(words[7], radix: 16),
        let group = UInt32(Self.group, radix: 16)
      else { return false }
      return group & mask == destination
    }
  }
}

enum DiskProbe {
  /// Writes a few blocks to a temporary file, and then removes the file. Returns the error number; nil if the data
  /// reached the disk.
  static func writeFailure(in directory: String) -> Int32? {
    let path = "\(directory)/.whiteboard-test-\(getpid())"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return errno }
    defer {
      close(descriptor)
      unlink(path)
    }
    let bytes = [UInt8](repeating: 0x5A, count: 65_536)
    if let number = FileWriting.writeAll(bytes, to: descriptor) { return number }
    return fsync(descriptor) == 0 ? nil : errno
  }

  static func advice(for number: Int32, _ shown: String) -> String {
    switch number {
    case ENOSPC, EDQUOT: "Free some space, or choose another directory with --data-dir."
    case EROFS:
      "Make the disk writable (sudo mount -o remount,rw MOUNTPOINT; findmnt -T \(shown) shows the mount "
        + "point), or choose another directory with --data-dir."
    case EACCES, EPERM: "Run: chmod -R u+rwX \(shown)"
    default: "Check the disk, or choose another directory with --data-dir."
    }
  }
}
