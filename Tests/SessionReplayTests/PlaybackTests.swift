import PeerCore
import PeerTestKit
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

@Suite struct PlaybackTests {
  @Test(
    "[REC-7] a recording plays back to the recorded board, with all its digests",
    arguments: 0..<repetitions(4, optimized: 12)
  ) func plays(
    seed: UInt64
  ) async throws {
    let world = try await RecordedWorld(seed: seed, crashes: 4)
    let recording = try await Recording.open(world.path)
    #expect(recording.history.damages.isEmpty)
    var playback = Playback(recording)
    for check in recording.history.checks {
      playback.seek(toPlace: check.place)
      #expect(playback.board.digest.bytes == check.digest, "seed \(seed)")
    }
    playback.seek(toPlace: recording.count)
    #expect(playback.board.digest == world.digest, "seed \(seed)")
    #expect(playback.faults.isEmpty)
  }

  @Test("[REC-6] after a seek to any position, the board is the one at that position", arguments: 0..<4) func seeks(
    seed: UInt64
  ) async throws {
    let world = try await RecordedWorld(seed: seed)
    let recording = try await Recording.open(world.path)
    var digests: [Bytes32] = []
    var operations: [Int] = []
    var forward = Playback(recording, spacing: .max)
    for place in 0...recording.count {
      forward.seek(toPlace: place)
      digests.append(forward.board.digest)
      operations.append(forward.operations)
    }
    // Use a small spacing of cached states.
    var playback = Playback(recording, spacing: 5)
    var random = SeededGenerator(seed: seed)
    for _ in 0..<200 {
      let place = Int.random(in: 0...recording.count, using: &random)
      playback.seek(toPlace: place)
      #expect(playback.place == place && playback.operations == operations[place])
      #expect(playback.board.digest == digests[place], "seed \(seed), place \(place)")
    }
    playback.seek(toPlace: recording.count)
    for _ in 0..<50 {
      let wanted = Int.random(in: 0...recording.count, using: &random)
      playback.seek(toPlace: wanted, .nearest)
      #expect(playback.board.digest == digests[playback.place], "seed \(seed)")
    }
  }

  @Test("times that go back take no time, and a time maps to its position") func times() throws {
    let times: [Int64] = [1000, 3000, 2000, 3500, .min, 9000]
    let steps = times.map { DocumentHistory.Step(.answer([]), time: $0, row: 1) }
    let marks = [DocumentHistory.Mark(name: "lunch", time: 3400, until: 3400, place: 3)]
    let recording = try Recording(DocumentHistory(board: Array(1...16), name: "x", steps: steps, marks: marks))
    #expect(recording.times == [0, 2000, 2000, 2500, 2500, 8000])
    #expect(recording.place(at: -1) == 0)
    #expect(recording.place(at: 0) == 1)
    #expect(recording.place(at: 2000) == 3)
    #expect(recording.place(at: 7999) == 5)
    #expect(recording.place(at: .max) == 6)
    #expect(try recording.moment("1.5") == 1500)
    #expect(try recording.moment("1:02.25") == 62_250)
    #expect(try recording.moment("1:00:00") == 3_600_000)
    #expect(try recording.moment("50%") == 4000)
    #expect(try recording.moment("@lunch") == 2400)
    for word in ["", "x", "-1", "1:60", "1:2:3:4", "101%", "%", "@tea", "1e99", "nan", "1:-2"] {
      #expect(throws: Recording.MomentError.self, "\(word)") { try recording.moment(word) }
    }
    #expect(Recording.text(62_250) == "1:02.2")
    #expect(Recording.text(3_600_000) == "1:00:00.0")
  }

  @Test("an empty recording is an empty board") func empty() async throws {
    let directory = try TemporaryDirectory()
    let document = try await BoardDocument.create(at: directory.file(), board: Array(1...16), name: "x", now: 0)
    try await document.close()
    let recording = try await Recording.open(directory.file())
    var playback = Playback(recording)
    playback.seek(toTime: 5)
    playback.step()
    #expect(playback.place == 0 && playback.board.state.objectCount == 0)
    #expect(recording.duration == 0 && recording.start == nil)
    #expect(await Verification(of: recording, seed: 1).isGood)
  }
}
