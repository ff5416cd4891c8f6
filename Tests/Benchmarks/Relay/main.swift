// Measures the load of one relay, or of several relays of a cluster. The members of a board draw, each over a real session.
//
//     relay-bench [--relay PROGRAM | --links FILE --pids N,N] [--members N] [--writers N] [--rate N] [--seconds N]
//                 [--deaf] [--flood]
//
// Without --links, this program starts a relay with one board. Otherwise, each line of FILE has the links to one board
// through each relay, and --pids has the process of each relay. The members are distributed over the boards and the
// relays; they cannot dial each other, so everything goes through a relay. At most `writers` members of each board
// (default: all) make `rate` small operations per second each. A latency is the time from the start of an operation until
// all other members of the board show it. --deaf adds a member that stops reading. --flood adds a member that writes as
// fast as it can.

import Foundation
import WhiteboardKit

signal(SIGPIPE, SIG_IGN)

func option(_ name: String) -> String? {
  guard let index = CommandLine.arguments.firstIndex(of: name) else { return nil }
  return CommandLine.arguments.dropFirst(index + 1).first
}

let run = Run(
  memberCount: option("--members").flatMap { Int($0) } ?? 64,
  writerCount: option("--writers").flatMap { Int($0) } ?? .max,
  rate: option("--rate").flatMap { Double($0) } ?? 20,
  seconds: option("--seconds").flatMap { Double($0) } ?? 60,
  isDeaf: CommandLine.arguments.contains("--deaf"),
  isFlooded: CommandLine.arguments.contains("--flood")
)
let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/whiteboard-relay"

if let file = option("--links") {
  let boards = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map { line in
    try line.split(separator: " ").map { try BoardLink(String($0)) }
  }
  let relays = (option("--pids") ?? "").split(separator: ",").compactMap { Int32($0) }.map(ProcessFigures.init)
  do { try await run.measure(boards, relays) } catch { print("\(error)") }
} else {
  let relay = try await RelayProcess(program: option("--relay") ?? beside)
  do { try await run.measure([[relay.link]], [relay.figures]) } catch { print("\(error)") }
  relay.end()
}
