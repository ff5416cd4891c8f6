import Testing
import WhiteboardDocument

@testable import SessionReplay

@Suite struct TrafficEntryTests {
  @Test(
    "traffic is shown as text or hexadecimal, without anything that controls a terminal",
    arguments: [
      (Array("one".utf8), #"3 bytes: "one""#), ([], "0 bytes"), ([0], "1 byte: 00"),
      (Array("{\n\t\"id\": 7 }".utf8), #"12 bytes: "{ "id": 7 }""#), (Array("ä".utf8), #"2 bytes: "ä""#),
      ([0xC3], "1 byte: c3"), (Array("a\u{1B}[31m".utf8), "6 bytes: 611b5b33316d"),
      (Array("a\u{202E}b".utf8), #"5 bytes: "ab""#), (Array("\u{200B}".utf8), "3 bytes: e2808b"),
      (Array(0...16), "17 bytes: 000102030405060708090a0b0c0d0e0f…"),
      (Array("é".utf8) + Array(repeating: 0xFF, count: 400), "402 bytes: c3a9ffffffffffffffffffffffffffff…"),
    ] as [([UInt8], String)]
  ) func content(bytes: [UInt8], text: String) { #expect(TrafficEntry.content(of: bytes) == text) }

  @Test("a character that is cut is omitted") func cutLetter() {
    for pad in 0..<4 {
      let text = String(repeating: "x", count: pad) + String(repeating: "🙂", count: 100)
      let told = TrafficEntry.content(of: Array(text.utf8))
      #expect(told.hasPrefix("\(400 + pad) bytes: \"\(text.prefix(20))") && told.hasSuffix("…\""), "\(told)")
    }
  }
}
