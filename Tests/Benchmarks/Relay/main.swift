// Measures the load of a relay. All members draw on one board of the relay, each over a real session.
//
//     relay-bench [--relay PROGRAM] [--members N] [--rate N] [--seconds N] [--deaf] [--flood]
//
// Each member makes `rate` small operations per second. A latency is the time from the start of an operation until all
// other members show it. --deaf adds a member that stops reading. --flood adds a member that writes as fast as it can.

import Foundation
import WhiteboardKit

signal(SIGPIPE, SIG_IGN)

func option(_ name: String) -> String? {
  guard let index = CommandLine.arguments.firstIndex(of: name) else { return nil }
  return CommandLine.arguments.dropFirst(index + 1).first
}

let run = Run(
  memberCount: option("--members").flatMap { Int($0) } ?? 64,
  rate: option("--rate").flatMap { Double($0) } ?? 20,
  seconds: option("--seconds").flatMap { Double($0) } ?? 60,
  isDeaf: CommandLine.arguments.contains("--deaf"),
  isFlooded: CommandLine.arguments.contains("--flood")
)
let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/whiteboard-relay"

let relay = try await RelayProcess(program: option("--relay") ?? beside)
do { try await run.measure(relay) } catch { print("\(error)") }
relay.end()
