import Foundation
import PeerSession

struct Run: Sendable {
  let memberCount: Int
  /// The operations per second of each member.
  let rate: Double
  let seconds: Double
  /// Whether one additional member stops reading.
  let isDeaf: Bool
  /// Whether one additional member writes as fast as it can.
  let isFlooded: Bool

  func measure(_ relay: RelayProcess) async throws {
    try await TransportThreads.withThreads(2) { try await measure(relay, $0) }
  }

  private func measure(_ relay: RelayProcess, _ threads: TransportThreads) async throws {
    let kinds: [Member.Kind] =
      Array(repeating: .ordinary, count: memberCount) + (isDeaf ? [.deaf] : []) + (isFlooded ? [.flooding] : [])
    let clock = LoadClock(members: kinds.count)
    let members = kinds.enumerated().map { Member($0.offset, of: kinds.count, $0.element, clock) }
    let directory = FileManager.default.temporaryDirectory.path + "/relay-bench-members-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let link = relay.link
    try await withThrowingTaskGroup(of: Void.self) { group in
      for member in members {
        group.addTask { try await member.run(link, directory: directory, threads) }
        // Members join one at a time, because many strangers at one address would be refused (LNK-6).
        await member.untilJoined()
      }
      for member in members { await member.untilComplete() }
      print("\(kinds.count) members on the board after \(String(format: "%.1f", clock.now)) s")
      try await load(members, kinds, clock, relay)
      group.cancelAll()
    }
  }

  private func load(_ members: [Member], _ kinds: [Member.Kind], _ clock: LoadClock, _ relay: RelayProcess) async throws
  {
    let before = (relay: relay.processorTime, own: ownProcessorTime(), memory: relay.memory)
    clock.isLoaded = true
    let end = ContinuousClock.now + .seconds(seconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (member, kind) in zip(members, kinds) {
        let pause: Duration = kind == .flooding ? .zero : .seconds(1 / rate)
        group.addTask(executorPreference: await member.executor) {
          // Let the members start at different moments.
          var next = ContinuousClock.now + pause * Double.random(in: 0..<1)
          while next < end, await member.departure == nil {
            if kind != .flooding { try await ContinuousClock().sleep(until: next) }
            try await member.draw()
            next = kind == .flooding ? .now : next + pause
          }
        }
      }
      try await group.waitForAll()
    }
    clock.isLoaded = false
    let used = (relay.processorTime - before.relay, ownProcessorTime() - before.own)
    let ordinary = Array(members.prefix(memberCount))
    var agreed = false
    let patience = ContinuousClock.now + .seconds(30)
    while !agreed, ContinuousClock.now < patience {
      var digests: Set<String> = []
      for member in ordinary { digests.insert(await member.digest) }
      agreed = digests.count == 1
      if !agreed { try await ContinuousClock().sleep(for: .milliseconds(100)) }
    }
    var readers: [(number: Int, arrivals: Arrivals)] = []
    for member in ordinary { readers.append((member.number, await member.arrivals)) }
    let outcome = Outcome(clock, readers, writers: 0..<memberCount)
    print(
      String(
        format: "%d x %g/s, %g s: p50 %.1f ms, p99 %.1f ms, max %.1f ms; %d operations, %d lost, boards %@",
        memberCount,
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
        format: "processor: relay %.2f, members %.2f of a core; relay's memory %.1f MB, %.1f MB before",
        used.0 / seconds,
        used.1 / seconds,
        Double(relay.memory) / 1e6,
        Double(before.memory) / 1e6
      )
    )
    let longest = outcome.longest.map { String(format: "%.0f", $0) }.joined(separator: " ")
    print("longest of each second, ms: \(longest)")
    for member in members.suffix(kinds.count - memberCount) {
      // A member that did not read now gets the reason why its link was closed.
      let patience = ContinuousClock.now + .seconds(5)
      while await member.departure == nil, ContinuousClock.now < patience {
        try await ContinuousClock().sleep(for: .milliseconds(100))
      }
      print("member \(member.number): \(await member.departure ?? "still there")")
    }
  }
}

private func ownProcessorTime() -> Double {
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    / 1e6
}
