import Testing

@testable import RelayOperations

struct StringCleanedTests {
  @Test("characters that control a terminal are replaced, and all others stay")
  func cleans() {
    let cases = [
      ("plain ~", "plain ~"), ("", ""), ("tab\tand\r\nend", "tab and  end"),
      ("\u{1b}[31m", "\u{fffd}[31m"), ("\u{7f}\u{9b}", "\u{fffd}\u{fffd}"),
      ("a\u{202e}b", "a\u{fffd}b"), ("\u{e0041}", "\u{fffd}"), ("Zoë 東京 🙂", "Zoë 東京 🙂"),
      ("\u{2028}\u{a0}", "  "),
    ]
    for (text, expected) in cases { #expect(text.cleaned(limit: 100) == expected) }
  }

  @Test("a text up to the limit is whole, and a longer one is cut")
  func cuts() {
    #expect("abc".cleaned(limit: 3) == "abc")
    #expect("abcd".cleaned(limit: 3) == "abc…")
    #expect("äöü".cleaned(limit: 3) == "äöü")
    #expect("äöüß".cleaned(limit: 3) == "äöü…")
  }
}
