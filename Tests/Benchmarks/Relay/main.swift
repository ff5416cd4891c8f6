// What a relay carries: guests that all draw on one board of it, each over a real session.
//
//     relay-bench [--relay PROGRAM] [--guests N] [--rate N] [--seconds N] [--deaf] [--flood]
//
// Each guest makes `rate` small operations a second; a latency is from the begin of one until the last of
// the others shows it. --deaf adds a guest that stops reading, --flood one that writes as fast as it can.

import Foundation
import WhiteboardNode

setvbuf(stdout, nil, _IOLBF, 0)
signal(SIGPIPE, SIG_IGN)

func option(_ name: String) -> String? {
  guard let index = CommandLine.arguments.firstIndex(of: name) else { return nil }
  return CommandLine.arguments.dropFirst(index + 1).first
}
let has = { CommandLine.arguments.contains($0) }
let guestCount = option("--guests").flatMap { Int($0) } ?? 64
let rate = option("--rate").flatMap { Double($0) } ?? 20
let seconds = option("--seconds").flatMap { Double($0) } ?? 60
let beside =
  URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path
  + "/whiteboard-relay"

func ownProcessorTime() -> Double {
  var usage = rusage()
  getrusage(RUSAGE_SELF, &usage)
  return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

func measure(_ relay: RelayProcess) async throws {
  let kinds: [Guest.Kind] =
    Array(repeating: .ordinary, count: guestCount) + (has("--deaf") ? [.deaf] : [])
    + (has("--flood") ? [.flooding] : [])
  let clock = LoadClock(guests: kinds.count)
  let guests = kinds.enumerated().map { Guest($0.offset, of: kinds.count, $0.element, clock) }
  let directory = FileManager.default.temporaryDirectory.path + "/relay-bench-guests-\(getpid())"
  defer { try? FileManager.default.removeItem(atPath: directory) }
  try await withThrowingTaskGroup(of: Void.self) { group in
    for guest in guests { group.addTask { try await guest.run(relay.link, directory: directory) } }
    for guest in guests { await guest.untilComplete() }
    print("\(kinds.count) guests on the board after \(String(format: "%.1f", clock.now)) s")
    try await load(guests, kinds, clock, relay)
    group.cancelAll()
  }
}

func load(
  _ guests: [Guest],
  _ kinds: [Guest.Kind],
  _ clock: LoadClock,
  _ relay: RelayProcess
) async throws {
  let before = (relay: relay.processorTime, own: ownProcessorTime(), memory: relay.memory)
  clock.hasBegun = true
  let end = ContinuousClock.now + .seconds(seconds)
  try await withThrowingTaskGroup(of: Void.self) { group in
    for (guest, kind) in zip(guests, kinds) {
      let pause: Duration = kind == .flooding ? .zero : .seconds(1 / rate)
      group.addTask {
        // Not all in the same moment.
        var next = ContinuousClock.now + pause * Double.random(in: 0..<1)
        while next < end {
          if kind != .flooding { try await ContinuousClock().sleep(until: next) }
          try await guest.draw()
          next = kind == .flooding ? .now : next + pause
        }
      }
    }
    try await group.waitForAll()
  }
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
  for guest in guests.suffix(kinds.count - guestCount) {
    print("guest \(guest.number): \(await guest.departure ?? "still there")")
  }
}

let relay = try await RelayProcess(program: option("--relay") ?? beside)
do {
  try await measure(relay)
} catch {
  print("\(error)")
}
relay.end()
