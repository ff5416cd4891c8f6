import PeerTestKit
import Testing

@testable import WhiteboardTerminal

@Suite("Reading terminal input") struct InputParserTests {
  private static let table: [(String, [InputEvent])] = [
    ("a", [.key(.character("a"), [])]),
    ("é漢👍", [.key(.character("é"), []), .key(.character("漢"), []), .key(.character("👍"), [])]),
    ("\r\t\u{7F}\u{8}", [.key(.enter, []), .key(.tab, []), .key(.backspace, []), .key(.backspace, [])]),
    (
      "\u{3}\u{1A}\u{0}",
      [.key(.character("c"), .control), .key(.character("z"), .control), .key(.character(" "), .control)]
    ), ("^[A^OB^[1;5C^[D", [.key(.up, []), .key(.down, []), .key(.right, .control), .key(.left, [])]),
    (
      "^[H^[F^[1~^[4~^[5~^[6~^[3~^[2~",
      [
        .key(.home, []), .key(.end, []), .key(.home, []), .key(.end, []), .key(.pageUp, []), .key(.pageDown, []),
        .key(.delete, []), .key(.insert, []),
      ]
    ),
    (
      "^OP^[15~^[24~^[[A",
      [.key(.function(1), []), .key(.function(5), []), .key(.function(12), []), .key(.function(1), [])]
    ), ("^[Z^x", [.key(.tab, .shift), .key(.character("x"), .alt)]),
    (
      "^[97;5u^[27u^[13u^[97;2u^[57441u",
      [.key(.character("a"), .control), .key(.escape, []), .key(.enter, []), .key(.character("A"), [])]
    ),
    (
      "^[<0;10;5M^[<32;11;5M^[<0;11;5m^[<35;3;4M",
      [
        .mouse(.init(.press(.left), x: 9, y: 4)), .mouse(.init(.drag(.left), x: 10, y: 4)),
        .mouse(.init(.release(.left), x: 10, y: 4)), .mouse(.init(.move, x: 2, y: 3)),
      ]
    ),
    (
      "^[<64;1;1M^[<65;1;1M^[<69;2;2M^[<2;1;1M^[<1;1;1M",
      [
        .mouse(.init(.scroll(dx: 0, dy: -1), x: 0, y: 0)), .mouse(.init(.scroll(dx: 0, dy: 1), x: 0, y: 0)),
        .mouse(.init(.scroll(dx: 0, dy: 1), x: 1, y: 1, modifiers: .shift)), .mouse(.init(.press(.right), x: 0, y: 0)),
        .mouse(.init(.press(.middle), x: 0, y: 0)),
      ]
    ), ("^[200~hello ^[A\nyou^[201~x", [.paste("hello \u{1B}[A\nyou"), .key(.character("x"), [])]),
    ("^[I^[O", [.focus(true), .focus(false)]),
    (
      "^[?63;1;4c^[?2026;2$y^[?1u^[6;20;10t^[4;600;800t",
      [
        .reply(.attributes([63, 1, 4])), .reply(.mode(2026, 2)), .reply(.keyboard(1)),
        .reply(.cellSize(height: 20, width: 10)), .reply(.windowSize(height: 600, width: 800)),
      ]
    ),
    ("^]11;rgb:1e1e/2020/ffff\u{7}^]11;rgb:0/8/f^\\", [.reply(.background(0x1E20FF)), .reply(.background(0x0088FF))]),
    (
      "^_Gi=31;OK^\\^_Gi=31;EINVAL:x^\\^P1$r0m^\\q",
      [.reply(.graphics(true)), .reply(.graphics(false)), .key(.character("q"), [])]
    ),
    // Malformed sequences are dropped as a whole.
    ("^[<0;0;0M^[999999999C^[<1M^[1;2;3R^[?zx", [.key(.function(3), .shift), .key(.character("x"), [])]),
    // An interrupted sequence does not affect the next sequence.
    ("^]11;rgb:00^[<0;5;5Mq", [.mouse(.init(.press(.left), x: 4, y: 4)), .key(.character("q"), [])]),
    ("\u{1B}^[A", [.key(.escape, []), .key(.up, [])]),
    // The mouse of old terminals, and the keypad of new terminals.
    (
      "^[M !!^[M#\"!^[M@*+x",
      [
        .mouse(.init(.press(.left), x: 0, y: 0)), .mouse(.init(.release(.left), x: 1, y: 0)),
        .mouse(.init(.drag(.left), x: 9, y: 10)), .key(.character("x"), []),
      ]
    ),
    (
      "^[57419u^[57413u^[57404;5u^[57414u",
      [.key(.up, []), .key(.character("+"), []), .key(.character("5"), .control), .key(.enter, [])]
    ),
    // Control characters are not keys.
    ("\u{85}^[133ux", [.key(.character("x"), [])]),
    ("a^[1^[Bb", [.key(.character("a"), []), .key(.down, []), .key(.character("b"), [])]),
  ]

  private static func bytes(_ text: String) -> [UInt8] {
    Array(
      text.replacing("^[", with: "\u{1B}[").replacing("^O", with: "\u{1B}O").replacing("^]", with: "\u{1B}]").replacing(
        "^_",
        with: "\u{1B}_"
      ).replacing("^P", with: "\u{1B}P").replacing("^\\", with: "\u{1B}\\").replacing("^x", with: "\u{1B}x").utf8
    )
  }

  @Test("bytes become keys, mouse events, pastes and replies", arguments: table) func reads(
    text: String,
    events: [InputEvent]
  ) {
    var whole = InputParser()
    #expect(whole.feed(Self.bytes(text)) == events)
    #expect(!whole.isWaiting)
    var inPieces = InputParser()
    #expect(Self.bytes(text).flatMap { inPieces.feed([$0]) } == events)
  }

  @Test("an Escape without a following byte is the Escape key") func escape() {
    var parser = InputParser()
    #expect(parser.feed([0x1B]) == [])
    #expect(parser.isWaiting)
    #expect(parser.finish() == [.key(.escape, [])])
    #expect(parser.feed(Array("[".utf8)) == [.key(.character("["), [])])
    #expect(parser.feed([0x1B]) == [])
    #expect(parser.feed(Array("[A".utf8)) == [.key(.up, [])])
    #expect(parser.feed([0x1B, 0x1B]) == [.key(.escape, [])])
    #expect(parser.finish() == [.key(.escape, [])])
  }

  @Test("random input ends at an end sequence, and parsing continues", arguments: 1...50) func hostile(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var parser = InputParser()
    let starts = ["\u{1B}[", "\u{1B}]", "\u{1B}_G", "\u{1B}[200~", "\u{1B}[<", "\u{1B}", "\u{C3}"]
    for _ in 0..<200 {
      if random.chance(30) { _ = parser.feed(starts[random.below(starts.count)].utf8) }
      _ = parser.feed((0..<random.below(100)).map { _ in UInt8(random.below(256)) })
      if random.chance(5) { _ = parser.finish() }
    }
    // These bytes end any open sequence.
    _ = parser.feed("\u{1B}[201~\u{7}\u{1B}\\".utf8)
    _ = parser.finish()
    #expect(parser.feed("\u{1B}[B".utf8) == [.key(.down, [])], "seed \(seed)")
  }

  @Test("a sequence that is too long is dropped as a whole, without any key after it") func tooLong() {
    let long = "\u{1B}]" + String(repeating: "x", count: 5_000)
    for end in ["\u{7}", "\u{1B}\\"] {
      var parser = InputParser()
      #expect(parser.feed((long + end + "q").utf8) == [.key(.character("q"), [])])
    }
    var parser = InputParser()
    #expect(parser.feed((long + "\u{1B}[A").utf8) == [.key(.up, [])])
    #expect(parser.feed(long.utf8) == [])
    #expect(parser.isWaiting)
    #expect(parser.finish() == [])
    #expect(parser.feed("q".utf8) == [.key(.character("q"), [])])
  }

  @Test("a paste is cut at its limit") func longPaste() {
    var parser = InputParser()
    _ = parser.feed("\u{1B}[200~".utf8)
    _ = parser.feed(repeatElement(UInt8(ascii: "x"), count: InputParser.pasteLimit + 999))
    let events = parser.feed("\u{1B}[201~".utf8)
    #expect(events == [.paste(String(repeating: "x", count: InputParser.pasteLimit))])
  }
}
