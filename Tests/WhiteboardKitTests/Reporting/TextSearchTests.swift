import Foundation
import Testing
import Whiteboard

@testable import WhiteboardKit

@Suite struct TextSearchTests {
  @Test(
    "case, accents, widths and line breaks make no difference",
    arguments: [
      ("cafe", "The Café"), ("CAFÉ", "cafe"), ("login server", "Login\n  server"), ("strasse", "Straße"),
      ("ΣΟΦΟΣ", "σοφός"), ("full", "ｆｕｌｌ"), ("file", "ﬁle"), ("שלום", "שָׁלוֹם"), ("サーバー", "ログインサーバー"),
    ]
  )
  func found(_ words: String, _ text: String) throws {
    let search = try #require(TextSearch(words))
    #expect(search.matches(text))
  }

  @Test(
    "other letters make a difference",
    arguments: [("cafes", "café"), ("か", "が"), ("กา", "กี"), ("a b", "ab"), ("b", "")]
  )
  func missed(_ words: String, _ text: String) throws {
    let search = try #require(TextSearch(words))
    #expect(!search.matches(text))
  }

  @Test("a search for nothing is none") func empty() { #expect(TextSearch(" \n\u{301}") == nil) }

  @Test("the search in 2,000 notes takes about as long as reading their text once") func cost() throws {
    let search = try #require(TextSearch("nowhere"))
    let notes = (0..<2000).map { "note \($0): we should améliorer the login of the server, and then the rest" }
    let all = notes.joined(separator: " ")
    func time(_ body: () -> Void) -> Duration { (0..<3).map { _ in ContinuousClock().measure(body) }.min() ?? .zero }
    let once = time { _ = search.matches(all) }
    let each = time { _ = notes.contains(where: search.matches) }
    #expect(each < once * 8)
  }
}
