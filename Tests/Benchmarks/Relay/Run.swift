import Foundation
import PeerSession
import WhiteboardKit

struct Run: Sendable {
  /// The number of ordinary members of all boards.
  let memberCount: Int
  /// The number of ordinary members of each board that draw; the others only read.
  let writerCount: Int
  /// The operations per second of each member that draws.
  let rate: Double
  let seconds: Double
  /// Whether one additional member of each board stops reading.
  let isDeaf: Bool
  /// Whether one additional member of each board writes as fast as it can.
  let isFlooded: Bool

  /// A board with its members, the ordinary ones first.
  private struct Group: Sendable {
    /// A link to the board through each relay.
    let links: [BoardLink]
    let clock: LoadClock
    let kinds: [Member.Kind]
    let members: [Member]
    let ordinaryCount: Int
    let writerCount: Int

    var ordinary: ArraySlice<Member> { members.prefix(ordinaryCount) }

    var isEqual: Bool {
      get async {
        var digests: Set<String> = []
        for member in ordinary { digests.insert(await member.digest) }
        return digests.count <= 1
      }
    }
  }

  /// Measures boards, each with a link through each relay. The members are distributed over the boards and the relays.
  func measure(_ boards: [[BoardLink]], _ relays: [ProcessFigures]) async throws {
    try await TransportThreads.withThreads(2) { try await measure(boards, relays, $0) }
  }

  private func measure(_ boards: [[BoardLink]], _ relays: [ProcessFigures], _ threads: TransportThreads) async throws {
    let groups = boards.enumerated().map { number, links in
      let ordinaryCount = memberCount * (number + 1) / boards.count - memberCount * number / boards.count
      let kinds: [Member.Kind] =
        Array(repeating: .ordinary, count: ordinaryCount) + (isDeaf ? [.deaf] : []) + (isFlooded ? [.flooding] : [])
      let clock = LoadClock(members: kinds.count)
      return Group(
        links: links,
        clock: clock,
        kinds: kinds,
        members: kinds.enumerated().map {
          Member($0.offset, of: kinds.count, relays: relays.count, $0.element, clock)
        },
        ordinaryCount: ordinaryCount,
        writerCount: min(writerCount, ordinaryCount)
      )
    }
    let directory = FileManager.default.temporaryDirectory.path + "/relay-bench-members-\(getpid())"
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let empty = relays.map(\.memory.anonymous).reduce(0, +)
    let began = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (number, group) in groups.enumerated() {
        for member in group.members {
          let link = group.links[member.number % group.links.count]
          tasks.addTask { try await member.run(link, directory: "\(directory)/\(number)", threads) }
          // Members join one at a time, because many strangers at one address would be refused (LNK-6).
          await member.untilJoined()
          if let departure = await member.departure { throw WhiteboardError(.internal, "no member: \(departure)") }
        }
      }
      let patience = ContinuousClock.now + .seconds(30)
      for member in groups.flatMap(\.members) {
        while case let count = await member.missingCount, count != 0 {
          guard ContinuousClock.now < patience else {
            throw WhiteboardError(.internal, "member \(member.number) does not know \(count) others")
          }
          try await ContinuousClock().sleep(for: .milliseconds(50))
        }
      }
      let took = (ContinuousClock.now - began) / .seconds(1)
      print(
        String(
          format: "%d members on %@ after %.1f s",
          groups.map(\.members.count).reduce(0, +),
          groups.count == 1 ? "the board" : "\(groups.count) boards",
          took
        )
      )
      try await load(groups, relays, empty)
      tasks.cancelAll()
    }
  }

  private func load(_ groups: [Group], _ relays: [ProcessFigures], _ empty: Double) async throws {
    func relayTime() -> Double { relays.map(\.processorTime).reduce(0, +) }
    func memory() -> Double { relays.map(\.memory.all).reduce(0, +) / 1e6 }
    let before = (relay: relayTime(), own: ownProcessorTime(), memory: memory())
    let joined = relays.map(\.memory.anonymous).reduce(0, +)
    for group in groups { group.clock.isLoaded = true }
    let end = ContinuousClock.now + .seconds(seconds)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for group in groups {
        for (member, kind) in zip(group.members, group.kinds)
        where kind != .ordinary || member.number < group.writerCount {
          let pause: Duration = kind == .flooding ? .zero : .seconds(1 / rate)
          tasks.addTask(executorPreference: await member.executor) {
            // Let the members start at different moments.
            var next = ContinuousClock.now + pause * Double.random(in: 0..<1)
            while next < end, await member.departure == nil {
              if kind != .flooding { try await ContinuousClock().sleep(until: next) }
              try await member.draw()
              next = kind == .flooding ? .now : next + pause
            }
          }
        }
      }
      try await tasks.waitForAll()
    }
    let took = seconds + (ContinuousClock.now - end) / .seconds(1)
    for group in groups { group.clock.isLoaded = false }
    let used = (relayTime() - before.relay, ownProcessorTime() - before.own)
    var agreed = true
    let patience = ContinuousClock.now + .seconds(30)
    for group in groups {
      while await !group.isEqual, ContinuousClock.now < patience {
        try await ContinuousClock().sleep(for: .milliseconds(100))
      }
      if await !group.isEqual { agreed = false }
    }
    var outcome = Outcome()
    for group in groups {
      var readers: [(number: Int, arrivals: Arrivals)] = []
      for member in group.ordinary { readers.append((member.number, await member.arrivals)) }
      outcome.add(group.clock, readers, writers: 0..<group.writerCount)
    }
    print(
      String(
        format: "%d x %g/s, %g s: p50 %.1f ms, p99 %.1f ms, max %.1f ms; %d operations, %d lost, boards %@",
        groups.map(\.writerCount).reduce(0, +),
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
        used.0 / took,
        used.1 / took,
        memory(),
        before.memory
      )
    )
    print(
      String(
        format: "%.1f operations per second; the members use %.1f kB of the relay",
        Double(outcome.latencies.count + outcome.lost) / took,
        (joined - empty) / 1000
      )
    )
    let longest = outcome.longest.map { String(format: "%.0f", $0) }.joined(separator: " ")
    print("longest of each second, ms: \(longest)")
    for member in groups.flatMap({ $0.members.dropFirst($0.ordinaryCount) }) {
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
