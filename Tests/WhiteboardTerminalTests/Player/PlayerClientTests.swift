import SessionReplay
import Testing
import Whiteboard
import WhiteboardDocument
import WhiteboardRendering
import WhiteboardSync

@testable import WhiteboardTerminal

@Suite struct PlayerClientTests {
  /// Five words, one a second, the last after ten more.
  private func recording() throws -> Recording {
    let member = try #require(MemberID([UInt8](repeating: 3, count: 32)))
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
    for key in keys { _ = client.take(.key(.character(key), [])) }
  }

  @Test("words come at their times, as fast as is wanted, and it stops at the end")
  func plays() throws {
    var client = try player()
    #expect(words(&client).isEmpty && client.place == 0)
    client.advance(by: .milliseconds(1_500))
    #expect(words(&client) == ["one", "two"])
    press(&client, "+")
    client.advance(by: .milliseconds(1_000))
    #expect(words(&client) == ["one", "two", "three", "four"])
    press(&client, " ")
    client.advance(by: .seconds(60))
    #expect(client.place == 4 && !client.isPlaying)
    press(&client, " ")
    client.advance(by: .seconds(60))
    #expect(client.place == 5 && !client.isPlaying)
    // From the end it begins anew.
    press(&client, " ")
    #expect(client.isPlaying && client.place == 0)
  }

  @Test("one goes to a time, a tenth, a marker, a step, and back")
  func seeks() throws {
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
    _ = client.take(.key(.end, []))
    #expect(client.place == 5)
    _ = client.take(.mouse(MouseEvent(.press(.left), x: 0, y: 18)))
    #expect(client.place == 0)
    _ = client.take(.mouse(MouseEvent(.press(.left), x: 99, y: 18)))
    #expect(client.place == 5)
  }

  @Test("pauses are passed over where that is wanted, and a range is repeated")
  func pausesAndLoops() throws {
    var client = try player()
    press(&client, "i")
    client.advance(by: .milliseconds(3_100))
    client.advance(by: .milliseconds(400))
    #expect(client.place == 5)
    client = try player()
    client.advance(by: .milliseconds(1_000))
    press(&client, "[")
    client.advance(by: .milliseconds(1_000))
    press(&client, "]")
    client.advance(by: .milliseconds(500))
    #expect(client.place == 2)
    press(&client, "\\")
    client.advance(by: .milliseconds(2_000))
    #expect(client.place == 4)
  }

  @Test("whatever is pressed at whatever size, there is a frame of that size", arguments: 0..<20)
  func survives(seed: UInt64) throws {
    var client = try player()
    var random = SplitMix64(seed: seed)
    let keys = Array(" +-.,nNi[]\\pfzhjkl0123456789x")
    for _ in 0..<200 {
      let (columns, rows) = (Int(random.next() % 120), Int(random.next() % 40))
      switch random.next() % 5 {
      case 0: client.resize(columns: columns, rows: rows)
      case 1: client.advance(by: .milliseconds(Int64(random.next() % 5_000)))
      case 2: _ = client.take(.mouse(MouseEvent(.press(.left), x: columns, y: rows)))
      default: press(&client, String(keys[Int(random.next() % UInt64(keys.count))]))
      }
      let screen = client.frame()
      #expect(screen.width >= 1 && screen.height >= 1, "seed \(seed)")
    }
  }

  @Test("a film is lines of JSON whose times ascend, the same every time")
  func film() throws {
    func film() throws -> [String] {
      var lines: [String] = []
      try Asciicast().write(recording()) { lines.append($0) }
      return lines
    }
    let lines = try film()
    #expect(lines.first?.hasPrefix(#"{"version":2,"width":100,"height":30,"#) ?? false)
    #expect(lines.count > 5)
    let times = lines.dropFirst().compactMap { line in
      Double(line.dropFirst().prefix { $0 != "," })
    }
    #expect(times.count == lines.count - 1 && times == times.sorted())
    #expect(try film() == lines)
  }
}
