import Testing

@testable import WhiteboardTerminal

@Suite("The encoding of the terminal") struct TerminalEncodingTests {
  @Test(
    "the locale names the encoding",
    arguments: [
      ("de_DE.UTF-8", TerminalEncoding.utf8), ("C.utf8", .utf8), ("", .utf8), ("C", .utf8), ("POSIX", .utf8),
      ("de_DE.ISO-8859-1", .latin1), ("de_DE.iso88591@euro", .latin1), ("ru_RU.KOI8-R", .ascii), ("de_DE@euro", .ascii),
      ("de_DE", .ascii),
    ]
  ) func locales(_ locale: String, _ encoding: TerminalEncoding) {
    #expect(TerminalEncoding(locale: locale) == encoding)
    let features = TerminalFeatures { $0 == "LC_ALL" ? locale : nil }
    #expect(features.encoding == encoding)
  }

  @Test("no byte of another encoding is written, and every character keeps its width") func encoding() {
    let text = Array("\u{1B}[1mgr\u{FC}n … 漢字 😀 e\u{301}\u{1B}[0m".utf8)
    #expect(TerminalEncoding.utf8.encode(text) == text)
    let latin1 = TerminalEncoding.latin1.encode(text)
    #expect(latin1 == Array("\u{1B}[1mgr".utf8) + [0xFC] + Array("n . ???? ?? ?\u{1B}[0m".utf8))
    let ascii = TerminalEncoding.ascii.encode(text)
    #expect(ascii == Array("\u{1B}[1mgr?n . ???? ?? ?\u{1B}[0m".utf8))
  }

  @Test("input in ISO 8859-1 becomes UTF-8") func decoding() {
    #expect(TerminalEncoding.latin1.decode([0x67, 0xFC]) == Array("gü".utf8))
    #expect(TerminalEncoding.utf8.decode(Array("ü".utf8)) == Array("ü".utf8))
  }
}
