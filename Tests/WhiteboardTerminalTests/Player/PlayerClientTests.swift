import PeerCore
import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

@testable import WhiteboardTerminal

@Suite struct PlayerClientTests {
  /// Returns a recording of five texts, one per second, except that the last text comes 10 s later.
  private func recording() throws -> Recording {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 3, count: 32)))
    let board = Board(incarnation: Incarnation(3), member: member, wallClock: 1_000)
    var steps: [DocumentHistory.Step] = []
    for (index, word) in ["one", "two", "three", "four", "five"].enumerated() {
      _ = try board.createText(word, at: Point(x: Double(index) * 200, y: 0))
      let time = Int64(index) * 1_000 + (index == 4 ? 10_000 : 0)
      for batch in board.takeBatches() {
        let bytes = EncodedBatch(batch).bytes
        steps.append(DocumentHistory.Step(.batch(bytes), time: 5_000 + time, row: Int64(index + 1)))
      }
    }
    return try Recording(
      DocumentHistory(
        board: Array(1...16),
        name: "x",
        steps: steps,
        marks: [DocumentHistory.Mark(name: "tea", time: 7_500, until: 7_500, place: 3)]
      )
    )
  }

  private func player() throws -> PlayerClient {
    PlayerClient(try recording(), columns: 100, rows: 20, dotStyle: .braille)
  }

  private func words(_ client: inout PlayerClient) -> Set<String> {
    let text = client.frame().lines.dropLast(2).joined(separator: " ")
    return Set(text.split(separator: " ").map(String.init))
  }

  private func press(_ client: inout PlayerClient, _ keys: String) {
    for key in keys { _ = client.handleInput(.key(.character(key), [])) }
  }

  @Test("texts appear at their times, at the chosen speed, and playback stops at the end") func plays() throws {
    var client = try player()
    #expect(words(&client).isEmpty && client.stepIndex == 0)
    client.advance(by: .milliseconds(1_500))
    #expect(words(&client) == ["one", "two"])
    press(&client, "+")
    client.advance(by: .milliseconds(1_000))
    #expect(words(&client) == ["one", "two", "three", "four"])
    press(&client, " ")
    client.advance(by: .seconds(60))
    #expect(client.stepIndex == 4 && !client.isPlaying)
    press(&client, " ")
    client.advance(by: .seconds(60))
    #expect(client.stepIndex == 5 && !client.isPlaying)
    // At the end, the key starts from the beginning.
    press(&client, " ")
    #expect(client.isPlaying && client.stepIndex == 0)
  }

  @Test("keys seek to a time, a tenth, a marker, a step, and back") func seeks() throws {
    var client = try player()
    press(&client, "n")
    #expect(words(&client) == ["one", "two", "three"])
    press(&client, "5")
    #expect(words(&client) == ["one", "two", "three", "four"])
    press(&client, "0")
    #expect(words(&client).isEmpty)
    press(&client, "..")
    #expect(words(&client) == ["one", "two"] && !client.isPlaying)
    press(&client, ",")
    #expect(words(&client) == ["one"])
    _ = client.handleInput(.key(.end, []))
    #expect(client.stepIndex == 5)
    _ = client.handleInput(.mouse(MouseEvent(.press(.left), x: 0, y: 18)))
    #expect(client.stepIndex == 0)
    _ = client.handleInput(.mouse(MouseEvent(.press(.left), x: 99, y: 18)))
    #expect(client.stepIndex == 5)
  }

  @Test("[REC-14] pointers have names, unfinished ink is visible, and chat lines are visible for some time")
  func presence() throws {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 3, count: 32)))
    let board = Board(incarnation: Incarnation(3), member: member, wallClock: 1_000)
    var steps: [DocumentHistory.Step] = []
    func record(at time: Int64) {
      for batch in board.takeBatches() {
        steps.append(.init(.batch(EncodedBatch(batch).bytes), time: 10_000 + time, row: 1))
      }
    }
    // The objects at the end of the recording are in view.
    _ = try board.createText("corner", at: Point(x: -400, y: -150))
    _ = try board.createText("other", at: Point(x: 400, y: 150))
    record(at: 0)
    let stroke = try board.beginDrawing()
    try board.appendInk([InkPoint(Point(x: 0, y: 0)), InkPoint(Point(x: 20, y: 0))], to: stroke, first: 0)
    record(at: 1_000)
    _ = try board.say("good morning", as: "Ada")
    record(at: 3_000)
    try board.endDrawing(stroke, count: 2)
    record(at: 9_000)
    func datagram(_ time: Int64, _ datagram: SyncDatagram) -> TrafficEntry {
      TrafficEntry(.datagram, [member.bytes], time: 10_000 + time, bytes: datagram.encode())
    }
    let preview = try (2..<12).map { try InkPoint(Point(x: Double($0) * 20, y: 0)) }
    let traffic = try [
      TrafficEntry(.joined, [member.bytes], time: 10_000, text: "Ada\u{1B}[31m"),
      datagram(500, .presence(counter: 2, Presence(cursor: Point(x: 100, y: 60)))),
      // A datagram that arrived after a newer datagram.
      datagram(600, .presence(counter: 1, Presence(cursor: Point(x: -100, y: 60)))),
      datagram(1_500, .preview(stroke: stroke, first: 2, points: preview)),
      TrafficEntry(.left, [member.bytes], time: 12_000, text: "left"),
    ]
    let recording = try Recording(DocumentHistory(board: Array(1...16), name: "x", steps: steps, traffic: traffic))
    var client = PlayerClient(recording, columns: 100, rows: 20, dotStyle: .braille)
    func screen() -> String { client.frame().lines.joined(separator: "\n") }
    func ink() -> Int { screen().unicodeScalars.count { (0x2801...0x28FF).contains($0.value) } }
    #expect(!screen().contains("▲"))
    client.advance(by: .milliseconds(700))
    #expect(screen().contains("▲") && screen().contains("Ada") && !screen().contains("\u{1B}"))
    client.advance(by: .milliseconds(600))
    let committed = ink()
    #expect(committed > 0)
    client.advance(by: .milliseconds(300))
    #expect(ink() > committed + 5, "the preview is visible")
    client.advance(by: .milliseconds(500))
    #expect(!screen().contains("▲"), "a member that left has no pointer")
    #expect(!screen().contains("good morning"))
    client.advance(by: .milliseconds(1_000))
    #expect(screen().contains("good morning"))
    client.advance(by: .milliseconds(5_500))
    #expect(!screen().contains("good morning"))
    client.advance(by: .milliseconds(2_000))
    #expect(ink() == committed, "a finished stroke has no preview")
    // Seek back, and forward again.
    client.seek(to: 700)
    #expect(screen().contains("▲"))
    press(&client, "?")
    #expect(screen().contains("Escape"))
    let isLeaving = client.handleInput(.key(.escape, []))
    #expect(!isLeaving && !screen().contains("Escape"))
    let hasLeft = client.handleInput(.key(.escape, []))
    #expect(hasLeft)
  }

  @Test("photos are shown if the file has them") func photos() throws {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 3, count: 32)))
    let board = Board(incarnation: Incarnation(3), member: member, wallClock: 1_000)
    let id = try #require(AssetID([UInt8](repeating: 9, count: 32)))
    let header = try PhotoHeader(format: .png, width: 40, height: 20)
    let asset = try AssetReference(id: id, byteCount: 100, header: header)
    _ = try board.createPhoto(asset, at: Point(x: 0, y: 0))
    let steps = board.takeBatches().map { DocumentHistory.Step(.batch(EncodedBatch($0).bytes), time: 1, row: 1) }
    let recording = try Recording(DocumentHistory(board: Array(1...16), name: "x", steps: steps))
    func last(_ photos: [AssetID: PhotoPixels]) -> Screen {
      var client = PlayerClient(recording, photos: photos, columns: 60, rows: 20, dotStyle: .braille)
      _ = client.handleInput(.key(.end, []))
      return client.frame()
    }
    #expect(last([:]).lines.joined().contains("photo"))
    let red = PhotoPixels(width: 2, height: 1, pixels: [0xFF0000, 0xFF0000])
    #expect(!last([id: red]).lines.joined().contains("photo"))
  }

  @Test("a time without any pointer counts as a pause, also after the last step") func pausesOfPointers() throws {
    let member = try #require(MemberID(bytes: [UInt8](repeating: 3, count: 32)))
    let day: Int64 = 86_400_000
    func traffic(_ time: Int64, _ counter: UInt64, x: Double) throws -> TrafficEntry {
      let presence = try Presence(cursor: Point(x: x, y: 0))
      let bytes = SyncDatagram.presence(counter: counter, presence).encode()
      return TrafficEntry(.datagram, [member.bytes], time: 5_000 + time, bytes: bytes)
    }
    // The pointer moves at the beginning and again after weeks. In between, presence repeats the same position.
    var sent = [TrafficEntry(.joined, [member.bytes], time: 5_000, text: "Ada")]
    sent.append(try traffic(100, 1, x: 0))
    for beat in 1...100 { sent.append(try traffic(20 * day + Int64(beat) * 9_000, UInt64(beat + 1), x: 50)) }
    sent.append(try traffic(40 * day, 200, x: 100))
    let steps = try recording().history.steps
    let recording = try Recording(DocumentHistory(board: Array(1...16), name: "x", steps: steps, traffic: sent))
    #expect(recording.duration == 40 * day)
    var client = PlayerClient(recording, columns: 100, rows: 20, dotStyle: .braille)
    press(&client, "i")
    var (frames, pointed) = (0, 0)
    while client.isPlaying, frames < 1_000 {
      if client.frame().lines.joined().contains("▲") { pointed += 1 }
      client.advance(by: .milliseconds(100))
      frames += 1
    }
    #expect(client.position == Double(recording.duration))
    #expect((40..<100).contains(frames) && (20..<60).contains(pointed), "\(frames) \(pointed)")
  }

  @Test("pauses are skipped on request, and a range can be repeated") func pausesAndLoops() throws {
    var client = try player()
    press(&client, "i")
    client.advance(by: .milliseconds(3_100))
    client.advance(by: .milliseconds(400))
    #expect(client.stepIndex == 5)
    client = try player()
    client.advance(by: .milliseconds(1_000))
    press(&client, "[")
    client.advance(by: .milliseconds(1_000))
    press(&client, "]")
    client.advance(by: .milliseconds(500))
    #expect(client.stepIndex == 2)
    press(&client, "\\")
    client.advance(by: .milliseconds(2_000))
    #expect(client.stepIndex == 4)
  }

  @Test("every key at every size gives a frame of that size", arguments: 0..<20) func randomInput(seed: UInt64) throws {
    var client = try player()
    var random = SplitMix64(seed: seed)
    let keys = Array(" +-.,nNi[]\\pfzhjkl0123456789x")
    for _ in 0..<200 {
      let (columns, rows) = (Int(random.next() % 120), Int(random.next() % 40))
      switch random.next() % 5 {
      case 0: client.resize(columns: columns, rows: rows)
      case 1: client.advance(by: .milliseconds(Int64(random.next() % 5_000)))
      case 2: _ = client.handleInput(.mouse(MouseEvent(.press(.left), x: columns, y: rows)))
      default: press(&client, String(keys[Int(random.next() % UInt64(keys.count))]))
      }
      let screen = client.frame()
      #expect(screen.width >= 1 && screen.height >= 1, "seed \(seed)")
    }
  }

  @Test("a film is lines of JSON with ascending times, the same every time") func film() throws {
    func film() throws -> [String] {
      var lines: [String] = []
      try Asciicast().write(recording()) { lines.append($0) }
      return lines
    }
    let lines = try film()
    #expect(lines.first?.hasPrefix(#"{"version":2,"width":100,"height":30,"#) ?? false)
    #expect(lines.count > 5)
    let times = lines.dropFirst().compactMap { line in Double(line.dropFirst().prefix { $0 != "," }) }
    #expect(times.count == lines.count - 1 && times == times.sorted())
    #expect(try film() == lines)
  }
}
