import Foundation
import PeerSession

/// One run of the benchmark.
struct Run: Sendable {
  let guestCount: Int
  /// The operations per second of each guest.
  let rate: Double
  let seconds: Double
  /// Whether one additional guest stops reading.
  let isDeaf: Bool
  /// Whether one additional guest writes as fast as it can.
  let isFlooded: Bool

  func measure(_ relay: RelayProcess) async throws {
    try await TransportThreads.withThreads(2) { try await measure(relay, $0) }
  }

  private func measure(_ relay: RelayProcess, _ threads: TransportThreads) async throws {
    let kinds: [Guest.Kind] =
      Array(repeating: .ordinary, count: guestCount) + (isDeaf ? [.deaf] : [])
      + (isFlooded ? [.flooding] : [])
    let clock = LoadClock(guests: kinds.count)
    let guests = kinds.enumerated().map { Guest($0.offset, of: kinds.count, $0.element, clock) }
    let directory = FileManager.default.temporaryDirectory.path + "/relay-bench-guests-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let link = relay.link
    try await withThrowingTaskGroup(of: Void.self) { group in
      for guest in guests {
        group.addTask { try await guest.run(link, directory: directory, threads) }
        // Guests join one at a time, because many strangers at one address would be refused
        // (LNK-6).
        await guest.untilJoined()
      }
      for guest in guests { await guest.untilComplete() }
      print("\(kinds.count) guests on the board after \(String(format: "%.1f", clock.now)) s")
      try await load(guests, kinds, clock, relay)
      group.cancelAll()
    }
  }

  private func load(
    _ guests: [Guest],
    _ kinds: [Guest.Kind],
    _ clock: LoadClock,
    _ relay: RelayProcess
  ) async throws {
    let before = (relay: relay.processorTime, own: ownProcessorTime(), memory: relay.memory)
    clock.isLoaded = true
    let end = ContinuousClock.now + .seconds(seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (guest, kind) in zip(guests, kinds) {
        let pause: Duration = kind == .flooding ? .zero : .seconds(1 / rate)
        group.addTask(executorPreference: await guest.executor) {
          // Guests do not all start at the same moment.
          var next = ContinuousClock.now + pause * Double.random(in: 0..<1)
          while next < end, await guest.departure == nil {
            if kind != .flooding { try await ContinuousClock().sleep(until: next) }
            try await guest.draw()
            next = kind == .flooding ? .now : next + pause
          }
        }
      }
      try await group.waitForAll()
    }
    clock.isLoaded = false
    let used = (relay.processorTime - before.relay, ownProcessorTime() - before.own)
    let ordinary = Array(guests.prefix(guestCount))
    var agreed = false
    let patience = ContinuousClock.now + .seconds(30)
    while !agreed, ContinuousClock.now < patience {
      var digests: Set<String> = []
      for guest in ordinary { digests.insert(await guest.digest) }
      agreed = digests.count == 1
      if !agreed { try await ContinuousClock().sleep(for: .milliseconds(100)) }
    }
    var readers: [(number: Int, arrivals: Arrivals)] = []
    for guest in ordinary { readers.append((guest.number, await guest.arrivals)) }
    let outcome = Outcome(clock, readers, writers: 0..<guestCount)
    print(
      String(
        format:
          "%d x %g/s, %g s: p50 %.1f ms, p99 %.1f ms, max %.1f ms; %d operations, %d lost, boards %@",
        guestCount,
        rate,
        seconds,
        outcome.quantile(0.5),
        outcome.quantile(0.99),
        outcome.latencies.last ?? .nan,
        outcome.latencies.count,
        outcome.lost,
        agreed ? "equal" : "DIFFER"
      )
    )
    print(
      String(
        format:
          "processor: relay %.2f, guests %.2f of a core; relay's memory %.1f MB, %.1f MB before",
        used.0 / seconds,
        used.1 / seconds,
        Double(relay.memory) / 1e6,
        Double(before.memory) / 1e6
      )
    )
    let longest = outcome.longest.map { String(format: "%.0f", $0) }.joined(separator: " ")
    print("longest of each second, ms: \(longest)")
    for guest in guests.suffix(kinds.count - guestCount) {
      // A guest that did not read now gets the reason why it was closed.
      let patience = ContinuousClock.now + .seconds(5)
      while await guest.departure == nil, ContinuousClock.now < patience {
        try await ContinuousClock().sleep(for: .milliseconds(100))
      }
      print("guest \(guest.number): \(await guest.departure ?? "still there")")
    }
  }
}

private func ownProcessorTime() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}
