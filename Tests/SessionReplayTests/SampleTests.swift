import Foundation
import SessionReplay
import Testing
import Whiteboard

/// The sample of `Protocol/recording.md`.
@Suite struct SampleTests {
  private struct Sample: Decodable {
    struct Step: Decodable, Equatable {
      let ms: Int64
      let kind: String
      let bytes: Int
      let digest: String
    }

    struct Keyframe: Decodable, Equatable {
      let after: Int
      let digest: String
      let name: String?
    }

    let board: String
    let name: String
    let steps: [Step]
    let keyframes: [Keyframe]
  }

  private static let vectors = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("Protocol/Vectors")

  @Test(
    "[REC-5] [REC-6] [REC-11] the samples are read as they are described",
    arguments: ["recording", "recording-packed"]
  )
  func sample(name: String) async throws {
    let json = try Data(contentsOf: Self.vectors.appendingPathComponent("recording.json"))
    let expected = try JSONDecoder().decode(Sample.self, from: json)
    let file = Self.vectors.appendingPathComponent("\(name).whiteboard")
    let recording = try await Recording.open(file.path)
    #expect(recording.board.description == expected.board)
    #expect(recording.history.name == expected.name)
    var (log, playback) = (RecordingLog(recording), Playback(recording))
    var steps: [Sample.Step] = []
    while let line = log.next() {
      playback.step()
      steps.append(
        Sample.Step(
          ms: line.elapsed,
          kind: line.kind,
          bytes: line.bytes,
          digest: playback.board.digest.hex
        )
      )
    }
    #expect(steps == expected.steps)
    let keyframes = recording.history.checks.map {
      Sample.Keyframe(after: $0.place, digest: Hexadecimal.encode($0.digest), name: $0.name)
    }
    #expect(keyframes == expected.keyframes)
    #expect(await Verification(of: recording, seed: 1).isGood)
  }
}
