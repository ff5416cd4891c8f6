import FoundationEssentials
import PeerCore
import Testing

struct UntrustedTextTests {
  @Test("[DSC-15] text is displayed without its dangerous characters", arguments: DisplayedVectors.all) func displays(
    _ vector: DisplayedVectors.Displayed
  ) {
    let text = UntrustedText(vector.text).displayed(width: vector.width)
    #expect(
      text.unicodeScalars.elementsEqual(vector.displayed.unicodeScalars),
      "\(text.debugDescription), not \(vector.displayed.debugDescription)"
    )
  }

  @Test("[DSC-15] no way of printing shows the dangerous characters of a text") func printsHarmless() {
    let text = UntrustedText("\u{1b}[2J\u{7}\u{202e}evil")
    struct Holder { let text: UntrustedText }
    var dumped = ""
    dump(Holder(text: text), to: &dumped)
    var printed = ""
    print(text, [text], Optional(text) as Any, to: &printed)
    for shown in [
      "\(text)", "\(Holder(text: text))", "\([text])", "\(["k": text])", String(describing: text),
      String(reflecting: text), String(reflecting: Holder(text: text)), dumped, printed,
    ] {
      #expect(shown.contains("[2Jevil"), "\(shown.debugDescription)")
      #expect(!shown.unicodeScalars.contains { "\u{1b}\u{7}\u{202e}".unicodeScalars.contains($0) })
    }
    #expect(text.raw == "\u{1b}[2J\u{7}\u{202e}evil")
  }

  @Test("[DSC-15] a very long text is cut, and read only as far as needed") func cutsLong() {
    let text = UntrustedText(String(repeating: "ab ", count: 100_000)).displayed
    #expect((60...64).contains(text.count) && text.hasSuffix("…"))
  }

  @Test("of all Unicode scalars, only harmless ones are in the safe forms of a text") func showsNoControl() {
    var (displayed, escaped) = (0, 0)
    // Plane 2 has ideographs only, planes 4 to 13 have nothing, and planes 15 and 16 are all private.
    #if DEBUG
    let planes: [ClosedRange<UInt32>] = [0...0x1FFFF, 0x2F000...0x30FFF, 0xE0000...0xE0FFF, 0xFF000...0xFFFFF]
    #else
    let planes: [ClosedRange<UInt32>] = [0...0x10FFFF]
    #endif
    for value in planes.joined() {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = UntrustedText("x\(scalar)y")
      let shown = (text.displayed.unicodeScalars, text.escaped().unicodeScalars)
      displayed += shown.0.count - 2
      escaped += shown.1.count == 3 ? 1 : 0
      for scalar in [shown.0, shown.1].joined() where !isHarmless(scalar) { Issue.record("\(value) is shown") }
    }
    #expect(displayed > 40_000 && escaped > 40_000)
  }

  private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
  }

  @Test(
    "unsafe and invisible characters are escaped",
    arguments: [
      ("a\u{1B}[31m", #"a\u{1b}[31m"#), ("a\nb\r", #"a\nb\u{d}"#), ("\u{202E}x\u{200B}", #"\u{202e}x\u{200b}"#),
      ("Zoë 漢字", "Zoë 漢字"), ("a\u{3164}b", #"a\u{3164}b"#), ("\u{9B}2J\u{E0041}", #"\u{9b}2J\u{e0041}"#),
      ("❤\u{FE0F}!", "❤\u{FE0F}!"), ("a\u{2028}b", #"a\u{2028}b"#), ("", ""),
    ]
  ) func escapes(_ raw: String, _ escaped: String) {
    #expect(UntrustedText(raw).escaped().unicodeScalars.elementsEqual(escaped.unicodeScalars))
    #expect(UntrustedText(raw).quoted() == "\"\(UntrustedText(raw).escaped())\"")
  }

  @Test("an escaped text is cut after the limit") func cutsEscaped() {
    #expect(UntrustedText("abcdef").escaped(limit: 3) == "abc…")
    #expect(UntrustedText("abc").escaped(limit: 3) == "abc")
    #expect(UntrustedText("äöüß").quoted(limit: 3) == "\"äöü…\"")
  }

  @Test("both safe forms keep two marks of a character, and none without a character") func limitsMarks() {
    let marks = String(repeating: "\u{301}", count: 100)
    for (raw, shown) in [
      ("a" + marks, "a\u{301}\u{301}"), ("\u{301}a", "a"), ("a \u{301}b", "a b"),
      ("\u{915}\u{93E}\u{902}\u{301}", "\u{915}\u{93E}\u{902}"),
    ] {
      #expect(UntrustedText(raw).escaped().unicodeScalars.elementsEqual(shown.unicodeScalars))
      #expect(UntrustedText(raw).displayed.unicodeScalars.elementsEqual(shown.unicodeScalars))
    }
  }

  @Test("the text is encoded unchanged, as a single string") func codes() throws {
    let text = UntrustedText("a\u{1b}\u{202e}")
    let json = try JSONEncoder().encode(["name": text])
    #expect(try JSONDecoder().decode([String: String].self, from: json) == ["name": text.raw])
    #expect(try JSONDecoder().decode([String: UntrustedText].self, from: json) == ["name": text])
  }
}
