import BoardWorlds
import SessionReplay
import Whiteboard

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

// Runs seeded worlds and prints their outcomes:
//
//     board-worlds [FIRST] [COUNT] [--replicas | --owned | --diagrams] [--slow-signatures] [--until-failure] [--record]
//     board-worlds [FIRST] [COUNT] --fingerprints [--replicas | --owned | --diagrams] [--slow-signatures]
//     board-worlds --decode
//     board-worlds --receive
//     board-worlds COUNT --room
//
// The worlds consist of boards. With --replicas, they consist of replicas with their protocol, and with --owned, of
// replicas on a board that one of them owns. With --diagrams, the boards have forms, texts and lines, and the places of
// these objects are compared. With --slow-signatures, signing and verifying take time. The exit status is 0 if every
// world passed, and 1 if a world failed. The seed of a failed world repeats the failure. With --record, the file
// world-SEED.whiteboard has the stored changes of the members of a world of replicas, for `whiteboard-replay verify`
// and `run`. With --room, the program prints how many messages and bytes the COUNT replicas of a room exchange. With
// --fingerprints, the program prints a hash of each world, for a comparison with the program for the browser. With
// --decode, the program reads lines of hexadecimal digits from standard input, and prints the result of each decoder
// for the bytes. With --receive, the lines are the id of a board, a member, and the messages of the member; the program
// checks their signatures, and prints the digest of the board.

let arguments = CommandLine.arguments.dropFirst()
let words = arguments.filter { !$0.hasPrefix("--") }
let numbers = words.compactMap { UInt64($0) }
let isKnown = arguments.allSatisfy {
  !$0.hasPrefix("--")
    || [
      "--replicas", "--owned", "--diagrams", "--slow-signatures", "--until-failure", "--record", "--room",
      "--fingerprints", "--decode", "--receive",
    ].contains($0)
}
guard isKnown, numbers.count == words.count, numbers.count <= 2 else {
  print(
    "usage: board-worlds [FIRST] [COUNT] [--replicas | --owned | --diagrams] [--slow-signatures] "
      + "[--until-failure] [--record] [--fingerprints] | COUNT --room | --decode | --receive"
  )
  exit(64)
}
if CommandLine.arguments.contains("--room") {
  print(Room.describe(Int(clamping: numbers.first ?? 64)))
  exit(0)
}
let first = numbers.first ?? 0
let count = numbers.dropFirst().first ?? 10_000
let isOfDiagrams = CommandLine.arguments.contains("--diagrams")
let isOwned = CommandLine.arguments.contains("--owned")
let hasSlowSignatures = CommandLine.arguments.contains("--slow-signatures")
let isOfReplicas = isOwned || hasSlowSignatures || CommandLine.arguments.contains("--replicas")
let stopsAtFirst = CommandLine.arguments.contains("--until-failure")

let records = CommandLine.arguments.contains("--record")

/// Writes the stored changes of all members of a world, one after the other.
func record(_ seed: UInt64) async throws {
  let parts = try ReplicaWorld.documents(seed: seed, isOwned: isOwned).map { changes in
    try Recording(of: changes, on: ReplicaWorld.board, name: "world \(seed)", from: 1_700_000_000_000)
  }
  let path = "world-\(seed).whiteboard"
  try await Recording.concatenated(parts).write(to: path)
  print("\(path) is written")
}

if CommandLine.arguments.contains("--receive") {
  var lines: [[UInt8]] = []
  while let line = readLine() { lines.append(Hexadecimal.decode(line) ?? []) }
  print(Receiver.digest(of: lines))
  exit(0)
}
if CommandLine.arguments.contains("--decode") {
  while let line = readLine() {
    guard let bytes = Hexadecimal.decode(line) else {
      print("not hexadecimal: \(line)")
      exit(64)
    }
    print(Decoders.line(of: bytes))
  }
  exit(0)
}
if CommandLine.arguments.contains("--fingerprints") {
  for seed in first..<(first + count) {
    if isOfDiagrams {
      print(DiagramWorld.line(of: seed))
    } else if isOfReplicas {
      print(ReplicaWorld.line(of: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures))
    } else {
      print(BoardWorld.line(of: seed))
    }
  }
  exit(0)
}
var tally = BoardWorld.Tally()
var ran: UInt64 = 0
var failures: UInt64 = 0
let clock = ContinuousClock()
let begin = clock.now
for seed in first..<(first + count) {
  ran += 1
  do throws(BoardWorld.Failure) {
    if isOfDiagrams {
      _ = try DiagramWorld.fingerprint(seed: seed)
    } else if isOfReplicas {
      tally.add(try ReplicaWorld.run(seed: seed, isOwned: isOwned, hasSlowSignatures: hasSlowSignatures))
    } else {
      let world = BoardWorld(seed: seed)
      try world.run()
      tally.add(world.tally)
    }
  } catch {
    print(error)
    failures += 1
    if isOfReplicas, !isOwned, !hasSlowSignatures, records { try await record(seed) }
    if stopsAtFirst {
      print("failed after \(ran) seeds")
      exit(1)
    }
    if failures >= 20 { break }
  }
}
print("\(ran) worlds from seed \(first) in \(clock.now - begin): \(tally.description)")
print("\(ran - failures) passed, \(failures) failed")
exit(failures == 0 ? 0 : 1)
