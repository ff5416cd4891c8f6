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

    struct Traffic: Decodable, Equatable {
      let ms: Int64
      let kind: UInt8
      let peers: [String]
      var number: UInt64?
      var size: UInt64?
      var text: String?
      var bytes: String?
    }

    let board: String
    let name: String
    let steps: [Step]
    let keyframes: [Keyframe]
    var names: [String: String]?
    var end: Int64?
    var traffic: [Traffic]?
  }

  private static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Protocol/Vectors")

  @Test(
    "[REC-5] [REC-6] [REC-11] the samples decode as described",
    arguments: ["recording", "recording-packed", "recording-traffic"]
  ) func sample(name: String) async throws {
    let json = try Data(contentsOf: Self.vectors.appendingPathComponent("recording.json"))
    try await check(try JSONDecoder().decode(Sample.self, from: json), name)
  }

  @Test("[REC-6] [REC-7] [REC-11] samples with gaps, answers, purges and many authors decode, too") func moreSamples()
    async throws
  {
    let json = try Data(contentsOf: Self.vectors.appendingPathComponent("recording-more.json"))
    let samples = try JSONDecoder().decode([String: Sample].self, from: json)
    #expect(samples.count == 3)
    for (name, expected) in samples { try await check(expected, name) }
  }

  private func check(_ expected: Sample, _ name: String) async throws {
    let file = Self.vectors.appendingPathComponent("\(name).whiteboard")
    let recording = try await Recording.open(file.path)
    #expect(recording.board.description == expected.board)
    #expect(recording.history.name == expected.name)
    var (log, playback) = (RecordingLog(recording), Playback(recording))
    var steps: [Sample.Step] = []
    while let line = log.next() {
      playback.step()
      steps.append(Sample.Step(ms: line.elapsed, kind: line.kind, bytes: line.bytes, digest: playback.board.digest.hex))
    }
    #expect(steps == expected.steps)
    let keyframes = recording.history.checks.map {
      Sample.Keyframe(after: $0.place, digest: Hexadecimal.encode($0.digest), name: $0.name)
    }
    #expect(keyframes == expected.keyframes)
    #expect(await Verification(of: recording, seed: 1).isGood)
  }

  @Test("[REC-6] [REC-12] [REC-13] [REC-14] names, the end and traffic decode as described") func traffic() async throws
  {
    let json = try Data(contentsOf: Self.vectors.appendingPathComponent("recording.json"))
    let expected = try JSONDecoder().decode(Sample.self, from: json)
    let file = Self.vectors.appendingPathComponent("recording-traffic.whiteboard")
    let recording = try await Recording.open(file.path)
    let start = try #require(recording.start)
    #expect(recording.history.names == expected.names)
    let end = try #require(expected.end)
    #expect(recording.history.end == start + end && recording.duration == end)
    let traffic = try #require(expected.traffic)
    #expect(recording.history.traffic.count == traffic.count)
    for (entry, sample) in zip(recording.history.traffic, traffic) {
      #expect(entry.time - start == sample.ms && entry.kind.rawValue == sample.kind)
      #expect(entry.peers.map { Hexadecimal.encode($0) } == sample.peers)
      #expect(entry.number == sample.number ?? 0 && entry.size == sample.size ?? 0)
      #expect(entry.text == sample.text ?? "")
      #expect(Hexadecimal.encode(entry.bytes) == sample.bytes ?? "")
    }
    // A pointer is visible from the second datagram on, for 10 s (SYN-30).
    #expect(recording.presence.shown(at: 39).map(\.presence.cursor) == [nil])
    let pointing = recording.presence.shown(at: 40)
    #expect(pointing.count == 1 && pointing[0].presence.cursor != nil)
    #expect(recording.name(of: pointing[0].member) == "Bén")
    #expect(recording.presence.shown(at: 10_041).isEmpty)
    // The text form of the recording gives the same recording again.
    var lines: [String] = []
    try RecordingLines.write(recording, photos: [:]) { lines.append($0) }
    let twin = try RecordingLines.read(lines).recording
    #expect(twin.history.traffic == recording.history.traffic)
    #expect(twin.history.names == expected.names && twin.duration == recording.duration)
  }
}
