import Foundation
import Testing

struct WordsTests {
  @Test("the word list has 2,048 words, each with its own first four letters") func list() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let text = try String(contentsOf: root.appending(path: "Protocol/Words.txt"), encoding: .utf8)
    #expect(text.hasSuffix("\n"))
    let words = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
    #expect(words.count == 2_048)
    #expect(words.first == "abandon" && words.last == "zoo")
    #expect(words == words.sorted())
    #expect(Set(words.map { $0.prefix(4) }).count == 2_048)
    #expect(words.allSatisfy { (3...8).contains($0.utf8.count) })
    #expect(words.allSatisfy { $0.utf8.allSatisfy { (0x61...0x7A).contains($0) } })
  }
}
