import PeerCore
import Testing

@Suite struct InvisibleTextTests {
  @Test(
    "characters that no font shows are removed",
    arguments: [
      "\u{AD}", "\u{34F}", "\u{61C}", "\u{115F}", "\u{180E}", "\u{200B}", "\u{200E}", "\u{200F}", "\u{202A}",
      "\u{202E}", "\u{2060}", "\u{2064}", "\u{2066}", "\u{2069}", "\u{3164}", "\u{FEFF}", "\u{FFA0}", "\u{FFF9}",
      "\u{E0001}", "\u{E0041}", "\u{E007F}",
      // Joiners and selectors without an effect.
      "\u{200C}", "\u{200D}", "\u{200D}\u{200D}",
    ]
  ) func invisible(_ hidden: String) {
    #expect(InvisibleText.removed(from: "a\(hidden)b") == "ab")
    #expect(InvisibleText.removed(from: hidden) == "")
    #expect(InvisibleText.removed(from: "12\(hidden)") == "12")
  }

  @Test(
    "characters that change the look of a text stay",
    arguments: [
      "plain", "é\u{301}", "👩\u{200D}👧\u{200D}👦", "🏳\u{FE0F}\u{200D}🌈", "👩🏽\u{200D}💻", "1\u{FE0F}\u{20E3}",
      "❤\u{FE0F}\u{200D}🔥", "می\u{200C}خواهم", "ن\u{200D}", "ക്\u{200D} ", "葛\u{E0100}", "क्\u{200D}ष", "☃\u{FE0E}",
    ]
  ) func visible(_ text: String) { #expect(InvisibleText.removed(from: text) == text) }

  @Test("only the first of several selectors stays, and a joiner beside another is removed") func chains() {
    #expect(InvisibleText.removed(from: "☃\u{FE0F}\u{E0110}\u{FE0E}!") == "☃\u{FE0F}!")
    #expect(InvisibleText.removed(from: "\u{FE0F}a \u{E0100}b") == "a b")
    #expect(InvisibleText.removed(from: "م\u{200C}\u{200D}\u{200C}م") == "مم")
    #expect(InvisibleText.removed(from: "👩\u{200D}\u{200D}👧") == "👩👧")
  }
}
