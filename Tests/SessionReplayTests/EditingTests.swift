import Foundation
import PeerCore
import PeerTestKit
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardSync

/// Recordings that are made from other recordings, and their text form.
struct EditingTests {
  private func digest(_ recording: Recording) -> Bytes32 {
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    #expect(playback.faults.isEmpty)
    return playback.board.digest
  }

  /// Writes a recording to a file and reads it again, which verifies its digests.
  private func kept(_ recording: Recording, in directory: TemporaryDirectory) async throws -> Recording {
    let path = directory.file("\(UUID().uuidString).whiteboard")
    try await recording.write(to: path)
    let read = try await Recording.open(path)
    let found = await Verification(of: read, replicas: 4, seed: 1)
    #expect(found.isGood, "\(found.mismatches) \(found.divergences) \(found.damages)")
    #expect(found.checks > 0)
    return read
  }

  @Test(
    "a cut part begins with the board of that time, and is a valid recording",
    arguments: 0..<repetitions(2, optimized: 6)
  ) func cut(seed: Int)
    async throws
  {
    let world = try await RecordedWorld(seed: UInt64(seed), crashes: seed % 2 == 0 ? 0 : 4)
    let recording = try await Recording.open(world.path)
    let (first, last) = (recording.duration / 3, recording.duration * 2 / 3)
    let part = try await kept(recording.cut(first...last), in: world.directory)
    var playback = Playback(recording, spacing: .max)
    playback.seek(toTime: last)
    #expect(digest(part) == playback.board.digest)
    // The part has the requested duration, even without events at its ends.
    #expect(part.duration == last - first && part.count < recording.count)
    #expect(part.markers.map(\.name) == ["middle"])
    // A part from the beginning needs no keyframe.
    let beginning = try recording.cut(0...first)
    #expect(beginning.history.steps == Array(recording.history.steps.prefix(beginning.count)))
  }

  @Test(
    "concatenated parts, or recordings of one board merged with each other, give the whole",
    arguments: 0..<repetitions(2, optimized: 6)
  )
  func concatenated(seed: Int) async throws {
    let world = try await RecordedWorld(seed: UInt64(seed), crashes: seed % 2 == 0 ? 0 : 4)
    let recording = try await Recording.open(world.path)
    let middle = recording.duration / 2
    let parts = [try recording.cut(0...middle), try recording.cut(middle...recording.duration)]
    let whole = try await kept(Recording.concatenated(parts), in: world.directory)
    #expect(digest(whole) == world.digest)
    // The order of the arguments does not matter.
    let backwards = try Recording.concatenated(parts.reversed())
    #expect(backwards.history.steps == (try Recording.concatenated(parts)).history.steps)
    let twice = try Recording.concatenated([recording, recording])
    #expect(twice.count == recording.count)
    let stranger = try Recording(DocumentHistory(board: [UInt8](repeating: 9, count: 16), name: "x"))
    #expect(throws: DocumentError.self) { try Recording.concatenated([recording, stranger]) }
    #expect(throws: DocumentError.self) { try Recording.concatenated([]) }
  }

  @Test("a text form that is read again gives the same recording", arguments: 0..<repetitions(2, optimized: 6))
  func twin(seed: Int) async throws {
    let world = try await RecordedWorld(seed: UInt64(seed), crashes: seed % 2 == 0 ? 0 : 4)
    let recording = try await Recording.open(world.path)
    var lines: [String] = []
    try RecordingLines.write(recording, photos: [[1, 2]: [3]]) { lines.append($0) }
    #expect(lines.allSatisfy { $0.hasSuffix("\n") })
    let (read, photos) = try RecordingLines.read(lines)
    #expect(photos == [[1, 2]: [3]])
    #expect(read.history.steps.map(\.content) == recording.history.steps.map(\.content))
    #expect(read.times == recording.times)
    #expect(read.history.marks == recording.history.marks)
    #expect(read.history.checks == recording.history.checks)
    #expect(read.history.authors == recording.history.authors)
    #expect(digest(try await kept(read, in: world.directory)) == world.digest)
  }

  @Test("malformed lines are rejected with their line number") func badLines() throws {
    let head = #"{"recording":1,"board":"000102030405060708090a0b0c0d0e0f","name":"x"}"#
    for (lines, number) in [
      ([], 1), (["{}"], 1), (["[1]"], 1), ([#"{"recording":2,"board":"00"}"#], 1),
      ([#"{"recording":1,"board":"0"}"#], 1), ([head, "nonsense"], 2), ([head, "{}"], 2),
      ([head, "", #"{"step":"batch","time":1,"bytes":"zz"}"#], 3),
      ([head, #"{"step":"dance","time":1,"bytes":"00"}"#], 2), ([head, #"{"step":"batch"}"#], 2),
      ([head, #"{"mark":"m","time":-1}"#], 2), ([head, #"{"mark":"m","time":253402300800000}"#], 2),
      ([head, #"{"end":253402300800000}"#], 2), ([head, #"{"gap":253402300800000,"time":1}"#], 2),
      ([head, #"{"author":"x"}"#], 2), ([head, #"{"digest":"0","time":1}"#], 2),
    ] as [([String], Int)] {
      #expect { try RecordingLines.read(lines) } throws: { ($0 as? RecordingLines.ReadError)?.line == number }
    }
    #expect(try RecordingLines.read([head]).recording.count == 0)
  }

  @Test(
    "an anonymized recording hides authors, times and words, and keeps the drawing",
    arguments: 0..<repetitions(2, optimized: 6)
  )
  func anonymized(seed: Int) async throws {
    let world = try await RecordedWorld(seed: UInt64(seed), crashes: seed % 2 == 0 ? 0 : 4)
    let recording = try await Recording.open(world.path)
    let other = try await kept(recording.anonymized(seed: UInt64(seed), hidesWords: true), in: world.directory)
    #expect(other.board != recording.board)
    let (old, new) = (recording.members, other.members)
    #expect(Set(old.keys).isDisjoint(with: new.keys) && old.count == new.count)
    #expect(Set(old.values).isDisjoint(with: new.values))
    #expect(Set(old.values).count == Set(new.values).count)
    // Each anonymous author has as many operations as the original author.
    #expect(
      RecordingStatistics(of: recording).people.map(\.operations)
        == RecordingStatistics(of: other).people.map(\.operations)
    )
    #expect(Set(new.values).allSatisfy { other.name(of: $0)?.hasPrefix("person ") == true })
    #expect(try #require(other.start) < 950_000_000_000)
    #expect(other.duration == recording.duration && other.count == recording.count)
    #expect(other.markers.count == recording.history.marks.count { $0.name != nil })
    #expect(other.markers.allSatisfy { $0.name.hasPrefix("mark ") })
    #expect(other.history.traffic.isEmpty)
    let (before, after) = (end(recording).state, end(other).state)
    let (oldIDs, newIDs) = (before.records.map(\.0).sorted(), after.records.map(\.0).sorted())
    #expect(oldIDs.count == newIDs.count && Set(oldIDs).isDisjoint(with: newIDs))
    var isAnyWordThere = false
    // The objects are in the same order.
    for (oldID, newID) in zip(oldIDs, newIDs) {
      let (old, new) = (before.record(oldID), after.record(newID))
      #expect(old?.entries.count == new?.entries.count)
      for (was, entry) in zip(old?.entries ?? [], new?.entries ?? []) {
        #expect(was.property.number == entry.property.number)
        switch (entry.property, entry.cell.value) {
        case (.position, let value): #expect(value == was.cell.value)
        case (.chatText, .text(let text)), (.title, .text(let text)):
          isAnyWordThere = true
          #expect(text.allSatisfy { $0 == "x" || $0.isWhitespace })
        case (.chatName, .text(let name)): #expect(name.hasPrefix("person "))
        case (.chatAuthor, .bytes(let bytes)), (.selection, .bytes(let bytes)):
          #expect(!recording.members.values.contains { $0.bytes == bytes })
        default: break
        }
      }
    }
    #expect(isAnyWordThere)
    // The changed recording can be replayed like the original.
    let (acted, original) = (RecordingReplay(of: other), RecordingReplay(of: recording))
    #expect(acted.count == original.count && acted.people.count == original.people.count)
    for part in acted.parts.indices {
      let outcome = SimulatedSession(acted, part: part, seed: 1).run()
      #expect(outcome.isGood, "\(outcome.faults)")
    }
  }

  @Test("texts by several authors read the same after authors are anonymized", arguments: 0..<4) func anonymizedTexts(
    seed: Int
  ) async throws {
    let world = try await RecordedWorld(seed: UInt64(seed))
    let recording = try await Recording.open(world.path)
    let other = try recording.anonymized(seed: 7, hidesWords: false)
    func texts(_ recording: Recording) -> [String?] {
      let board = end(recording).shown()
      return board.objectIDs.map { board.snapshot($0)?.text }
    }
    #expect(texts(recording).count > 3 && texts(other) == texts(recording))
  }

  private func end(_ recording: Recording) -> RestoredBoard {
    var playback = Playback(recording, spacing: .max)
    playback.seek(toPlace: recording.count)
    #expect(playback.faults.isEmpty)
    return playback.board
  }

  @Test("a recording made from a damaged one reports that something is missing") func damagedPart() async throws {
    let world = try await RecordedWorld(seed: 3)
    let good = try await Recording.open(world.path).history
    let recording = try Recording(
      DocumentHistory(
        board: good.board,
        name: "",
        steps: good.steps,
        authors: good.authors,
        damages: [DocumentHistory.Damage(place: 5, words: "row 2 is damaged")]
      )
    )
    let part = try await kept(recording.cut(0...recording.duration), in: world.directory)
    #expect(part.history.marks.contains { $0.name == nil } && part.history.name == "board")
    // The part before the damage reports nothing missing.
    let before = try recording.cut(0...0)
    #expect(before.history.damages.isEmpty == (recording.place(at: 0) < 5))
  }

  @Test("impossible times neither crash nor make a session longer than a real one") func hostileTimes() async throws {
    let world = try await RecordedWorld(seed: 4)
    let good = try await Recording.open(world.path).history
    let extremes: [Int64] = [.min, .min + 1, -1, 0, 1 << 53, .max - 1, .max]
    for start in extremes {
      for end in extremes {
        let steps = good.steps.enumerated().map { place, step in
          DocumentHistory.Step(step.content, time: place == 0 ? start : place == 1 ? end : step.time, row: step.row)
        }
        let recording = try Recording(
          DocumentHistory(
            board: good.board,
            name: "x",
            steps: steps,
            traffic: [.missed(from: start, to: end), .missed(from: end, to: start)],
            end: end
          )
        )
        #expect((0...(1 << 46)).contains(recording.duration))
        #expect(try recording.moment("100%") == recording.duration)
        #expect(try recording.moment("999999:59:59") > 0)
        let part = try recording.cut(0...recording.duration / 2)
        #expect(part.duration >= 0)
        _ = try recording.anonymized(seed: 1, hidesWords: false)
        #expect(RecordingReplay(of: recording).start >= 0)
      }
    }
  }

  @Test("an existing file is not overwritten, and a write that fails leaves no file") func writing() async throws {
    let world = try await RecordedWorld(seed: 1)
    let recording = try await Recording.open(world.path)
    await #expect(throws: DocumentError.self) { try await recording.write(to: world.path) }
    #expect(try await Recording.open(world.path).count == recording.count)
    let path = world.directory.file("bad.whiteboard")
    // The bytes do not match the hash.
    await #expect(throws: DocumentError.self) { try await recording.write(to: path, assets: [[1]: [2]]) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}
