import Foundation
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Recordings that peers replay over a simulated network.
struct RecordingReplayTests {
  private func replay(seed: UInt64, crashes: Int = 0) async throws -> RecordingReplay {
    let world = try await RecordedWorld(seed: seed, crashes: crashes)
    return RecordingReplay(of: try await Recording.open(world.path))
  }

  private static let weather = "loss=10%,delay=20ms±10,reorder=10%,duplicate=5%,partition=A|B+C@1s..4s,kill=B@5s..8s"

  @Test("[REC-10] replayed peers converge to the recorded board under all kinds of network faults", arguments: 0..<8)
  func converges(seed: UInt64) async throws {
    let acted = try await replay(seed: seed, crashes: seed < 4 ? 0 : 4)
    #expect(acted.count > 0)
    for net in ["", "delay=300ms±300", "loss=50%,delay=5ms", Self.weather] {
      let conditions = try NetworkConditions(net)
      for part in acted.parts.indices {
        let outcome = SimulatedSession(acted, part: part, peers: 4, conditions: conditions, seed: seed).run()
        #expect(outcome.faults == [], "seed \(seed), \(net), part \(part)")
        #expect(outcome.digests.count >= 4)
      }
    }
  }

  @Test("the same seed gives the same session, byte for byte; another seed gives another") func repeats() async throws {
    let acted = try await replay(seed: 3)
    let conditions = try NetworkConditions(Self.weather)
    func trace(_ seed: UInt64) -> (lines: [String], hash: [UInt8]) {
      var lines: [String] = []
      let session = SimulatedSession(acted, peers: 5, conditions: conditions, seed: seed) { lines.append($0) }
      let hash = session.run().trace
      return (lines, hash)
    }
    let (first, second, other) = (trace(7), trace(7), trace(8))
    #expect(first.lines == second.lines && first.hash == second.hash)
    #expect(first.lines != other.lines && first.hash != other.hash)
    #expect(first.lines.count > 100)
  }

  @Test("a pause of weeks, or an impossible time, counts as a minute") func pauses() async throws {
    let world = try await RecordedWorld(seed: 5)
    let history = try await Recording.open(world.path).history
    for (first, second) in [(Int64(0), Int64(90 * 86_400_000)), (0, .max), (.min, .max), (.max, 0)] {
      let half = history.steps.count / 2
      let steps = history.steps.enumerated().map { number, step in
        DocumentHistory.Step(step.content, time: number < half ? first : second, row: 1)
      }
      let acted = RecordingReplay(
        of: try Recording(DocumentHistory(board: history.board, name: "x", steps: steps, authors: history.authors))
      )
      #expect(acted.parts.allSatisfy { $0.acts.allSatisfy { $0.time <= RecordingReplay.longestPause } })
      for part in acted.parts.indices {
        let outcome = SimulatedSession(acted, part: part, seed: 1).run()
        #expect(outcome.faults == [] && outcome.duration < 100_000)
      }
    }
  }

  @Test("a replay gives a recording, and replaying that gives the same") func recorded() async throws {
    let world = try await RecordedWorld(seed: 5)
    let recording = try await Recording.open(world.path)
    let acted = RecordingReplay(of: recording)
    #expect(acted.parts.last?.digest == world.digest)
    let again = RecordingReplay(of: try acted.recording(name: "again"))
    #expect(again.parts.map(\.digest) == acted.parts.map(\.digest))
    #expect(again.people.map(\.member) == acted.people.map(\.member))
    #expect(again.count == acted.count)
  }

  @Test("a failure is reduced to the edits it needs, and the result is a recording that still fails") func shrinks()
    async throws
  {
    // Finds a long part in which one person wrote several batches, and treats one of these batches as the cause of a
    // failure.
    var found: (RecordingReplay, part: Int, culprit: RecordingReplay.Act)?
    for seed in UInt64(2)..<40 where found == nil {
      let acted = try await replay(seed: seed)
      for part in acted.parts.indices where acted.parts[part].acts.count > 20 {
        for person in acted.people.indices.dropFirst() where found == nil {
          let acts = acted.parts[part].acts.filter { $0.person == person }
          if acts.count > 2 { found = (acted, part, acts[2]) }
        }
      }
    }
    let (acted, part, culprit) = try #require(found)
    let whole = acted.parts[part].acts.count
    func fails(_ candidate: RecordingReplay) -> Bool {
      candidate.parts[0].acts.contains(culprit) && SimulatedSession(candidate, seed: 1).run().isGood
    }
    let (smallest, attempts) = try #require(acted.shrunk(part: part, fails))
    #expect(smallest.count == 3 && whole > 20, "\(smallest.count) of \(whole)")
    #expect(attempts < 1000)
    let kept = RecordingReplay(of: try smallest.recording(name: "least"))
    #expect(kept.count == 3)
  }

  @Test("a replay with one author ends well; a failure without any edit cannot be reduced") func aloneAndNever()
    async throws
  {
    let world = try await RecordedWorld(seed: 5)
    let acted = RecordingReplay(of: try await Recording.open(world.path))
    #expect(acted.shrunk(part: 0) { _ in true } == nil)
    let sample = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Protocol/Vectors/recording.whiteboard")
    let alone = RecordingReplay(of: try await Recording.open(sample.path))
    #expect(alone.people.count == 1)
    for part in alone.parts.indices { #expect(SimulatedSession(alone, part: part, seed: 1).run().isGood) }
  }

  @Test("network conditions are parsed, and malformed ones are reported") func conditions() throws {
    let weather = try NetworkConditions(
      "loss=5%,delay=20ms±10,reorder=1%,duplicate=2%,partition=A|B@10s..25s,partition=A+C|B@1s..2.5s,kill=B@30s,kill=A@1s..2s"
    )
    #expect(weather.loss == 5 && weather.delay == 20 && weather.jitter == 10)
    #expect(weather.reorder == 1 && weather.duplicates == 2)
    #expect(weather.partitions.map(\.groups) == [[["A"], ["B"]], [["A", "C"], ["B"]]])
    #expect(weather.partitions.map(\.time) == [10_000..<25_000, 1000..<2500])
    #expect(weather.kills.map(\.time) == [30_000..<32_000, 1000..<2000])
    #expect(try NetworkConditions("delay=1s+-100").delay == 1000)
    #expect(try NetworkConditions("") == NetworkConditions())
    #expect(weather.stranger(among: ["A", "B"]) == "C")
    for words in [
      "loss", "loss=5", "loss=99%", "loss=x%", "delay=", "delay=5ms±9", "rain=1%", "kill=B", "kill=@3s",
      "partition=A@1s..2s", "partition=A|B@1s", "partition=A|B@3s..2s", "delay=-1ms", "delay=3s", "delay=1.5s+-600",
      "kill=A@1s..4s,kill=A@2s..3s", "loss=nan%", "delay=1e400",
    ] { #expect(throws: NetworkConditions.ParseError.self) { try NetworkConditions(words) } }
  }
}
