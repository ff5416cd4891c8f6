import AvahiDiscovery
import FoundationEssentials
import PeerDiscovery
import WhiteboardNode
import WhiteboardRendering

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

/// Looks for what keeps boards from being found and joined on this machine, and says how to mend it.
package struct Doctor: Sendable {
  /// The result of one check.
  package struct Finding: Encodable, Equatable, Sendable {
    /// The subject of the check.
    package var check: String
    /// The verdict.
    package var verdict: Verdict
    /// The observation.
    package var seen: String
    /// The advice, if there is something to do.
    package var advice: String?

    /// Makes a finding.
    package init(check: String, verdict: Verdict, seen: String, advice: String? = nil) {
      self.check = check
      self.verdict = verdict
      self.seen = seen
      self.advice = advice
    }

    /// How bad it is.
    package enum Verdict: String, Encodable, Sendable {
      /// As it should be.
      case fine
      /// Works, but worth knowing.
      case note
      /// Something will not work.
      case fault
    }
  }

  /// The result of one run, which `--json` writes as a line `doctor`.
  package struct Report: Encodable, Sendable {
    /// Each look in its order.
    package var findings: [Finding]
    /// The likeliest cause of trouble, where there is one.
    package var likelyCause: String?

    /// Whether nothing is at fault.
    package var isHealthy: Bool { !findings.contains { $0.verdict == .fault } }
  }

  /// The port to try.
  package var port: Int
  /// The interface to check; nil means all.
  package var interface: String?
  /// The directory of keys and boards.
  package var dataDirectory: String
  /// The machine.
  let reading: SystemReading

  /// Makes a doctor.
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

  /// Looks at everything; takes a few seconds at most, and announces a service of its own meanwhile.
  ///
  /// - Parameter others: What others have looked at, which is told last.
  /// - Returns: What was found.
  package func run(and others: [Finding] = []) async -> Report {
    let interfaces = NetworkSurvey.interfaces()
    var findings = [
      interfacesFinding(interfaces), multicastFinding(interfaces), busFinding(),
    ]
    findings.append(await daemonFinding())
    findings.append(portFinding())
    findings += firewallFindings()
    findings.append(clockFinding(Date()))
    findings.append(dataDirectoryFinding())
    findings += others
    return report(findings)
  }

  /// Returns the report on the findings.
  func report(_ findings: [Finding]) -> Report {
    let worst = findings.first { $0.verdict == .fault } ?? findings.first { $0.advice != nil }
    return Report(
      findings: findings,
      likelyCause: worst.map { finding in
        finding.advice.map { "\(finding.seen) \($0)" } ?? finding.seen
      }
    )
  }

  private func interfacesFinding(_ interfaces: [NetworkSurvey.Interface]) -> Finding {
    if let interface, !interfaces.contains(where: { $0.name == interface }) {
      return Finding(
        check: "interfaces",
        verdict: .fault,
        seen: "There is no interface \(TerminalText.quoted(interface)) that is up.",
        advice: "See the names with: ip link"
      )
    }
    let outward = interfaces.filter { !$0.isLoopback && !$0.addresses.isEmpty }
    guard !outward.isEmpty else {
      return Finding(
        check: "interfaces",
        verdict: .fault,
        seen: "No network interface is up with an address.",
        advice: "Connect to a network. Boards on this machine work without one."
      )
    }
    let list = outward.map { "\($0.name) (\($0.addresses.joined(separator: ", ")))" }
    return Finding(check: "interfaces", verdict: .fine, seen: list.joined(separator: "; ") + ".")
  }

  private func multicastFinding(_ interfaces: [NetworkSurvey.Interface]) -> Finding {
    let candidates = interfaces.filter {
      !$0.isLoopback && !$0.addresses.isEmpty && (interface == nil || $0.name == interface)
    }
    let deaf = candidates.filter { !$0.canMulticast || !NetworkSurvey.joinsMulticast($0) }
    guard !candidates.isEmpty, deaf.count < candidates.count else {
      return Finding(
        check: "multicast",
        verdict: .fault,
        seen: "No interface passes multicast, which discovery needs.",
        advice: "Join by link or HOST:PORT, or switch it on: ip link set DEV multicast on"
      )
    }
    guard deaf.isEmpty else {
      return Finding(
        check: "multicast",
        verdict: .note,
        seen: "\(deaf.map(\.name).joined(separator: ", ")) passes no multicast.",
        advice: "Boards there are joined by link or HOST:PORT."
      )
    }
    return waysFinding(candidates.map(\.name))
  }

  /// Whether the daemon listens where it could, and packets of the group have a way.
  func waysFinding(_ names: [String]) -> Finding {
    let shown = names.joined(separator: ", ")
    if let groups = reading.file("/proc/net/igmp") {
      let listening = MulticastReading.listening(igmp: groups)
      let idle = names.filter { !listening.contains($0) }
      guard idle.isEmpty || listening.isEmpty else {
        return Finding(
          check: "multicast",
          verdict: .note,
          seen: "Nobody listens to mDNS on \(idle.joined(separator: ", ")).",
          advice: "See allow-interfaces and deny-interfaces in /etc/avahi/avahi-daemon.conf, then: "
            + "systemctl restart avahi-daemon"
        )
      }
    }
    if let routes = reading.file("/proc/net/route"), !MulticastReading.hasRoute(routes) {
      return Finding(
        check: "multicast",
        verdict: .note,
        seen: "\(shown) can join the group of mDNS, but no route leads there.",
        advice: "Where boards are not found: ip route add 224.0.0.0/4 dev \(names.first ?? "DEV")"
      )
    }
    return Finding(
      check: "multicast",
      verdict: .fine,
      seen: "\(shown) can join the group of mDNS, and a route leads there."
    )
  }

  private func busFinding() -> Finding {
    switch NetworkSurvey.connectsToSystemBus() {
    case nil:
      return Finding(check: "bus", verdict: .fine, seen: "The system D-Bus answers.")
    case let number?:
      return Finding(
        check: "bus",
        verdict: .fault,
        seen: "The system D-Bus does not answer (\(SystemError.words(for: number))).",
        advice: "Start it: systemctl start dbus"
      )
    }
  }

  /// Announces something of its own and sees whether the daemon hands it back.
  private func daemonFinding() async -> Finding {
    guard let me = AnnouncedPeerID(bytes: randomBytes(32)),
      let board = AnnouncedSessionID(bytes: randomBytes(16)),
      // A type of its own, so that nobody takes it for a board.
      let service = try? ServiceType("whiteboard-test")
    else {
      return Finding(check: "daemon", verdict: .note, seen: "Discovery was not tried.")
    }
    let discovery = AvahiDiscovery(interface: interface)
    let announcement = Announcement(
      peer: me,
      session: board,
      incarnation: AnnouncedIncarnation(.random(in: 1...UInt64.max)),
      boardName: "whiteboard-peer doctor",
      hostName: "doctor"
    )
    let advertisement = Advertisement(service: service, port: 9, announcement: announcement)
    let outcome = await firstOf(within: .seconds(5)) { () -> Result<Void, DiscoveryProblem>? in
      await discovery.advertise(advertisement) { _ in
        await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
          for await event in events {
            switch event {
            case .found(let peer) where peer.announcement.peer == me: return .success(())
            case .unavailable(let problem): return .failure(problem)
            default: continue
            }
          }
          return nil
        }
      }
    }
    switch outcome {
    case .success?:
      return Finding(
        check: "daemon",
        verdict: .fine,
        seen: "Avahi announces us and hands it back."
      )
    case .failure(let problem)?:
      return Finding(
        check: "daemon",
        verdict: .fault,
        seen: problem.summary,
        advice: problem.advice
      )
    case nil:
      return Finding(
        check: "daemon",
        verdict: .fault,
        seen: "Avahi answers, but what it announces does not come back.",
        advice: "Restart it: systemctl restart avahi-daemon; let UDP port 5353 through a firewall."
      )
    }
  }

  private func portFinding() -> Finding {
    switch NetworkSurvey.bindFailure(port: port) {
    case nil:
      return Finding(
        check: "port",
        verdict: .fine,
        seen: "Port \(port) is free, TCP and UDP."
      )
    case EADDRINUSE?:
      return Finding(
        check: "port",
        verdict: .note,
        seen: "Port \(port) is taken, by another board or program; the next free one serves.",
        advice: "Find the program that uses it: ss -tulpn 'sport = :\(port)'"
      )
    case let number?:
      return Finding(
        check: "port",
        verdict: .fault,
        seen: "Port \(port) cannot be opened (\(SystemError.words(for: number))).",
        advice: "Choose another: --listen 0.0.0.0:PORT"
      )
    }
  }

  /// A clock that is far off spoils nobody's board, but times on it would be wrong.
  func clockFinding(_ now: Date) -> Finding {
    // The day this was written, and as long after it as no program is used: no right clock shows less or more.
    let earliest = Date(timeIntervalSince1970: 1_795_219_200)
    let latest = earliest.addingTimeInterval(30 * 365 * 86_400)
    guard (earliest...latest).contains(now) else {
      return Finding(
        check: "clock",
        verdict: .fault,
        seen:
          "The clock stands in the \(now < earliest ? "past" : "future"): \(now.formatted(.iso8601)).",
        advice: "Set it: timedatectl set-ntp true, or date -s"
      )
    }
    if reading.output(.clock)?.hasPrefix("no") == true {
      return Finding(
        check: "clock",
        verdict: .note,
        seen: "The clock says \(now.formatted(.iso8601)), and nothing keeps it right.",
        advice: "Have it kept: timedatectl set-ntp true"
      )
    }
    return Finding(
      check: "clock",
      verdict: .fine,
      seen: "The clock says \(now.formatted(.iso8601))."
    )
  }

  private func dataDirectoryFinding() -> Finding {
    let shown = TerminalText.quoted(dataDirectory, limit: 256)
    guard let status = NetworkSurvey.status(of: dataDirectory) else {
      return Finding(
        check: "data",
        verdict: .fine,
        seen: "\(shown) is made when it is first needed."
      )
    }
    guard status.owner == getuid() else {
      return Finding(
        check: "data",
        verdict: .fault,
        seen: "Another user owns \(shown).",
        advice: "Choose another directory with --data-dir."
      )
    }
    guard status.mode & 0o077 == 0 else {
      return Finding(
        check: "data",
        verdict: .fault,
        seen: "Other users can read \(shown), which holds your private key.",
        advice: "Close it: chmod 700 \(shown)"
      )
    }
    let boards = dataDirectory + "/boards"
    for directory in [dataDirectory, boards] where reading.exists(directory) {
      guard let number = DiskProbe.writeFailure(in: directory) else { continue }
      let place = TerminalText.quoted(directory, limit: 256)
      return Finding(
        check: "data",
        verdict: .fault,
        seen: "Nothing can be saved in \(place): \(DiskSurvey.words(for: number)).",
        advice: DiskProbe.advice(for: number, place)
      )
    }
    return Finding(
      check: "data",
      verdict: .fine,
      seen: "\(shown) is writable, and only this user can read it."
    )
  }

  private func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in .random(in: 0...255) }
  }
}
