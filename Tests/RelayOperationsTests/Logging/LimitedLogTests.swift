import Logging
import Testing

@testable import RelayOperations

struct LimitedLogTests {
  /// A clock whose sleepers wake at once, each sleep later by what was slept, until there were enough.
  private struct Stepping: Clock {
    struct Instant: InstantProtocol {
      var time: Duration
      func advanced(by duration: Duration) -> Instant { Instant(time: time + duration) }
      func duration(to other: Instant) -> Duration { other.time - time }
      static func < (left: Instant, right: Instant) -> Bool { left.time < right.time }
    }

    let now = Instant(time: .zero)
    let minimumResolution = Duration.nanoseconds(1)

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      throw CancellationError()
    }
  }

  @Test("the fixed words are written, then counted, then told")
  func tells() async {
    let pipe = Pipe()
    let writer = LogWriter(descriptor: pipe.writer)
    var logger = Logger(label: "relay") {
      OperatorLogHandler(label: $0, format: .journald, writer: writer)
    }
    logger.logLevel = .warning
    let rates = LogLimit.Rates(perPeer: 2, perReason: 3, span: .seconds(60))
    let log = LimitedLog(logger, rates: rates, clock: Stepping())
    for index in 0..<216 {
      log.warning("frame refused", peer: "st4ksrqd", metadata: ["n": "\(index)"])
    }
    log.log(.info, "frame refused", peer: "other")
    log.log(.error, "cannot save")
    // Its clock lets nobody sleep, as when the task is cancelled.
    await log.run()
    writer.flush(timeout: .seconds(60))
    pipe.endWriting()
    #expect(
      pipe.read() == """
        <4>relay: frame refused n=0 peer=st4ksrqd
        <4>relay: frame refused n=1 peer=st4ksrqd
        <3>relay: cannot save
        <4>relay: frame refused, and 214 more peer=st4ksrqd

        """
    )
  }
}
