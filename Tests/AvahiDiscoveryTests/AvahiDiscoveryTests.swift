import Foundation
import PeerCore
import PeerDiscovery
import PeerTestKit
import Testing

@testable import AvahiDiscovery

/// The tests share one real daemon, so they run one at a time.
@Suite(.serialized, .enabled(if: AvahiSandbox.isAvailable, AvahiSandbox.explanation), .timeLimit(.minutes(5)))
struct AvahiDiscoveryTests {
  private let world = AvahiDiscoveryWorld()
  private let service = AvahiDiscoveryWorld.randomService()

  @Test("Avahi fulfills the contract of discovery", arguments: DiscoveryContract.all) func keepsContract(
    _ contract: DiscoveryContract
  ) async throws { try await contract.check(in: world) }

  @Test("[DSC-20] a restart of the daemon is reported; no peer is lost or found again") func survivesDaemonRestart()
    async throws
  {
    try await check { discovery in
      let announcement = DiscoverySamples.announcement(peer: 1)
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let browser = BrowserProbe(events)
        try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) {
          advertising in
          let advertiser = AdvertiserProbe(advertising.events)
          let name = try await advertiser.announced()
          let id = try await browser.found().id
          try await AvahiSandbox.control("restart")
          try await advertiser.unavailable(.daemonNotRunning)
          #expect(try await advertiser.announced() == name)
          var changed = announcement
          changed.participants = 42
          await advertising.update(changed)
          let peer = try await browser.updated("42") { $0.announcement.participants == 42 }
          #expect(peer.id == id)
        }
        _ = try await browser.lost()
        let founds = browser.history.filter { if case .found = $0 { true } else { false } }
        #expect(founds.count == 1)
      }
    }
  }

  @Test("[DSC-20] if the daemon and its bus are killed, both are reported, and discovery recovers")
  func survivesBusRestart() async throws {
    try await check { discovery in
      let announcement = DiscoverySamples.announcement(peer: 2)
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let browser = BrowserProbe(events)
        try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) {
          advertising in
          let advertiser = AdvertiserProbe(advertising.events)
          _ = try await advertiser.announced()
          _ = try await browser.found()
          try await AvahiSandbox.control("bus-stop")
          try await advertiser.unavailable(.busNotRunning)
          try await browser.unavailable(.busNotRunning)
          try await AvahiSandbox.control("bus-start")
          try await advertiser.unavailable(.daemonNotRunning)
          try await AvahiSandbox.control("start")
          _ = try await advertiser.announced()
          try await browser.available()
        }
        _ = try await browser.lost()
      }
    }
  }

  @Test("[DSC-20] a daemon that is not running is reported, and used when it starts") func waitsForDaemon() async throws
  {
    try await AvahiSandbox.control("stop")
    try await check(restoring: ["start"]) { discovery in
      let announcement = DiscoverySamples.announcement(peer: 3)
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let browser = BrowserProbe(events)
        #expect(try await browser.next("the first event") == .unavailable(.daemonNotRunning))
        try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) {
          advertising in
          let advertiser = AdvertiserProbe(advertising.events)
          #expect(try await advertiser.next("the first event") == .unavailable(.daemonNotRunning))
          try await AvahiSandbox.control("start")
          _ = try await advertiser.announced()
          #expect(try await browser.found().announcement == announcement)
        }
      }
    }
  }

  @Test("[DSC-20] a missing Avahi installation and a missing bus are reported as different problems")
  func tellsWhatIsMissing() async throws {
    try await AvahiSandbox.control("bus-stop")
    try await check(restoring: ["bus-start", "start"]) { discovery in
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let event = try await BrowserProbe(events).next("bus")
        #expect(event == .unavailable(.busNotRunning))
      }
      var bare = AvahiConfiguration()
      bare.installation = ["/nonexistent/avahi-daemon"]
      try await AvahiDiscovery(configuration: bare).browse(BrowserQuery(service: service, excluding: nil)) { events in
        let event = try await BrowserProbe(events).next("missing")
        #expect(event == .unavailable(.notInstalled))
      }
    }
    try await AvahiSandbox.control("stop")
    try await check(restoring: ["start"]) { _ in
      var bare = AvahiConfiguration()
      bare.installation = ["/nonexistent/avahi-daemon"]
      try await AvahiDiscovery(configuration: bare).browse(BrowserQuery(service: service, excluding: nil)) { events in
        let event = try await BrowserProbe(events).next("missing")
        #expect(event == .unavailable(.notInstalled))
      }
    }
  }

  @Test(
    "[DSC-20] a daemon that forbids publishing is reported, and browsing still works",
    arguments: ["disable-user-service-publishing", "disable-publishing"]
  ) func reportsForbiddenPublishing(_ setting: String) async throws {
    try await AvahiSandbox.control("set", setting, "yes")
    try await AvahiSandbox.control("restart")
    try await check(restoring: ["unset \(setting)", "restart"]) { discovery in
      let announcement = DiscoverySamples.announcement(peer: 4)
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let event = try await BrowserProbe(events).next("browser")
        #expect(event == .available)
        try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) {
          let advertiser = AdvertiserProbe($0.events)
          #expect(try await advertiser.next("advertiser") == .unavailable(.publishingDisabled))
          try await AvahiSandbox.control("unset", setting)
          try await AvahiSandbox.control("restart")
          _ = try await advertiser.announced()
        }
      }
    }
  }

  @Test("[DSC-21] a daemon that does not answer is reported, and used when it answers again")
  func reportsHangingDaemon() async throws {
    try await AvahiSandbox.control("hang")
    try await check(restoring: ["resume"]) { discovery in
      let announcement = DiscoverySamples.announcement(peer: 9)
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let browser = BrowserProbe(events)
        #expect(try await browser.next("the first event") == .unavailable(.notAnswering))
        try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) {
          let advertiser = AdvertiserProbe($0.events)
          #expect(try await advertiser.next("the first event") == .unavailable(.notAnswering))
          // The bus reports after 25 s that the daemon does not answer.
          try await Task.sleep(for: .seconds(27))
          try await AvahiSandbox.control("resume")
          _ = try await advertiser.announced()
          #expect(try await browser.found().announcement == announcement)
        }
      }
    }
  }

  @Test("[DSC-7] illegal records that other programs publish under our service type are ignored")
  func passesOverForeignRecords() async throws {
    let id = DiscoverySamples.peer(5).text
    let session = DiscoverySamples.session(5).text
    let whole = ["v=1", "id=\(id)", "sid=\(session)", "inc=aaaaaaaaaaaac"]
    let hostile: [(String, [String])] = [
      ("\u{1b}[31m\u{9b}2J\u{7}\u{202e}", ["id=x"]), ("no record", []), ("half a record", ["v=1", "id=\(id)"]),
      ("upper case", ["v=1", "id=\(id.uppercased())", "sid=\(session)", "inc=aaaaaaaaaaaac"]),
      ("too long", whole + ["a=" + String(repeating: "x", count: 250), "b=" + String(repeating: "y", count: 100)]),
      ("no key", ["=v", "==", "=\u{0301}"] + ["v=0"] + whole.dropFirst()),
    ]
    try await check { discovery in
      try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let probe = BrowserProbe(events)
        try await publish(hostile) {
          let last = [("p-legal", whole + ["name=first", "name=second", "NAME=third", "flag"])]
          try await publish(last) {
            let peer = try await probe.found()
            #expect(peer.announcement.peer == DiscoverySamples.peer(5))
            #expect(peer.announcement.boardName == UntrustedText("first"))
            #expect(peer.announcement.extra.contains("flag"))
          }
        }
        _ = try await probe.lost()
        #expect(probe.history.count == 3)
      }
    }
  }

  @Test("[DSC-26] 300 false instances hide neither a known peer nor a new one") func findsAmongFalseInstances()
    async throws
  {
    @Sendable func advertisement(_ peer: UInt8, _ session: UInt8) -> Advertisement {
      let announcement = DiscoverySamples.announcement(peer: peer, session: session)
      return Advertisement(service: service, port: 1, announcement: announcement)
    }
    let (known, new) = (advertisement(1, 1), advertisement(2, 2))
    let preference = BrowserPreference(peers: [known.announcement.peer])
    let query = BrowserQuery(service: service, excluding: nil, preferring: preference)
    try await check { discovery in
      try await discovery.browse(query) { events in
        let browser = BrowserProbe(events)
        try await discovery.advertise(known) { _ in
          let id = try await browser.found().id
          var shown = [id]
          var isNewFound = false
          let crowd = (0..<300).map { (number: Int) -> Advertisement in
            advertisement(UInt8(100 + number / 200), UInt8(number % 200))
          }
          try await AdvertiserCrowd.advertise(crowd) {
            try await discovery.advertise(new) { _ in
              while !isNewFound || shown.count < PeerTable.maximumPeers {
                switch try await browser.nextAboutPeer("the new peer among 300") {
                case .found(let peer):
                  shown.append(peer.id)
                  isNewFound = isNewFound || peer.announcement == new.announcement
                case .lost(let peer): shown.removeAll { $0 == peer.id }
                default: break
                }
              }
            }
          }
          #expect(shown.contains(id))
        }
      }
    }
  }

  @Test("[DSC-22] a missing interface is reported; only the chosen interface is used") func keepsToInterface()
    async throws
  {
    try await check { _ in
      let announcement = DiscoverySamples.announcement(peer: 6)
      let bad = AvahiDiscovery(interface: "nowhere0")
      try await bad.browse(BrowserQuery(service: service, excluding: nil)) { events in
        let event = try await BrowserProbe(events).next("no interface")
        #expect(event == .unavailable(.noSuchInterface("nowhere0")))
      }
      let good = AvahiDiscovery(interface: "lo")
      try await good.browse(BrowserQuery(service: service, excluding: nil)) { events in
        try await good.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { _ in
          let peer = try await BrowserProbe(events).found()
          #expect(peer.endpoints.map(\.interface.name) == ["lo"])
          #expect(peer.endpoints.map(\.description) == ["127.0.0.1:1"])
        }
      }
    }
  }

  @Test("[DSC-21] a scope that ended leaves no thread, no descriptor and no client of the daemon") func leavesNothing()
    async throws
  {
    @Sendable func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    @Sendable func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").filter {
        // A thread that has ended in the meantime no longer has a name.
        (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == "avahi\n"
      }.count
    }
    try await check { discovery in
      let announcement = DiscoverySamples.announcement(peer: 7)
      func use() async throws {
        try await discovery.browse(BrowserQuery(service: service, excluding: nil)) { events in
          try await discovery.advertise(Advertisement(service: service, port: 1, announcement: announcement)) { _ in
            try await BrowserProbe(events).available()
          }
        }
      }
      try await use()
      let before = try descriptors()
      for _ in 0..<40 { try await use() }
      // Each use opens at least ten descriptors. Other tests in this process also open some.
      #expect(try descriptors() <= before + 100)
      // A thread reports its end before the kernel has removed the thread.
      let deadline = ContinuousClock.now + .seconds(5)
      while try threads() > 0, ContinuousClock.now < deadline { await Task.yield() }
      #expect(try threads() == 0)
    }
  }

  @Test("[DSC-21] a daemon that hangs delays the end of a scope by at most 3 seconds") func boundsFarewell()
    async throws
  {
    try await check(restoring: ["resume"]) { discovery in
      var announcement = DiscoverySamples.announcement(peer: 8)
      let advertisement = Advertisement(service: service, port: 1, announcement: announcement)
      let start = try await discovery.advertise(advertisement) { advertising in
        _ = try await AdvertiserProbe(advertising.events).announced()
        try await AvahiSandbox.control("hang")
        // Calls from here on wait for the suspended daemon; on a busy machine they take even longer.
        let hung = ContinuousClock.now
        announcement.participants = 2
        await advertising.update(announcement)
        return hung
      }
      let taken = start.duration(to: .now)
      #expect(taken > .seconds(2) && taken < .seconds(6), "\(taken)")
    }
  }

  /// Runs a test on a daemon within the timeout, and restores the daemon.
  private func check(
    restoring commands: [String] = [],
    _ body: @escaping @Sendable (AvahiDiscovery) async throws -> Void
  ) async throws {
    let result: Result<Void, any Error>
    do {
      try await world.run { try await body(AvahiDiscovery()) }
      result = .success(())
    } catch { result = .failure(error) }
    for command in commands {
      let words = command.split(separator: " ").map(String.init)
      try await AvahiSandbox.control(words)
    }
    try result.get()
  }

  /// Publishes services with Avahi's own tool instead of our code.
  private nonisolated(nonsending) func publish(
    _ services: [(String, [String])],
    _ body: nonisolated(nonsending) () async throws -> Void
  ) async throws {
    guard let (name, txt) = services.first else { return try await body() }
    let arguments = ["-s", name, service.text, "7"] + txt
    try await AvahiSandbox.withProgram("/usr/bin/avahi-publish", arguments) {
      try await publish(Array(services.dropFirst()), body)
    }
  }
}
