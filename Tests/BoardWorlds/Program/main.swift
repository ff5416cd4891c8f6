import BoardWorlds

#if canImport(Glibc)
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#endif

// Runs many worlds and says what happened in them: board-worlds [FIRST] [COUNT] [--until-failure]
//
// The status is 0 when every world held, 1 when one did not; its seed makes it again.

let words = CommandLine.arguments.dropFirst().filter { !$0.hasPrefix("--") }
let first = words.first.flatMap { UInt64($0) } ?? 0
let count = words.dropFirst().first.flatMap { UInt64($0) } ?? 10_000
let stopsAtFirst = CommandLine.arguments.contains("--until-failure")

var tally = BoardWorld.Tally()
var failures = 0
let clock = ContinuousClock()
let begin = clock.now
for seed in first..<(first + count) {
  let world = BoardWorld(seed: seed)
  do throws(BoardWorld.Failure) {
    try world.run()
  } catch {
    print(error)
    failures += 1
    if stopsAtFirst {
      print("failed after \(seed - first + 1) seeds")
      exit(1)
    }
    if failures >= 20 { break }
  }
  tally = tally + world.tally
}
print("\(count) worlds from seed \(first) in \(clock.now - begin): \(tally)")
print("\(count - UInt64(failures)) passed, \(failures) failed")
exit(failures == 0 ? 0 : 1)
