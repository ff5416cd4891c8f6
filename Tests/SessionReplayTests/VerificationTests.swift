import Foundation
import PeerTestKit
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

@Suite struct VerificationTests {
  @Test("[REC-8] new replicas come to the same board in every order", arguments: 0..<repetitions(3, optimized: 6))
  func converges(seed: UInt64)
    async throws
  {
    let world = try await RecordedWorld(seed: seed, crashes: 4)
    let recording = try await Recording.open(world.path)
    let found = await Verification(of: recording, replicas: 8, seed: seed)
    #expect(found.isGood, "seed \(seed): \(found)")
    #expect(found.digest == world.digest)
    #expect(found.checks == recording.history.checks.count && found.operations > 0)
  }

  @Test("[REC-7] a wrong digest is reported with its position") func mismatch() async throws {
    let world = try await RecordedWorld(seed: 1)
    let recording = try await Recording.open(world.path)
    let history = recording.history
    var checks = history.checks
    checks[0] = DocumentHistory.Check(
      place: checks[0].place,
      time: checks[0].time,
      digest: [UInt8](repeating: 7, count: 32)
    )
    let wrong = try Recording(
      DocumentHistory(
        board: history.board,
        name: history.name,
        steps: history.steps,
        checks: checks,
        authors: history.authors
      )
    )
    let found = await Verification(of: wrong, replicas: 4, seed: 1)
    #expect(!found.isGood && found.divergences.isEmpty)
    #expect(found.mismatches.map(\.place) == [checks[0].place])
  }

  @Test("[REC-7] a missing change is reported at the next digest") func missing() async throws {
    let world = try await RecordedWorld(seed: 4)
    let recording = try await Recording.open(world.path)
    let history = recording.history
    let place = try #require(history.checks.first?.place) - 1
    var steps = history.steps
    steps.remove(at: place)
    let checks = history.checks.map {
      DocumentHistory.Check(place: $0.place > place ? $0.place - 1 : $0.place, time: $0.time, digest: $0.digest)
    }
    let short = try Recording(
      DocumentHistory(board: history.board, name: history.name, steps: steps, checks: checks, authors: history.authors)
    )
    #expect(await !Verification(of: short, replicas: 0, seed: 1).isGood)
  }

  @Test(
    "[REC-9] flipped bits are reported or harmless, and the rest is played",
    arguments: 0..<repetitions(1, optimized: 4)
  ) func flips(part: Int)
    async throws
  {
    let world = try await RecordedWorld(seed: 3, steps: 80)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: world.path))
    var random = SeededGenerator(seed: UInt64(part))
    var tally = Tally()
    for number in 0..<250 {
      var damaged = bytes
      damaged[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      await look(at: damaged, world, "part \(part), flip \(number)", &tally)
    }
    // Some flipped bits must be harmful and some harmless.
    #expect(tally.told > 0 && tally.played > 0, "\(tally)")
  }

  @Test("[REC-9] a file cut anywhere is reported, and the rest is played", arguments: 0..<repetitions(1, optimized: 4))
  func cuts(part: Int)
    async throws
  {
    let world = try await RecordedWorld(seed: 4, steps: 80)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: world.path))
    var random = SeededGenerator(seed: UInt64(100 + part))
    var tally = Tally()
    for number in 0..<250 {
      let cut = bytes.prefix(Int.random(in: 0..<bytes.count, using: &random))
      await look(at: cut, world, "part \(part), cut \(number)", &tally)
    }
    #expect(tally.told > 60 && tally.salvaged > 1000, "\(tally)")
  }

  private struct Tally {
    /// The number of files that could not be opened, with an error.
    var refused = 0
    /// The number of files that were played with a report of the damage.
    var told = 0
    /// The number of files that were played to the correct board.
    var played = 0
    /// The number of steps that were recovered from files whose damage was reported.
    var salvaged = 0
  }

  /// Checks that a damaged file is refused, or its damage is reported, or the result is correct.
  private func look(at bytes: Data, _ world: RecordedWorld, _ what: String, _ tally: inout Tally) async {
    let path = world.directory.file("damaged.whiteboard")
    try? FileManager.default.removeItem(atPath: path)
    do { try bytes.write(to: URL(fileURLWithPath: path)) } catch {
      Issue.record(error)
      return
    }
    do throws(DocumentError) {
      let recording = try await Recording.openOrSalvage(path)
      let document = try? await BoardDocument.open(at: path, mode: .reading)
      let damages = (try? await document?.verify()) ?? []
      let found = await Verification(of: recording, damages: damages, replicas: 2, seed: 1)
      if found.isGood {
        #expect(found.digest == world.digest, "\(what): silently another board")
        tally.played += 1
      } else {
        tally.told += 1
        tally.salvaged += recording.count
      }
    } catch { tally.refused += 1 }
  }
}
