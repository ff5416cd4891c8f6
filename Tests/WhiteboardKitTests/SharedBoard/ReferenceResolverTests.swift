import Testing

@testable import WhiteboardKit

@Suite struct ReferenceResolverTests {
  private func book() -> ReferenceResolver<Int> {
    var book = ReferenceResolver<Int>()
    book.add(id: "abcdefgh", names: ["anna"], value: 1)
    book.add(id: "abcdxyzw", names: ["Ben"], value: 2)
    book.add(id: "qrstuvwx", names: ["ben", "abcdefgh"], value: 3)
    return book
  }

  private func find(_ word: String) -> Result<Int, CommandError> {
    do throws(CommandError) { return .success(try book().find(word, what: "peer", missing: .noSuchPeer)) } catch {
      return .failure(error)
    }
  }

  @Test("a whole id has precedence over an id prefix, and that over a name") func order() throws {
    #expect(try find("abcdefgh").get() == 1)
    #expect(try find("ABCDX").get() == 2)
    #expect(try find("anna").get() == 1)
    #expect(try find("Ben").get() == 2)
    #expect(try find("ben").get() == 3)
  }

  @Test("ambiguous and unknown names have different errors") func failures() {
    #expect(throws: CommandError.self) { try find("abcd").get() }
    guard case .failure(let both) = find("abcd"), case .failure(let none) = find("zoe"),
      case .failure(let short) = find("abc"), case .failure(let names) = find("BEN")
    else {
      Issue.record("an object was found")
      return
    }
    #expect(both.code == .ambiguous)
    #expect(names.code == .ambiguous)
    #expect(none.code == .noSuchPeer)
    #expect(none.message.contains("anna (abcdefgh)"))
    #expect(short.code == .noSuchPeer)
  }
}
