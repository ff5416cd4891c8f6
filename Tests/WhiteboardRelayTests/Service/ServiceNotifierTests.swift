import Foundation
import PeerCore
import PeerTestKit
import Testing

@testable import WhiteboardRelay

struct ServiceNotifierTests {
  private let directory: TemporaryDirectory
  private let socket: DatagramSocket
  private let path: String

  init() throws {
    directory = try TemporaryDirectory()
    path = directory.path + "/notify"
    socket = DatagramSocket(name: Array(path.utf8))
  }

  @Test("each state is sent as one datagram, as sd_notify(3) demands") func notifies() throws {
    let notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": path])
    #expect(notifier.status("recovering 3 boards"))
    #expect(notifier.ready())
    #expect(notifier.ready(status: "2 boards, 5 people"))
    #expect(notifier.stopping(status: "draining"))
    #expect(notifier.stopping())
    #expect(
      socket.received() == [
        "STATUS=recovering 3 boards", "READY=1", "READY=1\nSTATUS=2 boards, 5 people", "STOPPING=1\nSTATUS=draining",
        "STOPPING=1",
      ]
    )
  }

  @Test("the message for reloading contains the time of the monotonic clock") func tellsReloading() throws {
    func monotonic() -> Int {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }
    let before = monotonic()
    #expect(try ServiceNotifier(environment: ["NOTIFY_SOCKET": path]).reloading())
    let datagrams = socket.received()
    let lines = try #require(datagrams.first).split(separator: "\n")
    #expect(datagrams.count == 1 && lines.count == 2)
    #expect(lines.first == "RELOADING=1")
    let time = try #require(lines.last?.split(separator: "=").last.flatMap { Int($0) })
    #expect(lines.last == "MONOTONIC_USEC=\(time)")
    #expect((before...monotonic()).contains(time))
  }

  @Test("an abstract socket is notified as well") func notifiesAbstract() throws {
    let name = "whiteboard-relay-\(UUID().uuidString)"
    let abstract = DatagramSocket(name: [0] + Array(name.utf8))
    #expect(try ServiceNotifier(environment: ["NOTIFY_SOCKET": "@" + name]).ready())
    #expect(abstract.received() == ["READY=1"])
  }

  @Test("a status text cannot add other assignments") func cleansStatus() throws {
    let notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": path])
    notifier.status("board \"x\"\nSTOPPING=1\u{1b}[31m")
    notifier.status(String(repeating: "y", count: 100_000))
    let datagrams = socket.received()
    #expect(datagrams.first == #"STATUS=board "x"\nSTOPPING=1\u{1b}[31m"#)
    #expect(datagrams.last == "STATUS=" + String(repeating: "y", count: 256) + "…")
  }

  @Test("without a service manager, nothing is sent and no call fails") func doesNothingAlone() async throws {
    let notifier = try ServiceNotifier(environment: ["WATCHDOG_USEC": "1000"])
    #expect(!notifier.ready())
    #expect(notifier.watchdogTimeout == nil)
    await notifier.keepWatchdogQuiet { true }
    let gone = try ServiceNotifier(environment: ["NOTIFY_SOCKET": directory.path + "/nobody"])
    #expect(!gone.ready())
  }

  @Test(
    "an invalid address or time is an error",
    arguments: [
      ["NOTIFY_SOCKET": ""], ["NOTIFY_SOCKET": "@"], ["NOTIFY_SOCKET": "relative"], ["NOTIFY_SOCKET": "vsock:2:1234"],
      ["NOTIFY_SOCKET": "/" + String(repeating: "x", count: 108)], ["WATCHDOG_USEC": ""], ["WATCHDOG_USEC": "0"],
      ["WATCHDOG_USEC": "-1"], ["WATCHDOG_USEC": "99999999999999999999"], ["WATCHDOG_USEC": "1s"],
    ]
  ) func refuses(_ environment: [String: String]) {
    #expect(throws: ServiceNotifier.EnvironmentError.self) { try ServiceNotifier(environment: environment) }
  }

  @Test("the watchdog applies to the process it names, or to this process if it names none") func readsWatchdog() throws
  {
    func timeout(_ process: String?) throws -> Duration? {
      var environment = ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "30000000"]
      environment["WATCHDOG_PID"] = process
      return try ServiceNotifier(environment: environment).watchdogTimeout
    }
    #expect(try timeout(nil) == .seconds(30))
    #expect(try timeout("\(getpid())") == .seconds(30))
    #expect(try timeout("1") == nil)
  }

  @Test("the watchdog is notified twice per timeout while the program is healthy") func keepsWatchdogQuiet()
    async throws
  {
    let notifier = try ServiceNotifier(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "3000000"])
    let clock = CountedClock(sleeps: 4)
    var verdicts = [true, false, false, true][...]
    var told: [Int] = []
    await notifier.keepWatchdogQuiet(clock: clock) {
      told.append(socket.received().filter { $0 == "WATCHDOG=1" }.count)
      return verdicts.popFirst() ?? true
    }
    told.append(socket.received().count)
    #expect(told == [0, 1, 0, 0, 1])
    #expect(clock.slept == Array(repeating: .seconds(1.5), count: 4))
  }
}

/// A clock on which the given number of sleeps end immediately, and the next sleep is canceled.
private final class CountedClock: Clock {
  struct Instant: InstantProtocol {
    var time: Duration
    func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
    func duration(to other: Instant) -> Duration { other.time - time }
    static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
  }

  private let sleeps: Int
  private let state = Locked<[Duration]>([])

  init(sleeps: Int) { self.sleeps = sleeps }

  var slept: [Duration] { state.withLock { $0 } }
  var now: Instant { Instant(time: slept.reduce(.zero, +)) }
  var minimumResolution: Duration { .nanoseconds(1) }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let duration = now.duration(to: deadline)
    let isOver = state.withLock {
      $0.append(duration)
      return $0.count >= sleeps
    }
    if isOver { throw CancellationError() }
  }
}
